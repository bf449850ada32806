"""A project with work of every kind, and models that do it without a fault."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from pmem import Project
from pmem.core.summaries import summary
from pmem.model import tasks
from pmem.model.models import Models
from pmem.model.tasks import TASKS
from pmem.upkeep.work import doing, of_talk
from tests.conftest import NOW

SETTINGS: dict[str, Any] = {
    "max_recent_messages": 6,
    "chunk_size": 4,
    "apps.limit": 2,
    "promotion_threshold": 1.0,
}
SAID = (
    ("user", "ada", "Orders will go to PostgreSQL from Monday on, because SQLite locked up twice."),
    (
        "assistant",
        None,
        "The tables for orders were moved with `make migrate`, and the pool is 20.",
    ),
    ("user", "ada", "The migration must never run on Fridays, says Ada to the whole team of shop."),
    ("assistant", None, "Noted. First `make backup` ran, then `make migrate`, then `make check`."),
    ("user", "ada", "Did the check of the orders pass on every machine of the shop in Hamburg?"),
    ("assistant", None, "Fixed the last error, and all 42 tests passed. The pool is deployed now."),
    (
        "user",
        "ada",
        "Ada decided to keep the old SQLite file for a month, in case of trouble there.",
    ),
    ("assistant", None, "The old file stays as orders-old.db until the end of the month."),
    ("user", "ada", "Thanks, that works, the release is done and the orders are in PostgreSQL."),
    ("assistant", None, "Released version 3.4 to production. The work on the orders is complete."),
)


def make_eager(patch: pytest.MonkeyPatch) -> None:
    """Have a model do all the work that waits at once, also on what is short."""
    patch.setattr(of_talk, "LEAST_CHARACTERS", 60)
    patch.setattr(doing, "MOST_CALLS", 1000)
    patch.setattr(summary, "SHARE", 0.5)


def opened(root: str, models: Any = None, hours: float = 0, **settings: Any) -> Project:
    now = NOW + timedelta(hours=hours)
    return Project(root, actor="ada", now=now, models=models, **{**SETTINGS, **settings})


def fill(root: str) -> None:
    """Fill a project by the rules, so that every kind of work waits."""
    project = opened(root)
    talk = project.start_conversation("Orders")
    for role, speaker, text in SAID:
        project.add_message(role, text, speaker=speaker, conversation=talk.id)
    project.end_conversation("The orders are in PostgreSQL.", talk.id)
    for content in (
        "The nightly backup of orders runs at 02:00 on the server in Hamburg.",
        "The nightly backup of orders on the Hamburg server takes forty minutes.",
        "Reports are sent on Mondays.",
    ):
        project.add(content, force=True)
    project.add_episode("SQLite locked up while orders were written.", title="Locked tables")
    project.add_episode("SQLite was slow while the report read orders.", title="Slow report")
    app = project.start_conversation("Meetings", app="calendar")
    project.add_message("user", "Ada prefers meetings after 14:00 on weekdays.", speaker="ada")
    project.end_conversation(conversation=app.id)
    wider = opened(root, **{"apps.limit": 9})
    for content in ("The office closes at 18:00.", "Ben shares the calendar of the team."):
        wider.apps.remember("calendar", content)


def first_words(text: str, most: int) -> str:
    kept = ""
    for word in text.split():
        if len(kept) + len(word) + 1 > most:
            break
        kept = f"{kept} {word}".strip()
    return kept


class Perfect:
    """Does every task well, by what it is given, and counts how often it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def models(self) -> Models:
        return Models("perfect", **{kind: getattr(self, kind) for kind in TASKS})

    def __getattr__(self, kind: str) -> Callable[[Any], Any]:
        def answer(given: Any) -> Any:
            self.asked.append(kind)
            return RIGHT[kind](given)

        return answer


def _merge(given: tasks.CompactionGiven) -> Any:
    oldest, second, *_ = given.memories
    return {
        "action": "edit",
        "targetMemoryId": oldest.id,
        "mergedMemoryId": second.id,
        "newContent": f"{oldest.content} {second.content}",
        "reason": "both are kept in one",
    }


def _facts(given: tasks.TurnGiven) -> Any:
    fact = {"content": "The migration must never run on Fridays.", "type": "constraint"}
    return {"facts": [{**fact, "importance": 5}] * ("Fridays" in given.text)}


def _tell(given: tasks.EpisodeGiven) -> Any:
    said = first_words(given.messages[-1].text, 120).rstrip(".,`")
    return {"title": first_words(said, 40), "summary": f"The talk told that: {said}."}


_FOUND = "SQLite was the reason why tables locked and why the report was slow."
_STEPS = ["Run make backup.", "Run make migrate.", "Run make check."]
RIGHT: dict[str, Callable[[Any], Any]] = {
    "chunk_summary": lambda it: {"summary": first_words(it.messages[0].text, it.most_characters)},
    "conversation_summary": lambda it: {
        "summary": f"The talk was about this: {it.messages[0].text}"
    },
    "compaction": _merge,
    "turn_facts": _facts,
    "episode": _tell,
    "insight": lambda _: {"insights": [{"summary": _FOUND, "tags": ["sqlite"], "importance": 3}]},
    "same_fact": lambda it: {"pairs": [{"id": one.id, "verdict": "same"} for one in it.pairs]},
    "procedure": lambda _: {"title": "Migration of the orders", "steps": _STEPS},
}
