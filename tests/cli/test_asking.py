"""Options that are made of a request's fields."""

import shlex
from itertools import count
from typing import Annotated, Any, get_args
from unittest import mock

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem.cli import memory, tree
from pmem.cli.asking import AskedCommand, asks
from pmem.cli.commands import COMMANDS, GROUPS, SHARED, CommandEntry
from pmem.cli.parsing import parse
from pmem.cli.session import Answer, CommandSession
from pmem.core.filters import Filter
from pmem.memory.requests import EditRequest
from pmem.server.arguments import Argument, schema_of
from pmem.values.fields import Ref, asked
from tests.cli.shell import pmem


class PaintRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A request with a field of every kind."""

    reference: Ref
    colour: Annotated[str | None, asked("Its colour.")] = None
    coats: Annotated[int, asked("How many coats.", least=1)] = 2
    walls: Annotated[tuple[str, ...], asked("A wall.", flag="--wall")] = ()
    brushes: Annotated[tuple[str, ...] | None, asked("All its brushes.", flag="--brush")] = None
    glossy: Annotated[bool | None, asked("Whether it shines.")] = None
    quick: Annotated[bool, asked("Do not wait.")] = False
    note: Annotated[str, asked("What to note.", reading="text")] = ""
    wanted: Filter = Filter()
    unsaid: int = 7


NUMBERS = count()
NAMED = {("", name): entry for name, entry in COMMANDS.items()} | {
    (group, name): entry
    for group, (_, members) in GROUPS.items()
    for name, entry in members.items()
}


def painted(command: AskedCommand, *words: str, stdin: str = "") -> str:
    entry = CommandEntry("memory", f"paint_{next(NUMBERS)}", "k3v9")
    with (
        mock.patch.object(memory, entry.function, command, create=True),
        mock.patch.dict(COMMANDS, {"paint": entry}),
    ):
        done = pmem("paint", *words, stdin=stdin.encode())
    return done.text + done.said


def requests() -> tuple[AskedCommand, list[PaintRequest]]:
    made: list[PaintRequest] = []

    @asks(PaintRequest)
    def paint(session: CommandSession, request: PaintRequest) -> Answer:
        made.append(request)
        return Answer(data=None)

    return paint, made


def test_what_is_not_given_is_as_the_request_has_it() -> None:
    command, made = requests()
    painted(command, "k3v9")
    assert made == [PaintRequest(reference="k3v9")]


def test_every_kind_of_field_is_read() -> None:
    command, made = requests()
    words = (
        *("k3v9", "--colour", "red", "--coats", "3", "--wall", "north", "--wall", "south"),
        *("--no-glossy", "--quick", "--type", "fact", "--until", "2026-01-01"),
    )
    painted(command, *words)
    (request,) = made
    assert (request.colour, request.coats, request.walls) == ("red", 3, ("north", "south"))
    assert (request.glossy, request.quick, request.wanted.types) == (False, True, ("fact",))
    assert request.wanted.created_before is not None


def test_an_empty_text_empties_only_a_list_that_is_kept_otherwise() -> None:
    command, made = requests()
    painted(command, "k3v9", "--brush", "", "--wall", "")
    assert (made[0].brushes, made[0].walls) == ((), ("",))


def test_a_number_below_the_least_is_refused() -> None:
    command, made = requests()
    painted(command, "k3v9", "--coats", "0")
    assert made == []


def test_a_command_lacks_what_it_does_without_and_fills_what_it_says() -> None:
    made: list[PaintRequest] = []

    @asks(PaintRequest, without=("speaker",), colour="blue")
    def paint(session: CommandSession, request: PaintRequest) -> Answer:
        made.append(request)
        return Answer(data=None)

    painted(paint, "k3v9")
    assert made[0].colour == "blue"
    assert {"--speaker", "--colour"}.isdisjoint(painted(paint, "--help").split())


@pytest.mark.parametrize("words", ["list --limit 0", "list --min-importance 2"])
def test_bad_values_of_fields_get_a_sentence(words: str, root: str) -> None:
    assert pmem(*words.split()).code in (2, 3)


def test_help_names_filters_in_a_line_and_explains_them_where_all_is_asked(root: str) -> None:
    short, whole = pmem("search", "--help").text, pmem("search", "--help", "--all").text
    assert len(short.splitlines()) <= 40
    assert "--trust" in short
    assert "trusted" in whole
    assert "trusted" not in short


def test_a_schema_repeats_what_the_field_means() -> None:
    schema = schema_of((Argument("subject", "subject"),), EditRequest)
    assert schema["properties"]["subject"]["description"] == "Who or what it is about"


def pieces(entry: CommandEntry) -> st.SearchStrategy[list[str]]:
    """Return one option or word of a command's line, mostly one that it takes."""
    word = st.sampled_from(
        ["k3v9", "-", "--", "", "1", "0.5", "-1", "nan", "fact", "Fact", "1w", "a b", "x=y", "main"]
    )
    shared = [(flag, option.metavar) for option in SHARED for flag in option.flags]
    own = [
        (flag, None if field.type is bool else get_args(field.type) or ("7",))
        for field in entry.loaded().fields.values()
        for flags in ([] if field.is_argument else field.flags)
        for flag in flags.split("/")
    ]
    fitting = [[flag] if not good else [flag, good[0]] for flag, good in (*own, *shared)]
    flag = st.sampled_from([flag for flag, _ in (*own, *shared)])
    return st.one_of(
        st.sampled_from(fitting),
        st.sampled_from([["=".join(piece)] for piece in fitting]),
        st.builds(lambda one: [one], word),
        st.builds(lambda one, text: [one, text], flag, word),
        st.builds(lambda one, text: [f"{one}={text}"], flag, word),
    )


@st.composite
def lines(draw: st.DrawFn) -> list[str]:
    """Draw a command line."""
    group, name = draw(st.sampled_from(sorted(NAMED)))
    some = [st.lists(pieces(NAMED[group, name]), max_size=most) for most in (1, 1, 4)]
    before, within, after = map(draw, some)
    parts = [*before, [group], *within, [name], *after] if group else [*before, [name], *after]
    return [word for part in parts for word in part]


class Given(Exception):
    """What a line gives a command, and how the session stands then."""


def given_by(answered: Any, session: CommandSession) -> str:
    def note(self: AskedCommand, session: CommandSession, given: Any) -> None:
        told = {option.name: getattr(session, option.name) for option in SHARED}
        raise Given(repr((self.command, dict(given), told)))

    with mock.patch.object(AskedCommand, "run", note), pytest.raises(Given) as noted:
        answered(session)
    return str(noted.value)


@given(lines())
def test_a_plain_line_says_the_same_to_typer(words: list[str]) -> None:
    parsed = parse(words)
    if parsed is not None:
        typed = given_by(lambda session: tree.run_line(session, words), CommandSession({}))
        assert given_by(parsed.run, CommandSession({})) == typed


@pytest.mark.parametrize("entry", NAMED.values(), ids=[" ".join(words).strip() for words in NAMED])
def test_each_example_is_plain(entry: CommandEntry) -> None:
    words = shlex.split(entry.example.partition(" < ")[0])[1:]
    assert parse(words) is not None
