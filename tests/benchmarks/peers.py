"""Other programs that keep texts, on as many of the same texts: they search, and they add one.

Programs that are not found are left out: `pip install jrnl ctxmem cosmos-dev` in an environment of
their own, taskwarrior and ripgrep from the system.
"""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from typing import Final

from tests.benchmarks.measure import ENVIRONMENT, Command

MOST_FOR_COSMOS: Final = 100
"""It is filled one text at a time, a third of a second each."""
_JOURNAL: Final = """\
version: v4.6
journals:
  default: {journal}
colors: {{}}
editor: ""
encrypt: false
timeformat: "%Y-%m-%d %H:%M"
tagsymbols: "@"
default_hour: 9
default_minute: 0
linewrap: 79
highlight: false
indent_character: "|"
template: false
display_format: null
"""
_ASK_DATABASE: Final = """\
import sqlite3, sys
asked = sqlite3.connect(sys.argv[1]).execute(
    "SELECT text FROM texts WHERE texts MATCH ? ORDER BY rank LIMIT 10", (sys.argv[2],))
print(*(text for text, in asked), sep="\\n")
"""
_NUMBERS: Final = count()
Lines = dict[str, Callable[[], Command]]


def peer_lines(programs: Path, folder: Path, memory: Path, texts: Sequence[str]) -> Lines:
    """Fill the peers with texts in a folder, and return what is measured, by name.

    Args:
        programs: A folder with those that come from PyPI.
        folder: Where they keep the texts.
        memory: pmem's folder, in which ripgrep and git look.
        texts: What they keep.
    """
    folder.mkdir(exist_ok=True)
    lines: Lines = {}
    words = ("compresses", "webhooks")
    if shutil.which("rg"):
        lines["rg"] = lambda: ("rg", "--count", " ".join(words), str(memory))
    inside = ("git", "-C", str(memory))
    lines["git grep"] = lambda: (*inside, "grep", "--untracked", "--count", " ".join(words))
    lines |= _of_sqlite(folder / "texts.db", texts, " ".join(words))
    if task := shutil.which("task"):
        lines |= _of_taskwarrior(task, folder, texts, words)
    if (program := programs / "jrnl").exists():
        lines |= _of_jrnl(program, folder, texts, " ".join(words))
    if (program := programs / "ctxmem").exists():
        lines |= _of_ctxmem(program, folder / "ctxmem", texts, " ".join(words))
    if (program := programs / "cosmos").exists() and len(texts) <= MOST_FOR_COSMOS:
        lines |= _of_cosmos(program, folder / "cosmos", texts, " ".join(words))
    return lines


def _new() -> str:
    return f"A new text, number {os.getpid()} {next(_NUMBERS)}"


def _of_sqlite(place: Path, texts: Sequence[str], asked: str) -> Lines:
    place.unlink(missing_ok=True)
    with sqlite3.connect(place) as database:
        database.execute("CREATE VIRTUAL TABLE texts USING fts5(text)")
        database.executemany("INSERT INTO texts VALUES (?)", ((one,) for one in texts))
    database.close()
    return {"SQLite FTS5": lambda: (sys.executable, "-c", _ASK_DATABASE, str(place), asked)}


def _of_taskwarrior(
    program: str, folder: Path, texts: Sequence[str], words: Sequence[str]
) -> Lines:
    start = (program, f"rc.data.location={folder / 'task'}", "rc.confirmation=off", "rc.verbose=")
    (folder / "task").mkdir(exist_ok=True)
    (folder / "taskrc").write_text("")
    ENVIRONMENT["TASKRC"] = str(folder / "taskrc")
    tasks = "\n".join(json.dumps({"description": text, "status": "pending"}) for text in texts)
    command = [*start, "import", "-"]
    subprocess.run(command, input=tasks.encode(), env=ENVIRONMENT, check=True, capture_output=True)
    return {
        "taskwarrior": lambda: (*start, "limit:10", *words, "list"),
        "taskwarrior, adds": lambda: (*start, "add", _new()),
    }


def _of_jrnl(program: Path, folder: Path, texts: Sequence[str], asked: str) -> Lines:
    journal, settings = folder / "journal.txt", folder / "jrnl.yaml"
    days = (f"[2025-{i // 28 % 12 + 1:02}-{i % 28 + 1:02} 09:00]" for i in range(len(texts)))
    entries = zip(days, texts, strict=True)
    journal.write_text("\n".join(f"{day} {text}\n" for day, text in entries), encoding="utf-8")
    settings.write_text(_JOURNAL.format(journal=journal), encoding="utf-8")
    start = (str(program), "--config-file", str(settings))
    return {
        "jrnl": lambda: (*start, "-contains", asked, "-n", "20"),
        "jrnl, adds": lambda: (*start, _new()),
    }


def _of_ctxmem(program: Path, folder: Path, texts: Sequence[str], asked: str) -> Lines:
    start = _initialized(program, folder)
    entry = {"ts": "2026-11-01T09:00:00+00:00", "type": "note", "branch": "main", "commit": "none"}
    entry |= {"path": "", "file_hash": "", "title": "", "supersedes": ""}
    with (folder / ".ctxmem" / "memory.jsonl").open("a", encoding="utf-8") as file:
        for number, text in enumerate(texts):
            whole = {**entry, "id": f"{number:012x}", "content": text, "tags": []}
            file.write(json.dumps(whole) + "\n")
    subprocess.run([*start, "sync"], cwd=folder, check=True, capture_output=True)
    return {
        "ctxmem": lambda: (*start, "recall", asked),
        "ctxmem, adds": lambda: (*start, "remember", _new()),
    }


def _of_cosmos(program: Path, folder: Path, texts: Sequence[str], asked: str) -> Lines:
    ENVIRONMENT["HOME"] = str(folder.parent / "home")  # it writes to the settings of assistants
    (start,) = _initialized(program, folder, "--no-user-hooks", "--no-seed")
    watching = str(folder / ".cosmos" / "cosmosw")
    subprocess.run(["pkill", "-f", watching], check=False)  # it stays, and reads sessions
    for text in texts:
        subprocess.run(
            [start, "remember", text], cwd=folder, env=ENVIRONMENT, check=True, capture_output=True
        )
    inside = ("env", f"--chdir={folder}", start)
    return {
        "cosmos": lambda: (*inside, "search", asked),
        "cosmos, adds": lambda: (*inside, "remember", _new()),
    }


def _initialized(program: Path, folder: Path, *more: str) -> tuple[str, ...]:
    """Let a program begin in a repository, and return how it is called on it."""
    folder.mkdir(exist_ok=True)
    for command in (["git", "init", "--quiet"], [str(program), "init", *more]):
        subprocess.run(command, cwd=folder, env=ENVIRONMENT, check=True, capture_output=True)
    return (str(program), "--root", str(folder)) if program.name == "ctxmem" else (str(program),)
