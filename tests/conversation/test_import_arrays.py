"""The four array files of the multi-tier design: in with its keys, out and in again whole."""

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from pmem.conversation.exchange import (
    ArraysRequest,
    ExportRequest,
    Imported,
)
from pmem.core.chunking import by_conversation, repeated
from pmem.interchange import arrays
from pmem.operations import table
from pmem.project.workspace import Workspace
from pmem.storage.backend import Change
from pmem.upkeep.integrity import CheckRequest
from pmem.values.records import (
    STORES,
    Chunk,
    Conversation,
    Episode,
    EpisodeType,
    Memory,
    MemoryType,
    Record,
    RecordType,
    Role,
    Status,
)
from tests import strategies
from tests.asking import ask
from tests.conftest import NOW
from tests.effort import examples
from tests.faults.console import bytes_of, pmem
from tests.storage.in_memory import InMemory

Item = dict[str, Any]
STAMP = "2026-02-03T10:15:00.000Z"
AT = datetime(2026, 2, 3, 10, 15, tzinfo=UTC)

SAMPLE = Path(__file__).with_name("multi_tier")
LONG, EPISODIC = "long-term-memory.json", "episodic-memory.json"
TALKS, PARTS = "conversations.json", "conversation-chunks.json"
FILES: dict[str, list[Item]] = {
    name: json.loads((SAMPLE / name).read_bytes()) for name in (LONG, EPISODIC, TALKS, PARTS)
}
MEMORIES, EPISODES, CONVERSATIONS, CHUNKS = FILES.values()
SAID: Item = CHUNKS[0]["messages"][1]


def write(folder: Path, files: dict[str, Any]) -> str:
    folder.mkdir(exist_ok=True)
    for name, items in files.items():
        (folder / name).write_text(json.dumps(items))
    return str(folder)


def take(workspace: Workspace, folder: str) -> Imported:
    return ask(
        workspace,
        table.IMPORT_ARRAYS,
        ArraysRequest(folder=folder, progress=lambda done, total: None),
    )


def figures(done: Imported) -> tuple[int, int, int, int]:
    return (done.added, done.updated, done.unchanged, len(done.skipped))


@pytest.fixture
def sample() -> str:
    """Return the folder of the sample files."""
    return str(SAMPLE)


@pytest.mark.row("S2.10.1")
def test_the_designs_own_files_come_in_whole(workspace: Workspace, sample: str) -> None:
    done = take(workspace, sample)
    assert (figures(done), done.skipped) == ((5, 0, 0, 0), ())
    memory = workspace.memories.get("mlk2p0a1-9f3c21de")
    link = memory.relationships[0]
    assert [
        *(memory.type, memory.category, memory.content, memory.importance, memory.tokens),
        *(memory.tags, memory.access.count, memory.access.last_at, memory.created_at),
        *(memory.valid_from, memory.valid_until, memory.updated_at, memory.source.kind),
        *(memory.source.conversation, link.target, link.type, link.strength, link.created_at),
    ] == [
        *(MemoryType.DECISION, "architecture", MEMORIES[0]["content"], 0.85, 16),
        *(("billing", "invoices"), 4, datetime(2026, 2, 5, 7, tzinfo=UTC), AT),
        *(AT, None, datetime(2026, 2, 4, 8, tzinfo=UTC), "conversation"),
        *("mlk2nzzz-0a0b0c0d", "mlk2p0b7-77aa01bc", "depends_on", 0.8, AT),
    ]


def test_an_episode_keeps_its_place_in_the_conversation(workspace: Workspace, sample: str) -> None:
    take(workspace, sample)
    episode = workspace.episodes.get("mlk2q111-5e6f7a8b")
    assert episode.turns is not None
    assert [
        *(episode.type, episode.valence, episode.significance, episode.conversation),
        *(episode.turns.start, episode.turns.end, episode.participants, episode.linked_memories),
    ] == [
        *(EpisodeType.PROBLEM_SOLVED, 0.7, 0.8, "mlk2nzzz-0a0b0c0d"),
        *(3, 9, ("Ada", "Bo"), ("mlk2p0a1-9f3c21de",)),
    ]


def test_a_conversation_comes_in_with_its_chunks(workspace: Workspace, sample: str) -> None:
    take(workspace, sample)
    conversation = workspace.conversations.get("mlk2nzzz-0a0b0c0d")
    told = (conversation.status, conversation.turns, conversation.started_at)
    assert told == (Status.ENDED, 4, AT)
    assert conversation.chunks == ("mlk2o222-1b2c3d4e",)
    assert [said.role for said in conversation.recent_messages] == [Role.USER, Role.ASSISTANT]
    chunk = workspace.chunks.get("mlk2o222-1b2c3d4e")
    assert (chunk.conversation, chunk.number, chunk.tokens) == ("mlk2nzzz-0a0b0c0d", 1, 12)
    assert chunk.key_topics == ("invoices", "deployments")
    assert [said.content for said in chunk.messages] == [
        "Message 0 about invoices",
        "Message 1 about invoices",
    ]
    assert ask(workspace, table.CHECK, CheckRequest()).findings == ()


def test_importing_twice_adds_nothing_and_changes_no_byte(
    workspace: Workspace, sample: str, root: str
) -> None:
    take(workspace, sample)
    before = bytes_of(root)
    assert figures(take(workspace, sample)) == (0, 0, 5, 0)
    assert before == bytes_of(root)


def test_a_later_version_updates_and_an_earlier_one_does_not(
    workspace: Workspace, sample: str, tmp_path: Path
) -> None:
    take(workspace, sample)
    for stamp, expected in (("2026-02-05T00:00:00Z", 1), ("2026-01-01T00:00:00Z", 0)):
        changed = {**MEMORIES[0], "content": f"Changed at {stamp}", "updatedAt": stamp}
        other = write(tmp_path / "other", {"long-term-memory.json": [changed]})
        assert (0, expected, 1 - expected, 0) == figures(take(workspace, other))
    content = workspace.memories.get("mlk2p0a1-9f3c21de").content
    assert content == "Changed at 2026-02-05T00:00:00Z"


def test_ids_of_other_forms_are_replaced_everywhere_alike(
    workspace: Workspace, tmp_path: Path
) -> None:
    text = json.dumps(FILES)
    for number, known in enumerate(("mlk2p0a1-9f3c21de", "mlk2p0b7-77aa01bc")):
        text = text.replace(known, f"memory-{number}")
    for known, plain in (("mlk2o222-1b2c3d4e", "chunk-1"), ("mlk2nzzz-0a0b0c0d", "talk")):
        text = text.replace(known, plain)
    folder = write(tmp_path / "plain", json.loads(text))
    assert figures(take(workspace, folder)) == (5, 0, 0, 0)
    assert ask(workspace, table.CHECK, CheckRequest()).findings == ()
    assert figures(take(workspace, folder)) == (0, 0, 5, 0)


def _without(item: Item, key: str) -> Item:
    return {name: value for name, value in item.items() if name != key}


def _nested(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels):
        value = [value]
    return value


BAD: dict[str, tuple[str, Any]] = {
    "a text": (LONG, "pancakes"),
    "null": (EPISODIC, None),
    "a list": (TALKS, []),
    "an empty object": (LONG, {}),
    "no id": (LONG, _without(MEMORIES[0], "id")),
    "no content": (LONG, _without(MEMORIES[0], "content")),
    "no time": (LONG, {"id": "x", "content": "y"}),
    "a time that is none": (LONG, {**MEMORIES[0], "createdAt": "soon"}),
    "a time without zone for an old id": (LONG, {**MEMORIES[0], "id": "x", "createdAt": "3d"}),
    "an unknown type": (LONG, {**MEMORIES[0], "type": "rumour"}),
    "a type of another type": (LONG, {**MEMORIES[0], "type": ["fact"]}),
    "importance out of range": (LONG, {**MEMORIES[0], "metadata": {"importance": 9}}),
    "metadata that is a list": (LONG, {**MEMORIES[0], "metadata": [1]}),
    "links that are texts": (LONG, {**MEMORIES[0], "relationships": ["x"]}),
    "an unknown episode type": (EPISODIC, {**EPISODES[0], "episodeType": "party"}),
    "a reference that is a text": (EPISODIC, {**EPISODES[0], "conversationRef": "talk"}),
    "valence out of range": (EPISODIC, {**EPISODES[0], "emotionalValence": 3}),
    "a conversation without start": (TALKS, _without(CONVERSATIONS[0], "startedAt")),
    "a chunk reference without id": (TALKS, {**CONVERSATIONS[0], "chunks": [{}]}),
    "chunks that are a number": (TALKS, {**CONVERSATIONS[0], "chunks": 3}),
    "messages that are texts": (TALKS, {**CONVERSATIONS[0], "recentMessages": ["x"]}),
    "an unknown role": (PARTS, {**CHUNKS[0], "messages": [{**SAID, "role": "wizard"}]}),
    "nested too deep": (PARTS, {**CHUNKS[0], "messages": [{**SAID, "toolCall": _nested(80)}]}),
    "nested far too deep": (LONG, {**MEMORIES[0], "extra": _nested(900)}),
    "our form, but newer": (LONG, {"schema": 2, "id": "mlk2p0a1-9f3c21df", "content": "x"}),
    "our form, but broken": (LONG, {"schema": 1, "id": "mlk2p0a1-9f3c21df"}),
    "an id that escapes": (LONG, {"schema": 1, "id": "../../evil"}),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_entry_is_reported_by_its_place_and_the_rest_is_taken(
    name: str, workspace: Workspace, tmp_path: Path
) -> None:
    file, bad = BAD[name]
    good = {"id": "mlk9zzzz-00000001", "content": "Kept", "createdAt": STAMP, "type": "fact"}
    files: dict[str, list[Any]] = {"long-term-memory.json": [good]}
    files[file] = [*files.get(file, []), bad]
    done = take(workspace, write(tmp_path / "bad", files))
    assert figures(done) == (1, 0, 0, 1)
    assert f"{file}[{len(files[file]) - 1}]" == done.skipped[0].where
    assert done.skipped[0].why
    assert workspace.memories.get("mlk9zzzz-00000001").content == "Kept"
    assert not os.path.exists(tmp_path / "work" / "evil.json")


def test_what_was_skipped_is_named_by_the_command(root: str, tmp_path: Path) -> None:
    folder = write(tmp_path / "bad", {"long-term-memory.json": [*MEMORIES, 7]})
    done = pmem("import", "arrays", folder)
    assert (done.code, done.out) == (0, b"2 added, 0 updated, 0 unchanged, 1 skipped\n")
    assert "long-term-memory.json[2]" in done.err


@pytest.mark.parametrize("data", [b"", b"{}", b"[", b"\xff", b"[1,]", b"[NaN]", b"[" * 2000])
def test_a_file_that_is_no_array_is_refused_whole(data: bytes, root: str, tmp_path: Path) -> None:
    folder = write(tmp_path / "bad", {"episodic-memory.json": EPISODES})
    (tmp_path / "bad" / "long-term-memory.json").write_bytes(data)
    before = bytes_of(root)
    done = pmem("import", "arrays", folder)
    assert (done.code, done.out) == (3, b"")
    assert "long-term-memory.json" in done.err
    assert before == bytes_of(root)


def test_a_folder_without_the_files_is_one_sentence(root: str, tmp_path: Path) -> None:
    for folder in (str(tmp_path), str(tmp_path / "nowhere")):
        done = pmem("import", "arrays", folder)
        assert (3, folder in done.err) == (done.code, True)


def test_export_then_import_through_the_command_gives_equal_files(
    workspace: Workspace, sample: str, tmp_path: Path
) -> None:
    take(workspace, sample)
    assert pmem("export", "arrays", "../out").code == 0
    assert set(FILES) == set(os.listdir("../out"))
    assert pmem("-C", str(tmp_path / "second"), "init").code == 0
    assert pmem("-C", str(tmp_path / "second"), "import", "arrays", "../out").code == 0
    assert bytes_of(workspace.root) == bytes_of(str(tmp_path / "second" / ".project-memory"))


_BY_TYPE: dict[RecordType, st.SearchStrategy[Any]] = {
    Memory: strategies.memories,
    Episode: strategies.episodes,
    Conversation: strategies.conversations,
    Chunk: strategies.chunks,
}
everything: st.SearchStrategy[dict[RecordType, list[Record]]] = st.fixed_dictionaries(
    {
        type_: st.lists(records, max_size=3, unique_by=lambda record: record.id)
        for type_, records in _BY_TYPE.items()
    }
)


def _filled(records: dict[RecordType, list[Record]]) -> Workspace:
    backend = InMemory()
    backend.commit(
        [Change(type_, item.id, item) for type_, items in records.items() for item in items]
    )
    return Workspace("nowhere", actor="tester", now=NOW, backend=backend)


def _says_twice(records: dict[RecordType, list[Any]]) -> bool:
    """Tell whether a message stands in a conversation twice."""
    chunks = by_conversation(records[Chunk])
    return any(repeated(chunks.get(it.id, ()), it.recent_messages) for it in records[Conversation])


@pytest.mark.row("S2.10.6")
@settings(max_examples=examples(80))
@given(everything)
def test_export_then_import_gives_equal_records(records: dict[RecordType, list[Any]]) -> None:
    assume(not _says_twice(records))  # an export keeps each message of a conversation once
    files = ask(_filled(records), table.EXPORT_ARRAYS, ExportRequest()).files
    parsed = arrays.parse(files)
    assert parsed.skipped == []
    for type_ in STORES:
        expected = sorted(records[type_], key=lambda record: record.id)
        assert expected == parsed.records[type_]


@settings(max_examples=examples(80))
@given(everything)
def test_what_was_exported_and_taken_in_is_exported_as_it_came(
    records: dict[RecordType, list[Any]],
) -> None:
    files = ask(_filled(records), table.EXPORT_ARRAYS, ExportRequest()).files
    taken_in = _filled(arrays.parse(files).records)
    assert files == ask(taken_in, table.EXPORT_ARRAYS, ExportRequest()).files


_OWN = {name: items[0] for name, items in FILES.items()}
_PLACES = [(name, key) for name, item in _OWN.items() for key in item if key != "chunks"]


@settings(max_examples=examples(200))
@given(st.lists(st.tuples(st.sampled_from(_PLACES), strategies.json_values), max_size=4))
def test_any_entries_at_all_are_taken_or_reported(spoilt: list[tuple[Any, Any]]) -> None:
    files: dict[str, list[Any]] = {name: [] for name in FILES}
    for (name, key), value in spoilt:
        files[name] += [{**_OWN[name], key: value}, value]
    parsed = arrays.parse({name: json.dumps(items).encode() for name, items in files.items()})
    taken = sum(len(records) for records in parsed.records.values())
    assert sum(map(len, files.values())) <= taken + len(parsed.skipped)


def test_chunks_that_stand_only_in_their_conversation_come_in(
    workspace: Workspace, tmp_path: Path
) -> None:
    folder = write(tmp_path / "some", {"conversations.json": CONVERSATIONS})
    assert figures(take(workspace, folder)) == (2, 0, 0, 0)
    assert ask(workspace, table.CHECK, CheckRequest()).findings == ()
    assert len(workspace.chunks.get("mlk2o222-1b2c3d4e").messages) == 2


def test_a_chunk_whose_messages_were_dropped_keeps_its_summary(
    workspace: Workspace, tmp_path: Path
) -> None:
    merged = {**_without(CHUNKS[0], "messages"), "summary": "Earlier: a. Then: b."}
    take(workspace, write(tmp_path / "some", {"conversation-chunks.json": [merged]}))
    chunk = workspace.chunks.get("mlk2o222-1b2c3d4e")
    assert (chunk.summary, chunk.messages) == ("Earlier: a. Then: b.", ())


@pytest.mark.parametrize(
    "other", [{"content": "Something else is so"}, {"category": "elsewhere"}, {"tags": ["other"]}]
)
def test_what_differs_and_is_as_old_as_ours_is_told(
    root: str, tmp_path: Path, other: dict[str, Any]
) -> None:
    pmem("import", "arrays", write(tmp_path / "one", {"long-term-memory.json": MEMORIES}))
    changed = [{**MEMORIES[0], **other}, *MEMORIES[1:]]
    folder = write(tmp_path / "two", {"long-term-memory.json": changed})
    done = pmem("import", "arrays", folder)
    assert (done.code, done.out) == (0, b"0 added, 0 updated, 2 unchanged, 0 skipped\n")
    assert "the file says something else: memory 9f3c21de; to take it in" in done.err
    assert pmem("import", "arrays", folder, "--json").data["undecided"] == ["memory 9f3c21de"]


@pytest.mark.parametrize("options", [(), ("--untrusted",)])
def test_the_same_file_again_differs_in_nothing(
    options: tuple[str, ...], root: str, sample: str
) -> None:
    pmem("import", "arrays", sample, *options)
    pmem("show", "mlk2p0a1-9f3c21de")
    done = pmem("import", "arrays", sample, *options)
    assert (done.code, done.err) == (0, "")


def test_an_older_file_is_no_news(root: str, sample: str, tmp_path: Path) -> None:
    pmem("import", "arrays", sample)
    pmem("edit", "mlk2p0a1-9f3c21de", "It was changed here")
    assert pmem("import", "arrays", sample).err == ""
