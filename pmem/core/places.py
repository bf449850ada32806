"""Places: the files that a memory applies to, as patterns in gitignore's manner.

`*.sql` and `vendor/` hold at any depth; a slash before or within a pattern ties it to the
project's top, as in `/setup.py` and `src/billing/**`. A pattern that fits a folder fits all that
is in it, and of several the last one that fits decides: `!` takes files out again.

A pattern may come from anybody's repository. Matching takes no longer than the length of the
pattern times that of the path.

Source: the section "Pattern format" of git's documentation of gitignore.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import takewhile
from typing import Final

from pmem.core.lines import composed
from pmem.errors import InvalidValue, NotFound

MOST_PLACES: Final = 50
"""A memory applies to so many places at the most."""
MOST_CHARACTERS: Final = 200
_ANY_DEPTH: Final = "**"
_BRACES: Final = re.compile(r"\{[^{}]*,[^{}]*\}")
_SIGNS: Final = frozenset("*?[\\")
_BACKSLASH: Final = re.compile(r"\\[0-9A-Za-z_]")
_ESCAPED: Final = re.compile(r"\\(.)|\[\^")
_LIKE: Final = "write it as src/billing/** or *.sql"


def check_places(patterns: Iterable[str]) -> tuple[str, ...]:
    """Return patterns without the space around them, each once; refuse what is none."""
    places = tuple(dict.fromkeys(map(_checked, patterns)))
    if places and all(place.startswith("!") for place in places):
        raise InvalidValue(
            f"{places[0]!r} takes files out of no place", "give the place that they are taken from"
        )
    if len(places) > MOST_PLACES:
        raise InvalidValue(f"a memory cannot apply to more than {MOST_PLACES} places")
    return places


def applies(patterns: Sequence[str], path: str) -> bool:
    """Tell whether a memory with these places applies to a file, seen from the project's top."""
    parts = composed(path).split("/")
    for pattern in reversed(patterns):
        if fits(pattern.removeprefix("!"), parts):
            return not pattern.startswith("!")
    return False


def applies_within(patterns: Sequence[str], path: str) -> bool:
    """Tell whether a memory with these places applies to a file, or to what is in a folder.

    A folder, with a slash at its end, counts where all that is in it does, or a pattern leads
    into it.
    """
    leads = path.endswith("/") and any(one.removeprefix("/").startswith(path) for one in patterns)
    return leads or applies(patterns, path)


def nearness(patterns: Sequence[str], path: str) -> int:
    """Return how many parts of a path the closest pattern that fits it is tied to; 0 for none.

    `/src/api/a.py` is closer to that file than `src/api/**`, and this closer than `src/**`.
    """
    fitting = (one for one in patterns if not one.startswith("!") and applies((one,), path))
    return max((len(beginning(one).split("/")) for one in fitting if beginning(one)), default=0)


def exact_place(file: str) -> str:
    """Return the pattern that fits one file, or one folder, and no other."""
    return "/" + re.sub(r"([\\*?\[\]])", r"\\\1", file)


def beginning(pattern: str) -> str:
    """Return the folder or file with which the path of all that a pattern fits begins, if any."""
    parts = pattern.rstrip("/").split("/")
    if len(parts) == 1:
        return ""
    plain = takewhile(lambda part: not set(part) & _SIGNS, parts)
    return "/".join(plain).removeprefix("/")


def changed_places(
    known: Sequence[str], more: Iterable[str], fewer: Iterable[str]
) -> tuple[str, ...]:
    """Return a memory's places once some are added and others taken away."""
    gone = {pattern.strip() for pattern in fewer}
    for pattern in sorted(gone - set(known)):
        raise NotFound(f"the memory has no place {pattern}", "`pmem show` tells its places")
    return check_places([*(place for place in known if place not in gone), *more])


def _checked(pattern: str) -> str:
    from pmem.core import checks  # whoever only matches a path needs none of it

    place = checks.text(pattern, "a place", MOST_CHARACTERS)
    sign = "!" * place.startswith("!")
    bare = place.removeprefix("!")
    bare = "/" + bare[2:].lstrip("/") if bare.startswith("./") else bare
    parts = bare.split("/")
    if not any(parts) or {".", ".."} & set(parts) or not place.isprintable():
        raise InvalidValue(f"{pattern!r} is no place in the project", _LIKE)
    if _BRACES.search(bare):
        raise InvalidValue(
            f"{pattern!r} has braces, which gitignore does not know",
            "repeat --for for each of them",
        )
    if _BACKSLASH.search(bare):
        raise InvalidValue(f"{pattern!r} has a backslash, which fits no folder", _LIKE)
    return sign + bare


def seen_from(pattern: str, here: str, top: str) -> str:
    """Return a pattern as it is seen from the project's top.

    One that begins with `./` or `../` is seen from the current folder, and one that begins with
    the project's own path loses that; all others are seen from the top already.

    Raises:
        InvalidValue: It leads out of the project.
    """
    sign = "!" * pattern.startswith("!")
    bare = pattern.removeprefix("!")
    if bare.startswith(f"{top.rstrip('/')}/"):
        return f"{sign}/{bare[len(top.rstrip('/')) + 1 :]}"
    if not bare.startswith(("./", "../")):
        return pattern
    parts = here.split("/") if here else []
    for part in bare.split("/"):
        if part == "..":
            if not parts:
                raise InvalidValue(f"{pattern!r} leads out of the project", _LIKE)
            parts.pop()
        elif part != ".":
            parts.append(part)
    return f"{sign}/{'/'.join(parts)}"


def fits(pattern: str, parts: Sequence[str]) -> bool:
    """Tell whether a pattern fits a file, or a folder that it is in.

    `pattern` takes nothing out again; `parts` are composed names.
    """
    is_folder = pattern.endswith("/")
    wanted = composed(pattern).rstrip("/").split("/")
    if len(wanted) == 1:
        wanted.insert(0, _ANY_DEPTH)
    elif wanted[0] == "":
        del wanted[0]
    if wanted[-1] == _ANY_DEPTH:  # everything in the folder, but not the folder
        wanted[-1:] = ["*"]
    deepest = len(parts) - is_folder
    return any(_fits_parts(wanted, parts[:depth]) for depth in range(1, deepest + 1))


def _fits_parts(wanted: Sequence[str], parts: Sequence[str]) -> bool:
    """Tell whether the parts of a pattern fit those of a path, all of them."""
    here = there = 0
    back: tuple[int, int] | None = None
    while there < len(parts):
        if here < len(wanted) and wanted[here] == _ANY_DEPTH:
            here += 1
            back = (here, there)
        elif here < len(wanted) and _fits_name(wanted[here], parts[there]):
            here, there = here + 1, there + 1
        elif back is not None:
            back = (back[0], back[1] + 1)
            here, there = back
        else:
            return False
    return all(part == _ANY_DEPTH for part in wanted[here:])


def _fits_name(part: str, name: str) -> bool:
    """Tell whether a pattern without slashes fits one name, in the time of both their lengths."""
    return part == name or (not _SIGNS.isdisjoint(part) and bool(_regex(part).match(name)))


@lru_cache(maxsize=512)
def _regex(part: str) -> re.Pattern[str]:
    from fnmatch import translate

    return re.compile(translate(_ESCAPED.sub(_without_backslash, part)))


def _without_backslash(found: re.Match[str]) -> str:
    """Write an escaped sign, or the start of a negated set, as `fnmatch` has it."""
    sign = found[1]
    if sign is None:
        return "[!"
    return f"[{sign}]" if sign in "*?[" else sign
