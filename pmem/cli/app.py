"""The root of the command line: it finds the command, and turns every error into an exit code.

Any function of this package may raise a `PmemError`: a command ends with its sentence.
"""

import os
import sys
from collections.abc import Callable, Sequence
from copy import copy
from functools import cache, partial
from importlib import import_module
from itertools import takewhile
from textwrap import fill
from typing import Any, Final

from typer import Abort
from typer._click.exceptions import (  # typer 0.28 exports no base of its errors
    ClickException,
    NoArgsIsHelpError,
)
from typer.core import TyperCommand, TyperGroup, TyperOption
from typer.main import get_command_from_info
from typer.models import CommandInfo

from pmem import __version__
from pmem.cli import render
from pmem.cli.asking import AskedCommand, completing
from pmem.cli.commands import ALONE, COMMANDS, DEFAULTS, GROUPS, MORE, SECTIONS, CommandEntry
from pmem.cli.session import Answer, CommandSession, utf8
from pmem.errors import InvalidValue, PmemError, StorageRefused, Unfinished, UsageError
from pmem.values.fields import Completes

_HOOK: Final = "hook"
"""The command that never fails: assistants take any other exit code for an order to stop."""
_LONGEST_SUMMARY: Final = 1000  # characters of what a list of commands says about one: all of them
_METAVARS: Final = {"str": "TEXT", "int": "N", "float": "NUMBER"}
"""What help calls the value of an option that gives it no name."""
_SHARED: Final = "Every command also takes -C, --json, --quiet and more: see `pmem --help`."
_MORE: Final = "`pmem help COMMAND` explains a command, `pmem help` lists the documents."


def run(arguments: Sequence[str], session: CommandSession | None = None) -> int:
    """Run one command line, print its answer and return the exit code."""
    session = session or CommandSession(os.environ)
    session.arguments = arguments
    session.telling = partial(render.progress, session, "records read")
    try:
        answer = _computed(session, arguments)
        if not isinstance(answer, Answer):
            return int(answer or 0)
        render.show(session, answer)
        return answer.exit_code
    except PmemError as error:
        wrote = any(done.has_written for done in session.outcomes) or (
            session.opened is not None and session.opened.has_written
        )
        if wrote and isinstance(error, StorageRefused):  # something did happen
            error = Unfinished(error.message)
        render.fail(session, error)
        return 0 if arguments[:1] == [_HOOK] else error.exit_code
    except (KeyboardInterrupt, Abort):
        return 130
    except BrokenPipeError:
        # nobody reads on: stop without a word, and keep the interpreter from flushing
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        from pmem.cli.usage import tell_bug

        return tell_bug(session, error)
    finally:
        session.close()


def root() -> TyperGroup:
    """Build the root command; commands are loaded when they are used."""
    return _LazyGroup(
        {name: partial(_command, name, entry) for name, entry in COMMANDS.items()}
        | {name: partial(_group, name, *told) for name, told in GROUPS.items()},
        SECTIONS,
        MORE,
        name="pmem",
        help="Memory for projects: keep what was learned, hand back what matters.",
        params=[
            *_shared_options(),
            _option(
                "Print the version and exit.",
                "--version",
                told=lambda _: Answer(data={"version": __version__}, raw=f"pmem {__version__}\n"),
            ),
        ],
        epilog=_epilog('pmem add "We use PostgreSQL"'),
        no_args_is_help=True,
    )


class _Explained:
    """A command whose help names, at its end, the options that every command takes."""

    params: list[Any]

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        super().format_epilog(ctx, formatter)  # type: ignore[misc]
        if any(isinstance(each, _SharedOption) for each in self.params):
            formatter.write_paragraph()
            formatter.write_text(_MORE if ctx.parent is None else _SHARED)


class _LazyGroup(_Explained, TyperGroup):
    def __init__(
        self,
        loaded: dict[str, Callable[[], Any]],
        sections: dict[str, tuple[str, ...]],
        more: dict[str, tuple[str, ...]],
        **attributes: Any,
    ) -> None:
        super().__init__(rich_markup_mode=None, **attributes)
        self._loaded, self._sections, self._more = loaded, sections, more
        self._default = DEFAULTS.get(attributes["name"])
        self.ignore_unknown_options = self._default is not None  # they may be the default's

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - the base class's form
        return [*self._loaded]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002 - likewise
        return self._loaded[cmd_name]() if cmd_name in self._loaded else None

    def format_options(self, ctx: Any, formatter: Any) -> None:
        width = max(map(len, self.list_commands(ctx)))
        explains_all = getattr(ctx.obj, "explains_all", True)
        for title, names in {**self._sections, **(self._more if explains_all else {})}.items():
            rows = [(f"{name:<{width}}", self._summary(ctx, name)) for name in names]
            with formatter.section(title):
                formatter.write_dl(rows)
        if self._more and not explains_all:
            formatter.write_paragraph()
            many = sum(map(len, self._more.values()))
            formatter.write_text(f"`pmem help --all` lists {many} more commands.")
        TyperCommand.format_options(self, ctx, formatter)  # type: ignore[arg-type]

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        """Return what may stand next; no command is loaded for its name."""
        from typer._click.shell_completion import CompletionItem

        if incomplete.startswith("-"):
            meant = self.get_command(ctx, self._default) if self._default else self
            return TyperCommand.shell_complete(meant, ctx, incomplete)
        names = [name for name in self.list_commands(ctx) if name.startswith(incomplete)]
        return [CompletionItem(name, help=self._summary(ctx, name)) for name in names]

    def _summary(self, ctx: Any, name: str) -> str:
        from pmem.cli.manual import reference

        words = f"{ctx.command_path} {name}".partition(" ")[2]
        known = reference()["commands"].get(words)  # without loading the command
        if known is not None:
            return str(known["summary"])
        return str(self.get_command(ctx, name).get_short_help_str(_LONGEST_SUMMARY))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if self._default:
            options, rest, _ = self.make_parser(ctx).parse_args(list(args))
            is_named = rest[:1] in [[name] for name in self._loaded]
            is_slip = self.name in ALONE and rest[:1] != [] and not rest[0].startswith("-")
            is_open = ctx.resilient_parsing and not rest  # a name may be typed next
            if "help" not in options and not (is_named or is_slip or is_open):
                args = [self._default, *args]
        return super().parse_args(ctx, args)


class _Command(_Explained, TyperCommand):
    """A command whose help names filters, and the options of all commands, in one line each."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        groups: dict[str, list[str]] = {}
        if not getattr(ctx.obj, "explains_all", True):
            for option in self.params:
                title = getattr(option, "rich_help_panel", "")
                if title:
                    groups.setdefault(title, []).append(option.opts[-1])
        shown = copy(self)
        named = {flag for flags in groups.values() for flag in flags}
        shown.params = [each for each in self.params if each.opts[-1] not in named]
        TyperCommand.format_options(shown, ctx, formatter)
        for title, flags in groups.items():
            with formatter.section(title):
                indent, width = " " * formatter.current_indent, formatter.width
                listed = fill(
                    " ".join(flags), width, initial_indent=indent, subsequent_indent=indent,
                    break_on_hyphens=False,
                )  # fmt: skip
                formatter.write(f"{listed}\n")
                formatter.write_text(f"`{ctx.command_path} --help --all` explains them.")

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        return [piece.strip("{}") for piece in super().collect_usage_pieces(ctx)]


class _SharedOption(TyperOption):
    """An option that every command takes; only `pmem --help` explains it."""

    def get_help_record(self, ctx: Any) -> tuple[str, str] | None:
        return super().get_help_record(ctx) if ctx.parent is None else None


def _group(name: str, help_: str, entries: dict[str, CommandEntry]) -> TyperGroup:
    return _LazyGroup(
        {member: partial(_command, member, entry) for member, entry in entries.items()},
        {"Commands": tuple(entries)},
        {},
        name=name,
        help=help_,
        params=[*_shared_options()],
        epilog=_epilog(next(iter(entries.values())).example),
        no_args_is_help=name not in DEFAULTS,
    )


@cache
def _command(name: str, entry: CommandEntry) -> TyperCommand:
    asked: AskedCommand = getattr(import_module(f"pmem.cli.{entry.module}"), entry.function)
    function = asked.function()
    command: Any = get_command_from_info(
        CommandInfo(
            name=name,
            cls=_Command,
            callback=function,
            short_help=str(function.__doc__).partition("\n")[0],
            epilog=_epilog(entry.example),
        ),
        pretty_exceptions_short=False,
        rich_markup_mode=None,
    )
    for parameter in command.params:
        parameter.metavar = parameter.metavar or _METAVARS.get(parameter.type.name.split()[0])
    own = {flag for parameter in command.params for flag in parameter.opts}
    command.params.extend(option for option in _shared_options() if own.isdisjoint(option.opts))
    return command  # type: ignore[no-any-return]


def _epilog(example: str) -> str:
    return f"\b\nExample:\n  {example}"


class _Told(Exception):
    def __init__(self, answer: Answer) -> None:
        self.answer = answer


def _option(
    help_: str,
    *flags: str,
    told: Callable[[Any], Answer] | None = None,
    metavar: str | None = None,
    completes: Completes = "",
) -> TyperOption:
    """Return an option of all commands; the session has it, or it answers in a command's place."""

    def take(ctx: Any, parameter: Any, value: Any) -> None:
        if value and told is not None:
            raise _Told(told(ctx))
        if value or (value == "" and parameter.name == "asker"):  # who asks must not be lost
            setattr(ctx.obj, parameter.name, value)

    return _SharedOption(
        param_decls=[*flags],
        metavar=metavar,
        is_flag=metavar is None,
        is_eager=told is not None,
        default=None,
        expose_value=False,
        callback=take,
        help=help_,
        autocompletion=completing(completes),
    )


@cache
def _shared_options() -> tuple[TyperOption, ...]:
    """Return the options that every command has, the root's and a command's the same."""
    return (
        _option("Use the memory of this folder.", "-C", "directory", metavar="DIR"),
        _option("Print one line of JSON.", "--json"),
        _option("Use your own memory, not the project's.", "--mine"),
        _option("Print no notes; of a change nothing but errors.", "--quiet", "-q"),
        _option("Print without colours.", "--no-color"),
        _option("Print exact times, also on a terminal.", "--exact-times"),
        _option("Write as this person or program.", "--actor", metavar="NAME"),
        _option(
            "Act as this agent, within its allowlist.",
            "--agent",
            "asker",
            metavar="NAME",
            completes="agent",
        ),
        _option("Pretend that it is this time.", "--now", metavar="TIME"),
        _option("Save the text with its secrets blanked out.", "--redact"),
        _option("Write nothing.", "--read-only"),
        _option("Exit with 8 where a model failed.", "--strict-model"),
        _option(
            "Show this help and exit.",
            "--help",
            "-h",
            told=lambda ctx: Answer(data={"help": ctx.get_help()}, raw=f"{ctx.get_help()}\n"),
        ),
    )


def _computed(session: CommandSession, arguments: Sequence[str]) -> Any:
    options = list(takewhile("--".__ne__, arguments))
    session.json = "--json" in options  # also when things go wrong before options are read
    if "--all" in options and not {"--help", "-h"}.isdisjoint(options):
        session.explains_all = True
        rest = arguments[len(options) :]
        arguments = [*(option for option in options if option != "--all"), *rest]
    for argument in arguments:
        if "\0" in utf8(argument, "an argument"):
            raise InvalidValue(f"an argument has a zero byte: {argument!r}", "leave it out")
    try:
        return root().main(list(arguments), "pmem", standalone_mode=False, obj=session)
    except _Told as told:
        return told.answer
    except NoArgsIsHelpError as error:
        if session.json:
            raise UsageError("a command is missing", "`--help` lists them") from None
        return Answer(data=None, note=error.message, exit_code=UsageError.exit_code)
    except ClickException as error:
        from pmem.cli.usage import is_out_of_range, sentence

        kind = InvalidValue if is_out_of_range(error) else UsageError
        raise kind(*sentence(error)) from None
