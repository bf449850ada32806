"""What the messages of the installed program point to, it can print."""

import ast
import json
import re
import shutil
import subprocess
import tomllib
from fnmatch import fnmatch
from pathlib import Path

import pytest

from pmem.cli import manual
from pmem.cli.commands import COMMANDS, GROUPS
from tests import source
from tests.cli.shell import pmem

ROOT = Path(__file__).parents[2]
WHEEL = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"][
    "build"
]["targets"]["wheel"]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
LINK = re.compile(r"\]\(([^)#:\s]+\.md)[)#]")
"""A link to another document."""
POINTS_TO_HELP = re.compile(r"pmem help ([a-z][a-z.-]*)")


def messages(path: Path) -> list[str]:
    tree = source.tree(path)
    described = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docs = {
        ast.get_docstring(node, clean=False)
        for node in ast.walk(tree)
        if isinstance(node, described)
    }
    return [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value not in docs
    ]


def test_no_message_names_a_file_that_an_installed_program_lacks() -> None:
    named = [
        (source.name(path), text)
        for path in source.FILES
        if path.name != "manual.py"
        for text in messages(path)
        if re.search(r"docs/[a-z-]+\.md", text)
    ]
    assert named == []


def test_every_document_that_a_message_names_can_be_printed() -> None:
    named = {
        name.rstrip(".")
        for path in source.FILES
        for text in messages(path)
        for name in POINTS_TO_HELP.findall(text)
    }
    assert "consent.md" in named
    assert [name for name in named if pmem("help", name).code != 0] == []


def test_the_wheel_has_every_document_and_nothing_else_of_their_folder() -> None:
    files = [
        path.relative_to(ROOT)
        for path in DOCS.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts  # no build takes bytecode
    ]
    left_out = WHEEL["exclude"]
    shipped = {
        path
        for path in files
        if not any(
            fnmatch(str(above), form) for above in (path, *path.parents) for form in left_out
        )
    }
    assert shipped == {path.relative_to(ROOT) for path in DOCS.rglob("*.md")}
    assert set(WHEEL["only-include"]) == {"pmem", "docs"}
    assert WHEEL["sources"] == {"docs": "pmem/docs"}


def test_the_index_lists_every_document_once() -> None:
    listed = manual.documents()
    assert len(listed) == len(set(listed))
    names = {path.relative_to(DOCS).with_suffix("").as_posix() for path in DOCS.rglob("*.md")}
    assert {name for name in names if not name.startswith("decisions/")} - {"README"} == {*listed}


def test_the_index_has_a_section_for_each_thing_that_a_reader_may_want() -> None:
    assert list(manual.sections()) == ["Learn", "Do", "Look up", "Why"]


def test_an_installed_program_prints_the_documents_in_its_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "docs" / "how-to"
    folder.mkdir(parents=True)
    (tmp_path / "docs" / "README.md").write_text(
        "# Tea\n\n## Do\n\n- [Make tea](how-to/tea.md): hot\n"
    )
    (folder / "tea.md").write_text("# How to make tea\n\nBoil water.\n")
    monkeypatch.setattr(manual, "_PACKAGE", str(tmp_path))
    assert pmem("help").text == "Do:\n  how-to/tea.md  Make tea\n"
    assert pmem("help", "tea").text == "# How to make tea\n\nBoil water.\n"


@pytest.mark.parametrize("name", manual.documents())
def test_a_document_is_printed_by_its_name_its_file_and_its_path(name: str) -> None:
    text = (DOCS / f"{name}.md").read_text(encoding="utf-8")
    ways = [f"{name}.md", f"docs/{name}.md"]
    last = name.rpartition("/")[2]
    ways += [way for way in (name, last, last.upper()) if way not in {*COMMANDS, *GROUPS}]
    assert {pmem("help", way).text for way in ways} == {text}


@pytest.mark.parametrize("page", PAGES, ids=[str(path.relative_to(DOCS)) for path in PAGES])
def test_a_reader_in_a_terminal_can_follow_every_link_to_another_document(page: Path) -> None:
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        name = manual.find_document(target)
        assert name is not None, target
        assert (DOCS / f"{name}.md").samefile(page.parent / target), target


def test_the_list_of_documents_says_what_to_type() -> None:
    rows = [line for line in pmem("help").text.splitlines() if line.startswith("  ")]
    typed = [row.split()[0] for row in rows]
    assert [name.removesuffix(".md") for name in typed] == manual.documents()
    assert {name[-3:] for name in typed} == {".md"}, "all of them can be typed alike"
    assert [row for row in rows if len(row) > 80] == []
    printed = (pmem("help", name) for name in typed)
    assert [done.code for done in printed if not done.text.startswith("# ")] == []


def test_help_of_a_command_is_what_its_option_prints() -> None:
    for words in ("add", "config set", "eval", "conversation"):
        assert pmem("help", *words.split()).out == pmem(*words.split(), "--help").out


def test_help_for_programs_is_the_whole_table() -> None:
    told = json.loads(pmem("help", "--json").out)["data"]
    members = [f"{group} {name}" for group in GROUPS for name in GROUPS[group][1]]
    assert list(told["commands"]) == sorted(
        [*COMMANDS, *GROUPS, *members], key=list(told["commands"]).index
    )
    assert set(told["commands"]) == {*COMMANDS, *GROUPS, *members}
    limit = next(o for o in told["commands"]["list"]["options"] if "--limit" in o["flags"])
    assert (limit["type"], limit["default"], limit["repeatable"]) == ("integer", None, False)
    assert [option["flags"][0] for option in told["options"]][:2] == ["-C", "--json"]
    assert told["documents"] == manual.documents()


def test_a_word_that_is_no_name_finds_what_is_about_it() -> None:
    done = pmem("help", "conflicts")
    assert done.text == (
        "Commands:\n"
        "  resolve                     Finish a merge that git could not, or decide a conflict.\n\n"
        "Documents:\n"
        "  how-to/solve-a-conflict.md  Solve a merge conflict\n"
        "  merging.md                  Conflicts\n"
    )
    assert "`pmem help NAME` prints one" in done.said
    told = json.loads(pmem("help", "conflict", "--json").out)["data"]
    assert list(told) == ["commands", "documents"]
    assert told["documents"]["merging.md"] == "Conflicts"


def test_a_word_finds_the_options_that_have_its_name() -> None:
    assert "\n  edit --superseded-by  This memory" in pmem("help", "superseded-by").text
    assert "add --batch " in pmem("help", "batch").text


@pytest.mark.parametrize(
    ("words", "page"),
    [
        ("conflict", "how-to/solve-a-conflict"),
        ("link", "how-to/link-memories"),
        ("merge", "how-to/solve-a-conflict"),
        ("secret", "how-to/take-a-secret-out"),
        ("GDPR", "how-to/take-a-secret-out"),
        ("privacy", "how-to/keep-it-private"),
        ("uninstall", "how-to/install"),
        ("monorepo", "how-to/several-projects"),
        ("markdown", "files"),
        ("budget", "tokens"),
        ("batch", "how-to/import-history"),
        ("hooks off", "how-to/use-an-assistant"),
        *((word, "faq") for word in ("backup", "importance", "language", "size", "phone home")),
        *((word, "faq") for word in ("backdate", "synonym", "superseded", "public", "German")),
    ],
)
def test_an_ordinary_word_finds_its_page(words: str, page: str) -> None:
    assert f"\n  {page}.md " in pmem("help", *words.split()).text


def test_several_words_find_what_has_all_of_them() -> None:
    assert "solve-a-conflict.md" not in pmem("help", "two", "people").text
    assert "Documents:\n  tutorial.md" in pmem("help", "two", "people").text
    assert "more were found: add a word" in pmem("help", "memory").said


def test_help_of_a_command_names_the_documents_on_its_subject() -> None:
    done = pmem("help", "undo")
    assert "see also `pmem help faq.md`, `pmem help how-to/undo.md`" in done.said
    assert "see also" not in pmem("help", "delta").said


def test_what_is_neither_command_nor_document_is_not_found() -> None:
    done = pmem("help", "mergin")
    assert done.code == 3
    assert "did you mean merging?" in done.said
    assert "`pmem help` lists" in pmem("help", "xyzzy").said
    assert pmem("help", "config", "xyzzy").code == 3
    assert pmem("help", "../../pyproject.toml").code == 3


@pytest.mark.outside
@pytest.mark.skipif(not shutil.which("groff"), reason="groff is not installed")
def test_the_manual_page_is_sound() -> None:
    page = ROOT / "docs" / "pmem.1"
    command = ["groff", "-man", "-Tutf8", "-ww", "-Wbreak", str(page)]
    done = subprocess.run(command, capture_output=True, check=True)
    assert done.stderr == b""
    assert b"--min-importance" in re.sub(rb".\x08", b"", done.stdout)


def test_every_decision_is_in_the_index_by_subject() -> None:
    index = (DOCS / "decisions" / "README.md").read_text(encoding="utf-8")
    records = sorted(path.name for path in (DOCS / "decisions").glob("0*.md"))
    assert sorted(re.findall(r"\]\((\d{4}-[^)]*\.md)\)", index)) == records
