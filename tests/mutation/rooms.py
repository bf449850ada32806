"""Which tests hold which module: those that mirror it, and those of its room."""

import os
from typing import Final

ROOMS: Final = {
    "pmem/core/retrieval": "tests/core/retrieval",
    "pmem/core/context": "tests/core/context",
    "pmem/core/secrets": "tests/core/secrets tests/project/test_secret_gate.py",
    "pmem/core/duplicates": "tests/core/duplicates",
    "pmem/core/extraction": "tests/core/extraction",
    "pmem/core/threeway": "tests/core/threeway",
    "pmem/storage/files": "tests/storage",
    "pmem/storage/index": "tests/storage",
}
"""Rooms whose tests do not simply stand in the folder of the same name, or that are measured."""


def modules_of(path: str) -> list[str]:
    """Return the modules of a package, or the one that is named."""
    if os.path.isfile(path):
        return [path]
    found = (os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names)
    return sorted(each for each in found if each.endswith(".py"))


def tests_of(module: str) -> list[str]:
    """Return what pytest is to run for a module."""
    for room, tests in ROOMS.items():
        if module == room or module.startswith(room + os.sep):
            return tests.split()
    same = module.replace("pmem", "tests", 1)
    folder, name = os.path.split(same)
    mirrored = os.path.join(folder, f"test_{name}")
    for tests in (same, mirrored):
        if os.path.exists(tests):
            return [tests]
    while not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    return [folder]
