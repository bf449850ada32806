"""The same error again: what failed on it and what fixed it comes first, whoever saw it where."""

from typing import Any, Final

import pytest

from pmem import Project
from pmem.core.error_fingerprint import evidence_of
from pmem.values.records import MemoryType
from tests.faults.console import pmem

SEEN: Final = (
    'Traceback (most recent call last):\n  File "/w/pay.py", line 9, in f\n'
    "billing.VendorError: blocked for 3600 s after request 17 of '/v1/pay'\n"
)
AGAIN: Final = (
    '...\nTraceback (most recent call last):\n  File "/ci/build/4/pay.py", line 12, in f\n'
    "billing.VendorError: blocked for 60 s after request 2 of '/v2/refund'\n"
)
EVIDENCE: Final = evidence_of(SEEN)[0]


class Known:
    """A project that has met an error, failed on it once, and fixed it."""

    def __init__(self, root: str) -> None:
        self.project = Project(root)
        failed = "Tried: raise the retries to 5. It failed: the vendor blocked us."
        self.failed = self.add(failed, type=MemoryType.DEAD_END, evidence=(EVIDENCE,))
        self.fix = self.add("The vendor wants requests spread over a minute")
        self.other = self.add("VendorError means that the vendor is closed")
        self.project.link(self.fix, self.failed, type="fixes")

    def add(self, content: str, **fields: Any) -> str:
        added = self.project.add(content, force=True, **fields).record
        assert added is not None
        return added.id

    def found(self, error: str = AGAIN, query: str = "", **request: object) -> list[str]:
        return [hit.id for hit in self.project.search(query, error=error, **request).hits]


@pytest.fixture
def known(root: str) -> Known:
    return Known(root)


def test_what_failed_and_what_fixed_it_come_first_then_what_the_query_finds(known: Known) -> None:
    assert known.found() == [known.failed, known.fix]
    assert known.found(query="VendorError") == [known.failed, known.fix, known.other]
    first, *_ = known.project.search("", error=AGAIN).hits
    assert first.score == 1.0
    assert first.signals == {"error": 1.0}


def test_each_is_found_once_and_no_more_than_are_wanted(known: Known) -> None:
    assert known.found(query="retries vendor minute blocked") == [
        known.failed,
        known.fix,
        known.other,
    ]
    assert known.found(top_k=1) == [known.failed]
    result = known.project.search("", error=AGAIN)
    assert result.total == len(result.hits)


def test_another_error_is_not_known(known: Known) -> None:
    assert known.found("billing.VendorError: month is closed") == []


def test_what_is_settled_comes_after_what_still_warns(known: Known) -> None:
    proxy = "Tried: a proxy. It failed."
    newer = known.add(proxy, type=MemoryType.DEAD_END, evidence=(EVIDENCE,))
    assert known.found()[:2] == [newer, known.failed]
    known.project.edit(newer, settled="the proxy is new")
    assert known.found()[:3] == [known.failed, known.fix, newer]


def test_filters_hold_and_what_was_removed_is_gone(known: Known) -> None:
    assert known.found(kinds=("episode",)) == []
    known.project.remove(known.failed)
    assert known.failed not in known.found()


def test_an_error_that_says_too_little_is_told_so(known: Known) -> None:
    result = known.project.search("vendor", error="exit status 1")
    assert result.notes == ("the error says too little to be told from others",)
    assert known.other in [hit.id for hit in result.hits]


def search(*words: str, log: bytes = b"") -> tuple[int, str]:
    done = pmem("search", *words, stdin=log)
    return done.code, done.out.decode()


def test_the_command_reads_a_log_whatever_its_bytes_are(known: Known) -> None:
    code, out = search("--error", "-", log=b"\xff\xfe noise\n" + AGAIN.encode())
    assert code == 0
    assert "raise the retries to 5" in out.splitlines()[0]
    assert search("--error", AGAIN) == (code, out)


def test_exit_codes_are_those_of_search(known: Known) -> None:
    assert search("--error", "-", "--exit-status", log=AGAIN.encode())[0] == 0
    assert search("--error", "VendorError: is closed", "--exit-status")[0] == 1
    assert search("--error", "ValueError: other thing")[0] == 0
    assert search("-", "--error", "-")[0] == 2
    assert search()[0] == 2
