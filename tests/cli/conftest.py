"""A project for the tests of the command line, and a clock that stands still."""

import os

import pytest

from pmem.project.setup import initialise

NOW = "2026-11-21T14:30:00Z"


@pytest.fixture
def project(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("PMEM_NOW", NOW)
    monkeypatch.setenv("PMEM_ACTOR", "ada")
    folder = os.path.abspath(".project-memory")
    initialise(folder)
    return folder
