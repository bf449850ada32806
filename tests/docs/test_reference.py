"""The generated pages say what the program does today."""

import re
from pathlib import Path

from pmem.cli.commands import COMMANDS, GROUPS
from pmem.memory.requests import AddRequest
from pmem.values.config import table, unknown_names
from tests.cli.shell import pmem
from tests.docs.examples import loaded

DOCS = Path(__file__).parents[2] / "docs"
TEXTS = {
    path.relative_to(DOCS.parent): path.read_text(encoding="utf-8")
    for path in (*DOCS.rglob("*.md"), DOCS.parent / "README.md")
}
WITH_DEFAULT = re.compile(r"`([a-z_.]+)` \(([\d.,]+)( %)?\)")
"""A setting, and what a text says is its default."""


def test_every_generated_file_is_up_to_date() -> None:
    generate = loaded(DOCS / "generate.py")
    made = {Path(path): text.rstrip("\n") + "\n" for path, text in generate.pages().items()}
    packed = {path for path in (DOCS.parent / "packages").rglob("*") if path.is_file()}
    assert packed <= set(made)
    stale = [path for path, text in made.items() if path.read_text(encoding="utf-8") != text]
    assert stale == [], "run `python docs/generate.py`"


def test_the_pages_name_every_setting_and_command() -> None:
    settings = "".join(
        (DOCS / name).read_text(encoding="utf-8") for name in ("settings.md", "tuning.md")
    )
    commands = (DOCS / "commands.md").read_text(encoding="utf-8")
    assert [row.name for row in table() if settings.count(f"\n| `{row.name}` |") != 1] == []
    names = [
        *COMMANDS,
        *GROUPS,
        *(f"{group} {name}" for group in GROUPS for name in GROUPS[group][1]),
    ]
    assert [name for name in names if f"## pmem {name}\n" not in commands] == []


def test_no_text_names_a_setting_that_is_not_there() -> None:
    groups = {row.name.partition(".")[0] for row in table() if "." in row.name}
    dotted = re.compile(rf"`((?:{'|'.join(groups)})\.(?!json)[a-z_]+)(?:`| = )")
    named = {name for text in TEXTS.values() for name in dotted.findall(text)}
    assert unknown_names(dict.fromkeys(named)) == []


def test_the_texts_have_the_defaults_of_the_settings_that_they_name() -> None:
    defaults = {row.name: row.default for row in table()}
    said = [
        (page, name, float(number.replace(",", "")) / (100 if percent else 1))
        for page, text in TEXTS.items()
        for name, number, percent in WITH_DEFAULT.findall(text)
        if name in defaults
    ]
    assert len(said) > 9
    assert [each for each in said if each[2] != defaults[each[1]]] == []


def test_no_text_and_no_message_names_a_command_that_is_not_there() -> None:
    known = {*COMMANDS, *GROUPS, "merge-driver", "textconv", "post-merge"}
    sources = {
        path.relative_to(DOCS.parent): path.read_text(encoding="utf-8")
        for folder in ("*.py", "*.js")
        for path in (DOCS.parent / "pmem").rglob(folder)
    }
    named = re.compile(r"`pmem (?:--?[\w-]+(?: [A-Z]+)? )*([a-z][a-z-]*)")
    gone = {
        (str(path), word)
        for path, text in {**TEXTS, **sources}.items()
        if "decisions" not in path.parts
        for word in named.findall(text)
        if word not in known
    }
    assert gone == set()


def test_help_and_the_page_on_batches_name_every_key_of_a_line() -> None:
    told = " ".join(pmem("help", "add").text.partition("Arguments:")[0].split())
    page = TEXTS[Path("docs/how-to/import-history.md")].partition("## A batch")[2]
    for key in AddRequest.__struct_fields__:
        assert re.search(rf"\b{key}\b", told), key
        assert f"`{key}`" in page, key
