"""What a review says of a change: in every kind of file, at every end, and to whom it says it."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pmem.vcs import review
from pmem.vcs.review import MOST_PLACES
from tests.faults.console import Done, added, pmem
from tests.git.branches import ROOT, begin, commit, git, ok
from tests.once import Once

CODE = (
    "import time\n\nRETRIES = 3\nWAIT = 2\n\n\ndef pay(order, amount):\n    return charge(order)\n"
)


def write(name: str, text: str | bytes) -> None:
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_bytes(text if isinstance(text, bytes) else text.encode())


@pytest.fixture
def repository(once: Once) -> None:
    """Make a repository with a program and an empty memory, committed."""
    once(_begin)


def _begin() -> None:
    begin()
    write("src/pay.py", CODE)
    commit()


def reviewed(*words: str) -> Done:
    done = pmem("review", *words, "--json")
    assert done.code == 0, done
    return done


def items(*words: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = reviewed(*words).data["items"]
    return found


def kinds(*words: str) -> list[tuple[str, str]]:
    """Return what a review finds: the kind and the memory's text."""
    return [(found["kind"], found["text"]) for found in items(*words)]


def told(format_: str) -> str:
    """Return a review in another format."""
    return pmem("review", "--format", format_).out.decode()


def retries(*options: str) -> str:
    """Remember something of the program, committed."""
    identifier = added("Three retries are allowed", "--cite", "src/pay.py:3", *options)
    commit("memory")
    return identifier


def edit(old: str = "RETRIES = 3", new: str = "RETRIES = 5", name: str = "src/pay.py") -> None:
    text = Path(name).read_text(encoding="utf-8")
    assert old in text
    write(name, text.replace(old, new))


def give_away(name: str) -> None:
    edit("RETRIES = 3\n", "")
    write(name, "RETRIES = 3\n")


def link_to(target: str) -> None:
    os.unlink("src/pay.py")
    os.symlink(target, "src/pay.py")


def rename_and_edit(name: str) -> None:
    ok("mv", "src/pay.py", name)
    edit(name=name)


HIT = [("cited", "Three retries are allowed")]


# At every end


def test_nothing_is_said_where_nothing_changed(repository: None) -> None:
    retries()
    done = pmem("review")
    assert (done.code, done.out) == (0, b"")
    assert (
        "no file has changed; `pmem review A..B` looks at what changed between two commits"
        in done.err
    )


def test_a_change_of_cited_text_is_seen_in_the_work_tree_the_index_and_commits(
    repository: None,
) -> None:
    retries()
    edit()
    assert kinds() == kinds("HEAD..") == HIT
    assert kinds("--staged") == []
    ok("add", "--all")
    assert kinds("--staged") == HIT
    commit()
    assert kinds() == kinds("--staged") == []
    assert kinds("HEAD~1..HEAD") == kinds("HEAD~1...HEAD") == HIT
    assert items("HEAD~1..")[0]["places"] == [
        {
            "file": "src/pay.py",
            "line": 3,
            "cited": "src/pay.py:3",
            "gone": False,
            "change": 'cited "RETRIES = 3", the code says "RETRIES = 5"',
        }
    ]


def test_the_first_commit_is_reviewed_before_it_is_made() -> None:
    begin()
    write("src/pay.py", CODE)
    added("Three retries are allowed", "--cite", "src/pay.py:3")
    added("No floats", "--type", "constraint", "--for", "src/**")
    ok("add", "--all")
    found = reviewed("--staged").data
    assert (found["from"]["name"], found["from"]["commit"]) == ("nothing", None)
    assert [each["kind"] for each in found["items"]] == ["unsourced"]


def test_a_memory_that_is_not_committed_yet_counts_in_the_work_tree(repository: None) -> None:
    added("Three retries are allowed", "--cite", "src/pay.py:3")
    edit()
    assert kinds() == HIT


def test_a_memory_that_git_ignores_is_reviewed_and_was_added_by_nobody(repository: None) -> None:
    ok("rm", "-r", "--quiet", "--cached", ROOT)
    write(".gitignore", f"{ROOT}/\n")
    commit()
    added("No floats", "--type", "constraint", "--for", "src/**")
    edit()
    assert kinds() == [("applies", "No floats")]


def test_where_the_memory_was_not_there_at_the_end_nothing_is_said(repository: None) -> None:
    retries()
    ok("rm", "-r", "--quiet", ROOT)
    edit()
    ok("add", "src")
    ok("commit", "--quiet", "--message", "x")
    ok("revert", "--no-edit", "HEAD")
    assert kinds("HEAD~2..HEAD~1") == []


# What stands


def test_what_was_stale_before_is_not_this_changes_fault(repository: None) -> None:
    retries()
    edit()
    commit()
    edit("WAIT = 2", "WAIT = 4")
    assert kinds() == []


def test_a_citation_that_the_change_renews_is_no_news(repository: None) -> None:
    identifier = retries()
    edit()
    assert pmem("edit", identifier, "--cite", "src/pay.py:3").code == 0
    assert kinds() == []


def test_of_files_that_a_memory_cites_none_is_said_to_be_without_one(repository: None) -> None:
    identifier = retries()
    edit("WAIT = 2", "WAIT = 9")
    below = pmem("review").err
    edit()
    assert pmem("check", "--accept", identifier).code == 0
    accepted = pmem("review").err
    ok("mv", "src/pay.py", "src/payment.py")
    assert pmem("check", "--fix").code == 0
    moved = pmem("review").err
    assert below == accepted == "1 file changed: nothing to answer\n"
    assert moved == "2 files changed: nothing to answer\n"


def test_a_branch_that_remembers_and_then_edits_is_told_so(repository: None) -> None:
    ok("branch", "start")
    retries()
    edit()
    commit()
    assert kinds("start..HEAD") == HIT


@pytest.mark.parametrize(
    "change",
    [
        lambda: edit("RETRIES = 3", "RETRIES   =   3"),
        lambda: edit("import time\n", '"""Payments."""\n\nimport time\n'),
        lambda: edit("WAIT = 2", "WAIT = 9"),
        lambda: write("src/pay.py", CODE.replace("\n", "\r\n")),
        lambda: write("src/pay.py", b"\xef\xbb\xbf" + CODE.encode()),
        lambda: write("src/pay.py", CODE.replace("RETRIES = 3\n", "") + "\nRETRIES = 3\n"),
        lambda: ok("mv", "src/pay.py", "src/payment.py"),
        lambda: give_away("src/limits.py"),
        lambda: os.chmod("src/pay.py", 0o755),
    ],
    ids=["blanks", "above", "below", "crlf", "mark", "moved", "renamed", "other file", "mode"],
)
def test_what_still_stands_alarms_nobody(change: Callable[[], object], repository: None) -> None:
    retries()
    change()
    assert kinds() == []
    ok("add", "--all")
    assert kinds("--staged") == []


@pytest.mark.parametrize(
    "change",
    [
        lambda: edit("RETRIES = 3", "RETRIES = 33"),
        lambda: edit("RETRIES = 3\n", ""),
        lambda: os.unlink("src/pay.py"),
        lambda: link_to("../README.md"),
        lambda: write("src/pay.py", b"RETRIES = 3\0"),
        lambda: rename_and_edit("src/payment.py"),
    ],
    ids=["longer", "gone", "no file", "link", "binary", "renamed"],
)
def test_what_does_not_stand_any_more_is_told(
    change: Callable[[], object], repository: None
) -> None:
    retries()
    change()
    assert kinds() == HIT
    ok("add", "--all")
    assert kinds("--staged") == HIT


def test_a_text_that_another_changed_file_always_had_did_not_move_there(repository: None) -> None:
    write("src/other.py", "RETRIES = 3\nOTHER = 1\n")
    retries()
    edit()
    edit("OTHER = 1", "OTHER = 2", "src/other.py")
    assert kinds() == HIT


def test_a_dedented_statement_is_a_change_in_python_alone(repository: None) -> None:
    write("a.py", "try:\n    lock()\nfinally:\n    free()\n    log()\n")
    write("a.ts", "try {\n  lock();\n} finally {\n  free();\n  log();\n}\n")
    for name, last in (("a.py", 5), ("a.ts", 6)):
        added(f"Freed in {name}", "--cite", f"{name}:1-{last}")
    commit()
    edit("    log()", "log()", "a.py")
    edit("  log();", "log();", "a.ts")
    assert kinds() == [("cited", "Freed in a.py")]


def test_whole_files_and_binary_ones_are_compared_as_such(repository: None) -> None:
    write("image.bin", b"\0\1\2")
    write("limits.toml", "[queue]\nmost = 10\n")
    added("The image is small", "--cite", "image.bin")
    added("The queue holds ten", "--cite", "limits.toml")
    commit()
    write("limits.toml", "[queue]\nmost  =  10\n")
    assert kinds() == []
    write("limits.toml", "[queue]\nmost = 11\n")
    write("image.bin", b"\0\1\3")
    assert sorted(kinds()) == [("cited", "The image is small"), ("cited", "The queue holds ten")]


ODD = ["a,b:c%0A.py", " lead.py", "ünïcödé.py", "[x]*.py", "-p.py", 'qu"ote.py', "two\nlines.py"]


@pytest.mark.parametrize("name", ODD, ids=ascii)
def test_files_with_odd_names_are_named_as_they_are(name: str, repository: None) -> None:
    write(f"odd/{name}", CODE)
    added("Three retries are allowed", "--cite", f"odd/{name}:3")
    added("No floats", "--type", "constraint", "--for", "odd/")
    commit()
    edit(name=f"odd/{name}")
    ok("add", "--all")
    for words in ((), ("--staged",)):
        found = {each["kind"]: each["places"][0]["file"] for each in items(*words)}
        assert found == {"cited": f"odd/{name}", "applies": f"odd/{name}"}
    said = told("github").splitlines()
    assert len(said) == 2
    (warning,) = (line for line in said if line.startswith("::warning "))
    properties = warning.removeprefix("::warning ").partition("::")[0].split(",")
    assert [each.partition("=")[0] for each in properties] == ["file", "line", "title"]


def test_a_submodule_that_moves_on_is_a_file_that_rules_apply_to(
    repository: None, tmp_path: Path
) -> None:
    other = str(tmp_path / "other")
    ok("init", "--quiet", other)
    ok("-C", other, "commit", "--quiet", "--allow-empty", "--message", "one")
    ok("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", other, "vendor/lib")
    added("Vendored code is never edited", "--type", "constraint", "--for", "vendor/")
    commit()
    ok("-C", "vendor/lib", "commit", "--quiet", "--allow-empty", "--message", "two")
    assert kinds() == [("applies", "Vendored code is never edited")]
    ok("add", "vendor/lib")
    assert kinds("--staged") == [("applies", "Vendored code is never edited")]


# Rules


def test_rules_are_told_where_they_apply_the_most_urgent_first(repository: None) -> None:
    for type_ in ("preference", "constraint", "dead_end", "fact", "decision"):
        added(f"It is a {type_}", "--type", type_, "--for", "src/**", "--for", "!src/free.py")
    added("It is elsewhere", "--type", "constraint", "--for", "web/")
    commit()
    write("src/free.py", "x\n")
    ok("add", "--all")
    assert kinds() == []
    write("src/new.py", "x\n")
    ok("add", "--all")
    types = ["dead_end", "constraint", "preference"]
    assert kinds() == kinds("--staged") == [("applies", f"It is a {type_}") for type_ in types]


@pytest.mark.parametrize("type_", ["constraint", "decision"])
def test_a_memory_that_stops_edits_stops_a_strict_commit_until_it_is_unmarked(
    type_: str, repository: None
) -> None:
    rule = added("Never change the retries", "--type", type_, "--for", "src/**")
    pmem("edit", rule, "--stop-edits")
    commit()
    write("src/pay.py", CODE.replace("RETRIES = 3", "RETRIES = 5"))
    ok("add", "--all")
    (found,) = items("--staged")
    assert (found["kind"], found["waits"]) == ("stops", True)
    assert "pmem edit" in found["advice"]
    assert pmem("review", "--staged", "--strict").code == 1
    pmem("edit", rule, "--no-stop-edits")
    ok("add", "--all")
    assert pmem("review", "--staged", "--strict").code == 0


def test_a_rule_names_so_many_files_and_no_more(
    repository: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    added("No floats", "--type", "constraint", "--for", "src/**")
    commit()
    for number in range(MOST_PLACES + 5):
        write(f"src/new{number:02}.py", f"x = {number}\n")
    assert [len(each["places"]) for each in items()] == [MOST_PLACES]
    assert told("github").count("\n") == 1
    commit()
    for number in range(MOST_PLACES + 5):
        write(f"src/new{number:02}.py", f"x  =  {number}\n")
    assert items() == []
    write("src/new07.py", "x = 1\n")
    monkeypatch.setattr(review, "MOST_FILES", 7)
    assert items() == []
    monkeypatch.setattr(review, "MOST_FILES", 8)
    assert [each["kind"] for each in items()] == ["applies"]


def test_reformatting_and_renaming_call_no_rule(repository: None) -> None:
    added("No floats", "--type", "constraint", "--for", "src/**")
    commit()
    edit("def pay(order, amount):", "def pay(\n    order,\n    amount,\n):")
    assert kinds() == []
    ok("add", "--all")
    ok("mv", "src/pay.py", "src/payment.py")
    assert kinds("--staged") == []
    os.unlink("src/payment.py")
    assert kinds() == [("applies", "No floats")]


@pytest.mark.parametrize(
    "words",
    [
        ("rm", "ID"),
        ("edit", "ID", "--valid-until", "2020-01-01"),
        ("edit", "ID", "--settled", "ok"),
    ],
    ids=lambda words: words[-1],
)
def test_what_does_not_hold_any_more_is_no_rule(words: tuple[str, ...], repository: None) -> None:
    identifier = added(
        "Do not sleep", "--type", "dead_end", "--for", "src/", "--valid-from", "2019-01-01"
    )
    commit()
    assert pmem(*(identifier if word == "ID" else word for word in words)).code == 0
    commit()
    edit()
    assert kinds() == []


def test_a_rule_that_the_change_brings_is_told_by_the_changelog(repository: None) -> None:
    added("No floats", "--type", "constraint", "--for", "src/**", "--cite", "src/pay.py:4")
    edit()
    assert kinds() == []


# Dead ends, sources, clashes


def test_a_dead_end_whose_lines_are_edited_is_left_standing(repository: None) -> None:
    retries("--type", "dead_end", "--for", "src/")
    edit()
    (found,) = items()
    assert found["kind"] == "standing"
    assert f"pmem edit {found['short']} --settled" in found["advice"]
    assert pmem("edit", found["id"], "--settled", "the vendor allows five").code == 0
    (settled,) = items()
    assert (settled["kind"], settled["reason"]) == ("cited", None)
    assert pmem("check", "--accept", found["id"]).code == 0
    (settled,) = items()
    assert (settled["kind"], settled["reason"]) == ("settled", "the vendor allows five")
    commit()
    assert kinds() == []
    assert [each["kind"] for each in items("HEAD~1..HEAD")] == ["settled"]


def test_a_fix_is_told_with_what_it_fixes(repository: None) -> None:
    dead = added("Sleeping blocked us", "--type", "dead_end")
    commit()
    fix = added("A queue does not block", "--cite", "src/pay.py:3")
    assert pmem("edit", fix, "--link", f"{dead}:fixes").code == 0
    (found,) = items()
    assert (found["kind"], found["id"], found["other"]) == ("settled", dead, fix)
    assert found["other_text"] == "A queue does not block"
    commit()
    assert pmem("edit", fix, "--pin").code == 0
    assert kinds() == []


def test_what_is_added_without_a_source_is_told_once(repository: None) -> None:
    added("Somebody said so")
    added("The code says so", "--cite", "src/pay.py")
    added("An error proves it", "--type", "dead_end", "--cite", "src/pay.py:4")
    assert pmem("app", "remember", "calendar", "The app met Ana on Monday").code == 0
    assert kinds() == [("unsourced", "Somebody said so")]
    commit()
    assert kinds() == []


def test_memories_that_clash_are_told_when_the_change_makes_them(repository: None) -> None:
    cited = ("--cite", "src/pay.py:3", "--subject", "retries", "--force")
    first = added("The gateway allows three retries", *cited)
    commit()
    second = added("The gateway allows five retries", *cited)
    added("The gateway is in Frankfurt", *cited)
    added("The gateway allows nine retries", "--cite", "src/pay.py:3", "--force")
    (found,) = items()
    assert (found["kind"], found["id"], found["other"]) == ("clash", second, first)
    commit()
    edit("WAIT = 2", "WAIT = 3")
    assert kinds() == []


def test_a_clash_stands_under_the_memory_that_a_merge_brought(repository: None) -> None:
    cited = ("--cite", "src/pay.py:3", "--subject", "retries")
    ok("checkout", "--quiet", "-b", "other")
    theirs = added("The gateway allows three retries", *cited)
    commit()
    ok("checkout", "--quiet", "-")
    ours = added("The gateway allows five retries", *cited)
    commit()
    ok("merge", "--quiet", "--no-edit", "other")
    (found,) = [each for each in items("HEAD~1..HEAD") if each["kind"] == "clash"]
    assert (found["id"], found["other"]) == (theirs, ours)


def test_following_the_advice_on_a_clash_ends_it(repository: None) -> None:
    cited = ("--cite", "src/pay.py:3", "--subject", "retries", "--force")
    first = added("The gateway allows three retries", *cited)
    commit()
    second = added("The gateway allows five retries", *cited)
    (found,) = items()
    assert (found["kind"], found["waits"]) == ("clash", True)
    names = found["short"], first[-8:]
    assert "`pmem edit {} --link {}` says that both are right".format(*names) in found["advice"]
    assert pmem("edit", second, "--link", first).code == 0
    assert pmem("review", "--strict").code == 0
    assert kinds() == []
    commit()
    assert kinds("HEAD~1..HEAD") == []


def test_following_the_advice_on_cited_text_ends_it(repository: None) -> None:
    identifier = retries()
    edit()
    assert "TEXT` if it is no longer right; then `pmem check --accept" in items()[0]["advice"]
    assert pmem("edit", identifier, "Five retries are allowed").code == 0
    assert pmem("check", "--accept", identifier).code == 0
    assert kinds() == []


def test_following_the_advice_on_a_file_that_is_gone_ends_it(repository: None) -> None:
    identifier = retries()
    write("src/later.py", "LIMIT = 5\n")
    ok("rm", "--quiet", "src/pay.py")
    (found,) = items()
    assert found["places"][0]["gone"]
    assert f"`pmem edit {found['short']} --uncite src/pay.py:3`" in found["advice"]
    done = pmem("edit", identifier, "--uncite", "src/pay.py:3", "--cite", "src/later.py:1")
    assert done.code == 0
    assert kinds() == []


@pytest.mark.parametrize("way", ["git mv", "mv", "add -N"])
def test_a_file_that_only_moved_in_the_work_tree_calls_no_rule(way: str, repository: None) -> None:
    added("No floats", "--type", "constraint", "--for", "src/", "--for", "lib/")
    retries()
    if way == "git mv":
        ok("mv", "src/pay.py", "src/paid.py")
    else:
        os.rename("src/pay.py", "src/paid.py")
    if way == "add -N":
        ok("add", "-N", "src/paid.py")
    assert kinds() == []


def test_what_holds_for_other_people_does_not_clash(repository: None) -> None:
    for user, count in (("ada", "three"), ("kim", "five")):
        text = f"The limit is {count} retries"
        added(text, "--subject", "limit", "--user", user, "--cite", "src/pay.py", "--force")
    assert kinds() == []


def test_each_memory_is_told_once_the_most_important_first(repository: None) -> None:
    added("No floats", "--type", "constraint", "--for", "src/")
    both = retries("--type", "constraint", "--for", "src/", "--subject", "retries")
    added("Waiting is short", "--type", "dead_end", "--cite", "src/pay.py:4")
    added("Retries and waits go together", "--cite", "src/pay.py:3", "--cite", "src/pay.py:4")
    commit()
    edit("RETRIES = 3\nWAIT = 2", "RETRIES = 5\nWAIT = 4")
    added("Five retries are allowed", "--subject", "retries", "--force")
    found = items()
    assert [each["kind"] for each in found] == ["standing", "cited", "cited", "clash", "applies"]
    assert len({each["id"] for each in found}) == 5
    assert found[1]["id"] == both
    assert [place["line"] for place in found[2]["places"]] == [3, 4]


# How it is told


EVIL = "x\n::error::pwned %0A::set-output::y <script>@ada</script> [a](b) `c` | #1 ![i](http://e.x)"


@pytest.fixture
def evil(repository: None) -> None:
    added(EVIL, "--cite", "src/pay.py:3", "--subject", "a:b,c\u202e")
    added(f"{EVIL} rule", "--type", "constraint", "--for", "src/", "--force")
    commit()
    edit()


def test_a_memory_is_text_and_nothing_else_in_markdown(evil: None) -> None:
    page = told("markdown")
    title = "## Memory: 1 needs an answer, 1 to keep in mind"
    assert page.startswith(f"<!-- pmem review -->\n{title}\n")
    rest = page.partition("\n")[2]
    assert not any(
        sign in rest for sign in ("<script", "@ada", "[a](b)", "![i]", "#1", "://e", "\u202e")
    )
    assert "\n::" not in page


def test_a_memory_commands_no_workflow(evil: None) -> None:
    said = told("github")
    lines = said.splitlines()
    assert [line.partition(" ")[0] for line in lines] == ["::warning", "::notice"]
    assert "%250A" in said
    assert "\u202e" not in said


def test_a_report_keeps_its_fingerprints_while_lines_move(repository: None) -> None:
    retries()
    edit()
    first = json.loads(pmem("review", "--format", "gitlab").out)
    edit("import time", "import time\nimport os")
    second = json.loads(pmem("review", "--format", "gitlab").out)
    assert [each["location"]["lines"]["begin"] for each in (*first, *second)] == [3, 4]
    assert first[0]["fingerprint"] == second[0]["fingerprint"]


def test_only_what_waits_for_an_answer_fails_and_only_when_that_is_wanted(repository: None) -> None:
    added("No floats", "--type", "constraint", "--for", "src/")
    identifier = retries()
    edit("WAIT = 2", "WAIT = 3")
    assert kinds() == [("applies", "No floats")]
    assert pmem("review", "--strict").code == 0
    edit()
    assert pmem("review").code == 0
    for format_ in ("text", "markdown", "github", "gitlab"):
        assert pmem("review", "--strict", "--format", format_).code == 1
    assert pmem("review", "--strict", "--json").code == 1
    assert pmem("check", "--accept", identifier).code == 0
    assert pmem("review", "--strict").code == 0


def test_a_damaged_record_is_told_and_the_rest_is_reviewed(repository: None) -> None:
    retries()
    edit()
    write(f"{ROOT}/long-term-memory/a-00000001.json", "{")
    ok("add", "--all")
    for words in ((), ("--staged",)):
        done = pmem("review", *words)
        assert b"cited" in done.out
        assert "a-00000001" in done.err


def test_without_git_there_is_nothing_to_review(tmp_path: Path) -> None:
    os.chdir(tmp_path)
    assert pmem("init").code == 0
    assert pmem("review", "--staged").code == 3
    assert pmem("review").code == 3


def test_a_merge_under_way_is_reviewed_as_far_as_it_is_decided(repository: None) -> None:
    retries()
    ok("checkout", "--quiet", "-b", "other")
    edit("WAIT = 2", "WAIT = 7")
    commit()
    ok("checkout", "--quiet", "main")
    edit("WAIT = 2", "WAIT = 8")
    commit()
    assert git("merge", "other").code == 1
    assert kinds("--staged") == []
    write("src/pay.py", CODE.replace("RETRIES = 3", "RETRIES = 9"))
    ok("add", "--all")
    assert kinds("--staged") == HIT


LINE_CHANGES = {
    "each line of a part": ("A=1\nB=1\n", "A=2\nB=2\n", "c.py::B=1", 2),
    "lines by number": ("A=1\nB=1\nC=1\n", "A=2\nB=2\nC=2\n", "c.py:3", 3),
    "a line that came above": ("A=1\nB=1\n", "# new\nA=2\nB=2\n", "c.py:2", 3),
    "a constant that went down": ("A=1\nB=1\n", "A=2\nX=0\nY=0\nB=2\n", "c.py::B=1", 4),
    "lines that went away above": ("A=1\nX=0\nB=1\n", "B=2\n", "c.py:3", 1),
    "the nearest of equals": ("A=1\nC=0\nB=1\nA=1\n", "A=2\nC=1\nB=2\nA=2\n", "c.py:4", 4),
    "the middle of a text": ("if x:\n  a\n  b = 1\n", "if x:\n  a\n  b = 2\n", "c.py:1-3", 3),
}  # fmt: skip


@pytest.mark.parametrize("case", LINE_CHANGES)
def test_the_line_of_the_cited_text_itself_is_named(case: str) -> None:
    before, after, cited, line = LINE_CHANGES[case]
    begin()
    write("c.py", before)
    added("It rests on a line", "--cite", cited)
    commit()
    write("c.py", after)
    assert items()[0]["places"][0]["line"] == line
    assert f"c.py:{line}" in pmem("review").out.decode()
    assert f"::warning file=c.py,line={line}," in told("github")
    assert json.loads(told("gitlab"))[0]["location"]["lines"] == {"begin": line}
