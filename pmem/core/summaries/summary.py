"""A summary of a stretch of conversation: its own words, at a share of its length.

Clauses are chosen for the words that are likely to be asked for later, each word once: greedy
maximal coverage by worth for length, as for submodular objectives in Lin and Bilmes, Multi-document
Summarization via Budgeted Maximization of Submodular Functions (2010). They keep their order and
stand after who said them.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Sequence
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING, Final, NamedTuple

from pmem.core.lines import shortened
from pmem.values.records import Message

if TYPE_CHECKING:
    from pmem.core.summaries.clauses import Piece

SENTENCE_CHARACTERS: Final = 160
SHARE: Final = 0.15
MOST_TOKENS: Final = 200
"""What a summary has at the most, however long the messages are."""
MOST_SENTENCES: Final = 1_000
"""Of summaries that are merged only the latest sentences are weighed."""
FLOOR: Final = 12
"""Tokens of the one clause that messages get at least, however small their share is."""
SCARCE: Final = 0.85
"""Power of a clause's length that divides its worth; below one it favours longer clauses."""
ATTEMPTS: Final = 12
"""Clauses tried beyond the last one that fitted."""
CAUTION: Final = 0.94
"""Part of the share that is used, for vocabularies differ by some hundredths."""
APIECE: Final = 10
"""Characters that a clause costs beside its own: marks and part of a speaker's name."""
TOOL: Final = "tool"
"""Who speaks in the lines on what tools did."""
EARLIER: Final = "Earlier: "
THEN: Final = "Then: "

Count = Callable[[str], int]

# patterns are compiled when first needed: most who import this only add a message
_CLOSED: Final = (".", "!", "?", "。", "！", "？", "…", "]")
_SPEAKER: Final = r"(\w[^:\n.!?\[\]]{0,39}): "


class _Limits(NamedTuple):
    """What a summary may have: tokens as they are counted, and characters."""

    tokens: int
    characters: int
    count: Count

    def hold(self, text: str) -> bool:
        """Tell whether a text keeps them all."""
        return len(text) <= self.characters and self.count(text) <= self.tokens


def summarise(messages: Iterable[Message], count: Count, share: float = SHARE) -> str:
    """Say in a share of their length what messages hold, in clauses of theirs.

    `share` is a part of the messages' tokens, and of their characters. One clause of `FLOOR` tokens
    is kept even where that is less, and no summary has more than `MOST_TOKENS`.
    """
    from pmem.core.summaries.clauses import called, pieces
    from pmem.core.summaries.worth import worths

    said = list(messages)
    limits = _limits(said, count, share)
    names = called(said)
    found = pieces(said, names) or _first_lines(said)
    order = ordered(found, worths(found, names))
    speakers = [_speaker(message) for message in said]
    chosen = _fitting(speakers, found, order, limits)
    if chosen:
        return _write_pieces(speakers, found, chosen)
    return next((cut for place in order[:3] if (cut := _cut_piece(found[place], limits))), "")


def _limits(said: Sequence[Message], count: Count, share: float) -> _Limits:
    shown = [f"{_speaker(message)}: {message.content}" for message in said]
    tokens, characters = sum(map(count, shown)), sum(map(len, shown))
    return _Limits(
        tokens=min(MOST_TOKENS, max(FLOOR, int(tokens * share * CAUTION))),
        characters=min(MOST_TOKENS * 4, max(FLOOR * 4, int(characters * share))),
        count=count,
    )


def _speaker(message: Message) -> str:
    return message.speaker or message.role


def _first_lines(said: Sequence[Message]) -> "list[Piece]":
    """Return the first lines of messages in which nobody says anything."""
    from pmem.core.summaries.clauses import Piece

    firsts = (message.content.strip()[:1000].partition("\n")[0] for message in said)
    return [
        Piece(
            shortened(" ".join(first.split()), SENTENCE_CHARACTERS), place, place, "", "", "prose"
        )
        for place, first in enumerate(firsts)
        if first
    ]


def ordered(found: "Sequence[Piece]", values: Sequence[dict[str, float]]) -> list[int]:
    """Order pieces so that each adds the most worth for its length to those before it.

    Worth that earlier pieces bring is not counted again, so what a piece adds only falls, and one
    that is still ahead after it is weighed again is the best (Minoux, 1978). Pieces that add
    nothing are left out, unless all of them are such.
    """
    costs = [(len(piece.text) + APIECE) ** SCARCE for piece in found]
    heap = [
        (-sum(value.values()) / cost, place)
        for place, (value, cost) in enumerate(zip(values, costs, strict=True))
    ]
    heapify(heap)
    covered: set[str] = set()
    order: list[int] = []
    while heap:
        _, place = heappop(heap)
        worth = sum(worth for term, worth in values[place].items() if term not in covered)
        entry = (-worth / costs[place], place)
        if heap and entry > heap[0]:
            heappush(heap, entry)
        elif worth or not order:
            order.append(place)
            covered |= values[place].keys()
    return order


def _fitting(
    speakers: Sequence[str], found: "Sequence[Piece]", order: Sequence[int], limits: _Limits
) -> list[int]:
    """Return the longest beginning of an order that fits, and what else fits beside it."""

    def fits(chosen: Collection[int]) -> bool:
        return limits.hold(_write_pieces(speakers, found, sorted(chosen)))

    short = bisect_left(range(1, len(order) + 1), True, key=lambda n: not fits(order[:n]))
    chosen = set(order[:short])
    for place in order[short : short + ATTEMPTS]:
        if fits(chosen | {place}):
            chosen.add(place)
    return sorted(chosen)


def _write_pieces(speakers: Sequence[str], found: "Sequence[Piece]", chosen: Iterable[int]) -> str:
    """Write pieces in their order, each speaker's together behind the name."""
    parts: list[str] = []
    last = speaker = None
    for place in chosen:
        piece = found[place]
        name = TOOL if piece.kind == "tool" else speakers[piece.message]
        if last == place - 1 and piece.joint and parts:
            parts[-1] = piece.joint
        elif name != speaker:
            parts.append(f"\n{name}: " if name else "\n")
        else:
            parts.append(" " if "".join(parts[-2:]).endswith(_CLOSED) else "\n")
        parts += (piece.text, piece.end)
        last, speaker = place, name
    return "".join(parts).lstrip("\n")


def _cut_piece(piece: "Piece", limits: _Limits) -> str:
    """Cut a piece until it fits; empty if it cannot."""
    whole = piece.text + piece.end
    if limits.hold(whole):
        return whole
    most = min(len(whole), limits.characters, SENTENCE_CHARACTERS)
    while most > 2:
        if limits.hold(cut := shortened(whole, most)):
            return cut
        most -= max(1, most // 8)
    return ""


def merged(earlier: str, then: str, count: Count, most: int) -> str:
    """Put the summaries of two neighbouring stretches together, the older part behind "Earlier:".

    What was merged before is taken apart again, so that there are never more than two parts. Where
    both are too long, the older part loses the sentences that tell least, then the later one.

    `most` are four tokens at least. Only where the best sentence alone has more is it cut.
    """
    (oldest, old), (between, later) = _parts(earlier), _parts(then)
    older = "\n".join(filter(None, (oldest, old, between)))
    if not later:
        older, later = oldest, old
    whole = _join_summaries(older, later)
    if count(whole) <= most:
        return whole
    later = _shortened_part(later, count, most)
    room = most - count(_join_summaries("-", later))
    older = _shortened_part(older, count, room) if room >= FLOOR else ""
    joined = _join_summaries(older, later)
    return joined if count(joined) <= most else later


def _parts(text: str) -> tuple[str, str]:
    """Return the older and the later part of a summary; one without two parts is all later."""
    text = text.strip()
    head, marked, tail = f"{text} ".rpartition(f"\n\n{THEN}")
    if not marked or not f"{head} ".startswith(EARLIER):
        return "", text
    older, later = head.removeprefix(EARLIER.rstrip()).strip(), tail.strip()
    return (older, later) if later else ("", older)


def _join_summaries(older: str, later: str) -> str:
    return f"{EARLIER}{older}\n\n{THEN}{later}" if older and later else older or later


def _shortened_part(part: str, count: Count, most: int) -> str:
    """Leave out the sentences of a part that tell least, until it fits."""
    from pmem.core.summaries.worth import worths

    limits = _Limits(tokens=most, characters=len(part), count=count)
    if limits.hold(part):
        return part
    names, found = _taken_apart(part)
    order = ordered(found, worths(found, set(names)))
    chosen = _fitting(names, found, order, limits)
    return _write_pieces(names, found, chosen) if chosen else _cut_piece(found[order[0]], limits)


def _taken_apart(part: str) -> "tuple[list[str], list[Piece]]":
    """Return who speaks in each line of a part, and its sentences.

    A line without a speaker is the last one's.
    """
    from pmem.core.summaries.clauses import Piece
    from pmem.core.text.sentences import split_sentences

    names: list[str] = []
    found: list[Piece] = []
    for line in part.splitlines()[-MOST_SENTENCES:]:
        match = re.match(_SPEAKER, line)
        names.append(match.group(1) if match else names[-1] if names else "")
        for said in split_sentences(line[match.end() if match else 0 :])[-MOST_SENTENCES:]:
            text, end = (said[:-1], said[-1]) if said[-1] in _CLOSED else (said, "")
            text = shortened(text, MOST_TOKENS * 4)
            found.append(Piece(text, len(names) - 1, len(found), "", end, "prose"))
    return names, found
