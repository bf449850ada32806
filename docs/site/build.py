"""Builds a website from the documents: static, with search, without a request to any other host.

    python docs/site/build.py [FOLDER]    # build/site without one

Each Markdown file becomes a page at the same place, so links between files lead to the same pages.
The pages need no server: they work from a disk as well.
"""

import html
import json
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from string import Template
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token
from pygments import highlight
from pygments.formatters.html import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

from pmem.cli.manual import sections

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
DOCS = ROOT / "docs"
DECISIONS = "docs/decisions/index.html"
NAME = "pmem"
PLAIN = {"console", "text", "sh"}
"""Languages of blocks that show command lines and what they print: colours would only distract."""


class Section(NamedTuple):
    """A part of a page below one heading: the heading, its anchor and its plain text."""

    heading: str
    anchor: str
    text: str


class Page(NamedTuple):
    """A page: where it stands in the website, its title, its HTML and its sections."""

    path: str
    title: str
    body: str
    sections: list[Section]


def build(folder: Path) -> list[Page]:
    """Write the website into a folder, which must be new or a website of before.

    Args:
        folder: Where it goes.
    """
    if folder.exists() and not (folder / "search-index.js").is_file() and any(folder.iterdir()):
        sys.exit(f"{folder} holds something else: name another folder")
    shutil.rmtree(folder, ignore_errors=True)
    pages = [page_of(path) for path in sources()]
    template = Template((HERE / "page.html").read_text(encoding="utf-8"))
    for page in pages:
        _write(folder / page.path, _filled(template, page))
    for name in ("style.css", "search.js"):
        shutil.copyfile(HERE / name, folder / name)
    shutil.copyfile(ROOT / "LICENSE", folder / "LICENSE")
    shutil.copyfile(DOCS / "terminal.svg", folder / "docs" / "terminal.svg")
    _write(folder / "search-index.js", f"pmemIndex = {json.dumps(list(_index(pages)))};\n")
    return pages


def sources() -> list[Path]:
    """Return the Markdown files of the website, the front page first."""
    return [
        ROOT / "README.md",
        ROOT / "CHANGELOG.md",
        ROOT / "CONTRIBUTING.md",
        *sorted(DOCS.rglob("*.md")),
    ]


def page_of(path: Path) -> Page:
    """Make a page of a Markdown file."""
    markdown = MarkdownIt("commonmark", {"html": False, "highlight": _coloured})
    markdown.enable(["table", "strikethrough"])
    tokens = markdown.parse(path.read_text(encoding="utf-8"))
    found = list(_sections(tokens))
    for token in tokens:
        for child in token.children or ():
            if child.type == "link_open":
                child.attrSet("href", link(str(child.attrGet("href"))))
    body = markdown.renderer.render(tokens, markdown.options, {})
    body = body.replace("&lt;br&gt;", "<br>")  # the one sign of HTML in the tables of documents
    body = body.replace("<table>", '<div class="wide"><table>').replace(
        "</table>", "</table></div>"
    )
    name = path.relative_to(ROOT).as_posix()
    return Page(link(name), found[0].heading, body, found)


def link(target: str) -> str:
    """Return where a link of a Markdown file leads on the website."""
    if "://" in target or target.startswith(("#", "mailto:")):
        return target
    path, sign, anchor = target.partition("#")
    if path.endswith("/"):
        path += "index.html"
    folder, slash, name = path.rpartition("/")
    if name.endswith(".md"):
        name = "index.html" if name == "README.md" else name.removesuffix(".md") + ".html"
    return f"{folder}{slash}{name}{sign}{anchor}"


def slug(heading: str, taken: set[str]) -> str:
    """Return the anchor of a heading as hosting sites name it, and note that it is taken."""
    name = base = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
    number = 0
    while name in taken:
        number += 1
        name = f"{base}-{number}"
    taken.add(name)
    return name


def _sections(tokens: list[Token]) -> Iterator[Section]:
    """Give each heading its anchor, and yield the sections with their plain text."""
    taken: set[str] = set()
    heading, anchor, words = "", "", []
    for place, token in enumerate(tokens):
        if token.type == "heading_open":
            if heading:
                yield Section(heading, anchor, " ".join(words))
            heading, words = _plain(tokens[place + 1]), []
            anchor = slug(heading, taken)
            token.attrSet("id", anchor)
        elif token.type in ("inline", "fence") and tokens[place - 1].type != "heading_open":
            words.append(_plain(token))
    yield Section(heading, anchor, " ".join(words))


def _plain(token: Token) -> str:
    """Return what a token says, without its marks."""
    if token.children is None:
        return token.content
    return "".join(child.content or " " * ("break" in child.type) for child in token.children)


def _coloured(code: str, language: str, _: str) -> str:
    """Return a block's HTML with classes for colours; the empty text where there are none."""
    if not language or language in PLAIN:
        return ""
    try:
        lexer = get_lexer_by_name(language)
    except ClassNotFound:
        return ""
    return highlight(code, lexer, HtmlFormatter(nowrap=True))


def _filled(template: Template, page: Page) -> str:
    root = "../" * page.path.count("/")
    return template.substitute(
        title=html.escape(page.title if page.title == NAME else f"{page.title} - {NAME}"),
        root=root,
        navigation=_navigation(page, root),
        contents=_contents(page),
        body=page.body,
    )


def _navigation(page: Page, root: str) -> str:
    """Write the list of all pages, as docs/README.md orders them."""
    parts = [_entry(page, root, "index.html", "Start")]
    for section, titles in sections().items():
        parts.append(f"<h2>{html.escape(section)}</h2>")
        parts += [
            _entry(page, root, link(f"docs/{name}.md"), title) for name, title in titles.items()
        ]
    parts.append(_entry(page, root, DECISIONS, "Decisions"))
    parts.append(_entry(page, root, "CHANGELOG.html", "What has changed"))
    parts.append(_entry(page, root, "CONTRIBUTING.html", "Contributing"))
    return "\n".join(parts)


def _entry(page: Page, root: str, path: str, title: str) -> str:
    here = ' aria-current="page"' if path == page.path else ""
    return f'<a href="{root}{path}"{here}>{html.escape(title)}</a>'


def _contents(page: Page) -> str:
    """Write the list of a page's headings; nothing for a short page."""
    found = page.sections[1:]
    if len(found) < 3:
        return ""
    rows = "".join(f'<a href="#{one.anchor}">{html.escape(one.heading)}</a>\n' for one in found)
    return f'<nav class="contents" aria-label="On this page">\n<h2>On this page</h2>\n{rows}</nav>'


def _index(pages: list[Page]) -> Iterator[list[str]]:
    """Yield what search knows of each section: its page, address, heading and text."""
    for page in pages:
        for place, one in enumerate(page.sections):
            address = page.path if place == 0 else f"{page.path}#{one.anchor}"
            yield [page.title, address, one.heading, re.sub(r"\s+", " ", one.text)]


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    where = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build" / "site"
    sys.stdout.write(f"{len(build(where))} pages: open {where / 'index.html'}\n")
