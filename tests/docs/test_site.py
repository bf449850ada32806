"""The website of the documents is whole, leads nowhere in vain, and asks no other host."""

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest

from pmem.cli.manual import documents
from tests.docs.examples import loaded

ROOT = Path(__file__).parents[2]
SITE = ROOT / "docs" / "site"
ELSEWHERE = re.compile(
    r"https?:|//[a-z0-9-]+\.|url\((?!#)|@import|fetch\(|XMLHttpRequest|WebSocket"
)
SECONDS = 60
BUILDER = loaded(SITE / "build.py")


class Reading(HTMLParser):
    """What a browser makes of a page: its anchors, its links, and what it would load."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.styles: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.anchors.add(given.get("id") or "")
        if tag == "a":
            self.links.append(given.get("href") or "")
        else:
            names = ("src", "href", "srcset", "data", "poster", "action")
            self.loaded += [value for name in names if (value := given.get(name))]
        self.styles.append(given.get("style") or "")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("website") / "site"
    BUILDER.build(folder)
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Reading]:
    return {path: Reading(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}


def test_every_document_is_a_page_and_stands_in_the_navigation(
    site: Path, pages: dict[Path, Reading]
) -> None:
    wanted = {site / "docs" / f"{name}.html" for name in documents()}
    wanted |= {
        site / "index.html",
        site / "CHANGELOG.html",
        site / "CONTRIBUTING.html",
        site / "docs/decisions/index.html",
    }
    assert wanted <= set(pages)
    front = pages[site / "index.html"]
    assert wanted <= {site / link.partition("#")[0] for link in front.links}


def test_every_link_leads_to_a_page_and_to_a_heading_of_it(
    site: Path, pages: dict[Path, Reading]
) -> None:
    broken = []
    for path, page in pages.items():
        for link in page.links:
            if "://" in link:
                continue
            name, _, anchor = unquote(link).partition("#")
            target = (path.parent / name).resolve() if name else path
            known = pages[target].anchors if target in pages else None
            if not target.is_file() or (anchor and (known is None or anchor not in known)):
                broken.append((path.relative_to(site), link))
    assert broken == []


def test_no_page_loads_anything_from_elsewhere(site: Path, pages: dict[Path, Reading]) -> None:
    loaded = {
        (path.parent / name.partition("?")[0])
        for path, p in pages.items()
        for name in p.loaded
        if name != "data:,"
    }
    assert [str(path) for path in loaded if not path.is_file()] == []
    assert {path.suffix for path in loaded} == {".css", ".js", ".svg"}
    styles = {style for page in pages.values() for style in page.styles}
    assert [style for style in styles if ELSEWHERE.search(style)] == []
    for name in ("style.css", "search.js"):
        assert ELSEWHERE.findall((site / name).read_text(encoding="utf-8")) == []
    assert {path.suffix for path in site.rglob("*") if path.is_file()} == {
        *(".html", ".css", ".js", ".svg", "")
    }


def test_the_website_is_the_same_each_time(site: Path, tmp_path: Path) -> None:
    BUILDER.build(tmp_path / "again")
    files = sorted(path.relative_to(site) for path in site.rglob("*") if path.is_file())
    assert [
        str(f) for f in files if (site / f).read_bytes() != (tmp_path / "again" / f).read_bytes()
    ] == []


def test_a_folder_with_something_else_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(SystemExit, match="holds something else"):
        BUILDER.build(tmp_path)
    assert (tmp_path / "mine.txt").read_text() == "mine"


@pytest.mark.outside
@pytest.mark.skipif(not shutil.which("node"), reason="node is not installed")
@pytest.mark.parametrize(
    ("asked", "page"),
    [
        ("exit codes", "docs/commands.html#exit-codes"),
        ("undo a consolidation", "docs/how-to/undo.html"),
        ("merge conflict", "docs/how-to/solve-a-conflict.html"),
        ("mcp", "docs/how-to/use-mcp.html"),
        ("expire", "docs/how-to/let-it-expire.html"),
        ("secret", "docs/how-to/take-a-secret-out.html"),
        ("uninstall", "docs/how-to/install.html"),
        ("context", "docs/contexts.html"),
        ("install without a clone", "docs/how-to/install.html"),
        ("completion zsh", "docs/how-to/completion.html"),
        ("AGENTS.md", "docs/how-to/use-an-assistant.html"),
        ("import codex history", "docs/how-to/import-history.html"),
        ("private", "docs/how-to/keep-it-private.html"),
        ("my own memory", "docs/how-to/several-projects.html"),
        ("set my name", "docs/how-to/who-wrote-what.html"),
        ("procedures", "docs/how-to/procedures.html"),
        ("tune a context", "docs/how-to/tune-contexts.html"),
        ("categories", "docs/how-to/types-and-categories.html"),
        ("types of links", "docs/how-to/link-memories.html"),
        ("how do I write a time", "docs/times.html"),
        ("file format", "docs/files.html"),
        ("check in CI", "docs/how-to/check-in-ci.html"),
        ("who forgets", "docs/faq.html#who-forgets"),
        ("catgories", "docs/how-to/types-and-categories.html"),
        ("procedurse", "docs/how-to/procedures.html"),
        ("completionist", "docs/how-to/completion.html"),
    ],
)
def test_search_finds_the_page_among_its_first_five(asked: str, page: str, site: Path) -> None:
    found = _found(site, asked)
    assert [address for address in found if address.startswith(page)] != [], found
    assert len({address.partition("#")[0] for address in found}) == len(found) == 5


def _found(site: Path, asked: str) -> list[str]:
    """Return the addresses that a search of the website leads to, in its own program."""
    index = json.loads(
        (site / "search-index.js").read_text(encoding="utf-8").partition("=")[2].strip()[:-1]
    )
    program = (
        f"const {{pmemFind}} = require({json.dumps(str(site / 'search.js'))});"
        "let text = ''; process.stdin.on('data', part => text += part).on('end', () =>"
        f"console.log(JSON.stringify(pmemFind(JSON.parse(text), {json.dumps(asked)}, 5))))"
    )
    done = subprocess.run(
        ["node", "-e", program],
        input=json.dumps(index),
        capture_output=True,
        text=True,
        check=True,
        timeout=SECONDS,
    )
    return [address for _, address, _, _ in json.loads(done.stdout)]
