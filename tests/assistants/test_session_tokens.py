"""What hooks put into a session of fifty prompts, in tokens, and whether it helps as before.

Tests estimate tokens, which are about a tenth more than those that a vocabulary counts.
"""

import json
import os
from pathlib import Path
from random import Random
from typing import Final, NamedTuple

import pytest

from pmem import Project
from pmem.core.tokens import budget_counter
from pmem.values import ids as identifiers
from pmem.values.ids import short
from tests.faults.console import pmem

DAY: Final = Path(__file__).with_name("working_day.txt").read_text(encoding="utf-8").splitlines()
SECOND: Final = DAY.index(next(line for line in DAY[1:] if line.startswith("#")))
MEMORIES: Final = [line.split(" | ", 2) for line in DAY[1:SECOND]]
PROMPTS: Final = [line.split("| ", 1) for line in DAY[SECOND + 1 :]]
PARTS: Final = """search checkout mailer warehouse reports login catalog pricing returns uploads
webhooks scheduler admin importer exporter cache metrics tracing gateway""".split()
FURTHER: Final = (
    ("fact", "{} is written in Go and talks gRPC"),
    ("fact", "Ask Mira before you change the schema of {}"),
    ("fact", "The settings of {} are in config/{}.toml"),
    ("decision", "We split {} off in March, because it blocked releases"),
)


class Cost(NamedTuple):
    """Tokens of a session's start and of its prompts, and what prompts could not see."""

    start: int
    prompts: int
    missed: list[str]


def told(event: str, **given: object) -> str:
    data = json.dumps({"session_id": "s", "cwd": os.getcwd(), **given}).encode()
    done = pmem("hook", event, "--harness", "claude-code", stdin=data)
    answer = json.loads(done.out or b"{}").get("hookSpecificOutput", {})
    return str(answer.get("additionalContext", ""))


def remember(root: str, many: int) -> list[str]:
    """Add so many memories, and return the ids of those that prompts are about."""
    project, ids = Project(root), []
    for type_, place, text in MEMORIES:
        places = [place] if place else []
        ids.append(project.add(text, type_, places=places, force=True).memory.id)
    further = ((type_, text.format(part, part)) for type_, text in FURTHER for part in PARTS)
    for (type_, text), _ in zip(further, range(many - len(ids)), strict=False):
        project.add(text, type_, force=True)
    return ids


def cost_of_a_day(root: str, many: int) -> Cost:
    ids, count = remember(root, many), budget_counter("auto").count
    seen = start = told("session-start", source="startup")
    prompts, missed = 0, []
    for wanted, prompt in PROMPTS:
        text = told("prompt", prompt=prompt)
        seen, prompts = seen + text, prompts + (count(text) if text else 0)
        missed += [prompt for one in wanted.split() if short(ids[int(one)]) not in seen]
    return Cost(count(start), prompts, missed)


@pytest.mark.parametrize(("many", "most"), [(24, 760), (100, 760)])  # 691 and 697, exactly
def test_a_session_of_fifty_prompts_costs_few_tokens_and_sees_what_answers(
    many: int, most: int, root: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, drawn = identifiers.make_id, Random(many)  # an id costs more or fewer tokens
    monkeypatch.setattr(identifiers, "make_id", lambda at, _: made(at, drawn.getrandbits(64)))
    assert (len(MEMORIES), len(PROMPTS)) == (24, 50)
    cost = cost_of_a_day(root, many)
    assert cost.start + cost.prompts <= most, cost
    assert cost.missed == []
