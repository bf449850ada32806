"""What the files of a project are called, and where a rule that names one of them applies."""

from collections.abc import Collection

from pmem.core.places import applies, exact_place
from pmem.interchange.notes import Note
from pmem.values.records import MemoryType


class ProjectNames:
    """The files of a project and their folders, by name.

    All names are seen from the project's top, with slashes.

    Attributes:
        inside: The same.
    """

    def __init__(self, files: Collection[str], inside: str) -> None:
        self._files = frozenset(files)
        self._folders = {folder for file in files for folder in _folders_above(file)}
        self.inside = inside
        self._prefix = f"{inside}/" if inside else ""

    def has(self, file: str) -> bool:
        """Tell whether a file is there, by its name relative to the memory's project."""
        return f"{self._prefix}{file}" in self._files

    def places_of(self, file: str, note: Note, places: tuple[str, ...]) -> tuple[str, ...]:
        """Return where a rule applies: what it is about, if that is there, else as its file.

        An order about several files of a folder stays with the folder. `places` are where its
        file's rules apply; patterns that the file gives count alone.
        """
        folder = f"{self._prefix}{file}".rpartition("/")[0]
        own = (f"{exact_place(folder).removeprefix('/')}/**",) if folder else ()
        is_of_all = own and note.type is MemoryType.CONSTRAINT and len(note.about) > 1
        if is_of_all or places not in ((), own):
            return places
        bases = dict.fromkeys((f"{folder}/" if folder else "", self._prefix, ""))
        named = [
            next(filter(None, (self._place(f"{base}{about}") for base in bases)), "")
            for about in (one.removeprefix("./") for one in note.about)
        ]
        return tuple(dict.fromkeys(filter(None, named))) or places

    def _place(self, name: str) -> str:
        """Return the pattern for a file, a folder or a pattern; nothing where nothing is there."""
        bare = name.rstrip("/")
        if bare in self._folders:
            return f"{exact_place(bare).removeprefix('/')}/**"
        if bare in self._files:
            return exact_place(bare)
        is_pattern = "*" in bare and "/" in bare
        return bare if is_pattern and any(applies((bare,), one) for one in self._files) else ""


def is_name(file: str) -> bool:
    """Tell whether a text can be the name of a file in the project."""
    return "\0" not in file and {"", ".", ".."}.isdisjoint(file.split("/"))


def _folders_above(file: str) -> list[str]:
    parts = file.split("/")[:-1]
    return ["/".join(parts[: depth + 1]) for depth in range(len(parts))]
