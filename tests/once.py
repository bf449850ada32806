"""Build what many tests begin with once, and give each of them a copy."""

import shutil
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any, Protocol, TypeVar

T = TypeVar("T")
_BUILT: dict[str, tuple[Path, Any]] = {}


class Once(Protocol):
    """What the fixture `once` gives."""

    def __call__(self, build: Callable[[], T], /) -> T:
        """Fill the test's folders as `build` does; the second time, with a copy of what it made.

        Args:
            build: Fills them, and returns what a test needs to know of it.
        """


def built_once(folder: Path, copies: Path) -> Once:
    """Return what builds once.

    Args:
        folder: The test's own folder, with its home and where it works.
        copies: A folder that outlives the test.
    """

    def once(build: Callable[[], T], /) -> T:
        name = f"{build.__module__}.{build.__qualname__}"
        if name in _BUILT:
            copy, value = _BUILT[name]
            shutil.copytree(copy, folder, symlinks=True, dirs_exist_ok=True)
            return deepcopy(value)  # type: ignore[no-any-return]
        value = build()
        shutil.copytree(folder, copies / name, symlinks=True)
        _BUILT[name] = copies / name, value
        return deepcopy(value)

    return once
