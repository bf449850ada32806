"""Records as text: everything is told, on lines that compare well and act on no terminal."""

from hypothesis import given
from hypothesis import strategies as st

from pmem.core.rawjson import load
from pmem.values.records import dump
from pmem.vcs.gitmerge import readable
from tests import strategies

FIELDS = ("content", "title", "tags", "recent_messages", "source", "history", "new")


@given(strategies.any_record)
def test_any_record_is_told_in_visible_lines(record: object) -> None:
    value = load(dump(record))
    text = readable(value)
    assert text.endswith("\n")
    assert "\x1b" not in text
    assert "\r" not in text
    assert f"id: {value['id']}\n" in text


def test_a_memory_is_told_content_first_and_its_history_last() -> None:
    memory = {
        "id": "a-k3v9k3v9",
        "content": "We use PostgreSQL\nsince May",
        "tags": ["db", "sql"],
        "scope": {"app": "shop"},
        "purge_at": None,
        "relationships": [{"target": "b-p7q2p7q2", "type": "updates", "strength": 0.50}],
        "citations": [{"file": "a.py", "lines": [3, 5], "digest": "00"}],
        "new": [1, {"deep": True}],
        "history": [{"event": "UPDATE", "at": "now", "before": {"content": "a\nb"}}, "odd"],
    }
    assert readable(memory) == (
        "We use PostgreSQL\nsince May\n\nid: a-k3v9k3v9\ntags: db, sql\nscope: app shop\n"
        "relationships:\n  target b-p7q2p7q2, type updates, strength 0.5\n"
        "citations:\n  file a.py, lines 3-5, digest 00\n"
        "new:\n  1\n  deep true\nnow UPDATE\n  was content: a\\nb\nodd\n"
    )


def test_a_conversation_is_told_as_who_said_what() -> None:
    message = {"id": "m", "role": "user", "speaker": "Ada", "content": "Hi\nyou", "tokens": 2}
    talk = {"id": "c", "recent_messages": [message]}
    assert readable(talk) == (
        "id: c\nrecent_messages:\n  Ada user:\n    Hi\n    you\n    id: m\n    tokens: 2\n"
    )


@given(st.sampled_from(FIELDS), strategies.json_values)
def test_what_is_no_record_is_told_as_well(field: str, value: object) -> None:
    assert readable({"id": "a", field: value}).endswith("\n")


def test_a_line_break_in_a_short_text_makes_no_line() -> None:
    hostile = {
        "tags": ["a\nstate: active"],
        "b\nstate": 1,
        "scope": {"c\nstate": 2},
        "recent_messages": [{"content": "", "speaker": "d\nstate", "e\nstate": 3}],
        "history": [{"event": "f\nstate", "detail": {"g\nstate": 4}}],
    }
    assert readable(hostile).count("\\nstate") == 7
    assert readable(hostile).count("\nstate") == 0
