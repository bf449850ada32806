"""What the documents tell people to type works, in a fresh repository, in that order."""

import os
import re
from pathlib import Path

import pytest

from tests.cli.shell import new_repository
from tests.docs.examples import Reader, blocks, examples

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
PAGES = [README, *sorted((ROOT / "docs").rglob("*.md"))]
EVERY_PAGE = pytest.mark.parametrize("page", PAGES, ids=[str(p.relative_to(ROOT)) for p in PAGES])


@pytest.mark.some(30)
@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if page.name != "tutorial.md"],  # it has a test of its own
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_every_command_line_of_a_page_works(page: Path, tmp_path: Path) -> None:
    reader = Reader(new_repository(str(tmp_path / "repository")))
    for example in examples(page.read_text(encoding="utf-8")):
        done = reader.run(example)
        where = f"{page.name}:{example.line}: {example.command}"
        assert done.code == example.code, f"{where}\n{done.said}"


def test_the_readme_shows_the_main_commands() -> None:
    text = README.read_text(encoding="utf-8")
    shown = " ".join(example.command for example in examples(text))
    for command in ("init", "add", "tried", "search", "context"):
        assert f"pmem {command}" in shown


def test_the_readmes_python_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = new_repository(str(tmp_path / "repository"))
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PMEM_ACTOR", "ada")
    for block in blocks(README.read_text(encoding="utf-8")):
        if block.language == "python":
            exec(compile("\n".join(block.lines), f"README.md:{block.line}", "exec"), {})


def test_the_readmes_make_targets_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z]+):", makefile, re.MULTILINE))
    named = set(re.findall(r"`?make ([a-z]+)", README.read_text(encoding="utf-8")))
    named -= {"release"}  # part of a remembered procedure, not a target of ours
    assert {"demo", "test"} <= named
    assert named - targets == set()


@EVERY_PAGE
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    targets = re.findall(r"\]\(([^)#\s]+)", text)
    local = [target for target in targets if "://" not in target]
    missing = [target for target in local if not os.path.exists(page.parent / target)]
    assert missing == []


@EVERY_PAGE
def test_links_to_a_heading_lead_to_one(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    wrong = [
        f"{target}#{anchor}"
        for target, anchor in re.findall(r"\]\(([^)#\s:]*)#([^)\s]+)\)", text)
        if anchor not in anchors(page.parent / target if target else page)
    ]
    assert wrong == []


def anchors(page: Path) -> set[str]:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
