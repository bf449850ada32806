"""Where the rules of an instruction file apply, as the program says that reads the file.

Copilot has `applyTo`, Cursor, Windsurf and Continue `globs`, Claude Code and Cline `paths`, Kiro
`fileMatchPattern`: one pattern, several with commas between them, or a list. They are relative to
the folder that has the program's own folder in it, like `.cursor/`. Instructions in any other
folder, like `web/AGENTS.md`, apply to what is in that folder.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from pmem.core.places import MOST_PLACES, check_places, exact_place
from pmem.errors import InvalidValue
from pmem.interchange.front_matter import FrontMatter

_KEYS: Final = ("applyto", "globs", "glob", "paths", "path", "filematchpattern")
_EVERYWHERE: Final = frozenset({"*", "**", "**/*", "/**", "./**"})
_MODES: Final = ("trigger", "inclusion")
_BY_FILE: Final = frozenset({"glob", "filematch"})
_NAMES: Final = re.compile(
    r"(?:AGENTS?|CLAUDE|GEMINI|QWEN|CRUSH|WARP)(?:\.\w+)?\.md|copilot-instructions\.md"
    r"|\.(?:cursor|windsurf|cline)rules|.+\.(?:instructions\.md|mdc)",
    re.IGNORECASE,
)
_FOLDERS: Final = re.compile(
    r"(?:^|/)(?:\.[\w-]+/(?:rules|instructions|steering|guidelines)(?:-\w+)?|\.clinerules)/"
)
_CONTRIBUTING: Final = re.compile(r"(?:\.github/|docs/)?CONTRIBUTING\.md", re.IGNORECASE)
_OWN: Final = re.compile(r"\.local\.md\Z", re.IGNORECASE)
_PAGE: Final = re.compile(r"[a-z]+\.md")
_LONGEST: Final = 1000
_BRACES: Final = re.compile(r"\{([^{}]*,[^{}]*)\}")


def is_instructions(file: str) -> bool:
    """Tell whether a file has instructions for assistants, by its name and its folders."""
    return bool(_NAMES.fullmatch(file.rpartition("/")[2]) or _FOLDERS.search(file))


def is_of_project(file: str) -> bool:
    """Tell whether a file has a project's instructions, for assistants or for people.

    One that is `.local` is somebody's own, and `docs/agents.md` is a page about agents.
    """
    folder, _, name = file.rpartition("/")
    is_page = bool(folder) and _PAGE.fullmatch(name) and not is_instructions(f"{folder}/x.md")
    is_wanted = is_instructions(file) or _CONTRIBUTING.fullmatch(file) is not None
    return is_wanted and not is_page and not _OWN.search(file)


def scope_of(file: str, front: FrontMatter) -> tuple[str, ...]:
    """Return the places where a file's rules apply; none where they apply everywhere.

    `file` is relative to the project root, with slashes.

    Raises:
        InvalidValue: It names a place that is none, or too many.
    """
    folders, _, name = file.rpartition("/")
    base, in_program = _base(folders)
    patterns = list(islice(_patterns(front), MOST_PLACES + 1))
    if len(patterns) > MOST_PLACES:
        raise InvalidValue(f"applies to more than {MOST_PLACES} places")
    if patterns:
        return _placed(base if in_program else "", patterns)
    if base and (in_program or _NAMES.fullmatch(name)):
        return (f"{_escaped(base)}/**",)
    return ()


def _base(folders: str) -> tuple[str, bool]:
    """Return the folder that rules are relative to; is the file in a program's own folder?"""
    parts = folders.split("/") if folders else []
    own = next((at for at, part in enumerate(parts) if part.startswith(".")), None)
    return "/".join(parts[:own]), own is not None


def _patterns(front: FrontMatter) -> Iterator[str]:
    """Yield the patterns of front matter that count, one by one."""
    modes = {text.casefold() for key in _MODES for text in front.texts(key)}
    if "true" in front.texts("alwaysapply") or (modes and not modes & _BY_FILE):
        return
    for key in _KEYS:
        for text in front.texts(key):
            if len(text) > _LONGEST:
                raise InvalidValue(f"has {len(text)} characters in {key}, the limit is {_LONGEST}")
            bare = text.removeprefix("[").removesuffix("]") if text.endswith("]") else text
            for part in _parts(bare):
                yield from filter(None, _expanded(part.strip().strip("'\"")))


def _parts(text: str) -> Iterator[str]:
    """Yield what is between the commas that are in no braces."""
    depth = start = 0
    for at, sign in enumerate(text):
        depth += (sign == "{") - (sign == "}")
        if sign == "," and depth <= 0:
            yield text[start:at]
            start = at + 1
    yield text[start:]


def _expanded(pattern: str) -> Iterator[str]:
    """Yield a pattern once for each way through its braces."""
    found = _BRACES.search(pattern)
    if found is None:
        yield pattern
        return
    for choice in found[1].split(","):
        yield from _expanded(f"{pattern[: found.start()]}{choice.strip()}{pattern[found.end() :]}")


def _placed(base: str, patterns: Sequence[str]) -> tuple[str, ...]:
    """Return patterns as places, what is taken out again at the end."""
    out = [one for one in patterns if one.startswith("!")]
    into = [one for one in patterns if not one.startswith("!")]
    if not into or _EVERYWHERE.intersection(into):
        into = ["**"] if base or out else []
    return check_places([_under(base, one) for one in (*into, *out)])


def _under(base: str, pattern: str) -> str:
    """Return a pattern of a folder relative to the project root."""
    sign = "!" * pattern.startswith("!")
    bare = pattern.removeprefix("!").removeprefix("./")
    if not base or bare.startswith(f"{base}/"):
        return sign + bare
    any_depth = "/" not in bare.rstrip("/")
    return f"{sign}{_escaped(base)}/{'**/' * any_depth}{bare.removeprefix('/')}"


def _escaped(folder: str) -> str:
    return exact_place(folder).removeprefix("/")
