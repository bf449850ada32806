"""A memory with emoji, Chinese, Japanese, Arabic and Hebrew in every field, and screens of it."""

import io
import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import blake2b
from itertools import count
from typing import Final
from unittest import mock

from pmem.cli.app import run
from tests.cli.shell import NOTHING, pmem

NOW: Final = "2026-11-21T14:30:00Z"
FAMILY: Final = "👩‍👩‍👧‍👦"
_CITED: Final = "docs/設計.md"
_STORY: Final[tuple[tuple[str, str, list[str]], ...]] = (
    ("2025-06-01T08:00:00Z", "ada", [
        "add", "The old rate limit is 10 requests per second", "--valid-until", "2026-01-01",
    ]),
    ("2026-11-02T09:00:00Z", "נועה", [
        "add", "日本語のテキストはここにあります。データベースは PostgreSQL を使います。",
        "--type", "decision", "--subject", "データベース", "--tag", "設計", "--cite", _CITED
    ]),
    ("2026-11-16T09:00:00Z", f"Ann {FAMILY}", [
        "add",
        f"Emoji {FAMILY} and Cafe\u0301 nai\u0308ve re\u0301sume\u0301: we greet users with 🎉"
        " in the release notes, and the release notes are long enough to wrap around on a"
        " terminal that is as wide as most of them are, which is eighty columns and no more",
        "--pin", "--tag", "greetings", "--tag", "🎉"
    ]),
    ("2026-11-19T09:00:00Z", "ben", [
        "add", "لا ننشر يوم الجمعة أبدا، ولا قبل العطل الرسمية، إلا بعد موافقة الفريق كله",
        "--type", "constraint", "--subject", "النشر"
    ]),
    ("2026-11-20T20:00:00Z", "ben", [
        "add",
        "See https://example.org/a/very/long/address/that/no/line/of/any/terminal/holds/as"
        "/it/goes/on/and/on/without/a/single/space/until/its/end for the database"
    ]),
    ("2026-11-21T14:05:00Z", "ada", [
        "add", "CI runs on two runners with 2 cores; the full test run takes 11 minutes there",
        "--subject", "CI", "--tag", "ci"
    ]),
)  # fmt: skip
_SAID: Final = (
    ("Mira", "Which database do we take for the orders?"),
    ("אבי", "בוא ניקח את PostgreSQL, היא מוכרת לכולנו"),
    ("Mira", "Why not another one?"),
    (f"Ann {FAMILY}", "We decided to use PostgreSQL for the orders, because it has four writers."),
)
_EDITED: Final = "CI runs on four runners with 4 cores; the full test run takes 6 minutes there"


@contextmanager
def known_ids() -> Iterator[None]:
    numbers = count()

    def urandom(size: int) -> bytes:
        return blake2b(str(next(numbers)).encode(), digest_size=size).digest()

    with mock.patch.object(os, "urandom", urandom):
        yield


def tell_story() -> dict[str, str]:
    """Make the memory in the current folder; return some of its ids by what they stand for."""
    os.makedirs("docs", exist_ok=True)
    with open(_CITED, "w", encoding="utf-8") as file:
        file.write("一つの記録に一つのファイル\n")
    with known_ids():
        ids = [_added(at, actor, line) for at, actor, line in _STORY]
        _, japanese, emoji, arabic, _, runners = ids
        _do("2026-11-21T14:08:00Z", "ben", "edit", runners, _EDITED, "--importance", "0.8")
        _do("2026-11-21T14:09:00Z", "ada", "edit", runners, "--link", f"{japanese}:depends_on")
        _do("2026-11-21T14:10:00Z", "ada", "edit", runners, "--link", emoji)
        _do("2026-11-21T14:11:00Z", "ada", "conversation", "start", f"注文の話 {FAMILY}")
        for number, (speaker, text) in enumerate(_SAID):
            at = f"2026-11-21T14:{12 + number}:00Z"
            _do(at, "ada", "conversation", "say", text, "--speaker", speaker)
        summary = "הוחלט: PostgreSQL 🎉"
        _do("2026-11-21T14:20:00Z", "ada", "episode", "add", summary, "--title", "選定 of a store")
    with open(_CITED, "w", encoding="utf-8") as file:
        file.write("もう違います\n")
    _change(arabic, lambda record: record["source"].update(kind="import"))
    _change(runners, _dispute)
    return {"runners": runners, "japanese": japanese, "emoji": emoji, "arabic": arabic}


def screen(*arguments: str, columns: int, environment: Mapping[str, str] = NOTHING) -> str:
    """Return what a command prints on a terminal of so many columns, in colour.

    A context itself is for models; of `context` it is what is said of it.
    """
    out, err = (_Terminal(io.BytesIO(), "utf-8", newline="\n", write_through=True) for _ in "12")
    kept = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "COLORTERM")}
    kept |= {"COLUMNS": str(columns), "TERM": "xterm-256color", "PMEM_NOW": NOW, **environment}
    with (
        mock.patch.dict(os.environ, kept, clear=True),
        mock.patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO())),
        mock.patch.object(sys, "stdout", out),
        mock.patch.object(sys, "stderr", err),
    ):
        run(list(arguments))
    printed = (err,) if arguments[0] == "context" else (out, err)
    return "".join(each.buffer.getvalue().decode() for each in printed)  # type: ignore[attr-defined]


class _Terminal(io.TextIOWrapper):
    def isatty(self) -> bool:
        return True


def _added(at: str, actor: str, line: list[str]) -> str:
    return str(json.loads(_do(at, actor, *line, "--json"))["data"]["memory"]["id"])


def _do(at: str, actor: str, *line: str) -> str:
    done = pmem(*line, environment={"PMEM_NOW": at, "PMEM_ACTOR": actor})
    assert done.code == 0, done.said
    return done.text


def _change(identifier: str, change: object) -> None:
    path = f".project-memory/long-term-memory/{identifier}.json"
    with open(path, encoding="utf-8") as file:
        record = json.load(file)
    record.setdefault("source", {})
    change(record)  # type: ignore[operator]
    with open(path, "w", encoding="utf-8") as file:
        json.dump(record, file, ensure_ascii=False, indent=2)


def _dispute(record: dict[str, object]) -> None:
    """Write down that another branch says something else, as git's merge does."""
    other = "CI runs on two runners with 2 cores; the full run takes 9 minutes 🐢"
    event = {
        "event": "MERGE",
        "at": "2026-11-21T14:25:00Z",
        "source": "git",
        "before": {"content": other},
        "detail": {"conflict": ["content"]},
    }
    record["history"].append(event)  # type: ignore[attr-defined]
