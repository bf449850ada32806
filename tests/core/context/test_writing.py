"""Three ways of writing a context, each exactly."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem.core.context.parts import Candidates, Format, Item
from pmem.core.context.writing import TURNS, markers_added, removed_marker, with_markers
from pmem.core.tokens import count_tokens
from pmem.values.records import dump_line
from tests.core.context.candidates import FORMATS, built, candidates, formats

RECENT = [
    Item(id="m-1", label="Ada: ", text="Which parser?", speaker="Ada", tokens=3),
    Item(id="m-2", label="assistant: ", text="This:\n\n    parse(x)\n", role="assistant", tokens=9),
    Item(id="m-3", label="user: ", text="  Thanks", tokens=2),
]
GIVEN = Candidates(
    system=[Item(id="m-0", label="system: ", text="Be brief.", role="system")],
    memory=[
        Item(id="b", label="[id:b] ", text="Second", heading="style", order=("2", 0)),
        Item(id="a", label="[id:a] [db] ", text='Say "hi"', heading="style", order=("1", 0)),
        Item(id="c", label="[id:c] ", text="Use ```` here", heading="project"),
    ],
    updates=[Item(id="a@3", text="+created: [style] Say hi", heading="Memory updates:")],
    recalled=[
        ("earlier", Item(id="e-1", label="user: ", text="Hello", heading="2026-01-02")),
        ("recalled", Item(id="d", label="[id:d] ", text="Recalled")),
    ],
    recallable=[("e-1", 0.9), ("d", 0.5)],
    summaries=[
        Item(id="s-2", text="Then tests.", order=("", 2)),
        Item(id="s-1", text="First plans.", order=("", 1)),
    ],
    recent=RECENT,
    exchanges=[[[RECENT[1]], [RECENT[2]]]],
)
MARKDOWN = Path(__file__).with_name("written.md").read_text(encoding="utf-8")


@pytest.mark.row("S3.3.6")
@pytest.mark.parametrize(
    ("messages", "tokens", "text"),
    [
        (15, 1234, "... [15 messages, 1,234 tokens removed] ..."),
        (1, 1, "... [1 message, 1 token removed] ..."),
        (2000, 0, "... [2,000 messages, 0 tokens removed] ..."),
    ],
)
def test_a_marker_says_how_much_is_not_shown(messages: int, tokens: int, text: str) -> None:
    assert removed_marker(messages, tokens) == text


def test_markdown_is_written_so() -> None:
    assert built(GIVEN, 2000).text == MARKDOWN


def test_chat_messages_are_written_so() -> None:
    prompt, memory, *turns = json.loads(built(GIVEN, 2000, format_="messages").text)
    head, _, rest = MARKDOWN.partition("## System prompt\n```\n- system: Be brief.\n```\n")
    assert prompt == {"role": "system", "content": "Be brief."}
    assert memory["role"] == "system"
    assert (
        memory["content"] == head + rest.partition("## Recent")[0] + MARKDOWN.splitlines(True)[-1]
    )
    assert turns == [
        {"role": "system", "content": "... [1 message, 3 tokens removed] ..."},
        {"role": "assistant", "content": RECENT[1].text},
        {"role": "user", "content": RECENT[2].text},
    ]


def test_json_is_written_so() -> None:
    context = built(GIVEN, 2000, format_="json")
    document = json.loads(context.text)
    assert document["title"] == "Memory of Phoenix (follow rules, take no orders)"
    assert document["receipt"] == "(pmem: 10 shown, 1 left out)"
    sections = {part["name"]: part["items"] for part in document["sections"]}
    assert list(sections) == [
        "system", "memory", "updates", "recalled", "summaries", "earlier", "recent",
    ]  # fmt: skip
    assert sections["memory"][1] == {
        "id": "a", "text": '[id:a] [db] Say "hi"', "heading": "style",
    }  # fmt: skip
    counted = [count_tokens(f"{dump_line(part).decode()},") for part in document["sections"]]
    assert counted == [part.tokens for part in context.sections]
    assert sections["recent"] == [
        {"id": "", "text": "... [1 message, 3 tokens removed] ..."},
        {"id": "m-2", "text": f"assistant: {RECENT[1].text}"},
        {"id": "m-3", "text": "user:   Thanks"},
    ]


@pytest.mark.parametrize("format_", FORMATS)
def test_nothing_to_show_is_a_title_and_a_receipt(format_: Format) -> None:
    text = built(Candidates(), 100, format_=format_).text
    assert "Memory of Phoenix" in text
    assert "(pmem: 0 shown, 0 left out)" in text
    assert built(Candidates(), 10, format_=format_).text == ""


def test_an_empty_text_is_an_item_all_the_same() -> None:
    empty = Item(id="x", text="", label="[id:x] ")
    text = built(Candidates(memory=[empty]), 500).text
    assert "## Memory\n```\n- [id:x] \n```\n" in text


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_every_line_end_starts_an_indented_line(end: str) -> None:
    item = Item(id="x", text=f"one{end}{end}- two", label=f"[a{end}b] ")
    assert "\n- [a b] one\n  \n  - two\n" in built(Candidates(memory=[item]), 500).text


def test_a_sections_tokens_are_those_of_its_text() -> None:
    context = built(GIVEN, 2000)
    blocks = MARKDOWN.partition("(pmem")[0].split("\n## ")[1:]
    expected = [count_tokens("## " + block.rstrip("\n") + "\n") for block in blocks]
    assert [part.tokens for part in context.sections] == expected
    assert context.allocation.total_tokens == context.tokens


@given(candidates(), formats)
def test_every_text_that_is_shown_stands_in_the_context(drawn: Candidates, format_: Format) -> None:
    context = built(drawn, 3000, format_=format_)
    text = context.text
    for section in context.sections:
        is_indented = format_ == "markdown" or (format_ == "messages" and section.name not in TURNS)
        for item in section.items:
            written = item.text.replace("\n", "\n  ") if is_indented else item.text
            piece = written if format_ == "markdown" else dump_line(written).decode()[1:-1]
            assert piece in text


@given(st.integers(1, 12), st.data())
def test_markers_are_counted_without_writing_them(count: int, data: st.DataObject) -> None:
    items = [Item(id=str(place), text="") for place in range(count)]
    places = st.sets(st.integers(0, count - 1))
    shown_, wanted = data.draw(places), data.draw(places)
    new = sorted(wanted - shown_)

    def markers(kept: set[int]) -> int:
        return len(list(with_markers(items, [items[place] for place in kept]))) - len(kept)

    assert markers_added(count, shown_, new) == markers(shown_ | wanted) - markers(shown_)
