"""The memory as Markdown pages: readable, the same each time, and nothing that can be misread."""

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from pmem import Project
from pmem.errors import NotFound
from tests.cli.shell import pmem
from tests.conftest import NOW
from tests.storage.in_memory import InMemory

HOSTILE = (
    "Plain start\n# heading\n- item\n1. item\n> quote\n```\nfence\n[x](http://evil.example)"
    "\n![x](y)\n<script>alert(1)</script>\n</a>\n---\n| a | b |\n    code\n\u202eturned\\"
)


@pytest.fixture
def project() -> Project:
    return Project(actor="ada", now=NOW, backend=InMemory())


@pytest.fixture
def folder(root: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    top = Path(os.path.dirname(root))
    monkeypatch.chdir(top)
    return top


def test_a_page_has_a_heading_for_each_subject_and_then_for_each_type(project: Project) -> None:
    project.add("We use PostgreSQL", type="decision", subject="database", tags=("sql",))
    project.add("It listens on 5432", subject="Database", force=True)
    project.add("Never on a Friday", type="constraint", places=("deploy/*.sh",))
    project.add("Orders go to Berlin", valid_from=datetime(2026, 3, 14, tzinfo=UTC))

    (page,) = project.export_markdown().values()
    heads = [line for line in page.splitlines() if line.startswith("#")]
    assert heads == ["# Memory", "## Database", "## Fact", "## Constraint"]
    assert "**decision** We use PostgreSQL\\\n" in page
    assert "2026-11-21 by ada; tags sql" in page
    assert "2026-11-21 by ada; for deploy/\\*.sh" in page


def test_a_link_leads_to_the_memory_wherever_it_is(project: Project) -> None:
    first = project.add("We use PostgreSQL", subject="database").memory
    second = project.add("Backups run at night", subject="backups").memory
    project.link(second.id, first.id, type="depends_on")

    (page,) = project.export_markdown().values()
    assert f'<a id="{first.id}"></a>' in page
    assert f"depends on [{first.id[-8:]}](#{first.id})" in page
    pages = project.export_markdown(by_subject=True)
    index = pages.pop("index.md")
    names = {name.partition("-")[0]: name for name in pages}
    assert f"- [backups]({names['backups']}) (1)" in index
    assert f"({names['database']}#{first.id})" in pages[names["backups"]]


def test_what_was_replaced_or_removed_is_left_out(project: Project) -> None:
    old = project.add("The queue is RabbitMQ").memory
    project.supersede(old.id, content="The queue is PostgreSQL")
    project.remove(project.add("Nobody reads this").memory.id)

    (page,) = project.export_markdown().values()
    assert "The queue is PostgreSQL" in page
    assert "RabbitMQ" not in page
    assert "Nobody" not in page
    assert old.id not in page


def test_the_same_memory_gives_the_same_bytes_at_any_time(root: str) -> None:
    added = ("--now", "2026-11-21", "add", "The freeze is on", "--valid-until", "2027-01-01")
    pmem("-C", root, *added)
    early, late = (
        pmem("-C", root, "--now", now, "export", "markdown").text
        for now in ("2026-12-01", "2027-02-01")
    )
    assert early == late
    assert "valid until 2027-01-01" in early


def test_no_text_can_be_more_than_text(project: Project) -> None:
    project.add(HOSTILE, subject="# <b>[x](y)", tags=("<i>",), places=("[a](b)",))

    for page in project.export_markdown(by_subject=True).values():
        tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(page)
        assert {token.type for token in tokens if token.nesting == 1} <= {
            "heading_open", "paragraph_open", "bullet_list_open", "list_item_open"
        }  # fmt: skip
        inline = [part for token in tokens for part in token.children or ()]
        tags = {part.content for part in inline if part.type == "html_inline"}
        assert all(tag in ("<br>", "</a>") or tag.startswith('<a id="m') for tag in tags)
        links = [dict(part.attrs)["href"] for part in inline if part.type == "link_open"]
        assert all(str(link).endswith(".md") for link in links)
        assert "\u202e" not in page


def test_only_what_belongs_to_an_app_is_written(project: Project) -> None:
    project.add("The week starts on Monday", app="calendar")
    project.add("We use PostgreSQL")

    (page,) = project.export_markdown(app="calendar").values()
    assert "Monday" in page
    assert "PostgreSQL" not in page
    with pytest.raises(NotFound):
        project.export_markdown(app="calender")


def test_the_memory_is_written_as_it_was(folder: Path) -> None:
    pmem("--now", "2026-11-20", "add", "The door is red")
    pmem("--now", "2026-11-22", "add", "The window is blue")

    page = pmem("--now", "2026-11-23", "export", "markdown", "--at", "2026-11-21").text
    assert "door" in page
    assert "window" not in page


def test_a_folder_has_a_page_for_each_subject_and_loses_those_that_are_gone(folder: Path) -> None:
    name = pmem("add", "We use PostgreSQL", "--subject", "database").text.split()[1]
    pmem("add", "Backups run at night", "--subject", "backups")
    own = folder / "pages" / "own.md"
    own.parent.mkdir()
    own.write_text("# Mine\n")

    assert pmem("export", "markdown", "pages").text == "wrote pages: 2 memories, 3 pages\n"
    assert len(os.listdir("pages")) == 4
    pmem("rm", name)
    assert pmem("export", "markdown", "pages/").code == 0
    assert sorted(each.partition("-")[0] for each in os.listdir("pages")) == [
        "backups", "index.md", "own.md",
    ]  # fmt: skip
    assert own.read_text() == "# Mine\n"


@pytest.mark.parametrize("place", ["README.md", "docs"])
def test_what_it_did_not_make_stays(folder: Path, place: str) -> None:
    pmem("add", "We use PostgreSQL", "--subject", "database")
    taken = folder / ("README.md" if place == "README.md" else "docs/index.md")
    taken.parent.mkdir(exist_ok=True)
    taken.write_text("# Mine\n")

    done = pmem("export", "markdown", place)
    assert (done.code, "was not made by this export" in done.said) == (3, True)
    assert taken.read_text() == "# Mine\n"
    assert os.listdir(taken.parent) == ["index.md"] or place == "README.md"


def test_a_page_is_written_over_the_one_before(folder: Path) -> None:
    pmem("add", "We use PostgreSQL")
    assert pmem("export", "markdown", "memory.md").text == "wrote memory.md: 1 memory, 1 page\n"
    pmem("add", "Never on a Friday")
    assert pmem("export", "markdown", "memory.md").code == 0
    assert "Friday" in (folder / "memory.md").read_text()
    assert pmem("--read-only", "export", "markdown", "memory.md").code != 0
    assert pmem("export", "markdown", "absent/memory.md").code == 3


def test_secrets_are_not_written(root: str, folder: Path) -> None:
    pmem("add", "The key is SECRET")
    (file,) = Path(root, "long-term-memory").glob("*.json")
    file.write_text(file.read_text().replace("SECRET", "AKIA" + "QYLPMN5HHHFPZAM2"))

    page = pmem("export", "markdown").text
    assert "The key is \\[redacted" in page
    assert "AKIA" not in page
