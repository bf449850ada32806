"""The tree of commands as Typer has it: what explains them, completes them and names slips."""

import inspect
import re
from collections.abc import Callable, Sequence
from copy import copy
from datetime import datetime
from difflib import get_close_matches
from functools import cache, partial, wraps
from itertools import takewhile
from textwrap import fill
from typing import Any, Final

from typer import Abort, Argument, Context, Option
from typer._click.exceptions import (  # typer 0.28 exports no base of its errors
    ClickException,
    NoArgsIsHelpError,
)
from typer.core import TyperCommand, TyperGroup, TyperOption
from typer.main import get_command_from_info
from typer.models import CommandInfo

from pmem import __version__
from pmem.cli.asking import AskedCommand, Field
from pmem.cli.commands import (
    ALONE,
    COMMANDS,
    DEFAULTS,
    GROUPS,
    MORE,
    SECTIONS,
    SHARED,
    CommandEntry,
    SharedOption,
    reference,
)
from pmem.cli.session import Answer, CommandSession
from pmem.errors import InvalidValue, UsageError
from pmem.values.fields import Completes

_LONGEST_SUMMARY: Final = 1000  # characters of what a list of commands says about one: all of them
_SEVERAL: Final = "; repeatable."
_HELP: Final = SharedOption("help", ("--help", "-h"), "Show this help and exit.")
_VERSION: Final = SharedOption("version", ("--version",), "Print the version and exit.")
_METAVARS: Final = {"str": "TEXT", "int": "N", "float": "NUMBER"}
"""What help calls the value of an option that gives it no name."""
_EVERY: Final = "Every command also takes -C, --json, --quiet and more: see `pmem --help`."
_MORE: Final = "`pmem help COMMAND` explains a command, `pmem help` lists the documents."
_ALIKE: Final = 0.6
"""How alike a name or a value must be to what was typed to be suggested, from 0 to 1."""
_NO_CHOICE: Final = " is not one of "  # what click says of a value that is none of those allowed
_WORDS: Final = (
    (re.compile(r"^Invalid value for '\w+(?:\|\w+)+'"), "Invalid value"),
    (re.compile(r"is not a valid int(?: range)?\.$"), "is not a whole number"),
    (re.compile(r"is not a valid float(?: range)?\.$"), "is not a number"),
    (re.compile(r"is not in the range x>=(-?[0-9]+)\.$"), r"is too small: \1 is the least"),
    (
        re.compile(r"^Got unexpected extra arguments? ?\(?s?\)? \("),
        "there are too many arguments (",
    ),
)
"""What click says, and how it is said here."""


_MEANT: Final = {
    **dict.fromkeys(("delete", "remove", "del", "forget"), "rm"),
    **dict.fromkeys(("remember", "note", "save", "store"), "add"),
    **dict.fromkeys(("find", "recall", "grep"), "search"),
    "version": "--version",
}
"""What other programs call a command, and what it is called here."""
_RETIRED: Final = {
    "changelog": "log A..B",
    "completion": "setup completion",
    "consent": "inbox proposals",
    "doctor": "check setup",
    "due": "check due",
    "events": "log",
    "facts": "inbox facts",
    "history": "log REF",
    "link": "edit REF --link REF[:TYPE]",
    "pin": "edit REF --pin",
    "repair": "resolve",
    "scan": "check secrets",
    "settle": "resolve REF",
    "sweep": "consolidate",
    "subjects": "list --subjects",
    "sync": "db sync",
    "tags": "list --tags",
    "types": "help types",
    "unlink": "edit REF --unlink REF[:TYPE]",
    "unpin": "edit REF --no-pin",
    "verify": "check citations",
    "week": "log --since 1w",
}
"""What commands were called once, and what does the same now."""
_VALUES: Final = {
    "expired": "`pmem list` marks what has expired, `pmem inbox --kind expired` goes through it"
}
"""What is asked for as if it were a state, and how to get it."""
_NO_READER: Final = (
    "there is no reader for it: write its messages as JSON Lines for `pmem import messages`"
)


def run_line(session: CommandSession, arguments: Sequence[str]) -> Any:
    """Run a command line in any form that Typer reads; help and slips are answered, too."""
    options = list(takewhile("--".__ne__, arguments))
    if "--all" in options and not {"--help", "-h"}.isdisjoint(options):
        session.explains_all = True
        rest = arguments[len(options) :]
        arguments = [*(option for option in options if option != "--all"), *rest]
    try:
        return root().main(list(arguments), "pmem", standalone_mode=False, obj=session)
    except _Told as told:
        return told.answer
    except Abort:
        raise KeyboardInterrupt from None
    except NoArgsIsHelpError as error:
        if session.json:
            raise UsageError("a command is missing", "`--help` lists them") from None
        return Answer(data=None, note=error.message, exit_code=UsageError.exit_code)
    except ClickException as error:
        kind = InvalidValue if _is_out_of_range(error) else UsageError
        raise kind(*_sentence(error)) from None


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
            _shared(_VERSION, told=_version),
        ],
        epilog=_epilog('pmem add "We use PostgreSQL"'),
        no_args_is_help=True,
    )


def root_context(session: CommandSession) -> Any:
    """Return the root's context, from which help of every command can be had."""
    return root().make_context("pmem", [], obj=session, resilient_parsing=True)


class _Explained:
    """A command whose help names, at its end, the options that every command takes."""

    params: list[Any]

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        super().format_epilog(ctx, formatter)  # type: ignore[misc]
        if any(isinstance(each, _SharedOption) for each in self.params):
            formatter.write_paragraph()
            formatter.write_text(_MORE if ctx.parent is None else _EVERY)


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
    function = _function(entry.loaded())
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


def _function(asked: AskedCommand) -> Callable[..., Answer | None]:
    """Return a command as a function from whose parameters Typer makes the options."""
    parameters = [
        inspect.Parameter("ctx", inspect.Parameter.KEYWORD_ONLY, annotation=Context),
        *map(_parameter, asked.fields.values()),
    ]

    @wraps(asked.command)
    def run(ctx: Context, **given: Any) -> Answer | None:
        return asked.run(ctx.obj, given)

    run.__dict__["__signature__"] = inspect.Signature(parameters)
    run.__doc__ = asked.meaning or run.__doc__
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    return run


def _parameter(field: Field) -> inspect.Parameter:
    """Return a field as Typer reads a function's parameters."""
    shared: dict[str, Any] = {
        "metavar": field.hints["shown"] or ("TIME" if field.type is datetime else None),
        "autocompletion": _completing(field.hints["completes"]),
    }
    meaning = field.meaning
    info = (
        Argument(field.absent, help=meaning, **shared)
        if field.is_argument
        else Option(
            field.absent,
            *field.flags,
            help=meaning.removesuffix(".") + _SEVERAL if field.is_many else meaning,
            min=field.least,
            case_sensitive=False,
            rich_help_panel=field.hints["group"],
            **shared,
        )
    )
    type_: Any = str if field.type in (datetime, Any) else field.type
    return inspect.Parameter(
        field.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=info,
        annotation=list[type_] if field.is_many else type_,
    )


@cache
def _completing(what: Completes) -> Callable[..., list[tuple[str, str]]] | None:
    """Return what completes a value in a shell, as Typer takes it."""

    def found(ctx: Context, _words: list[str], incomplete: str) -> list[tuple[str, str]]:
        return ctx.obj.candidates(what, ctx, incomplete)  # type: ignore[no-any-return]

    return found if what else None


def _epilog(example: str) -> str:
    return f"\b\nExample:\n  {example}"


class _Told(Exception):
    def __init__(self, answer: Answer) -> None:
        self.answer = answer


def _shared(option: SharedOption, told: Callable[[Any], Answer] | None = None) -> TyperOption:
    """Return an option of all commands; the session has it, or it answers in a command's place."""

    def take(ctx: Any, _: Any, value: Any) -> None:
        if value and told is not None:
            raise _Told(told(ctx))
        option.apply(ctx.obj, value)

    return _SharedOption(
        param_decls=[*option.flags, option.name],
        metavar=option.metavar,
        is_flag=option.metavar is None,
        is_eager=told is not None,
        default=None,
        expose_value=False,
        callback=take,
        help=option.meaning,
        autocompletion=_completing(option.completes),
    )


@cache
def _shared_options() -> tuple[TyperOption, ...]:
    """Return the options that every command has, the root's and a command's the same."""
    return (*map(_shared, SHARED), _shared(_HELP, told=_help))


def _help(ctx: Any) -> Answer:
    return Answer(data={"help": ctx.get_help()}, raw=f"{ctx.get_help()}\n")


def _version(_: Any) -> Answer:
    return Answer(data={"version": __version__}, raw=f"pmem {__version__}\n")


def _is_out_of_range(error: ClickException) -> bool:
    """Tell whether a number is one, and none that is allowed: that is no wrong command line."""
    return " is not in the range " in error.format_message()


def _sentence(error: ClickException) -> tuple[str, str]:
    """Return what is wrong with a command line, and what to do next."""
    context = getattr(error, "ctx", None)
    hint = f"`{context.command_path} --help` shows how" if context else ""
    message = " ".join(error.format_message().split())
    if context and message.startswith("No such command"):
        name, is_root = message.split("'")[1], context.parent is None
        if is_root and name in _RETIRED:
            return f"`pmem {name}` is now `pmem {_RETIRED[name]}`", ""
        close = get_close_matches(name, context.command.list_commands(context), cutoff=_ALIKE)
        close = [_MEANT[name]] if is_root and name in _MEANT else close
        if close:
            hint = f"did you mean {' or '.join(close)}?"
        elif context.command.name == "import":
            hint = _NO_READER
    elif message.startswith("Invalid value") and _NO_CHOICE in message:
        hint = _closest(message) or hint
    elif message.startswith("No such option: -") and "--" not in message:
        hint = f"put `--` before a text that starts with a dash; {hint}"
    elif message.startswith("Missing argument 'REF"):
        hint = f"REF is an id, as lists and searches show it; {hint}"
    elif message.startswith("Missing argument") and "|-'" in message:
        hint = "give it as an argument, or `-` to read it from standard input"
    elif message.startswith("Got unexpected extra"):
        hint = f"put quotes around a text of several words; {hint}"
    for said, instead in _WORDS:
        message = said.sub(instead, message)
    return f"{message[:1].lower()}{message[1:].removesuffix('.')}", hint


def _closest(message: str) -> str:
    before, _, choices = message.partition(_NO_CHOICE)
    value = before.split("'")[-2]
    if value in _VALUES and "'--state'" in before:
        return _VALUES[value]
    close = get_close_matches(value, choices.split("'")[1::2], 1, _ALIKE)
    return f"did you mean {close[0]}?" if close else ""
