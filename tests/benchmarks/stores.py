"""Memories to measure with: made up, varied, and the same every time."""

import random
from pathlib import Path

from pmem import AddRequest, Project

_PARTS = [
    "parser",
    "scheduler",
    "cache",
    "gateway",
    "index",
    "billing",
    "importer",
    "renderer",
    "session",
    "worker",
    "queue",
    "exporter",
    "linter",
    "profile",
    "search",
    "router",
    "storage",
    "mailer",
    "report",
    "wizard",
]
_VERBS = [
    "uses",
    "rejects",
    "retries",
    "logs",
    "drops",
    "stores",
    "validates",
    "compresses",
    "signs",
    "delays",
]
_THINGS = [
    "requests",
    "tokens",
    "timeouts",
    "invoices",
    "headers",
    "sessions",
    "records",
    "events",
    "uploads",
    "migrations",
    "payloads",
    "locks",
    "batches",
    "webhooks",
    "images",
]
_WHY = (
    "because the old way lost data",
    "after the incident in March",
    "as the customer asked",
    "until the new release is out",
    "so that tests stay quick",
    "which halves the start-up time",
)


def requests(number: int) -> list[AddRequest]:
    """Return so many different memories to add."""
    chance = random.Random(number)
    return [
        AddRequest(
            content=(
                f"The {chance.choice(_PARTS)} {chance.choice(_VERBS)} {chance.choice(_THINGS)} "
                f"of the {chance.choice(_PARTS)} {chance.choice(_WHY)}, case {place}."
            ),
            subject=f"case {place}",
            tags=(chance.choice(_PARTS),),
        )
        for place in range(number)
    ]


def make(folder: Path, number: int) -> Path:
    """Make a project with so many memories, and return its folder."""
    project = Project(str(folder / ".project-memory"), actor="bench")
    project.add_all(requests(number))
    return folder
