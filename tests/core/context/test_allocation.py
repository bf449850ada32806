"""What fills a budget: never more than it, in the order of priority, and nothing twice."""

import json
import re
from collections import Counter as Tally
from collections.abc import Sequence
from functools import cache
from itertools import takewhile
from typing import Any

import msgspec
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pmem.core.context.allocation import HUGE, SMALL_EXCHANGE, build
from pmem.core.context.filling import PINNED
from pmem.core.context.parts import (
    TITLES,
    Candidates,
    Context,
    Counter,
    Exchange,
    Format,
    Item,
    ShownItem,
)
from pmem.core.context.worth import Price
from pmem.core.tokens import count_tokens
from tests.core.context.candidates import (
    COUNTERS,
    FORMATS,
    TITLE,
    budgets,
    built,
    candidates,
    counters,
    everything,
    formats,
    ids,
    moody,
    shares,
    shown,
    texts,
)

RECEIPT = re.compile(r"\(pmem: (\d+) shown, (\d+) left out(?:: ([^)]*))?\)")
MARKER = re.compile(r"\.\.\. \[([\d,]+) messages?, ([\d,]+) tokens? removed\] \.\.\.")


@pytest.mark.row("S3.9.3", "S3.9.5", "S3.10.5")
@given(candidates(), budgets, shares, formats, st.sampled_from((*COUNTERS, moody)), texts)
def test_a_context_is_never_over_its_budget(
    drawn: Candidates, budget: int, share: float, format_: Format, count: Counter, title: str
) -> None:
    context = built(drawn, budget, share, format_, count, title)
    assert context.tokens <= budget == context.budget
    assert context.tokens == (count(context.text) if context.text else 0)


@given(candidates(), budgets, shares, formats, counters)
def test_the_same_input_gives_the_same_bytes(
    drawn: Candidates, budget: int, share: float, format_: Format, count: Counter
) -> None:
    again = msgspec.structs.replace(drawn, recalled=list(drawn.recalled))
    one, other = (built(part, budget, share, format_, count) for part in (drawn, again))
    assert one == other


@given(candidates(), budgets, shares, formats, st.sampled_from((*COUNTERS, moody)))
def test_the_receipt_adds_up(
    drawn: Candidates, budget: int, share: float, format_: Format, count: Counter
) -> None:
    context = built(drawn, budget, share, format_, count)
    present, absent = ids(shown(context)), [item.id for item in context.omitted]
    offered = {*everything(drawn), *(item.id for item in drawn.left_out)}
    assert sorted([*present, *absent]) == sorted(offered)
    if not context.text:
        assert present == []
        return
    found = RECEIPT.findall(_outside(context.text, format_))[-1]
    plain = {"over_budget", "no_match", "below_threshold", "repeated"}  # these go without saying
    told = (item.reason for item in context.omitted if item.reason not in plain)
    reasons = Tally(reason.replace("_", " ") for reason in told)
    assert (int(found[0]), int(found[1])) == (len(present), len(absent))
    assert found[2] == ", ".join(f"{n} {reason}" for reason, n in sorted(reasons.items()))


def _outside(text: str, format_: Format) -> str:
    """Return what holds the receipt in a context."""
    if format_ == "json":
        return str(json.loads(text)["receipt"])
    if format_ == "messages":
        return "\n".join(part["content"] for part in json.loads(text) if part["role"] == "system")
    return text


@given(candidates(), shares, formats)
def test_everything_is_shown_where_there_is_room(
    drawn: Candidates, share: float, format_: Format
) -> None:
    assume(share < 1)
    recalled = [*drawn.recalled, *(("recalled", item) for item in drawn.memory)]
    context = built(msgspec.structs.replace(drawn, recalled=recalled), 200_000, share, format_)
    ruled_out = {item.id for item in drawn.left_out}
    gone = {item.id for item in context.omitted if item.reason == "repeated"}
    for _, item in recalled:  # what is said already brings nothing along
        gone |= {item.id} if item.via in gone else set()
    omitted = [item for item in context.omitted if item.id not in gone]
    assert {item.id for item in omitted} <= ruled_out
    assert {item.reason for item in omitted} <= {"pruned", "below_threshold"}


@given(candidates(), candidates(), budgets, shares, formats, counters)
def test_the_stable_block_is_the_same_whatever_is_asked_or_said(
    one: Candidates, other: Candidates, budget: int, share: float, format_: Format, count: Counter
) -> None:
    same = msgspec.structs.replace(other, system=one.system, memory=one.memory)
    bare = Candidates(system=one.system, memory=one.memory)
    blocks = [_block(built(part, budget, share, format_, count)) for part in (one, same, bare)]
    assert blocks[0] == blocks[1] == blocks[2]


def _block(context: Context) -> tuple[list[ShownItem], Any]:
    """Return the items of the memory block, and how it is written with all before it."""
    memory = shown(context, "memory")
    if not memory:
        return [], None
    if context.text[0] == "#":
        return memory, _head(context.text)
    document = json.loads(context.text)
    if isinstance(document, dict):
        return memory, [part for part in document["sections"] if part["name"] == "memory"]
    return memory, [_head(part["content"]) for part in document if "# Memo" in part["content"]]


def _head(text: str) -> list[str]:
    """Return the lines before the section behind the memory block."""
    ends = {title for name, title in TITLES.items() if name not in ("system", "memory")}
    return list(takewhile(lambda line: line not in ends and line[:6] != "(pmem:", text.split("\n")))


@given(candidates(), st.integers(700, 200_000), st.sampled_from((0.0, 0.3, 0.6)), formats)
def test_a_system_prompt_leaves_the_stable_block_as_it_is_where_there_is_room(
    drawn: Candidates, budget: int, share: float, format_: Format
) -> None:
    short = [item for item in drawn.system if len(item.text) < 300]
    prompted, bare = (
        built(msgspec.structs.replace(drawn, system=part), budget, share, format_)
        for part in (short, ())
    )
    assert shown(prompted, "memory") == shown(bare, "memory")


@given(candidates(), budgets, st.integers(1, 400), shares, formats, counters)
def test_a_larger_budget_loses_nothing_but_to_what_has_priority(
    drawn: Candidates, budget: int, more: int, share: float, format_: Format, count: Counter
) -> None:
    small, large = (built(drawn, b, share, format_, count) for b in (budget, budget + more))
    before, after = _places(small), _places(large)
    kept = {identifier for _, identifier in after}
    kept |= {item.id for item in large.omitted if item.reason == "repeated"}
    texts, longer = _texts(small), _texts(large)
    grown = {part for part in after if part in texts and len(longer[part]) > len(texts[part])}
    lost = [_turns(drawn, part)[-1] for part in before if part[1] not in kept]
    won = [_turns(drawn, part)[0] for part in after if part not in before or part in grown]
    if lost:
        assert won
        assert min(won) < min(lost)


def _texts(context: Context) -> dict[tuple[str, str], str]:
    """Return what is shown where, and how much of its text."""
    return {(part.name, item.id): item.text for part in context.sections for item in part.items}


def _places(context: Context) -> list[tuple[str, str]]:
    """Return what is shown, and where: what was recalled may have moved to a better place."""
    return [(part.name, item.id) for part in context.sections for item in part.items]


def _turns(drawn: Candidates, shown_: tuple[str, str]) -> list[tuple[int, int]]:
    """Return when it was, or was again, the turn of what is shown in a section."""
    name, identifier = shown_
    recent = [item for part in drawn.exchanges for bond in part for item in bond]
    recalled = [item for _, item in drawn.recalled]
    summaries = [*drawn.summaries, *drawn.older]
    orders: dict[str, tuple[Sequence[Item], tuple[int, ...]]] = {
        "system": (drawn.system, (0,)),
        "memory": (drawn.memory, (1,)),
        "updates": (drawn.updates, (2,)),
        "recent": (recent, (3, 6 if drawn.asked else 8)),
        "summaries": (summaries, (4, 7)),
        "recalled": (recalled, (5 if drawn.asked else 8,)),
        "earlier": (recalled, (5 if drawn.asked else 8,)),
        "further": (drawn.further, (9,)),
    }
    items, rounds = orders[name]
    return [(number, ids(items).index(identifier)) for number in rounds]


def _has_huge(drawn: Candidates, format_: Format, count: Counter) -> bool:
    """Tell whether a bond may be left out of its exchange, which has a test of its own."""
    price = Price(format_, count, drawn.recent)
    bonds = (bond for exchange in drawn.exchanges for bond in exchange)
    return any(price.items("recent", bond) > HUGE for bond in bonds)


@given(candidates(), budgets, shares, formats, st.sampled_from((*COUNTERS, moody)))
def test_what_is_brought_along_is_shown_with_what_brought_it(
    drawn: Candidates, budget: int, share: float, format_: Format, count: Counter
) -> None:
    context = built(drawn, budget, share, format_, count)
    present = set(ids(shown(context)))
    offered = {item.id: item for _, item in drawn.recalled}
    for item in shown(context, "recalled"):
        assert offered[item.id].via in {None, *present}


@given(candidates(), budgets, shares, formats, counters)
def test_an_exchange_is_shown_so_that_it_makes_sense(
    drawn: Candidates, budget: int, share: float, format_: Format, count: Counter
) -> None:
    assume(not _has_huge(drawn, format_, count))
    present = set(ids(shown(built(drawn, budget, share, format_, count), "recent")))
    for exchange in drawn.exchanges:
        whole = [[item.id in present for item in bond] for bond in exchange]
        assert all(all(bond) or not any(bond) for bond in whole), "a bond is split"
        bonds = [all(bond) for bond in whole]
        if len(bonds) <= SMALL_EXCHANGE:
            assert all(bonds) or not any(bonds)
        elif any(bonds):
            assert bonds[0]
            answers = {item.id for _, item in drawn.recalled}
            others = [
                here
                for here, bond in zip(bonds[1:], exchange[1:], strict=True)
                if answers.isdisjoint(ids(bond))
            ]
            assert others == sorted(others), "the last ones are shown"


@pytest.mark.row("S2.6.6")
@given(candidates(), budgets, shares, formats, counters)
def test_the_latest_exchanges_win(
    drawn: Candidates, budget: int, share: float, format_: Format, count: Counter
) -> None:
    assume(not _has_huge(drawn, format_, count))
    live = {item.id for part in drawn.exchanges for bond in part for item in bond}
    recalled = [pair for pair in drawn.recalled if pair[1].id not in live]
    drawn = msgspec.structs.replace(drawn, recalled=recalled)
    present = set(ids(shown(built(drawn, budget, share, format_, count), "recent")))
    whole = [all(item.id in present for bond in part for item in bond) for part in drawn.exchanges]
    some = [any(item.id in present for bond in part for item in bond) for part in drawn.exchanges]
    if any(some):
        first = some.index(True)
        last = len(some) - 1 - some[::-1].index(True)
        assert all(whole[first:last])


@given(candidates(), budgets, shares, formats, counters)
def test_markers_stand_for_exactly_the_messages_that_are_not_shown(
    drawn: Candidates, budget: int, share: float, format_: Format, count: Counter
) -> None:
    context = built(drawn, budget, share, format_, count)
    present = ids(shown(context, "recent"))
    if not present:
        return
    places = ids(drawn.recent)
    assert present == [name for name in places if name in present]
    hidden = [item for item in drawn.recent if item.id not in present]
    found = [MARKER.fullmatch(line) for line in _recent_lines(context.text, format_)]
    numbers = [[int(n.replace(",", "")) for n in one.groups()] for one in found if one]
    assert sum(messages for messages, _ in numbers) == len(hidden)
    assert sum(tokens for _, tokens in numbers) == sum(item.tokens for item in hidden)


def _recent_lines(text: str, format_: Format) -> list[str]:
    """Return every line, or message, that may be a marker."""
    if format_ == "markdown":
        return text.split("\n")
    document = json.loads(text)
    if format_ == "messages":
        return [part["content"] for part in document if part["role"] == "system"]
    recent = next(part for part in document["sections"] if part["name"] == "recent")
    return [item["text"] for item in recent["items"] if item["id"] == ""]


def many(count: int, mark: str, words: int = 18, **fields: Any) -> list[Item]:
    text = "word " * words
    return [
        Item(id=f"{mark}-{n:08d}", text=f"{mark} {n} {text}", order=("", n), tokens=25, **fields)
        for n in range(count)
    ]


def pairs(recent: list[Item]) -> list[Exchange]:
    return [[[recent[n]], [recent[n + 1]]] for n in range(len(recent) - 2, -1, -2)]


@cache
def plenty(count: int, words: int = 18) -> Candidates:
    recent = many(count, "recent", words)
    recalled = many(count, "recalled", words)
    return Candidates(
        memory=many(count, "memory", words, heading="project"),
        recalled=[("recalled", item) for item in recalled],
        recallable=[(item.id, 0.5) for item in recalled],
        summaries=many(count, "summary", words),
        recent=recent,
        exchanges=pairs(recent),
    )


@pytest.mark.row("S2.6.3")
@pytest.mark.some(14)
@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize("count", COUNTERS)
@pytest.mark.parametrize("share", [0.0, 0.6, 1.0])
@pytest.mark.parametrize(("budget", "words"), [(1000, 0), (1000, 18), (4000, 18)])
def test_unused_shares_flow_on(
    budget: int, words: int, share: float, count: Counter, format_: Format
) -> None:
    full = plenty(400, words)
    parts = (
        full,
        msgspec.structs.replace(full, recent=(), exchanges=()),
        msgspec.structs.replace(full, recalled=(), recallable=()),
    )
    for part in parts:
        context = built(part, budget, share, format_, count)
        assert 0.9 * budget < context.tokens <= budget


@pytest.mark.row("S2.6.2")
def test_recent_messages_get_their_share() -> None:
    small, large = (
        {part.name: part.tokens for part in built(plenty(200), 4000, share).sections}["recent"]
        for share in (0.2, 0.8)
    )
    assert small < 1000 < 2400 < large


def test_summaries_are_shown_though_what_is_recalled_would_fill_the_budget() -> None:
    sections = {part.name: part.tokens for part in built(plenty(300), 4000).sections}
    assert 300 < sections["summaries"] <= 400
    assert sections["memory"] <= 800


def test_a_long_exchange_keeps_its_question_and_its_end() -> None:
    recent = many(60, "m")
    context = built(Candidates(recent=recent, exchanges=[[[item] for item in recent]]), 400)
    present = ids(shown(context))
    assert 4 < len(present) < 30
    assert present == ids([recent[0], *recent[-len(present) + 1 :]])
    assert context.tokens > 360


@pytest.mark.row("S3.1.6")
def test_a_message_too_big_for_the_budget_is_cut_and_does_not_hide_those_before_it() -> None:
    recent = [*many(6, "m"), Item(id="huge", text="word " * 9000, tokens=9000)]
    exchanges = [[[recent[-1]]], *pairs(recent[:-1])]
    recalled = [("recalled", item) for item in many(60, "r")]
    context = built(Candidates(recent=recent, exchanges=exchanges, recalled=recalled), 1000)
    assert ids(shown(context, "recent")) == ids(recent)
    cut = shown(context)[-1].text
    assert re.fullmatch(r"(word )+(w|wo|wor|word)?\.\.\. \[4\d,\d+ more characters left out\]", cut)
    assert context.notes == ("the last exchange is shortened: it does not fit the budget",)


@pytest.mark.row("S2.6.10")
@given(budgets, formats, counters)
def test_a_system_prompt_too_big_for_the_budget_is_cut_and_said(
    budget: int, format_: Format, count: Counter
) -> None:
    prompt = Item(id="system", role="system", text="Be brief. " * 100_000)
    context = built(Candidates(system=[prompt], memory=many(5, "m")), budget, 0.6, format_, count)
    assert context.tokens <= budget
    assert len(context.notes) == 1
    if shown(context, "system"):
        assert context.notes == ("the system prompt is shortened: it does not fit the budget",)
        assert shown(context, "system")[0].text.startswith("Be brief. Be brief.")
    else:
        assert context.notes == ("the system prompt does not fit the budget",)


def test_of_a_system_prompt_too_big_as_much_is_shown_as_half_the_budget_holds() -> None:
    prompt = Item(id="system", role="system", text="Be brief. " * 100_000)
    context = built(Candidates(system=[prompt], memory=many(50, "m")), 2000)
    assert 900 < count_tokens(shown(context, "system")[0].text) <= 1000


def test_what_answers_is_said_once_whoever_said_it() -> None:
    texts = ("We use RabbitMQ", "We use  RabbitMQ.", "we use rabbitmq!", "We use Kafka")
    items = [Item(id=f"a-{n}", text=text) for n, text in enumerate(texts)]
    given_ = Candidates(
        memory=items[:1],
        recalled=[("recalled", items[1])],
        said=[("earlier", item) for item in items[2:]],
        recallable=[(item.id, 0.5) for item in items[1:]],
    )
    context = built(given_, 1000)
    assert ids(shown(context)) == ["a-0", "a-3"]
    assert [(left.id, left.reason) for left in context.omitted] == [
        ("a-1", "repeated"),
        ("a-2", "repeated"),
    ]


@pytest.mark.row("S2.6.10")
def test_a_pinned_memory_without_room_is_named() -> None:
    pinned = Item(id="1-k3v9x2ab", text="word " * 400, why=PINNED)
    context = built(Candidates(memory=[pinned, *many(2, "m")]), 200)
    assert context.notes == ("a pinned memory does not fit the budget: k3v9x2ab",)
    assert "1 pinned over budget" in context.text
    again = Candidates(memory=[pinned], recalled=[("recalled", pinned)])
    assert built(again, 2000).notes == ()


def test_a_recent_message_that_answers_is_shown_with_its_exchange() -> None:
    recent = many(20, "m")
    given_ = Candidates(
        recalled=[("earlier", recent[3])],
        recallable=[(recent[3].id, 0.9)],
        recent=recent,
        exchanges=pairs(recent),
    )
    for budget in range(60, 500, 10):
        context = built(given_, budget, 0.3)
        assert {part.name for part in context.sections} <= {"recent"}
        assert len(shown(context)) % 2 == 0
    assert ids(recent[2:4]) == ids(shown(built(given_, 200, 0.3)))[:2]


def test_of_a_long_exchange_the_answer_is_shown_with_the_question() -> None:
    recent = many(40, "m")
    given_ = Candidates(
        recalled=[("earlier", recent[7])],
        recallable=[(recent[7].id, 0.9)],
        recent=recent,
        exchanges=[[[item] for item in recent]],
    )
    present = ids(shown(built(given_, 300, 0.3)))
    assert {recent[0].id, recent[7].id, recent[-1].id} <= set(present)


def test_a_huge_message_is_left_out_of_its_exchange() -> None:
    recent = [*many(1, "question"), Item(id="log", text="word " * 9000), *many(1, "answer")]
    exchanges = [[[item] for item in recent]]
    context = built(Candidates(recent=recent, exchanges=exchanges), 1000)
    assert ids(shown(context)) == [recent[0].id, recent[2].id]
    whole = built(Candidates(recent=recent, exchanges=exchanges), 200_000)
    assert len(shown(whole)) == 3


def test_further_memories_fill_what_is_left() -> None:
    memory = many(60, "memory", heading="project")
    given_ = Candidates(memory=memory, further=memory)
    context = built(given_, 1000)
    sections = {part.name: len(part.items) for part in context.sections}
    assert sections["further"] > sections["memory"]
    assert context.tokens > 900
    assert ids(shown(context, "memory")) == ids(memory[: sections["memory"]])


def test_where_nobody_asked_the_conversation_comes_first() -> None:
    plain = msgspec.structs.replace(plenty(200), memory=(), summaries=())
    asked, unasked = (
        built(msgspec.structs.replace(plain, asked=asked), 2000) for asked in (True, False)
    )
    assert len(shown(asked, "earlier", "recalled")) > 5
    assert shown(unasked, "earlier", "recalled") == []
    assert len(shown(unasked, "recent")) > len(shown(asked, "recent"))


@pytest.mark.parametrize("ticks", [3, 100, 5000])
def test_a_long_fence_is_paid_for(ticks: int) -> None:
    text = "`" * ticks
    given_ = msgspec.structs.replace(
        plenty(50), recalled=[("recalled", Item(id="ticks", text=text))]
    )
    for budget in (500, 2000, 6000):
        context = built(given_, budget)
        without = built(msgspec.structs.replace(given_, recalled=()), budget)
        assert context.tokens <= budget
        assert ids(shown(context, "memory")) == ids(shown(without, "memory"))


@pytest.mark.parametrize("format_", FORMATS)
def test_a_large_memory_is_not_counted_for_a_small_budget(format_: Format) -> None:
    letters = 0

    def count(text: str) -> int:
        nonlocal letters
        letters += len(text)
        return count_tokens(text)

    context = build(TITLE, plenty(10_000), 1000, recent_share=0.6, format_=format_, count=count)
    assert context.tokens > 900
    assert letters < 250_000


@pytest.mark.parametrize("format_", FORMATS)
def test_a_large_context_is_written_few_times(format_: Format) -> None:
    large = 0

    def count(text: str) -> int:
        nonlocal large
        large += len(text) > 10_000
        return count_tokens(text)

    context = build(TITLE, plenty(1000), 50_000, recent_share=0.6, format_=format_, count=count)
    assert 49_000 < context.tokens <= 50_000
    assert large < 100


def test_one_endless_exchange_takes_no_longer_than_many_short_ones() -> None:
    calls = 0

    def count(text: str) -> int:
        nonlocal calls
        calls += 1
        return count_tokens(text)

    recent = many(1000, "m")
    endless = Candidates(recent=recent, exchanges=[[[item] for item in recent]])
    context = build(TITLE, endless, 5000, recent_share=0.6, format_="markdown", count=count)
    assert context.tokens > 4500
    assert calls < 1200


def test_of_a_long_exchange_as_many_of_the_last_messages_are_shown_as_fit() -> None:
    said = [Item(id=f"m-{n}", text=f"word{n} " * 20, order=("", n), tokens=20) for n in range(6)]
    talk = Candidates(recent=said, exchanges=[[[item] for item in said]])
    whole = built(talk, 10_000, 1.0).tokens
    found = [ids(shown(built(talk, budget, 1.0), "recent")) for budget in range(2 * whole)]
    counts = [len(present) for present in found]
    assert counts == sorted(counts)
    assert sorted(set(counts)) == [0, 2, 3, 4, 5, 6]
    for present in found:
        if present:
            assert present == ids([said[0], *said[len(said) - len(present) + 1 :]])
