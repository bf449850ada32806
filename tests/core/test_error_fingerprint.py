"""An error is recognised wherever and whenever it happens again, and told from others."""

import re
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem.core.error_fingerprint import (
    DIGITS,
    essence,
    evidence_of,
    fingerprint,
    masked,
    telling_line,
)
from pmem.core.outcomes import ERROR, check_evidence
from tests.work import STALLED, seconds

TRACE: Final = 'Traceback (most recent call last):\n  File "/w/pay.py", line 9, in f\n    go()\n'

TELLING: Final = [
    f"collecting\n{TRACE}@billing.LedgerClosed: month 3 is closed\n",
    f"{TRACE}KeyError: 'a'\n\nDuring handling of the above:\n\n{TRACE}@ValueError: no rate\n",
    "tests/t.py F\nE       @TypeError: no vendor\nE       more\n1 failed\n",
    "/w/a.js:3\n\n@TypeError: x is not a function\n    at f (/w/a.js:3:4)\n",
    "@Error: Cannot find module 'x'\n    at f (/w/a.js:3:4)\n",
    "java.lang.RuntimeException: a\n\tat b\n@Caused by: java.io.IOException: Broken\n\tat c\n",
    "make\n@a.c:3:5: error: 'rate' undeclared\na.c:9:1: error: other\n",
    "ok\n@error[E0382]: borrow of moved value: `x`\nerror: aborting",
    "@a.ts(3,5): error TS2304: Cannot find name 'x'.\n",
    "@panic: runtime error: index out of range [5]\n\ngoroutine 1 [running]:\n",
    "@npm ERR! code E404\nnpm ERR! 404 Not Found\n",
    "@2026-01-02 12:00:00 ERROR db: pool is empty\ndone\n",
    "one\n@bash: line 1: foo: command not found\ntwo\n",
    "one\n@Segmentation fault\n\n",
    "npm ERR! code 1\nnpm ERR! path /w\n@npm ERR! missing script: deploy\n",
    "--- FAIL: TestA (0.00s)\n    @a_test.go:9: got 3, want 4 unknown rates\nFAIL\n",
    "FAILURE: Build failed with an exception.\n\n* What went wrong:\n@Task ':pay' has no inputs\n",
    "AssertionError\n@ValueError: no rate\nKeyError: 3\n1 failed\n",
    "10%\r50%\r@fatal: the remote hung up\x1b[0m\r\n",
    "\x1b[1;31m@error:\x1b[0m no such column\n",
]
"""What programs wrote, the telling line marked."""


@pytest.mark.parametrize("text", TELLING)
def test_the_last_exception_tells_or_the_first_error_or_the_last_line(text: str) -> None:
    (marked,) = (line.rpartition("@")[2] for line in text.split("\n") if "@" in line)
    assert telling_line(text.replace("@", "")) == marked.replace("\x1b[0m", "").rstrip()


def test_a_panic_tells_its_reason_in_the_next_line() -> None:
    text = "thread 'main' panicked at src/main.rs:4:5:\nno rate for the month\nnote: run\n"
    assert telling_line(text).endswith("panicked at src/main.rs:4:5: no rate for the month")
    assert telling_line("") == ""


RUST: Final = "thread 'main' panicked at "
SAME: Final = [
    ("error: port 8080 is in use", "error: port 9 is in use"),
    ("error: no rate for 'EUR' found", 'error: no rate for "US Dollar" found'),
    ("error: no rate for ‘EUR’ found", "error: no rate for `USD` found"),
    ("error: cannot read /home/ada/x.csv", r"error: cannot read C:\users\bo\y.csv"),
    ("src/a.c:3:5: error: bad token", "lib/deep/b.c:30:15: error: bad token"),
    ("a.c:3:5: error: bad token", "lib/deep/b.c:30:15: error: bad token"),
    ("error: took 1.5s of time", "error: took 250ms of time"),
    ("error: at 2026-01-02T12:00:00.123Z it broke", "error: at 12:30:00 it broke"),
    ("error: object 0x7ffde3 is gone", "error: object 0x1 is gone"),
    ("error: commit 3fa9c2d1 is gone", "error: commit a0b1c2d3e4f5 is gone"),
    ("error: host 10.0.0.1:80 is down", "error: host 192.168.1.20:5432 is down"),
    ("error: pool is empty", "  \x1b[31merror:\x1b[0m  pool is   empty \r"),
    (f"{TRACE}ValueError: bad port\n", "ValueError: bad port"),
    (f"{TRACE}ValueError: bad port\n", "2026-11-22 10:00:01 ERROR app: ValueError: bad port"),
    ("ValueError: bad port", "[worker-3] ValueError: bad port"),
    ("ValueError: bad port", "ERROR:root:ValueError: bad port"),
    (f"{TRACE}ValueError: bad port", "E   ValueError: bad port"),
    ("ValueError: bad port", "FAILED tests/test_a.py::test_b - ValueError: bad port"),
    (
        f"{TRACE}shop.LedgerError: month 3 is closed",
        "10:00:01,123 CRITICAL shop.LedgerError: month 9 is closed",
    ),
    ("\x1b[31mValueError: bad port\x1b[0m", "ValueError: bad port"),
    (f"{TRACE}KeyError: 'a'\n\n{TRACE}ValueError: no rate", "ValueError: no rate"),
    (
        "ERROR: No matching distribution found for nosuch==1.0",
        "pip: error: No matching distribution found for nosuch==2.0",
    ),
    (
        "Error: Cannot find module 'x'\n    at f (/w/a.js:3:4)",
        "Uncaught Error: Cannot find module 'y'",
    ),
    (
        "/w/a.js:3\n\nTypeError: x is not a function\n    at f (/w/a.js:3:4)",
        "Uncaught TypeError: x is not a function",
    ),
    ("npm ERR! code ERESOLVE\nnpm ERR! could not resolve", "npm error code ERESOLVE"),
    ("npm ERR! Missing script: build", "npm error Missing script: build"),
    (
        "src/a.ts(3,5): error TS2345: Argument of type 'A' is not assignable",
        "src/b.ts:9:12 - error TS2345: Argument of type 'B' is not assignable",
    ),
    ("  3:5  error  'x' is not defined  no-undef", "12:1 error 'x' is not defined no-undef"),
    (
        "error Command not found in scripts",
        "2026-01-02T03:04:05Z error Command not found in scripts",
    ),
    (f"{RUST}'no rate for month', src/m.rs:4:5", f"{RUST}src/n.rs:9:1:\nno rate for month"),
    ("error[E0382]: borrow of moved value: `x`", "error[E0382]: borrow of moved value: `y`"),
    ("./a.go:3:5: undefined: rateOf", "b/c.go:30:1: undefined: rateOf"),
    (
        "panic: runtime error: index out of range [5] with length 3",
        "panic: runtime error: index out of range [7] with length 0",
    ),
    ("a.c:3:5: error: expected ';' before 'int'", "error: expected ';' before 'int'"),
    (
        "ld: symbol(s) not found for architecture arm64",
        "[12/90] ld: symbol(s) not found for architecture arm64",
    ),
    (
        'Exception in thread "main" java.io.IOException: Broken pipe here\n\tat a.b(C.java:3)',
        "Caused by: java.io.IOException: Broken pipe here",
    ),
    (
        "[ERROR] Failed to compile module billing: missing symbols",
        "Failed to compile module billing: missing symbols",
    ),
    ("fatal: not a git repository", "git: fatal: not a git repository"),
    (
        'psql: error: connection to server at "db" failed',
        'error: connection to server at "other" failed',
    ),
    (
        'ERROR:  relation "a" does not exist',
        '2026-11-22 10:00:01.123 UTC [77] ERROR:  relation "b" does not exist',
    ),
    (
        'failed to solve: process "/bin/sh -c make" did not complete successfully: exit: 2',
        'ERROR: failed to solve: process "/bin/sh -c make" did not complete successfully: exit: 1',
    ),
    (
        'Error from server (NotFound): pods "a-1" not found',
        '12:00:00 Error from server (NotFound): pods "b-2" not found',
    ),
    ("curl: (7) Failed to connect to db port 80", "curl: (7) Failed to connect to db port 443"),
    (
        "git@example.org: Permission denied (publickey).",
        "[3/9] git@example.org: Permission denied (publickey).",
    ),
    ("bash: line 1: foo: command not found", "bash: line 9: foo: command not found"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_neither_details_nor_who_reports_it_make_another_error(one: str, other: str) -> None:
    assert fingerprint(one) == fingerprint(other) is not None


OTHER: Final = [
    ("error: pool is empty", "error: pool is full"),
    ("error[E0382]: bad value here", "error[E0499]: bad value here"),
    ("KeyError: 'vendor_id'", "KeyError: 'month_name'"),
    ("ValueError: no rate", "TypeError: no rate"),
    ('{"msg": "cannot open ledger"}', '{"msg": "cannot close ledger"}'),
    ("错误：找不到文件", "错误：无法连接服务器"),
    (
        'failed to solve: process "/bin/sh -c make" did not complete successfully: exit code: 1',
        'failed to solve: process "/bin/sh -c npm ci" did not complete successfully: exit code: 1',
    ),
    (
        "subprocess.CalledProcessError: Command '['make', 'all']' returned non-zero exit status 2.",
        "subprocess.CalledProcessError: Command '['git', 'push']' returned non-zero exit status 2.",
    ),
    (
        "* What went wrong:\nExecution failed for task ':app:compileJava'.",
        "* What went wrong:\nExecution failed for task ':app:test'.",
    ),
    ("ValueError: bad port", "TypeError: bad port"),
    ("ValueError: bad port", "ValueError: bad host name"),
    (
        "2026-01-02 10:00:00 ERROR a: ValueError: bad port",
        "2026-01-02 10:00:00 ERROR a: bad port here",
    ),
    ("KeyError: 'vendor_id'", "KeyError: 'month_name'"),
    (
        "ModuleNotFoundError: No module named 'numpy'",
        "ImportError: cannot import name 'x' from 'y'",
    ),
    (
        "a.ts(3,5): error TS2345: Argument of type 'A' is wrong",
        "a.ts(3,5): error TS2322: Argument of type 'A' is wrong",
    ),
    ("npm ERR! code ERESOLVE", "npm ERR! code EACCES"),
    ("error[E0382]: use of value", "error[E0499]: use of value"),
    (f"{RUST}src/m.rs:4:5:\nno rate for month", f"{RUST}src/m.rs:4:5:\nledger is closed"),
    ("./a.go:3:5: undefined: rateOf", "./a.go:3:5: undefined: monthOf"),
    ("a.c:3:5: error: expected ';' before 'int'", "a.c:3:5: error: too few arguments to call"),
    ("java.io.IOException: Broken pipe here", "java.io.IOException: Stream closed early"),
    ("fatal: not a git repository", "fatal: refusing to merge unrelated histories"),
    ('ERROR:  relation "a" does not exist', 'ERROR:  column "a" does not exist'),
    ("curl: (7) Failed to connect to db", "curl: (6) Could not resolve host: db"),
    ("bash: line 1: foo: command not found", "bash: line 1: barrel: command not found"),
    ("[ERROR] Failed to compile module billing", "[ERROR] Failed to deploy module billing"),
]


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_other_words_are_another_error(one: str, other: str) -> None:
    assert None not in (fingerprint(one), fingerprint(other))
    assert fingerprint(one) != fingerprint(other)


@pytest.mark.parametrize(
    "text",
    ["", "\n \n", "AssertionError", "E   assert 3 == 4", "exit status 1", "make: *** [x] Error 1",
     "3 failed, 2 passed in 0.3s", "npm ERR! code 1\nnpm ERR! path /w",
     "FAILURE: Build failed with an exception.", "FAILED tests/a.py::test_b - assert 3 == 4",
     "error: 7", "KeyError: 3", "Killed"],
)  # fmt: skip
def test_what_says_too_little_has_no_fingerprint(text: str) -> None:
    assert fingerprint(text) is None
    assert evidence_of(text) == ()


def test_a_fingerprint_stays_what_it_is_from_version_to_version() -> None:
    assert evidence_of(f"{TRACE}ValueError: no rate for 3 'EUR' in /w/x.csv") == (
        "error:598affa9daa1f3f6",
    )


WORDS: Final = st.lists(
    st.sampled_from("vendor blocked the ledger closed rate retry can't E0382".split()),
    min_size=3,
    max_size=8,
    unique=True,
)
DETAILS: Final = st.one_of(
    st.integers(0, 10**12).map(str),
    st.floats(0, 1e6).map("{:.3f}s".format),
    st.times().map(lambda time: time.isoformat()),
    st.integers(0, 2**64).map(hex),
    st.uuids().map(lambda each: "3fa9c2d" + each.hex),
)
PATHS: Final = st.lists(st.from_regex(r"[a-z0-9_.-]{1,9}", fullmatch=True), min_size=2).map(
    "/".join
)
QUOTES: Final = st.sampled_from(["''", '""', "``", "‘’", "“”"])
QUOTED: Final = st.builds("{0[0]}{1}{0[1]}".format, QUOTES, st.text("ab 1/é", max_size=9))


@given(st.data(), WORDS)
def test_what_differs_in_its_details_alone_is_the_same(
    data: st.DataObject, words: list[str]
) -> None:
    kinds = [data.draw(st.sampled_from([DETAILS, PATHS, QUOTED])) for _ in words]

    def line() -> str:
        return " ".join(
            f"{word} {data.draw(kind)}" for word, kind in zip(words, kinds, strict=True)
        )

    one, other = f"ValueError: {line()}", f"ValueError: {line()}"
    assert masked(one) == masked(other)
    assert fingerprint(one) == fingerprint(f"{TRACE}{other}\n") is not None


@given(st.text() | st.text("E :'\"`/\\0a\n\r\x1b[]rorER", max_size=200))
def test_any_text_is_read(text: str) -> None:
    found = fingerprint(text)
    assert found is None or re.fullmatch(f"[0-9a-f]{{{DIGITS}}}", found)
    assert evidence_of(text)[:1] == (() if found is None else (ERROR + found,))
    assert found is None or check_evidence([ERROR + found])
    assert "\n" not in masked(telling_line(text))


@pytest.mark.long
@pytest.mark.parametrize(
    "part",
    ["a", " ", "'", '"', "`", "‘", "“", "«", "/", "\\", "0", "0:", "a:", ".", "Error", "Error.",
     "E ", "error", "error ", "error:", "\x1b", "\x1b[", "\x1b]", "\x1b[0;", "\r", "\n", "(", "=",
     "[a] ", "1:1 ", "a:1:", "10:00 ", "E x\n", "XError: \n", " panicked at :\n",
     "Traceback (most recent call last):\n", "\ud800"],
)  # fmt: skip
def test_the_time_is_linear_in_the_text(part: str) -> None:
    text = part * (300_000 // len(part))
    assert seconds(lambda: fingerprint(text)) < STALLED
    assert seconds(lambda: masked(text)) < STALLED
    assert seconds(lambda: essence(text)) < STALLED
