"""What older indexes and servers keep of records is made again wherever it would differ now."""

from hashlib import blake2b
from typing import Any

from pmem.core.filters import cited_files
from pmem.core.record_keys import twin_keys, word_keys_of
from pmem.core.retrieval.documents import entries
from pmem.core.selection import column_values
from pmem.storage.index.schema import VERSION
from pmem.values.records import Citation, Episode, EpisodeType, Scope, State
from tests.conftest import NOW
from tests.storage.folders import memory
from tests.storage.searches import chunk, conversation, link_to, message

KEPT = (48, "7730547aae27c6bb")
"""The version, and the digest of what is kept of `RECORDS` since."""
RECORDS: tuple[Any, ...] = (
    memory(
        "mjwaid1q-00000001",
        "The queue is RabbitMQ since 2026-03-01; see `src/queue.py` and ADR-12.",
        subject="The Queue",
        tags=("broker", "ops"),
        importance=0.75,
        places=("src/**/*.py",),
        evidence=("commit:1f4c99d2",),
        citations=(Citation(file="src/queue.py", lines=(3, 9), symbol="connect", digest="d"),),
        relationships=(link_to(2, 0.75, "updates"), link_to(3, 0.5, "fixes")),
    ),
    memory(
        "mjwaid1q-00000002",
        "Meetings after 2 pm only, für Zürich: Straßenbahn.",
        scope=Scope(app="Calendar", user="Ada"),
    ),
    memory("mjwaid1q-00000003", "ValueError: it's 日本語", state=State.ARCHIVED, pinned=True),
    Episode(
        id="mjwaid1q-e0000001",
        title="Queues",
        summary="The team moved to RabbitMQ.",
        type=EpisodeType.DECISION_MADE,
        created_at=NOW,
        updated_at=NOW,
    ),
    conversation("mjwaid1q-c0000001", message("m-00000004", "Why RabbitMQ?", speaker="Ann")),
    chunk("mjwaid1q-k0000001", message("m-00000001", "Tell me of queues.", speaker="Ben")),
)


def test_what_is_kept_of_records_changes_with_the_version_alone() -> None:
    kept = [
        (
            column_values(record),
            twin_keys(record),
            list(word_keys_of(record)),
            sorted(cited_files(record)),
            [(entry, sorted(entry.frequencies.items())) for entry in entries(record)],
        )
        for record in RECORDS
    ]
    digest = blake2b(repr(kept).encode(), digest_size=8).hexdigest()
    assert (VERSION, digest) == KEPT, "raise the version of the index, and write down the digest"
