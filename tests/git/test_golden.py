"""A golden set in git: measuring leaves no trace, and two branches that add questions merge."""

import os

from tests.git.branches import ROOT, commit
from tests.git.branches import ok as git
from tests.git.test_manners import begin, ok


def questions() -> list[str]:
    """Return the golden set's lines."""
    with open(f"{ROOT}/golden.jsonl", encoding="utf-8") as file:
        return file.read().splitlines()


def test_measuring_leaves_git_status_empty() -> None:
    identifier = begin()
    ok("eval", "add", "what is the parser written in", identifier)
    ok("eval", "--accept")
    commit("golden")
    ok("eval")
    ok("eval", "--accept")
    ok("eval", "add", "what is the parser written in", identifier)
    assert git("status", "--porcelain") == ""


def test_two_branches_that_add_questions_merge() -> None:
    identifier = begin()
    ok("eval", "add", "which parser", identifier, "--max-rank", "100")
    commit("golden")
    for branch in ("one", "two"):
        git("checkout", "--quiet", "-b", branch, "main")
        ok("eval", "add", f"parser {branch}", identifier, "--max-rank", "100")
        ok("eval", "add", "parser both", identifier, "--max-rank", "100")
        git("commit", "--quiet", "--all", "--message", branch)
    git("merge", "--quiet", "--no-edit", "one")
    asked = [line.split('"')[3] for line in questions()]
    assert set(asked) == {"which parser", "parser one", "parser two", "parser both"}
    assert b"passed          4 of 4" in ok("eval")


def test_a_file_of_the_users_own_stays_where_it_is() -> None:
    identifier = begin()
    ok("eval", "add", "written in C", identifier, "--file", "checks/recall.jsonl")
    ok("eval", "checks/recall.jsonl", "--accept")
    assert sorted(os.listdir("checks")) == ["recall.accepted.json", "recall.jsonl"]
