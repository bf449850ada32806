"""What a hook of a coding assistant takes, beside a bare interpreter: `docs/benchmarks.md`.

Bars at 1,000 memories: what says nothing at most 6, with an answer at most 9; a stop with a
transcript of 20 MB at most 12; where there is no memory at most 2.5.
"""

import argparse
import json
import os
import statistics
import subprocess
import tempfile
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any, Final, NamedTuple

from pmem import Project
from tests.benchmarks.measure import BARE, ENVIRONMENT, Command, pmem
from tests.benchmarks.stores import make
from tests.conversation.assistants import ClaudeCode

_SESSIONS: Final = count()
TOLD: Final = "src/told.py"
"""A file that memories are about."""


class Call(NamedTuple):
    """A command, where it runs, and what makes its standard input."""

    command: Command
    folder: Path
    told: Callable[[], bytes]


def main() -> None:
    """Measure and print Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--own", type=int, default=0, help="memories of one's own beside them")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        full, empty = Path(place, "full"), Path(place, "empty")
        empty.mkdir()
        make(full, given.size)
        place_some(full)
        keep_own(Path(place, "data"), given.own)
        figures = measured(calls(full, empty), given.runs)
    print(f"\n| CPU time at {given.size:,} memories | times bare |\n|---|---|")
    for name, seconds in figures.items():
        print(f"| {name} | {seconds / figures['`python -c pass`']:.1f} |")


def keep_own(data: Path, many: int) -> None:
    """Keep so many memories of one's own, a third of which answer the prompt that is measured."""
    os.environ["XDG_DATA_HOME"] = ENVIRONMENT["XDG_DATA_HOME"] = str(data)
    ENVIRONMENT.pop("CI", None)
    for number in range(many):
        answers = f"I prefer the parser of kind {number}, which retries webhooks by itself"
        other = f"My own note {number} is about the laptop and its port {number}"
        Project.mine().add(answers if number % 3 == 0 else other, "preference", force=True)


def place_some(full: Path) -> None:
    """Let one memory in ten apply to a place, and three to a file that is touched."""
    project = Project(full / ".project-memory")
    for number, memory in enumerate(project.list(limit=100_000).items):
        if number % 10 == 0:
            project.edit(memory.id, places=(f"src/part{number}/**", f"*.q{number}"))
    for number in range(3):
        project.add(f"Tried: way {number}. It failed.", type="dead_end", places=(TOLD,), force=True)


def calls(full: Path, empty: Path) -> dict[str, Call]:
    """Return what is measured.

    Args:
        full: A folder with a memory.
        empty: One without.
    """
    asked = "the parser retries webhooks, which one?"
    other = "what is the weather like in Lisbon tomorrow?"
    return {
        "`python -c pass`": Call(BARE, empty, bytes),
        "a prompt with an answer": _hook("prompt", full, prompt=asked),
        "a prompt without one": _hook("prompt", full, prompt=other),
        "a prompt of two words": _hook("prompt", full, prompt="yes please"),
        "a prompt in a project without a memory": _hook("prompt", empty, prompt=asked),
        "a file read, with something to say": _hook("pre-tool", full, **_read(TOLD)),
        "a file read, with nothing to say": _hook("pre-tool", full, **_read("src/main.py")),
        "a file read again": _again("pre-tool", full, **_read(TOLD)),
        "a file read in a project without a memory": _hook("pre-tool", empty, **_read(TOLD)),
        "a command that is no look at a file": _hook("pre-tool", full, **_command("make test")),
        "a failed command, its error not known": _hook(
            "post-tool", full, **_command("make"), error="Exit code 2\nerror: no such ledger here"
        ),
        "a session's start": _hook("session-start", full, source="startup"),
        "a stop, its transcript noted": _hook("stop", full, transcript_path=__file__),
        "a stop after a turn of 270 kB, what was shown counted": _stop(full, 40, 6_400),
        "a stop after a turn of 8 MB, of which the end is read": _stop(full, 200, 40_000),
        "a stop with a transcript of 20 MB, looked through for moments": _stop(full, 500, 40_000),
        "a stop with nothing new": _again("stop", full, transcript_path=__file__),
        "`search`, to compare": Call(pmem("search", asked), full, bytes),
    }


def measured(table: dict[str, Call], runs: int) -> dict[str, float]:
    """Return each call's median CPU time in seconds, after one run each that counts for nothing."""
    times: dict[str, list[float]] = {name: [] for name in table}
    for turn in range(runs + 1):
        for name, call in table.items():
            seconds = _cpu_seconds(call)
            if turn:
                times[name].append(seconds)
    return {name: statistics.median(taken) for name, taken in times.items()}


def _read(file: str) -> dict[str, Any]:
    return {"tool_name": "Read", "tool_input": {"file_path": file}}


def _command(line: str) -> dict[str, Any]:
    return {"tool_name": "Bash", "tool_input": {"command": line}}


def _again(event: str, folder: Path, **more: Any) -> Call:
    """Call a hook for a session that was told all there is to say, from its second call on."""
    told = json.dumps({"session_id": "again", "cwd": str(folder), **more}).encode()
    return Call(pmem("hook", event, "--harness", "claude-code"), folder, lambda: told)


def _hook(event: str, folder: Path, **more: Any) -> Call:
    def told() -> bytes:
        session = f"bench-{os.getpid()}-{next(_SESSIONS)}"
        return json.dumps({"session_id": session, "cwd": str(folder), **more}).encode()

    return Call(pmem("hook", event, "--harness", "claude-code"), folder, told)


def _stop(folder: Path, turns: int, result: int) -> Call:
    """Call a hook as a session stops that was told its start, and has a transcript."""
    session = ClaudeCode(str(folder))
    for turn in range(turns):
        session.ask(f"how does the scheduler retry webhooks of number {turn}?")
        session.say("I looked at the scheduler and at what it does with webhooks. " * 3)
        session.call("Edit", f"t{turn}", file_path=str(folder / "src" / "main.py"))
        session.result(f"t{turn}", "x" * result)
    path = folder / f"session-{turns}.jsonl"
    path.write_bytes(session.bytes())
    ended = _hook("stop", folder, transcript_path=str(path))

    def told() -> bytes:
        data = ended.told()
        start = pmem("hook", "session-start", "--harness", "claude-code")
        subprocess.run(
            start, cwd=folder, env=ENVIRONMENT, input=data, check=True, stdout=subprocess.DEVNULL
        )
        return data

    return ended._replace(told=told)


def _cpu_seconds(call: Call) -> float:
    with subprocess.Popen(
        call.command,
        cwd=call.folder,
        env=ENVIRONMENT,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
    ) as process:
        assert process.stdin is not None
        process.stdin.write(call.told())
        process.stdin.close()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(" ".join(call.command))
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    main()
