"""The Markdown files that an import reads, where their rules apply, and whose memory is which.

Files change: the memory of a rule is that of the same text, else the nearest.
"""

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Final, NamedTuple

import msgspec

from pmem.core.followed_rules import FollowedRule
from pmem.core.places import MOST_PLACES, applies, exact_place
from pmem.errors import Damaged, FileNotRead, InvalidValue
from pmem.interchange import Skipped
from pmem.interchange.notes import Note
from pmem.project.workspace import Workspace
from pmem.storage.files.recordfile import read_bytes
from pmem.storage.files.worktree import name_in
from pmem.values.records import MemoryType, State

_MARKDOWN: Final = (".md", ".mdc", ".markdown")
_MOST_BYTES: Final = 1024 * 1024
_NAMED: Final = 3


_WORD: Final = re.compile(r"\w+")
_ALIKE: Final = 0.6
"""From here on one rule is another one as it was changed."""


class NoteFile(msgspec.Struct, frozen=True):
    """An instruction file: its path in the project, with slashes, and what it says."""

    file: str
    text: str


def note_files(
    workspace: Workspace,
    paths: Iterable[str],
    wanted: Callable[[str], bool],
    skipped: list[Skipped],
) -> Iterator[NoteFile]:
    """Read Markdown files; of a folder those that are in it, and those below it that are wanted.

    `wanted` tells by its path whether a file below a folder is read; `skipped` takes a line for
    each folder of which some were not.

    Raises:
        InvalidValue: There is no such file, it is no text, or it is outside the project.
    """
    read: set[str] = set()
    for path in paths:
        names = [path]
        if os.path.isdir(path):
            names, others = _in_folder(workspace, path, wanted)
            if others:
                listed = ", ".join(others[:_NAMED]) + ", ..." * (len(others) > _NAMED)
                why = f"has Markdown below it that is no instruction file ({len(others)}): {listed}"
                skipped.append(Skipped(path, why))
        for name in names:
            try:
                file = _read_file(os.path.dirname(workspace.root), name)
            except (InvalidValue, FileNotRead) as error:
                if names == [path]:
                    raise
                why = error.message.removeprefix(f"{name} ")
                skipped.append(Skipped(name_in(workspace.sources.top, name), why))
                continue
            if file.file not in read:
                read.add(file.file)
                yield file


def _in_folder(
    workspace: Workspace, folder: str, wanted: Callable[[str], bool]
) -> tuple[list[str], list[str]]:
    """Return the paths of a folder's Markdown files that are read, and the names of the others."""
    top = os.path.realpath(workspace.sources.top)
    inside = name_in(top, folder)
    if not inside and os.path.realpath(folder) != top:
        raise InvalidValue(f"{folder} lies outside {top}", "copy it into the project")
    found = [one for one in workspace.sources.within(inside) if one.endswith(_MARKDOWN)]
    others = [one for one in found if one.rpartition("/")[0] != inside and not wanted(one)]
    kept = sorted(set(found).difference(others))
    paths = (os.path.join(top, *one.split("/")) for one in kept)
    return [path for path in paths if os.path.exists(path)], others


def _read_file(project: str, path: str) -> NoteFile:
    real = os.path.realpath(path)
    place = os.path.relpath(real, os.path.realpath(project))
    if place.startswith(os.pardir):
        raise InvalidValue(f"{path} lies outside {project}", "copy it into the project")
    try:
        data, _ = read_bytes(real, _MOST_BYTES, "a Markdown file")
        return NoteFile(file=place.replace(os.sep, "/"), text=data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise InvalidValue(f"{path} is not UTF-8", "save it as UTF-8") from None
    except Damaged as error:
        why = error.message.removeprefix(f"{real} ")
        raise InvalidValue(f"{path} {why}", "import a part of it") from None
    except FileNotFoundError:
        raise InvalidValue(f"there is no file {path}", "look at the path") from None
    except OSError as error:
        raise FileNotRead(f"{path} cannot be read: {error.strerror}") from None


class ProjectNames:
    """The files of a project and their folders, by name.

    All names are seen from the project's top, with slashes.
    """

    def __init__(self, files: Collection[str], inside: str) -> None:
        self._files = frozenset(files)
        self._folders = {
            file[:place] for file in files for place, sign in enumerate(file) if sign == "/"
        }
        self.inside = inside
        self._prefix = f"{inside}/" if inside else ""

    def has(self, file: str) -> bool:
        """Tell whether a file is there, by its name relative to the memory's project."""
        return f"{self._prefix}{file}" in self._files

    def places_of(self, file: str, note: Note, places: tuple[str, ...]) -> tuple[str, ...]:
        """Return where a rule applies: what it is about, if that is there, else as its file.

        An order about several files of a folder stays with the folder. `places` are where its
        file's rules apply; where the file gives patterns, what a rule is about comes beside them.
        """
        folder = f"{self._prefix}{file}".rpartition("/")[0]
        own = (f"{exact_place(folder).removeprefix('/')}/**",) if folder else ()
        if own and note.type is MemoryType.CONSTRAINT and len(note.about) > 1:
            return places
        bases = tuple(dict.fromkeys((f"{folder}/" if folder else "", self._prefix, "")))
        above = (one for one in note.below if one != file.rpartition("/")[2])
        named, below = self._named(bases, note.about), self._named(bases, above)
        if places in ((), own):
            return named or below or places
        endings = tuple(f"/{one}" for one in note.below)
        within = [one for one in places if f"/{one}".endswith(endings)]
        within = within or [one for one in below if applies(places, one.removeprefix("/"))]
        places = tuple(within) or places
        if note.type is MemoryType.FACT:
            return places
        more = (one for one in named if not applies(places, one.removeprefix("/")))
        return tuple(dict.fromkeys((*places, *more)))[:MOST_PLACES]

    def _named(self, bases: tuple[str, ...], names: Iterable[str]) -> tuple[str, ...]:
        """Return the patterns of those names that are there, seen from the first base that fits."""
        bare = [one.removeprefix("./") for one in names]
        found = (
            next(filter(None, (self._place(base, name) for base in bases)), self._lower_down(name))
            for name in bare
        )
        return tuple(dict.fromkeys(filter(None, found)))

    def _lower_down(self, name: str) -> str:
        """Return the pattern for a path whose beginning is left out, if only one fits."""
        ending = f"/{name.strip('/')}"
        if ending.count("/") < 2:
            return ""
        named = self._by_last_part.get(ending.rpartition("/")[2], ())
        fits = [one for one in named if one.endswith(ending)]
        return self._place("", fits[0]) if len(fits) == 1 else ""

    @cached_property
    def _by_last_part(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for one in (*self._files, *self._folders):
            found.setdefault(one.rpartition("/")[2], []).append(one)
        return found

    def _place(self, base: str, name: str) -> str:
        """Return the pattern for a file, a folder or a pattern; nothing where nothing is there."""
        bare = f"{base}{name}".strip("/")
        if bare in self._folders:
            return f"{exact_place(bare).removeprefix('/')}/**"
        if bare in self._files:
            return exact_place(bare)
        if "*" not in name and not re.fullmatch(r"\.\w+", name):
            return ""
        pattern = name if "*" in name else f"*{name}"
        escaped = exact_place(base).removeprefix("/") if base else ""
        anywhere = f"{escaped}**/{pattern}" if "/" in pattern or base else pattern
        found = (f"{escaped}{pattern}" if "/" in pattern else anywhere, anywhere)
        return next((one for one in found if any(applies((one,), f) for f in self._files)), "")


def is_name(file: str) -> bool:
    """Tell whether a text can be the name of a file in the project."""
    return "\0" not in file and {"", ".", ".."}.isdisjoint(file.split("/"))


class PlacedRule(NamedTuple):
    """A rule in a file, and where it applies.

    Of one that cannot be kept, as it holds a secret or is too long, the memory stays as it is.
    """

    file: str
    note: Note
    places: tuple[str, ...]
    can_be_kept: bool = True


def pair_rules(
    rules: Sequence[PlacedRule], known: Iterable[FollowedRule]
) -> tuple[list[FollowedRule | None], list[FollowedRule]]:
    """Find the memory of each rule: the same text in its file, then elsewhere, then the nearest.

    Returns:
        The memory of each rule in their order, and those active ones that no rule is left of.
    """
    every = sorted(known, key=lambda one: one.memory.state is not State.ACTIVE)
    left = {one.memory.id: one for one in every}
    pairs: list[FollowedRule | None] = [None] * len(rules)
    for is_moved in (False, True):
        by_text: dict[tuple[str | None, str], list[str]] = {}
        for identifier, one in left.items():
            for text in {one.text, one.memory.content}:
                by_text.setdefault((None if is_moved else one.file, text), []).append(identifier)
        for n, rule in enumerate(rules):
            said = by_text.get((None if is_moved else rule.file, rule.note.text), ())
            free = next((identifier for identifier in said if identifier in left), None)
            if pairs[n] is None and free is not None:
                pairs[n] = left.pop(free)
    here = {rule.file for rule in rules}
    words = {identifier: words_of(one.text) for identifier, one in left.items()}
    for n, rule in enumerate(rules):
        if pairs[n] is None:
            asked = words_of(rule.note.text)
            ranked = [
                (one.is_changed, share, identifier)  # rather one that people changed
                for identifier, one in left.items()
                if one.memory.state is State.ACTIVE
                and (one.file == rule.file or one.file not in here)
                and (share := _likeness(asked, words[identifier])) >= _ALIKE
            ]
            pairs[n] = left.pop(max(ranked)[2]) if ranked else None
    return pairs, [one for one in left.values() if one.memory.state is State.ACTIVE]


def _likeness(one: frozenset[str], other: frozenset[str]) -> float:
    """Return twice the shared words by all of both (Dice)."""
    return 2 * len(one & other) / ((len(one) + len(other)) or 1)


def words_of(text: str) -> frozenset[str]:
    """Return the words of a text, which are compared without case."""
    return frozenset(_WORD.findall(text.casefold()))
