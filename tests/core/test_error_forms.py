"""The same error is the same wherever it is reported, and another one is not."""

from typing import Final

import pytest

from pmem.core.error_fingerprint import essence, fingerprint
from tests.work import STALLED, seconds

TRACE: Final = 'Traceback (most recent call last):\n  File "/w/pay.py", line 9, in f\n    go()\n'
RUST: Final = "thread 'main' panicked at "

SAME: Final = {
    # Python
    "bare line": (f"{TRACE}ValueError: bad port\n", "ValueError: bad port"),
    "log": (
        f"{TRACE}ValueError: bad port\n",
        "2026-11-22 10:00:01 ERROR app: ValueError: bad port",
    ),
    "worker": ("ValueError: bad port", "[worker-3] ValueError: bad port"),
    "level": ("ValueError: bad port", "ERROR:root:ValueError: bad port"),
    "pytest E": (f"{TRACE}ValueError: bad port", "E   ValueError: bad port"),
    "pytest FAILED": (
        "ValueError: bad port",
        "FAILED tests/test_a.py::test_b - ValueError: bad port",
    ),
    "named exception": (
        f"{TRACE}shop.LedgerError: month 3 is closed",
        "10:00:01,123 CRITICAL shop.LedgerError: month 9 is closed",
    ),
    "colours": ("\x1b[31mValueError: bad port\x1b[0m", "ValueError: bad port"),
    "context": (f"{TRACE}KeyError: 'a'\n\n{TRACE}ValueError: no rate", "ValueError: no rate"),
    "pip": (
        "ERROR: No matching distribution found for nosuch==1.0",
        "pip: error: No matching distribution found for nosuch==2.0",
    ),
    # JavaScript
    "node": (
        "Error: Cannot find module 'x'\n    at f (/w/a.js:3:4)",
        "Uncaught Error: Cannot find module 'y'",
    ),
    "node type": (
        "/w/a.js:3\n\nTypeError: x is not a function\n    at f (/w/a.js:3:4)",
        "Uncaught TypeError: x is not a function",
    ),
    "npm": ("npm ERR! code ERESOLVE\nnpm ERR! could not resolve", "npm error code ERESOLVE"),
    "npm script": ("npm ERR! Missing script: build", "npm error Missing script: build"),
    "tsc": (
        "src/a.ts(3,5): error TS2345: Argument of type 'A' is not assignable",
        "src/b.ts:9:12 - error TS2345: Argument of type 'B' is not assignable",
    ),
    "eslint": (
        "  3:5  error  'x' is not defined  no-undef",
        "12:1 error 'x' is not defined no-undef",
    ),
    "yarn": (
        "error Command not found in scripts",
        "2026-01-02T03:04:05Z error Command not found in scripts",
    ),
    # compiled languages
    "rust panic": (
        f"{RUST}'no rate for month', src/m.rs:4:5",
        f"{RUST}src/n.rs:9:1:\nno rate for month",
    ),
    "rustc": (
        "error[E0382]: borrow of moved value: `x`",
        "error[E0382]: borrow of moved value: `y`",
    ),
    "go": ("./a.go:3:5: undefined: rateOf", "b/c.go:30:1: undefined: rateOf"),
    "go panic": (
        "panic: runtime error: index out of range [5] with length 3",
        "panic: runtime error: index out of range [7] with length 0",
    ),
    "gcc": ("a.c:3:5: error: expected ';' before 'int'", "error: expected ';' before 'int'"),
    "clang": (
        "ld: symbol(s) not found for architecture arm64",
        "[12/90] ld: symbol(s) not found for architecture arm64",
    ),
    "java": (
        'Exception in thread "main" java.io.IOException: Broken pipe here\n\tat a.b(C.java:3)',
        "Caused by: java.io.IOException: Broken pipe here",
    ),
    "maven": (
        "[ERROR] Failed to compile module billing: missing symbols",
        "Failed to compile module billing: missing symbols",
    ),
    # tools
    "git": ("fatal: not a git repository", "git: fatal: not a git repository"),
    "psql": (
        'psql: error: connection to server at "db" failed',
        'error: connection to server at "other" failed',
    ),
    "postgres": (
        'ERROR:  relation "a" does not exist',
        '2026-11-22 10:00:01.123 UTC [77] ERROR:  relation "b" does not exist',
    ),
    "docker": (
        'failed to solve: process "/bin/sh -c make" did not complete successfully: exit: 2',
        'ERROR: failed to solve: process "/bin/sh -c make" did not complete successfully: exit: 1',
    ),
    "kubectl": (
        'Error from server (NotFound): pods "a-1" not found',
        '12:00:00 Error from server (NotFound): pods "b-2" not found',
    ),
    "curl": (
        "curl: (7) Failed to connect to db port 80",
        "curl: (7) Failed to connect to db port 443",
    ),
    "ssh": (
        "git@example.org: Permission denied (publickey).",
        "[3/9] git@example.org: Permission denied (publickey).",
    ),
    "shell": ("bash: line 1: foo: command not found", "bash: line 9: foo: command not found"),
}
OTHER: Final = {
    "docker": (
        'failed to solve: process "/bin/sh -c make" did not complete successfully: exit code: 1',
        'failed to solve: process "/bin/sh -c npm ci" did not complete successfully: exit code: 1',
    ),
    "called process": (
        "subprocess.CalledProcessError: Command '['make', 'all']' returned non-zero exit status 2.",
        "subprocess.CalledProcessError: Command '['git', 'push']' returned non-zero exit status 2.",
    ),
    "gradle": (
        "* What went wrong:\nExecution failed for task ':app:compileJava'.",
        "* What went wrong:\nExecution failed for task ':app:test'.",
    ),
    "exception": ("ValueError: bad port", "TypeError: bad port"),
    "message": ("ValueError: bad port", "ValueError: bad host name"),
    "logged": (
        "2026-01-02 10:00:00 ERROR a: ValueError: bad port",
        "2026-01-02 10:00:00 ERROR a: bad port here",
    ),
    "key": ("KeyError: 'vendor_id'", "KeyError: 'month_name'"),
    "import": (
        "ModuleNotFoundError: No module named 'numpy'",
        "ImportError: cannot import name 'x' from 'y'",
    ),
    "tsc": (
        "a.ts(3,5): error TS2345: Argument of type 'A' is wrong",
        "a.ts(3,5): error TS2322: Argument of type 'A' is wrong",
    ),
    "npm": ("npm ERR! code ERESOLVE", "npm ERR! code EACCES"),
    "rustc": ("error[E0382]: use of value", "error[E0499]: use of value"),
    "panic": (f"{RUST}src/m.rs:4:5:\nno rate for month", f"{RUST}src/m.rs:4:5:\nledger is closed"),
    "go": ("./a.go:3:5: undefined: rateOf", "./a.go:3:5: undefined: monthOf"),
    "gcc": (
        "a.c:3:5: error: expected ';' before 'int'",
        "a.c:3:5: error: too few arguments to call",
    ),
    "java": ("java.io.IOException: Broken pipe here", "java.io.IOException: Stream closed early"),
    "git": ("fatal: not a git repository", "fatal: refusing to merge unrelated histories"),
    "postgres": ('ERROR:  relation "a" does not exist', 'ERROR:  column "a" does not exist'),
    "curl": ("curl: (7) Failed to connect to db", "curl: (6) Could not resolve host: db"),
    "shell": ("bash: line 1: foo: command not found", "bash: line 1: barrel: command not found"),
    "maven": (
        "[ERROR] Failed to compile module billing",
        "[ERROR] Failed to deploy module billing",
    ),
}


@pytest.mark.parametrize("name", SAME)
def test_an_error_is_the_same_in_every_form(name: str) -> None:
    one, other = SAME[name]
    assert fingerprint(one) == fingerprint(other) is not None


@pytest.mark.parametrize("name", OTHER)
def test_another_error_is_another_one(name: str) -> None:
    one, other = OTHER[name]
    assert None not in (fingerprint(one), fingerprint(other))
    assert fingerprint(one) != fingerprint(other)


@pytest.mark.parametrize("part", [" ", "[a] ", "1:1 ", "a:1:", "error ", "10:00 ", "E ", "a.", "X"])
def test_looking_for_what_stands_before_takes_linear_time(part: str) -> None:
    line = part * (100_000 // len(part))
    assert seconds(lambda: essence(line)) < STALLED
