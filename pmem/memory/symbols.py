"""Cited names of functions, classes and constants: where they are defined now.

Git says which lines begin a definition, and is asked once for all names that are looked for.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from pmem.core.citations import (
    CitationState,
    Content,
    FileRange,
    Lines,
    constant_of,
    stated,
    suffix_of,
    values_of,
)
from pmem.core.code.constants import MOST_CHARACTERS, Assignment
from pmem.core.code.definitions import (
    Definition,
    Symbol,
    defining,
    definition_at,
    enclosed,
    outermost,
    parse_symbol,
    unqualified,
)
from pmem.core.code.languages import language_of
from pmem.core.lines import shortened
from pmem.core.secrets import find_named, redacted
from pmem.errors import InvalidValue
from pmem.storage.git.function_lines import function_lines
from pmem.values.records import Citation

MOST_HEADS: Final = 40
"""Of the lines that may define a name git is shown so many, the nearest to where it was."""
_AT_ONCE: Final = 500
"""Git is asked for so many names at once."""
_MOST_TOLD: Final = 5
_TOLD_CHARACTERS: Final = 60
_BETWEEN: Final = "::"


class Unfound(NamedTuple):
    """A citation of a symbol whose text is not in its file any more, and what that holds."""

    cited: Citation
    content: Content


class CitationVerdict(NamedTuple):
    """What became of a citation: its state, where its text is now, what its file lacks.

    `is_sure` says that the text cannot have gone to another file.
    """

    state: CitationState
    now: FileRange | None = None
    reason: str = ""
    is_sure: bool = False


def parse_symbol_citation(text: str) -> tuple[str, str] | None:
    """Read `src/a.py::settle` or `src/a.py::RETRIES=3` as file and symbol; None for anything else.

    A file of exactly that name comes first, then the longest name of one that is there.
    """
    parts = text.split(_BETWEEN)
    if len(parts) == 1 or os.path.lexists(text):
        return None
    splits = [(_BETWEEN.join(parts[:at]), _BETWEEN.join(parts[at:])) for at in range(1, len(parts))]
    fitting = [(file, symbol) for file, symbol in splits if file and _is_symbol(symbol)]
    there = [(file, symbol) for file, symbol in fitting if os.path.lexists(file)]
    return there[-1] if there else fitting[0] if fitting else None


def name_of(cited: Citation) -> bytes | None:
    """Return the last part of a cited name; None where no name is cited."""
    symbol = parse_symbol((cited.symbol or "").partition("=")[0])
    return None if symbol is None else symbol.name


def at_symbol(
    content: Content, file: str, wanted: tuple[str, str], environment: Mapping[str, str]
) -> Lines:
    """Return the lines that define the symbol of a file, as somebody named both."""
    path, text = wanted
    if content.is_binary:
        raise InvalidValue(f"{path} is binary and defines no {text}", "cite it as a whole")
    cited = Citation(file=file, symbol=text, digest="")
    constant = constant_of(cited)
    if constant is not None:
        return _at_constant(cited, content, path, *constant)
    (found,) = _definitions([Unfound(cited, content)], environment)
    if found is None:
        raise InvalidValue(
            f"only git can find {text} in {path}, and there is none", _lines_of(path)
        )
    if not found:
        raise InvalidValue(
            f"{path} defines no {text} that git knows as a function or a class",
            _as_constant(cited, content, path) or _lines_of(path),
        )
    if len(found) > 1:
        heads = ", ".join(str(one.head) for one in found[:_MOST_TOLD])
        others = " and others" if len(found) > _MOST_TOLD else ""
        raise InvalidValue(
            f"{path} defines {text} {len(found)} times, in lines {heads}{others}",
            "name what it belongs to, such as Class.method, or cite lines",
        )
    return found[0].first, found[0].last


def _as_constant(cited: Citation, content: Content, path: str) -> str:
    """Say how a name is cited that is given a value; nothing where it is given none."""
    symbol = parse_symbol(cited.symbol or "")
    given = values_of(cited, content, symbol) if symbol is not None else []
    if not given:
        return ""
    value = given[0].value.decode("utf-8", "replace")
    return f"it is a constant: cite it with its value, {path}::{cited.symbol}={value}"


def settled(
    unfound: Iterable[Unfound], environment: Mapping[str, str]
) -> dict[Citation, CitationVerdict]:
    """Return what became of symbols whose text is not in their files any more."""
    found: dict[Citation, CitationVerdict] = {}
    asked: list[Unfound] = []
    for one in unfound:
        constant = constant_of(one.cited)
        if constant is None:
            asked.append(one)
        elif values_of(one.cited, one.content, constant[0]):
            found[one.cited] = CitationVerdict(CitationState.CHANGED, is_sure=True)
        else:
            found[one.cited] = _nowhere(one)
    for start in range(0, len(asked), _AT_ONCE):
        batch = asked[start : start + _AT_ONCE]
        for one, definitions in zip(batch, _definitions(batch, environment), strict=True):
            found[one.cited] = _definition_now(one, definitions)
    return found


def _is_symbol(text: str) -> bool:
    name, equals, value = text.partition("=")
    if parse_symbol(name) is None:
        return False
    return not equals or (0 < len(value.strip()) <= MOST_CHARACTERS and value.isprintable())


def _at_constant(
    cited: Citation, content: Content, path: str, symbol: Symbol, value: bytes
) -> Lines:
    found = values_of(cited, content, symbol)
    name = (cited.symbol or "").partition("=")[0]
    if not found:
        raise InvalidValue(f"{path} gives no value to {name}", _lines_of(path))
    lines = stated(cited, content, symbol, value)
    if lines is None:
        raise InvalidValue(
            f"{name} is {_values(name, found)} in {path}, not {value.decode()}",
            "cite the value that the file has",
        )
    return lines


def _definition_now(one: Unfound, definitions: Sequence[Definition] | None) -> CitationVerdict:
    cited, content = one
    if definitions is None:
        name = name_of(cited)
        is_there = name is not None and content.mentions(name)
        return CitationVerdict(CitationState.CHANGED if is_there else CitationState.GONE)
    for definition in definitions:
        lines = (definition.first, definition.last)
        if content.digest(lines) == cited.digest or (
            cited.folded is not None and content.folded(lines, cited.file) == cited.folded
        ):
            return CitationVerdict(CitationState.FRESH, FileRange(cited.file, lines), is_sure=True)
    return CitationVerdict(CitationState.CHANGED, is_sure=True) if definitions else _nowhere(one)


def _nowhere(one: Unfound) -> CitationVerdict:
    name = (one.cited.symbol or "").partition("=")[0]
    return CitationVerdict(CitationState.GONE, reason=f"has no {name}")


def _definitions(
    wanted: Sequence[Unfound], environment: Mapping[str, str]
) -> list[list[Definition] | None]:
    """Return the outermost definitions of symbols; None for all where there is no git."""
    heads = [_heads(one) for one in wanted]
    shown = [
        (language_of(suffix_of(one.cited.file)).driver, [one.content.lines[at] for at in places])
        for one, places in zip(wanted, heads, strict=True)
    ]
    answers = function_lines(shown, environment) if any(heads) else [set() for _ in wanted]
    if answers is None:
        return [None] * len(wanted)
    return [
        _defined_at(one, [at for number, at in enumerate(places) if number in answer])
        for one, places, answer in zip(wanted, heads, answers, strict=True)
    ]


def _heads(one: Unfound) -> list[int]:
    """Return the lines that may define a symbol, counted from zero."""
    symbol = parse_symbol(one.cited.symbol or "")
    if symbol is None or one.content.is_binary or not one.content.mentions(symbol.name):
        return []
    near = (one.cited.lines or (1, 1))[0] - 1
    found = defining(one.content.lines, symbol, language_of(suffix_of(one.cited.file)), near)
    return sorted(sorted(found, key=lambda at: abs(at - near))[:MOST_HEADS])


def _defined_at(one: Unfound, places: Sequence[int]) -> list[Definition]:
    symbol = parse_symbol(one.cited.symbol or "")
    if symbol is None or not places:
        return []
    lines, language = one.content.lines, language_of(suffix_of(one.cited.file))
    places = outermost(lines, enclosed(lines, places, symbol, language))
    if not symbol.within:
        places = unqualified(lines, places, symbol.name)
    found = [definition_at(lines, at, language) for at in places]
    return [definition for definition in found if definition.has_body] or found


def _values(name: str, found: Sequence[Assignment]) -> str:
    """Say what a file gives to a name; what is secret is not repeated."""
    told: dict[str, None] = {}
    for one in found:
        value = " ".join(one.value.decode("utf-8", "replace").split())
        told[redacted(value, find_named(name, value))] = None
    return shortened(" and ".join(told), _TOLD_CHARACTERS)


def _lines_of(path: str) -> str:
    return f"cite lines of it, such as {path}:10-20"
