"""The block that a model reads: never over its budget, stable where it must be, adding up."""

import json
from itertools import takewhile
from typing import Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pmem.core.context import TITLES, Candidates, Context, Format, Item, Omitted, build
from pmem.core.tokens import count_tokens

FORMATS: tuple[Format, ...] = ("markdown", "json", "messages")
TITLE = "Memory of Phoenix"

PIECES = ["word ", "x", "naïve ", "日本語", '"quoted" ', "a\\b ", "## Recalled ", "😀", "(pmem: 1 "]
lines = st.builds(
    lambda piece, times: " ".join((piece * times).split()),
    st.sampled_from(PIECES),
    st.sampled_from([1, 2, 3, 5, 8, 13, 40, 200]),
)


def items(most: int = 8) -> st.SearchStrategy[list[Item]]:
    """Draw items that differ in length, heading and role, with ids in no order."""
    one = st.tuples(lines, st.integers(0, 5), st.integers(0, 99))
    return st.lists(one, max_size=most).map(
        lambda drawn: [
            Item(
                id=f"x-{number:08d}",
                text=text,
                heading=("", "project", "knowledge")[kind % 3],
                role=("user", "assistant")[kind % 2],
            )
            for text, kind, number in drawn
        ]
    )


def _once(found: list[Item]) -> list[Item]:
    return list({item.id: item for item in found}.values())


def _apart(found: list[Item], mark: str) -> list[Item]:
    return [msgspec.structs.replace(item, id=f"{mark}-{item.id}") for item in _once(found)]


@st.composite
def candidates(draw: st.DrawFn) -> Candidates:
    """Draw candidates; what is recalled may stand among memories or messages as well."""
    memory, recent = _once(draw(items())), _apart(draw(items()), "m")
    shared = [*memory, *recent][draw(st.integers(0, 9)) :][:5]
    recalled = _once([*shared, *_apart(draw(items()), "r")])
    ruled_out = memory[draw(st.integers(0, 9)) :][:3]
    names = {item.id: item for item in ruled_out}
    return Candidates(
        memory=memory,
        recalled=[item for item in recalled if item.id not in names],
        summaries=_apart(draw(items(3)), "s"),
        recent=recent,
        left_out=[Omitted(name, "below_threshold") for name in names],
    )


budgets = st.integers(50, 400) | st.integers(50, 200_000)
shares = st.sampled_from([0.0, 0.3, 0.6, 1.0])
formats = st.sampled_from(FORMATS)


def built(
    given_: Candidates,
    budget: int,
    share: float = 0.6,
    format_: Format = "markdown",
    title: str = TITLE,
) -> Context:
    return build(title, given_, budget, recent_share=share, format_=format_, count=count_tokens)


def ids(context: Context, section: str | None = None) -> list[str]:
    return [
        item.id for part in context.sections if section in (None, part.name) for item in part.items
    ]


@given(candidates(), budgets, shares, formats, lines)
def test_a_context_is_never_over_its_budget(
    given_: Candidates, budget: int, share: float, format_: Format, title: str
) -> None:
    context = built(given_, budget, share, format_, title)
    assert context.tokens == count_tokens(context.text)
    assert context.tokens <= budget
    assert context.budget == budget


@given(candidates(), st.integers(1, 49), formats)
def test_a_tiny_budget_holds_too(given_: Candidates, budget: int, format_: Format) -> None:
    assert built(given_, budget, format_=format_).tokens <= budget


@given(candidates(), budgets, shares, formats)
def test_the_same_input_gives_the_same_bytes(
    given_: Candidates, budget: int, share: float, format_: Format
) -> None:
    assert built(given_, budget, share, format_) == built(given_, budget, share, format_)


@given(candidates(), candidates(), budgets, shares, formats)
def test_the_stable_block_is_the_same_for_any_query(
    one: Candidates, other: Candidates, budget: int, share: float, format_: Format
) -> None:
    same = Candidates(memory=one.memory, recent=one.recent, summaries=one.summaries)
    asked = [
        msgspec.structs.replace(same, recalled=part.recalled, left_out=part.left_out)
        for part in (one, other, Candidates())
    ]
    contexts = [built(part, budget, share, format_) for part in asked]
    blocks = [_stable(context, format_) for context in contexts]
    assert blocks[0] == blocks[1] == blocks[2]


def _stable(context: Context, format_: Format) -> Any:
    """Return everything up to the end of the memory block."""
    if format_ == "markdown":
        others = {title for name, title in TITLES.items() if name != "memory"}
        text = context.text.split("\n")
        return list(takewhile(lambda line: line not in others and line[:6] != "(pmem:", text))
    return ids(context, "memory")


@given(candidates(), budgets, shares, formats)
def test_the_receipt_adds_up(
    given_: Candidates, budget: int, share: float, format_: Format
) -> None:
    context = built(given_, budget, share, format_)
    shown = ids(context)
    omitted = [item.id for item in context.omitted]
    offered = {
        item.id
        for part in (given_.memory, given_.recalled, given_.summaries, given_.recent)
        for item in part
    } | {item.id for item in given_.left_out}
    assert len(shown) == len(set(shown))
    assert len(omitted) == len(set(omitted))
    assert set() == set(shown) & set(omitted)
    assert offered == set(shown) | set(omitted)
    if context.text:
        assert f"(pmem: {len(shown)} shown, {len(omitted)} left out)" in context.text
    else:
        assert shown == []


@given(candidates(), budgets, formats)
def test_the_text_holds_what_the_sections_say(
    given_: Candidates, budget: int, format_: Format
) -> None:
    context = built(given_, budget, format_=format_)
    if not context.text:
        return
    text = context.text if format_ == "markdown" else json.dumps(json.loads(context.text))
    for section in context.sections:
        assert section.items
        for item in section.items:
            shown = item.text if format_ == "markdown" else json.dumps(item.text)[1:-1]
            assert shown in text
    assert context.allocation.total_tokens == context.tokens


@given(candidates(), budgets, shares)
@example(Candidates(), 50, 0.6)
def test_recent_messages_stand_in_their_order_and_without_gaps(
    given_: Candidates, budget: int, share: float
) -> None:
    recent = [item.id for item in given_.recent]
    shown = ids(built(given_, budget, share), "recent")
    assert shown == recent[len(recent) - len(shown) :]


@given(candidates())
def test_everything_is_shown_where_there_is_room(given_: Candidates) -> None:
    context = built(given_, 200_000)
    left = {item.id for item in given_.left_out} - set(ids(context))
    assert left == {item.id for item in context.omitted}


def _many(count: int, mark: str) -> list[Item]:
    return [Item(id=f"{mark}-{n:08d}", text=f"{mark} {n} " + "word " * 18) for n in range(count)]


def test_unused_shares_flow_on() -> None:
    memory, recent = _many(200, "memory"), _many(200, "recent")
    full = built(Candidates(memory=memory, recalled=memory, recent=recent), 2000)
    alone = built(Candidates(memory=memory, recalled=memory), 2000)
    assert full.tokens > 1800
    assert alone.tokens > 1800
    assert len(ids(alone)) > len(ids(full)) - len(ids(full, "recent"))


def test_recent_messages_get_their_share() -> None:
    given_ = Candidates(memory=_many(200, "a"), recalled=_many(200, "b"), recent=_many(200, "c"))
    small, large = (built(given_, 4000, share) for share in (0.2, 0.8))
    tokens = [
        {part.name: part.tokens for part in context.sections}["recent"]
        for context in (small, large)
    ]
    assert tokens[0] < 1000 < 2400 < tokens[1]


@pytest.mark.parametrize("format_", FORMATS)
def test_a_large_memory_fills_a_small_part_of_a_large_budget_quickly(format_: Format) -> None:
    given_ = Candidates(memory=_many(3000, "a"), recalled=_many(3000, "b"), recent=_many(50, "c"))
    calls = 0

    def count(text: str) -> int:
        nonlocal calls
        calls += 1
        return count_tokens(text)

    context = build(TITLE, given_, 50_000, recent_share=0.6, format_=format_, count=count)
    assert 40_000 < context.tokens <= 50_000
    assert calls < 40_000


def test_formats_are_what_they_say() -> None:
    given_ = Candidates(
        memory=[Item(id="a-1", text='Say "hi"', heading="style")],
        recent=[Item(id="m-1", text="Ada: Hello", role="user")],
    )
    markdown = built(given_, 500).text
    assert markdown.startswith(f"# {TITLE}\n")
    assert '### style\n\n- Say "hi"\n' in markdown
    assert markdown.endswith("(pmem: 2 shown, 0 left out)\n")
    document = json.loads(built(given_, 500, format_="json").text)
    assert [[item["id"], item["text"]] for item in document["sections"][0]["items"]] == [
        ["a-1", 'Say "hi"']
    ]
    messages = json.loads(built(given_, 500, format_="messages").text)
    assert [message["role"] for message in messages] == ["system", "user"]
    assert messages[1]["content"] == "Ada: Hello"
