"""Which words of a text have changed, as git's `--word-diff` shows it."""

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Final, NamedTuple

from pmem.cli.screens.wrapping import pieces, without_end
from pmem.cli.session import Line
from pmem.core.visible import visible

REMOVED: Final = "red"
ADDED: Final = "green"
_ALIKE: Final = 0.4
"""A share of common words below which two texts are not compared word by word."""
_AROUND: Final = 8
"""Words that are shown before and behind a change."""
_MOST_WORDS: Final = 2000


class _Stretch(NamedTuple):
    """Words that both texts have, or those of each that the other one does not have."""

    same: Sequence[str]
    removed: Sequence[str]
    added: Sequence[str]


def word_difference(was: str, became: str) -> Line | None:
    """Return one text with what was removed and what was added marked in it.

    Returns:
        None where they have too little in common for that to be read.
    """
    old, new = _words(was), _words(became)
    if max(len(old), len(new)) > _MOST_WORDS:
        return None
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    if not old or not new or matcher.ratio() < _ALIKE:
        return None
    return without_end(list(_drawn(list(_stretches(matcher, old, new)))))


def _words(text: str) -> list[str]:
    """Return the words of a text, each with the space behind it."""
    found: list[str] = []
    for piece in pieces(visible(" ".join(text.split()))):
        if piece.isspace() and found:
            found[-1] += piece
        else:
            found.append(piece)
    if found:
        found[-1] = found[-1].rstrip() + " "
    return found


def _stretches(
    matcher: "SequenceMatcher[str]", old: Sequence[str], new: Sequence[str]
) -> Iterator[_Stretch]:
    for tag, start, end, from_, to in matcher.get_opcodes():
        if tag == "equal":
            yield _Stretch(old[start:end], (), ())
        else:
            yield _Stretch((), old[start:end], new[from_:to])


def _drawn(stretches: Sequence[_Stretch]) -> Iterator[tuple[str, str]]:
    for number, stretch in enumerate(stretches):
        is_last = number == len(stretches) - 1
        if stretch.same:
            yield _without_middle(stretch.same, is_first=number == 0, is_last=is_last), ""
            continue
        removed, added = "".join(stretch.removed), "".join(stretch.added)
        if removed:
            yield f"[-{removed.rstrip()}-]", REMOVED
            yield " " * bool(added), ""
        if added:
            yield f"{{+{added.rstrip()}+}}", ADDED
        yield " " * (added or removed).endswith(" "), ""


def _without_middle(words: Sequence[str], *, is_first: bool, is_last: bool) -> str:
    """Return words that are the same, without those that are far from any change."""
    before, behind = (0 if is_first else _AROUND), (0 if is_last else _AROUND)
    if len(words) <= before + behind + 1:
        return "".join(words)
    start, end = "".join(words[:before]), "".join(words[len(words) - behind :] if behind else ())
    return f"{start}… {end}"
