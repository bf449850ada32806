"""Storage tests commit thousands of times; the disk need not hear of it."""

import os

import pytest


@pytest.fixture(autouse=True)
def _no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace fsync, which no test without a power cut can tell from nothing."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)
