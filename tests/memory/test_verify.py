"""Citing files, and finding out what became of what is cited."""

import os
import shutil
import subprocess
from collections.abc import Callable
from itertools import count
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pmem.project.setup import initialise
from pmem.project.workspace import Workspace
from tests.citing import Files, Told, cite, expected, found, told, write
from tests.effort import examples

QUEUE = [f"def step_{n:02d}(): return 'queue step {n:02d}'" for n in range(1, 31)]
LIMITS = [f"LIMIT_{n:02d} = {n} * 1000  # messages" for n in range(1, 13)]
GUIDE = [f"Paragraph {n:02d} tells how the worker waits." for n in range(1, 21)]
BLOCK = ["    lock_the_queue();", "    count_messages();", "    unlock_the_queue();"]
FIRST = ["int first(void) {", "    prepare();", *BLOCK, "}", ""]
SECOND = ["int second(void) {", "    prepare();", *BLOCK, "}", ""]
THIRD = ["int third(void) {", "    finish_everything();", "}"]
OTHER = ["int other(void) {", "}", "int another(void) {", "}"]

Q, L, G, B = "src/queue.py", "src/limits.py", "docs/guide.md", "lib/brace.c"
START: Files = {Q: QUEUE, L: LIMITS, G: GUIDE, B: [*FIRST, *SECOND, *THIRD], "lib/other.c": OTHER}
CITED = [
    told(START, Q, 10, 12),
    told(START, Q, 25),
    told(START, L),
    told(START, G, 5, 8),
    told(START, B, 10, 12),
    told(START, B, 17),
]
STEP, LATE, ALL, TALE, TWIN, BRACE = (one.place for one in CITED)

Change = Callable[[Files], Files]


def put(file: str, lines: list[str]) -> Change:
    return lambda files: {**files, file: lines}


def insert(file: str, at: int, *lines: str) -> Change:
    return lambda files: {**files, file: [*files[file][: at - 1], *lines, *files[file][at - 1 :]]}


def delete(file: str, first: int, last: int) -> Change:
    return lambda files: {**files, file: [*files[file][: first - 1], *files[file][last:]]}


def replace(file: str, at: int, line: str) -> Change:
    return lambda files: insert(file, at, line)(delete(file, at, at)(files))


def rename(file: str, new: str) -> Change:
    return lambda files: {new if name == file else name: files[name] for name in files}


def remove(*gone: str) -> Change:
    return lambda files: {name: files[name] for name in files if name not in gone}


def each_line(file: str, become: Callable[[str], str]) -> Change:
    return lambda files: {**files, file: [become(line) for line in files[file]]}


def steps(*changes: Change) -> Change:
    def apply(files: Files) -> Files:
        for change in changes:
            files = change(files)
        return files

    return apply


def spaced(line: str) -> str:
    return f"{line} \t"


def with_cr(line: str) -> str:
    return f"{line}\r"


P, J, W, Z = "src/pipeline.py", "src/jobs.py", "docs/waiting.md", "docs/zz.txt"
MOVED = {STEP: f"{Q}:11-13", LATE: f"{Q}:26"}
PIPED = {STEP: f"{P}:9-11", LATE: f"{P}:24"}
SHORTER = {STEP: f"{Q}:7-9", LATE: f"{Q}:22"}

HISTORY: list[tuple[str, Change, dict[str, str]]] = [
    ("nothing happens", steps(), {}),
    ("a line above", insert(Q, 1, "# Steps."), MOVED),
    ("a line inside", insert(Q, 13, "# why?"), {STEP: "changed", LATE: f"{Q}:27"}),
    ("the line inside goes", delete(Q, 13, 13), MOVED),
    ("a cited line is edited", replace(Q, 12, "pass"), {**MOVED, STEP: "changed"}),
    ("and put back", replace(Q, 12, QUEUE[10]), MOVED),
    ("lines above are deleted", delete(Q, 2, 5), SHORTER),
    ("line ends become CRLF", each_line(Q, with_cr), SHORTER),
    ("and LF again", each_line(Q, str.rstrip), SHORTER),
    ("white space at the ends of lines", each_line(Q, spaced), SHORTER),
    ("and none again", each_line(Q, str.rstrip), SHORTER),
    ("the file is renamed", rename(Q, P), {STEP: f"{P}:7-9", LATE: f"{P}:22"}),
    ("and edited elsewhere", insert(P, 1, "# a", "# b"), PIPED),
    ("another file takes the name", put(Q, ["print('something else')"]), PIPED),
    (
        "the file gets its name back",
        steps(remove(Q), rename(P, Q)),
        {STEP: f"{Q}:9-11", LATE: f"{Q}:24"},
    ),
    ("the lines are where they were", insert(Q, 3, "# c"), {}),
    ("white space in a whole file", each_line(L, spaced), {}),
    ("CRLF in a whole file", each_line(L, with_cr), {}),
    ("a line more in a whole file", put(L, ["# new", *LIMITS]), {ALL: "changed"}),
    ("and one less", delete(L, 1, 1), {}),
    ("the whole file moves", rename(L, "conf/limits.py"), {ALL: "conf/limits.py"}),
    ("and is edited", insert("conf/limits.py", 13, "# end"), {ALL: "gone"}),
    ("and comes back as it was", steps(remove("conf/limits.py"), put(L, LIMITS)), {}),
    ("a file is deleted", remove(L), {ALL: "gone"}),
    ("and added again", put(L, LIMITS), {}),
    ("a line splits a paragraph", insert(G, 6, ""), {TALE: "changed"}),
    ("and is taken out", delete(G, 6, 6), {}),
    (
        "the paragraph moves to the end",
        steps(delete(G, 5, 8), insert(G, 17, *GUIDE[4:8])),
        {TALE: f"{G}:17-20"},
    ),
    (
        "the file is split in two",
        steps(delete(G, 17, 20), put(W, ["# Waiting", *GUIDE[4:8]])),
        {TALE: f"{W}:2-5"},
    ),
    ("the rest is deleted", remove(G), {TALE: f"{W}:2-5"}),
    ("the new file loses its title", delete(W, 1, 1), {TALE: f"{W}:1-4"}),
    ("a copy of another kind", put(Z, GUIDE[4:8]), {TALE: f"{W}:1-4"}),
    ("only the copy is left", remove(W), {TALE: f"{Z}:1-4"}),
    ("the copy goes too", remove(Z), {TALE: "gone"}),
    ("everything is back", put(G, GUIDE), {}),
    ("equal blocks shift", insert(B, 1, "// C"), {TWIN: f"{B}:11-13", BRACE: f"{B}:18"}),
    ("the cited one is deleted", delete(B, 11, 13), {TWIN: f"{B}:4-6", BRACE: f"{B}:15"}),
    ("and its twin", delete(B, 4, 6), {TWIN: "changed", BRACE: f"{B}:12"}),
    (
        "no brace is left; those of others are none of ours",
        lambda files: {**files, B: [line for line in files[B] if line != "}"]},
        {TWIN: "changed", BRACE: "changed"},
    ),
    ("the file goes", remove(B), {TWIN: "gone", BRACE: "gone"}),
    ("and is added again", put(B, START[B]), {}),
    (
        "functions change places",
        put(B, [*THIRD, *FIRST, *SECOND]),
        {TWIN: f"{B}:13-15", BRACE: f"{B}:16"},
    ),
    ("a twin comes to stand in the place", insert(B, 1, *"1234"), {BRACE: f"{B}:20"}),
    ("all as at first", put(B, START[B]), {}),
    ("a folder is deleted", remove(Q, L), {STEP: "gone", LATE: "gone", ALL: "gone"}),
    ("and comes back", lambda _: START, {}),
    (
        "renamed, and edited above",
        steps(rename(Q, J), insert(J, 1, *"12345")),
        {STEP: f"{J}:15-17", LATE: f"{J}:30"},
    ),
    (
        "two files become one",
        steps(insert(J, 36, *LIMITS), remove(L)),
        {STEP: f"{J}:15-17", LATE: f"{J}:30", ALL: "gone"},
    ),
    (
        "a copy in its old name wins over a better one elsewhere",
        put(Q, ["# again", *QUEUE[:12]]),
        {STEP: f"{Q}:11-13", LATE: f"{J}:30", ALL: "gone"},
    ),
    ("all as at first, once more", lambda _: START, {}),
]


def commit(message: str) -> None:
    who = ("-c", "user.name=Kim", "-c", "user.email=kim@example.org")
    subprocess.run(["git", "add", "--all"], check=True, timeout=60)
    subprocess.run(
        ["git", *who, "commit", "--quiet", "--allow-empty", "--message", message],
        check=True,
        timeout=60,
    )


def project() -> Workspace:
    initialise(".project-memory")
    return Workspace(os.path.abspath(".project-memory"), actor="ada", environment=os.environ)


@pytest.mark.parametrize("with_git", [True, False])
def test_verify_classifies_a_scripted_history_of_moves_edits_and_deletions(with_git: bool) -> None:
    assert len(HISTORY) >= 40
    workspace = project()
    files = START
    write(files)
    if with_git:
        subprocess.run(["git", "init", "--quiet"], check=True, timeout=60)
        commit("start")
    cite(workspace, CITED)
    for what, change, wanted in HISTORY:
        files = change(files)
        write(files)
        if with_git:
            commit(what)
        assert (what, found(workspace)) == (what, wanted)
        assert (what, expected(files, CITED)) == (what, wanted)


LINES = ["", "}", "}", "x = 1", "retries = 3", "def handle_everything(messages):", *GUIDE[:6]]
NAMES = ["a.py", "b.py", "a.md", "lib/a.py", "lib/c.py"]


def any_change(dice: Random, files: Files) -> Files:
    """Do something to the files that people do."""
    new = dice.choice(NAMES)
    if not files:
        return {new: dice.choices(LINES, k=9)}
    file = dice.choice(sorted(files))
    size = len(files[file])
    first, last = sorted((dice.randint(1, size + 1), dice.randint(1, size + 1)))
    other = dice.choice(sorted(files))
    place = dice.randint(1, len(files[other]) + 1)
    cut = files[file][first - 1 : last]
    changes = [
        insert(file, first, *dice.choices(LINES, k=dice.randint(1, 3))),
        delete(file, first, last),
        rename(file, new) if new not in files else steps(),
        steps(rename(file, new), insert(new, 1, "# moved")) if new not in files else steps(),
        remove(file),
        put(new, list(files[file])),
        insert(other, place, *cut),
        steps(delete(file, first, last), insert(file, 1, *cut)),
        put(file, dice.choices(LINES, k=dice.randint(0, 12))),
    ]
    return dice.choice(changes)(files)


def any_citations(dice: Random, files: Files) -> list[Told]:
    found = {}
    for _ in range(6):
        file = dice.choice(sorted(files))
        first = dice.randint(1, len(files[file]))
        last = dice.randint(first, min(len(files[file]), first + 4))
        one = told(files, file) if dice.random() < 0.2 else told(files, file, first, last)
        found[one.place] = one
    return list(found.values())


folders = count()


@settings(max_examples=examples(15))
@given(st.integers(0, 2**32))
def test_verify_agrees_with_comparing_everything_with_everything(seed: int) -> None:
    dice, home = Random(seed), os.getcwd()
    os.makedirs(folder := f"{home}/project{next(folders)}")
    os.chdir(folder)
    try:
        files: Files = {name: dice.choices(LINES, k=12) for name in NAMES[:3]}
        write(files)
        workspace = project()
        citations = any_citations(dice, files)
        cite(workspace, citations)
        assert found(workspace) == {}
        for _ in range(8):
            files = any_change(dice, files)
            write(files)
            assert found(workspace) == expected(files, citations)
    finally:
        os.chdir(home)
        shutil.rmtree(folder)
