"""Candidates for contexts out of thin air, and ways of counting tokens."""

from collections.abc import Iterable
from itertools import pairwise

import msgspec
from hypothesis import strategies as st

from pmem.core.context.allocation import build
from pmem.core.context.parts import (
    Candidates,
    Context,
    Counter,
    Exchange,
    Format,
    Item,
    Omitted,
    ShownItem,
)
from pmem.core.tokens import count_tokens

TITLE = "Memory of Phoenix"
FORMATS: tuple[Format, ...] = ("markdown", "json", "messages")
PIECES = (
    "word ",
    "x",
    "naïve ",
    "日本語",
    '"said" ',
    "a\\b ",
    "line\n",
    "```\n",
    "😀",
    "(pmem: 1 ",
    "### old ",
)


def by_line(text: str) -> int:
    """Charge three tokens for each line and one for each word."""
    return 3 * text.count("\n") + len(text.split())


def by_word(text: str) -> int:
    """Count much as a model does: pieces of words, spaces with the word behind them."""
    return sum(1 + len(word) // 6 for word in text.replace("\n", " \n ").split(" "))


def moody(text: str) -> int:
    """Count so that the whole may cost much more, or much less, than its parts."""
    letters = len(text)
    return letters // 7 + (letters * 31 % 97) + (letters * letters) // 40_000


COUNTERS: tuple[Counter, ...] = (count_tokens, by_line, by_word)
"""Counters to which the whole is never more than its parts."""

texts = st.lists(
    st.builds(lambda piece, times: piece * times, st.sampled_from(PIECES), st.integers(1, 9)),
    max_size=4,
).map("".join) | st.builds(lambda times: "word " * times, st.sampled_from([0, 20, 80, 400]))
LABELS = ("", "Ada: ", "[id:abcd] ", "[id:abcd] [db] ", "`` ")
HEADINGS = ("", "project", "knowledge", "```")
seeds = st.integers(0, 10**6)
"""One number makes an item, which is quicker to draw than its parts."""


def _text(seed: int) -> str:
    """Return a text of few pieces, often short, sometimes empty or long."""
    times = (0, 1, 2, 3, 5, 8, 80, 400)[seed % 8]
    if times > 8:
        return "word " * times
    first, second = PIECES[seed // 8 % len(PIECES)], PIECES[seed // 88 % len(PIECES)]
    return first * times + second * (seed // 968 % 3)


def _named(mark: str, drawn: list[int], headings: tuple[str, ...] = HEADINGS) -> list[Item]:
    return [
        Item(
            id=f"{mark}-{number}",
            text=_text(seed),
            label=LABELS[seed // 3 % len(LABELS)],
            heading=headings[seed // 5 % len(headings)],
            order=("", seed % 1009),
            role=("user", "assistant", "tool")[seed % 3],
            speaker=(None, "Ada")[seed % 2],
            tokens=seed % 1013,
        )
        for number, seed in enumerate(drawn)
    ]


def _items(
    mark: str, most: int, headings: tuple[str, ...] = HEADINGS
) -> st.SearchStrategy[list[Item]]:
    return st.lists(seeds, max_size=most).map(lambda drawn: _named(mark, drawn, headings))


@st.composite
def _talk(draw: st.DrawFn) -> tuple[list[Item], list[Exchange], list[Omitted]]:
    """Draw recent messages, some of them pruned, and the others in exchanges of bonds."""
    recent = draw(_items("m", 14, ("",)))
    fates = draw(st.lists(st.integers(0, 4), min_size=len(recent), max_size=len(recent)))
    pruned = {item.id for item, fate in zip(recent, fates, strict=True) if fate == 4}
    exchanges: list[list[list[Item]]] = []
    for item, fate in zip(recent, fates, strict=True):
        if fate == 4:
            continue
        if fate == 0 or not exchanges:
            exchanges.append([[item]])
        elif fate == 1:
            exchanges[-2:][item.tokens % len(exchanges[-2:])][-1].append(item)
        else:
            exchanges[-1].append([item])
    gone = [Omitted(item.id, "pruned") for item in recent if item.id in pruned]
    return recent, list(reversed(exchanges)), gone


def _brought(recalled: list[Item]) -> list[Item]:
    """Let some items be brought along by the one before them."""
    found = recalled[:1]
    for before, item in pairwise(recalled):
        is_brought = item.id.startswith("r-") and item.tokens % 3 == 0
        found.append(msgspec.structs.replace(item, via=before.id) if is_brought else item)
    return found


@st.composite
def candidates(draw: st.DrawFn) -> Candidates:
    """Draw every kind of candidate; some are recalled and stand elsewhere as well."""
    recent, exchanges, gone = draw(_talk())
    memory = draw(_items("memory", 8))
    others = draw(_items("r", 8))
    recalled = _brought(draw(st.permutations([*others, *memory[:2], *recent[:2], *recent[-1:]])))
    ruled_out = [Omitted("low-1", "below_threshold", 0.1)][: draw(st.integers(0, 1))]
    sections: dict[str, str] = {}
    for item in recalled:
        own = ("recalled", "earlier")[item.tokens % 2]
        sections[item.id] = sections.get(item.via or "", own)
    pairs = [(sections[item.id], item) for item in recalled]
    return Candidates(
        system=draw(_items("system", 1, ("",))),
        memory=memory,
        updates=draw(_items("u", 3, ("Since then:",))),
        recalled=pairs,
        recallable=[(item.id, 0.5) for _, item in pairs],
        summaries=draw(_items("s", 4, ("",))),
        older=draw(_items("o", 2, ("",))),
        further=[msgspec.structs.replace(item, heading="") for item in memory],
        recent=recent,
        exchanges=exchanges,
        left_out=[*ruled_out, *gone],
        asked=draw(st.booleans()),
    )


budgets = st.integers(1, 250) | st.integers(50, 2000) | st.integers(50, 200_000)
shares = st.sampled_from((0.0, 0.3, 0.6, 1.0))
formats = st.sampled_from(FORMATS)
counters = st.sampled_from(COUNTERS)


def built(
    given: Candidates,
    budget: int,
    share: float = 0.6,
    format_: Format = "markdown",
    count: Counter = count_tokens,
    title: str = TITLE,
) -> Context:
    """Build a context."""
    return build(title, given, budget, recent_share=share, format_=format_, count=count)


def shown(context: Context, *names: str) -> list[ShownItem]:
    """Return the items of sections, of all when none is named."""
    return [
        item for part in context.sections if not names or part.name in names for item in part.items
    ]


def ids(items: Iterable[Item | ShownItem]) -> list[str]:
    """Return the items' ids."""
    return [item.id for item in items]


def everything(given: Candidates) -> dict[str, Item]:
    """Return all items by id."""
    parts = (
        *(given.system, given.memory, given.updates, given.summaries, given.older, given.recent),
    )
    offered = [*(item for part in parts for item in part), *(item for _, item in given.recalled)]
    return {item.id: item for item in reversed(offered)}
