"""What labelled coding sessions propose as dead ends, and whether a later touch brings them up.

    python -m tests.benchmarks.dead_ends FOLDER --given-up FACT [FACT]... [--top PROJECT TOP]...

The folder holds projects, a project sessions with `messages.jsonl` and `facts.jsonl`. The facts
named are those that tell of something given up. One is found when a message that states it
proposes a dead end; a proposal that states none of them is a false one. Each proposal is then
promoted, and a new session that reads its file is put to `hook pre-tool`. Calls of the labelled
sessions that touch such a file afterwards are counted too.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pmem.core.extraction.attempts import failed_attempts
from pmem.core.text.calls import recorded_calls

Line = dict[str, Any]


class Proposal(NamedTuple):
    """A dead end that a session proposes."""

    id: str
    message: str
    tried: str
    places: Sequence[str]


class Found(NamedTuple):
    """What a project's sessions give: how many of each."""

    labels: int
    found: int
    proposals: int
    right: int
    placed: int
    touched: int
    told: int


def main() -> None:
    """Measure and print, a line for each project."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--given-up", nargs="+", default=[], metavar="FACT")
    parser.add_argument("--top", nargs=2, action="append", default=[], metavar=("PROJECT", "TOP"))
    asked = parser.parse_args()
    for project in sorted(path for path in asked.folder.iterdir() if path.is_dir()):
        with tempfile.TemporaryDirectory() as scratch:
            labels, tops = frozenset(asked.given_up), dict(asked.top)
            got = measure(project, os.path.realpath(scratch), labels, tops.get(project.name, ""))
        print(
            f"{project.name}: {got.found} of {got.labels} found;"
            f" {got.right} of {got.proposals} proposals right;"
            f" {got.told} of {got.placed} with a file are told as it is read;"
            f" {got.touched} touched later"
        )


def measure(project: Path, scratch: str, given_up: frozenset[str], top: str) -> Found:
    """Import a project's sessions and compare what they propose with its labels.

    Args:
        project: The folder of sessions.
        scratch: An empty folder, with no link in its path.
        given_up: The labelled facts that tell of something given up.
        top: The folder that was worked in.
    """
    run(scratch, "init", "-q")
    labels = [fact for fact in read_lines(project, "facts") if fact["id"] in given_up]
    messages = list(read_lines(project, "messages", top))
    given = "".join(json.dumps(line) + "\n" for line in messages)
    run(scratch, "import", "messages", "-", stdin=given)
    proposals = list(proposed(scratch, messages))
    said = {message for label in labels for message in label["messages"]}
    for each in proposals:
        run(scratch, "inbox", "accept", each.id)
    return Found(
        labels=len(labels),
        found=sum(not said_by(proposals).isdisjoint(label["messages"]) for label in labels),
        proposals=len(proposals),
        right=sum(each.message in said for each in proposals),
        placed=sum(bool(each.places) for each in proposals),
        touched=sum(is_touched_later(each, messages) for each in proposals),
        told=sum(is_told(scratch, each) for each in proposals if each.places),
    )


def said_by(proposals: Sequence[Proposal]) -> set[str]:
    """Return the messages that proposals were made of."""
    return {each.message for each in proposals}


def proposed(scratch: str, messages: Sequence[Line]) -> Iterator[Proposal]:
    """Yield the dead ends that wait to be looked at, with the messages that state them."""
    source = {
        attempt.tried: line["id"]
        for line in messages
        for attempt in failed_attempts(line["content"])
    }
    for fact in json.loads(run(scratch, "inbox", "facts", "--json"))["data"]["items"]:
        if fact["type"] == "dead_end":
            message = source[fact["tried"]]
            yield Proposal(fact["id"], message, fact["tried"], fact.get("places", ()))


def is_touched_later(proposal: Proposal, messages: Sequence[Line]) -> bool:
    """Tell whether a call after a proposal touches the file where it applies."""
    places = [line["id"] for line in messages]
    for line in messages[places.index(proposal.message) + 1 :]:
        for file in touched_files(line):
            if f"/{file}" in proposal.places:
                return True
    return False


def touched_files(line: Mapping[str, Any]) -> Iterator[str]:
    """Yield the files that a message's calls name, seen from the project's top."""
    for call in recorded_calls(line.get("tool_call") or {}):
        for key in ("file_path", "target_file", "path"):
            if file := call.arguments.get(key):
                yield str(file)


def is_told(scratch: str, proposal: Proposal) -> bool:
    """Tell whether an assistant that reads the file of a dead end is told of it first."""
    asked = {
        "session_id": f"later-{proposal.id}",
        "cwd": scratch,
        "hook_event_name": "PreToolUse",
        "tool_name": "Read",
        "tool_input": {"file_path": scratch + proposal.places[0]},
    }
    return proposal.tried in run(scratch, "hook", "pre-tool", stdin=json.dumps(asked))


def read_lines(project: Path, name: str, top: str = "") -> Iterator[Line]:
    """Yield the lines of every session's file of a name, in the order of the sessions.

    Args:
        project: The folder of sessions.
        name: Of the files, without their ending.
        top: The folder that was worked in, which is taken off the files' names.
    """
    for path in sorted(project.glob(f"*/{name}.jsonl")):
        text = path.read_text(encoding="utf-8")
        yield from map(json.loads, (text.replace(f"{top}/", "") if top else text).splitlines())


def run(scratch: str, *arguments: str, stdin: str = "") -> str:
    """Return what pmem prints in a folder."""
    done = subprocess.run(
        [sys.executable, "-m", "pmem", "-C", scratch, *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


if __name__ == "__main__":
    main()
