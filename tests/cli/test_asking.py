"""Options that are made of a request's fields."""

from typing import Annotated, Any

import msgspec
import pytest
import typer
from typer.testing import CliRunner

from pmem.cli.asking import AskedCommand, asks
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


def painted(command: AskedCommand, *words: str, stdin: str = "") -> Any:
    app = typer.Typer()
    app.command()(command.function())
    done = CliRunner().invoke(app, words, obj=CommandSession({}), input=stdin)
    return done.exception or done.output


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
