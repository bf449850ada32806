"""Where names are defined in programs of several languages, and how far that reaches."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem.core.code.definitions import (
    MOST_CHARACTERS,
    MOST_MENTIONS,
    Definition,
    defining,
    definition_at,
    enclosed,
    mentions,
    outermost,
    parse_symbol,
    unqualified,
)
from pmem.core.code.languages import Language, language_of
from pmem.storage.git import function_lines as asking
from pmem.storage.git.function_lines import function_lines

LANGUAGES = [language_of(suffix) for suffix in (".py", ".ts", ".go", ".rs", ".sh", ".php", ".md")]


def found(source: str, name: str, suffix: str) -> list[Definition]:
    """Return the definitions of a name, as git and we see them."""
    language, symbol = language_of(suffix), parse_symbol(name)
    assert symbol is not None
    lines = [line.encode() for line in source.split("\n")]
    heads = defining(lines, symbol, language, 0)
    answer = function_lines([(language.driver, [lines[at] for at in heads])], os.environ)
    assert answer is not None
    heads = [at for number, at in enumerate(heads) if number in answer[0]]
    heads = outermost(lines, enclosed(lines, heads, symbol, language))
    if not symbol.within:
        heads = unqualified(lines, heads, symbol.name)
    definitions = [definition_at(lines, at, language) for at in heads]
    return [one for one in definitions if one.has_body] or definitions


PROGRAMS = Path(__file__).parent / "programs"
CASES = [line.split("\t") for line in (PROGRAMS / "defined.tsv").read_text().splitlines()]


@pytest.mark.parametrize(("suffix", "name", "places"), CASES)
def test_a_name_is_found_with_its_whole_definition(suffix: str, name: str, places: str) -> None:
    source = (PROGRAMS / f"{suffix[1:]}.txt").read_text()
    assert " ".join(f"{one.first}-{one.last}" for one in found(source, name, suffix)) == places


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("settle", ["settle"]),
        ("Billing.settle", ["Billing", "settle"]),
        ("a::B::c", ["a", "B", "c"]),
        ("$x", ["$x"]),
        ("A#b", ["A", "b"]),
        ("A.#b", ["A", "#b"]),
        ("A.valid?", ["A", "valid?"]),
    ],
)
def test_names_of_symbols(name: str, parts: list[str]) -> None:
    symbol = parse_symbol(name)
    assert symbol is not None
    assert [part.decode() for part in (*symbol.within, symbol.name)] == parts


@pytest.mark.parametrize("name", ["", "3", "a b", "a()", "a.", ".a", "a::", "a\nb", "a" * 201])
def test_what_is_no_name(name: str) -> None:
    assert len(name) <= MOST_CHARACTERS + 1
    assert parse_symbol(name) is None


any_lines = st.lists(
    st.text(" \tdefclassx(){}[]<>=:;'\"`#@/*.\\", max_size=30).map(str.encode),
    min_size=1,
    max_size=12,
)


@given(any_lines, st.sampled_from(LANGUAGES), st.data())
def test_any_text_has_an_end_of_what_begins_in_it(
    lines: list[bytes], language: Language, data: st.DataObject
) -> None:
    head = data.draw(st.integers(0, len(lines) - 1))
    one = definition_at(lines, head, language)
    assert 1 <= one.first <= one.head == head + 1 <= one.last <= len(lines)
    symbol = parse_symbol("class.def")
    assert symbol is not None
    heads = defining(lines, symbol, language, head)
    assert set(enclosed(lines, heads, symbol, language)) <= set(heads)
    assert set(outermost(lines, heads)) <= set(heads)


def test_a_file_full_of_one_name_is_looked_at_near_where_it_was() -> None:
    lines = [b"def settle(): pass"] * (3 * MOST_MENTIONS)
    found = mentions(lines, b"settle", 2 * MOST_MENTIONS)
    assert len(found) == MOST_MENTIONS
    assert 2 * MOST_MENTIONS in found
    assert found[0] > MOST_MENTIONS


def test_git_reads_no_attributes_and_no_configuration_but_ours(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    evil = tmp_path / "evil"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {evil}\n")
    program.chmod(0o755)
    settings = (
        f'[diff "python"]\nxfuncname = "^nothing"\ntextconv = {program}\n'
        f"command = {program}\n[core]\nfsmonitor = {program}\npager = {program}\n"
        f"attributesFile = {tmp_path}/attributes\n"
    )
    (tmp_path / "attributes").write_text("* diff=python binary\n")
    (tmp_path / ".gitattributes").write_text("* diff=python -text binary\n")
    (tmp_path / ".gitconfig").write_text(settings)
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git/HEAD").write_text("ref: refs/heads/main\n")
    for folder in ("objects", "refs"):
        (tmp_path / ".git" / folder).mkdir()
    (tmp_path / ".git/config").write_text(f"[core]\n\trepositoryformatversion = 0\n{settings}")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / ".gitconfig"))
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", str(program))
    lines = [b"def settle():", b"x = 1", b"    class Billing:"]
    assert function_lines([("python", lines), ("", lines)], os.environ) == [{0, 2}, {0, 1}]
    assert not evil.exists()
    assert [entry for entry in os.listdir(tmp_path) if entry.startswith("pmem-")] == []


def test_git_is_shown_one_short_line_for_each(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [b"def a():\x01\r\ndef b():", b"\0", b"def " + b"c" * 100_000, b"", b"def d():"]
    assert function_lines([("python", lines)], os.environ) == [{0, 2, 4}]
    monkeypatch.setattr(asking, "_MOST", 3)
    assert function_lines([("python", lines[:2]), ("python", lines)], os.environ) == [{0}, {0}]


def test_without_git_nothing_is_known(tmp_path: Path) -> None:
    assert function_lines([("python", [b"def a():"])], {"PATH": str(tmp_path)}) is None
