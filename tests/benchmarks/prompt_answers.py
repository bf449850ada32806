"""How much of what a prompt is told belongs to it: `docs/benchmarks.md`.

    python -m tests.benchmarks.prompt_answers

`prompt_answers.json` has two made projects: each memory's type, subject and text, and each prompt
of a working day with the memories that answer it. They were labelled before anything was measured.
Each prompt is put to `pmem hook prompt` in a session of its own.
"""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple

from pmem import Project
from tests.benchmarks.measure import ENVIRONMENT, pmem

LABELS: Final = Path(__file__).with_name("prompt_answers.json")
HARNESS: Final = "claude-code"


class Told(NamedTuple):
    """A prompt, the keys of the memories that answer it, and of those that it was told."""

    prompt: str
    wanted: set[str]
    shown: set[str]


def main() -> None:
    """Print what each prompt is told wrongly or not told, then precision and recall."""
    told = [one for project in json.loads(LABELS.read_text()) for one in told_of(project)]
    for one in told:
        if one.wanted != one.shown:
            wrong, missed = sorted(one.shown - one.wanted), sorted(one.wanted - one.shown)
            print(f"{one.prompt}: wrong {wrong}, missed {missed}")
    shown = sum(len(one.shown) for one in told)
    right = sum(len(one.shown & one.wanted) for one in told)
    wanted = sum(len(one.wanted) for one in told)
    print(f"{len(told)} prompts, {shown} lines, {right} right of {wanted} wanted")
    print(f"precision {right / shown:.1%}, recall {right / wanted:.1%}")


def told_of(project: dict[str, Any]) -> Iterator[Told]:
    """Yield what each prompt of a project is told."""
    texts = {key: content for key, (_, _, content) in project["memories"].items()}
    with TemporaryDirectory() as place:
        memory = Project(Path(place, ".project-memory"))
        for type_, subject, content in project["memories"].values():
            memory.add(content, type_, subject=subject, force=True)
        for number, (prompt, wanted) in enumerate(project["prompts"]):
            text = answer(Path(place), prompt, f"session-{number}")
            shown = {key for key, content in texts.items() if content in text}
            yield Told(prompt, set(wanted), shown)


def answer(folder: Path, prompt: str, session: str) -> str:
    """Return what `pmem hook prompt` says in a folder."""
    said = json.dumps({"session_id": session, "cwd": str(folder), "prompt": prompt})
    run = subprocess.run(
        pmem("hook", "prompt", "--harness", HARNESS),
        cwd=folder, env=ENVIRONMENT, input=said, text=True, capture_output=True, check=True,
    )  # fmt: skip
    reply = json.loads(run.stdout or "{}")
    return str(reply.get("hookSpecificOutput", {}).get("additionalContext", ""))


if __name__ == "__main__":
    main()
