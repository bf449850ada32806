"""The library of the extra `tokens`, which tests do without unless they ask for it."""

import sys
from contextlib import suppress
from importlib import import_module
from typing import Any, Final

import pytest

MODULE: Final = "rs_bpe.bpe"
LIBRARY: Any = None
with suppress(ImportError):
    LIBRARY = import_module(MODULE)

needs_the_library = pytest.mark.skipif(
    LIBRARY is None, reason="the library of the extra `tokens` is not installed"
)


def hide_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every import of the library fail, so that results are the same with it as without."""
    monkeypatch.setitem(sys.modules, MODULE, None)


def bring_library_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let imports of the library succeed where it is installed."""
    monkeypatch.setitem(sys.modules, MODULE, LIBRARY)
