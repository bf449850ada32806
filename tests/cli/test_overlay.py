"""`conversation stats`: a panel on terminals, lines without a frame in pipes."""

import re
import unicodedata

import pytest

from tests.cli.shell import NOTHING, pmem
from tests.cli.test_streams import on_terminal

pytestmark = pytest.mark.usefixtures("project")

COLOURS = re.compile(r"\x1b\[[0-9;]*m")
STATS = ["conversation", "stats"]
TITLES = (
    "Release",
    "データベースの選定について話し合う",
    "发布计划 🚀 et la suite",
    "한국어 제목",
    "e\u0301te\u0301 à la carte",
    "👩‍💻 pairs 🎉",
    unicodedata.normalize("NFD", "한국어 제목"),
    "हिन्दी शीर्षक",
    "❤\ufe0e hearts",
    "a title that is much longer than any panel could ever be, and then some more of it " * 2,
    "red\x1b[31m \u202e title",
)


def cells(text: str) -> int:
    count = 0
    for character in text:
        if unicodedata.category(character) in ("Mn", "Me", "Cf"):
            continue
        if "\u1160" <= character <= "\u11ff":
            continue
        count += 2 if unicodedata.east_asian_width(character) in "WF" else 1
    return count


def talk(title: str, messages: int = 3) -> None:
    assert pmem("conversation", "start", title).code == 0
    for number in range(messages):
        assert pmem("conversation", "say", f"We must keep oven {number} warm.").code == 0
    assert pmem("conversation", "say", "So be it. 承知しました。", "--role", "assistant").code == 0


def screen(columns: int, **environment: str) -> list[str]:
    code, shown = on_terminal(STATS, columns, environment=environment or NOTHING)
    assert code == 0, shown
    return COLOURS.sub("", shown).splitlines()


@pytest.mark.parametrize("columns", [60, 80, 200])
def test_the_panel_fits_the_terminal(columns: int) -> None:
    talk("Release", 30)
    lines = screen(columns)
    assert {cells(line) for line in lines} == {min(columns, 78)}
    assert lines[0].startswith("╭─ Conversation: Release ")
    assert {line[0] + line[-1] for line in lines[1:-1]} == {"││"}
    assert lines[-1][0] + lines[-1][-1] == "╰╯"
    text = "\n".join(lines)
    for part in ("outside chunks", "user", "assistant", "next context", "messages", "chunks"):
        assert part in text


@pytest.mark.some(2)
@pytest.mark.parametrize("title", TITLES)
def test_no_title_bends_the_right_edge(title: str) -> None:
    assert pmem("conversation", "start", title).code == 0
    lines = screen(60)
    assert {cells(line) for line in lines} == {60}
    assert {line[-1] for line in lines} == {"╮", "│", "╯"}


@pytest.mark.parametrize("columns", [10, 40, 59])
def test_a_terminal_that_is_too_narrow_gets_plain_lines_with_every_figure(columns: int) -> None:
    talk("Release")
    lines = screen(columns)
    assert max(map(cells, lines)) <= columns
    text = " ".join(" ".join(lines).split())
    assert not set("╭│╰…") & set(text)
    assert "of 102,400 tokens" in text


def test_an_empty_conversation_has_a_panel_too() -> None:
    assert pmem("conversation", "start", "Release").code == 0
    text = "\n".join(screen(80))
    assert "0 (0 outside chunks), 0 tokens" in text
    assert "none yet" in text


@pytest.mark.row("S3.7.1")
def test_a_bar_says_how_full_a_conversation_is() -> None:
    talk("Release", 6)
    text = "\n".join(screen(80, PMEM_MAX_TOKENS="60"))
    assert "of 60" in text
    assert "█" in text
    assert "pruned from 80% on" in text
