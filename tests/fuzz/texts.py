"""The ways in for text: words, questions, summaries, extraction, rules, what a terminal shows."""

from collections.abc import Callable
from typing import Any, Final

from pmem.cli.render import clean
from pmem.core import consent, style_rules, tokens
from pmem.core.context.writing import block
from pmem.core.duplicates import comparing, reading
from pmem.core.extraction import episodes, facts
from pmem.core.lines import shortened
from pmem.core.pruning import kinds, segments
from pmem.core.retrieval.question import plan_question
from pmem.core.summaries import summary
from pmem.core.text.terms import characters, fold, parse_query, sequence, terms, written_dates
from pmem.core.visible import escape_markdown, one_visible_line, visible
from pmem.values.config import Settings
from pmem.values.records import Memory, Message, Role
from tests.fuzz.files import NOW
from tests.fuzz.judging import Entry

_ROLES: Final = (Role.USER, Role.ASSISTANT, Role.TOOL, Role.USER)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _odd_text(data: bytes) -> str:
    """Return a text that may hold halves of pairs, as arguments and file names do."""
    return data.decode("utf-8", "surrogateescape")


def _said(data: bytes) -> list[Message]:
    """Return the paragraphs of a text as messages."""
    return [
        Message(id=f"m-{place:08}", role=_ROLES[place % 4], content=part, created_at=NOW)
        for place, part in enumerate(_text(data).split("\n\n"))
        if part.strip()
    ]


def _words(data: bytes) -> Any:
    text = _odd_text(data)
    folded = fold(text)
    found = terms(text)
    assert all(found)
    return folded, found, sequence(text), characters(text), written_dates(text)


def _question(data: bytes) -> Any:
    text = _odd_text(data)
    return parse_query(text), plan_question(text, {"ada": ["Ada"]}, 0.5)


def _visible(data: bytes) -> Any:
    for text in (_text(data), _odd_text(data)):
        shown = visible(text)
        assert visible(shown) == shown
        assert not set(shown) & set(map(chr, (*range(9), *range(11, 32), *range(127, 160))))
        assert not set(one_visible_line(text)) & set("\n\t\x1b")
        shown.encode()
        assert clean(text) == shown
    return shown, escape_markdown(shown)


def _tokens(data: bytes) -> Any:
    return tokens.count_tokens(_text(data))


def _claims(data: bytes) -> Any:
    one, other = (_text(part) for part in data.partition(b"\n\n")[::2])
    claims = reading.claim_of(one), reading.claim_of(other)
    close = comparing.closeness(*claims)
    assert 0 <= close <= 1
    return comparing.compare(*claims), comparing.near(*claims), close


def _facts(data: bytes) -> Any:
    found = [
        (item, facts.key(item.content)) for said in _said(data) for item in facts.extract(said)
    ]
    assert all(item.content.strip() for item, _ in found)
    return found


def _moments(data: bytes) -> Any:
    said = _said(data)
    return episodes.moments(said) if said else ()


def _pruning(data: bytes) -> Any:
    said = _said(data)
    return [kinds.kinds_of(item) for item in said], segments.tasks(said)


def _summary(data: bytes) -> Any:
    said = _said(data)
    whole = summary.summarise(said, tokens.count_tokens)
    short = summary.merged(whole, _text(data)[:2000], tokens.count_tokens, 100)
    return whole, short, shortened(_text(data), summary.SENTENCE_CHARACTERS)


def _rules(data: bytes) -> Any:
    text, settings = _text(data), Settings()
    return (
        consent.sensitive(text, settings.consent.fields, subject=text[:100]),
        consent.benign(settings.consent.fields, [text]),
        style_rules.lints(text),
        style_rules.lints(text, episodic=True),
    )


def _block(data: bytes) -> str:
    text = _text(data)
    memory = Memory(
        id="0a0a0a0a-k3v9m2x1",
        content=text,
        category=text[:40],
        valid_from=NOW,
        created_at=NOW,
        updated_at=NOW,
    )
    return block([memory])


_TALK: Final = """We decided to use PostgreSQL 17 because of its JSON support, e.g. for logs.
I prefer tabs; never deploy on Fridays! My e-mail is ada@example.org, call +49 30 1234567.

Error: connection refused at db.py:12
Traceback (most recent call last):
  File "x.py", line 3
ValueError: no

Fixed it — the port was wrong (5433 instead of 5432). "The queue is RabbitMQ", she said.

- Milestone reached on 21 November 2026; next: v2.0.1, see https://example.org/a?b=c#d
```python
print("x")
```
日本語のテキスト。 Çà et là, naïve Größe. 👩‍👩‍👧 The meeting is on 2026-11-21 at 14:30.
""".encode()
_QUESTIONS: Final = (
    b'which "message queue" do we use, Ada?',
    b"when did PostgreSQL 17 replace MySQL in March 2026?",
    b'"unclosed phrase -not +and OR (a AND b) state:active',
    "日本語 データベース café".encode(),
)


def _entry(name: str, run: Callable[[bytes], Any], *examples: bytes) -> Entry:
    return Entry(name, run, examples or (_TALK, *_QUESTIONS))


ENTRIES: Final = (
    _entry("text: words", _words),
    _entry("text: questions", _question, *_QUESTIONS),
    _entry("text: visible", _visible),
    _entry("text: tokens", _tokens),
    _entry("text: duplicates", _claims, b"We use PostgreSQL 17\n\nWe no longer use PostgreSQL 16"),
    _entry("text: facts", _facts),
    _entry("text: episodes", _moments),
    _entry("text: pruning", _pruning),
    _entry("text: summaries", _summary),
    _entry("text: consent and writing", _rules),
    _entry("text: blocks for models", _block),
)
