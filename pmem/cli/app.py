"""The root of the command line: which commands there are, and the one error boundary."""

import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from itertools import takewhile
from typing import Any, Final, NamedTuple

from typer import Abort
from typer._click.exceptions import (  # typer 0.28 exports no base of its errors
    ClickException,
    NoArgsIsHelpError,
)
from typer.core import TyperCommand, TyperGroup, TyperOption
from typer.main import get_command_from_info
from typer.models import CommandInfo

from pmem.cli import render
from pmem.cli.session import Answer, CommandSession, utf8
from pmem.errors import InvalidValue, PmemError, StorageRefused, Unfinished, UsageError

_HOOK: Final = "hook"
"""The command that never fails: assistants take any other exit code for an order to stop."""
_COMPLETE: Final = "_PMEM_COMPLETE"
"""The variable by which a shell asks for completions."""


class CommandEntry(NamedTuple):
    """Where a command's function is, and an example of its use."""

    module: str
    function: str
    example: str


COMMANDS: Final[dict[str, CommandEntry]] = {
    "init": CommandEntry("project", "init", "pmem init --name Phoenix"),
    "add": CommandEntry("memory", "add", 'pmem add "We use PostgreSQL" --type decision'),
    "show": CommandEntry("memory", "show", "pmem show k3v9"),
    "list": CommandEntry("memory", "list_", "pmem list --type decision --tag database"),
    "edit": CommandEntry(
        "changes", "edit", 'pmem edit k3v9 "We use PostgreSQL 17" --importance 0.9'
    ),
    "rm": CommandEntry("changes", "rm", "pmem rm k3v9"),
    "restore": CommandEntry("changes", "restore", "pmem restore k3v9"),
    "purge": CommandEntry("changes", "purge", "pmem purge k3v9"),
    "pin": CommandEntry("changes", "pin", "pmem pin k3v9"),
    "unpin": CommandEntry("changes", "unpin", "pmem unpin k3v9"),
    "link": CommandEntry("changes", "link", "pmem link k3v9 p7q2 --type depends_on"),
    "unlink": CommandEntry("changes", "unlink", "pmem unlink k3v9 p7q2"),
    "settle": CommandEntry("changes", "settle", "pmem settle k3v9 --other"),
    "history": CommandEntry("changes", "history", "pmem history k3v9"),
    "events": CommandEntry("journal", "events", "pmem events --after 1w --event UPDATE"),
    "changelog": CommandEntry("changelog", "changelog", "pmem changelog main..HEAD --markdown"),
    "search": CommandEntry("recall", "search", 'pmem search "which database" --kind memory'),
    "query": CommandEntry("query", "query", "pmem query request.json --agent planner"),
    "context": CommandEntry("context", "context", 'pmem context "which database" --budget 1000'),
    "mcp": CommandEntry("mcp", "mcp", "pmem mcp --tools read"),
    "consolidate": CommandEntry("upkeep", "consolidate", "pmem consolidate --dry-run"),
    "sweep": CommandEntry("upkeep", "sweep", "pmem sweep --dry-run"),
    "delta": CommandEntry("threads", "delta", "pmem delta --thread review-42"),
    "verify": CommandEntry("verify", "verify", "pmem verify --update"),
    "stats": CommandEntry("project", "stats", "pmem stats"),
    "check": CommandEntry("checking", "check", "pmem check"),
    "scan": CommandEntry("checking", "scan", "pmem scan --staged"),
    "repair": CommandEntry("repair", "repair", "pmem repair --dry-run"),
    "doctor": CommandEntry("project", "doctor", "pmem doctor --fix"),
    "hook": CommandEntry("assistants", "hook", "pmem hook prompt --harness codex"),
    "completion": CommandEntry("project", "completion", "pmem completion bash"),
}

GROUPS: Final[dict[str, tuple[str, dict[str, CommandEntry]]]] = {
    "conversation": (
        "Keep conversations: start, say, end, look back.",
        {
            "start": CommandEntry(
                "conversation", "start", 'pmem conversation start "Database choice"'
            ),
            "say": CommandEntry(
                "conversation", "say", 'pmem conversation say "Which one?" --role user'
            ),
            "end": CommandEntry("conversation", "end", 'pmem conversation end "PostgreSQL it is"'),
            "pause": CommandEntry("conversation", "pause", "pmem conversation pause"),
            "resume": CommandEntry("conversation", "resume", "pmem conversation resume"),
            "list": CommandEntry("conversation", "list_", "pmem conversation list --status active"),
            "show": CommandEntry("conversation", "show", "pmem conversation show k3v9"),
            "clear": CommandEntry("conversation", "clear", "pmem conversation clear --yes"),
            "stats": CommandEntry("pruning", "stats", "pmem conversation stats"),
            "prune": CommandEntry("pruning", "prune", "pmem conversation prune --dry-run"),
        },
    ),
    "facts": (
        "Look after the facts that messages state.",
        {
            "list": CommandEntry("facts", "list_", "pmem facts list --above 0.7"),
            "promote": CommandEntry("facts", "promote", "pmem facts promote k3v9"),
            "reject": CommandEntry("facts", "reject", "pmem facts reject k3v9"),
        },
    ),
    "consent": (
        "Decide what agents may remember of people.",
        {
            "list": CommandEntry("consent", "list_", "pmem consent list"),
            "approve": CommandEntry("consent", "approve", "pmem consent approve k3v9"),
            "reject": CommandEntry("consent", "reject", "pmem consent reject k3v9"),
        },
    ),
    "episode": (
        "Look at key moments, and add some.",
        {
            "add": CommandEntry(
                "episode", "add", 'pmem episode add "The queue is RabbitMQ" --title Queue'
            ),
            "list": CommandEntry("episode", "list_", "pmem episode list --type decision_made"),
            "show": CommandEntry("episode", "show", "pmem episode show k3v9"),
            "arc": CommandEntry("episode", "arc", "pmem episode arc"),
        },
    ),
    "app": (
        "Keep what apps remember, each for itself.",
        {
            "remember": CommandEntry(
                "apps", "remember", 'pmem app remember calendar "Meetings after 2pm only"'
            ),
            "list": CommandEntry("apps", "list_", "pmem app list calendar"),
            "show": CommandEntry("apps", "show", "pmem app show calendar k3v9"),
            "context": CommandEntry("apps", "context", "pmem app context calendar"),
            "compact": CommandEntry("apps", "compact", "pmem app compact calendar"),
            "delete": CommandEntry("apps", "delete", "pmem app delete calendar k3v9"),
            "purge": CommandEntry("apps", "purge", "pmem app purge calendar --yes"),
            "uninstall": CommandEntry("apps", "uninstall", "pmem app uninstall calendar"),
            "stats": CommandEntry("apps", "stats", "pmem app stats"),
        },
    ),
    "checkpoint": (
        "Keep the state of a thread: save, load, look through.",
        {
            "save": CommandEntry(
                "threads", "save", 'pmem checkpoint save review-42 \'{"context": "step 3"}\''
            ),
            "load": CommandEntry("threads", "load", "pmem checkpoint load review-42"),
            "list": CommandEntry("threads", "list_", "pmem checkpoint list"),
            "rm": CommandEntry("threads", "remove", "pmem checkpoint rm review-42"),
        },
    ),
    "config": (
        "Look at the settings and change the project's.",
        {
            "list": CommandEntry("project", "config_list", "pmem config list"),
            "get": CommandEntry("project", "config_get", "pmem config get chunk_size"),
            "set": CommandEntry("project", "config_set", "pmem config set chunk_size 20"),
            "unset": CommandEntry("project", "config_unset", "pmem config unset chunk_size"),
        },
    ),
    "setup": (
        "Teach the programs around a project about its memory.",
        {
            "git": CommandEntry("setup", "git", "pmem setup git"),
            "pre-commit": CommandEntry("setup", "pre_commit", "pmem setup pre-commit"),
            "claude-code": CommandEntry("assistants", "claude_code", "pmem setup claude-code"),
            "codex": CommandEntry("assistants", "codex", "pmem setup codex"),
            "gemini": CommandEntry("assistants", "gemini", "pmem setup gemini --print"),
            "cursor": CommandEntry("assistants", "cursor", "pmem setup cursor"),
            "vscode": CommandEntry("assistants", "vscode", "pmem setup vscode"),
            "opencode": CommandEntry("assistants", "opencode", "pmem setup opencode"),
            "zed": CommandEntry("assistants", "zed", "pmem setup zed --user"),
            "agents-md": CommandEntry("assistants", "agents_md", "pmem setup agents-md"),
            "list": CommandEntry("assistants", "list_", "pmem setup list"),
        },
    ),
    "import": (
        "Take in records from other programs' files.",
        {
            "messages": CommandEntry(
                "exchange", "import_messages", "pmem import messages chat.jsonl"
            ),
            "claude-code": CommandEntry("sessions", "claude_code", "pmem import claude-code"),
            "codex": CommandEntry("sessions", "codex", "pmem import codex --since 1w"),
            "gemini": CommandEntry("sessions", "gemini", "pmem import gemini --learn"),
            "auto": CommandEntry("sessions", "auto", "pmem import auto session.jsonl"),
            "notes": CommandEntry("sessions", "notes", "pmem import notes AGENTS.md"),
            "arrays": CommandEntry("exchange", "import_arrays", "pmem import arrays old-memory"),
        },
    ),
    "export": (
        "Give out records as files.",
        {
            "arrays": CommandEntry("exchange", "export_arrays", "pmem export arrays backup"),
            "audit": CommandEntry("exchange", "export_audit", "pmem export audit trail.jsonl"),
        },
    ),
    "eval": (
        "Hold recall to a golden set. `pmem eval FILE` is short for `pmem eval run FILE`.",
        {
            "run": CommandEntry("evaluation", "run", "pmem eval run golden.jsonl"),
            "add": CommandEntry("evaluation", "add", 'pmem eval add "which database" k3v9'),
        },
    ),
}

DEFAULTS: Final = {"eval": "run", "setup": "list", "import": "auto"}
"""What a group does when its name is not followed by one of its commands."""
ALONE: Final = ("setup", "import")
"""Groups that do so only when no word follows: what does is a slip in a command's name."""


def run(arguments: Sequence[str]) -> int:
    """Run one command line and print its answer.

    Args:
        arguments: Without the program's name.

    Returns:
        The exit code.
    """
    session = CommandSession(os.environ)
    try:
        return _answer(session, arguments)
    except PmemError as error:
        render.fail(session, _as_it_is(session, error))
        return 0 if arguments[:1] == [_HOOK] else error.exit_code
    except (KeyboardInterrupt, Abort):
        return 130
    except BrokenPipeError:
        return _closed_pipe()
    except Exception as error:
        return _bug(session, error)
    finally:
        session.close()


def root() -> TyperGroup:
    """Build the root command; commands are loaded when they are used."""
    return _LazyGroup(
        name="pmem",
        help="Memory for projects: keep what was learned, hand back what matters.",
        entries=COMMANDS,
        groups=GROUPS,
        params=[*_globals(), _telling("--version", "Print the version.", _version)],
        epilog=_epilog('pmem add "We use PostgreSQL"'),
        no_args_is_help=True,
    )


class _LazyGroup(TyperGroup):
    """A group whose commands are loaded one at a time."""

    def __init__(
        self,
        *,
        entries: dict[str, CommandEntry],
        groups: dict[str, tuple[str, dict[str, CommandEntry]]],
        default: str | None = None,
        **attributes: Any,
    ) -> None:
        super().__init__(rich_markup_mode=None, **attributes)
        self._entries = entries
        self._groups = groups
        self._default = default
        self.ignore_unknown_options = default is not None  # they may be the default's

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - the base class's form
        return [*self._entries, *self._groups]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002 - likewise
        if cmd_name in self._entries:
            return _command(cmd_name, self._entries[cmd_name])
        if cmd_name in self._groups:
            return _group(cmd_name, *self._groups[cmd_name])
        return None

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if self._default and not ctx.resilient_parsing:
            options, rest, _ = self.make_parser(ctx).parse_args(list(args))
            is_named = rest[:1] in [[name] for name in self._entries]
            is_slip = self.name in ALONE and rest[:1] != [] and not rest[0].startswith("-")
            if "help" not in options and not is_named and not is_slip:
                args = [self._default, *args]
        return super().parse_args(ctx, args)


def _group(name: str, help_: str, entries: dict[str, CommandEntry]) -> TyperGroup:
    return _LazyGroup(
        name=name,
        help=help_,
        entries=entries,
        groups={},
        params=_globals(),
        default=DEFAULTS.get(name),
        epilog=_epilog(next(iter(entries.values())).example),
        no_args_is_help=name not in DEFAULTS,
    )


def _command(name: str, entry: CommandEntry) -> TyperCommand:
    function = getattr(import_module(f"pmem.cli.{entry.module}"), entry.function)
    command: Any = get_command_from_info(
        CommandInfo(
            name=name,
            callback=function,
            short_help=function.__doc__.partition("\n")[0],
            epilog=_epilog(entry.example),
        ),
        pretty_exceptions_short=False,
        rich_markup_mode=None,
    )
    own = {flag for parameter in command.params for flag in parameter.opts}
    command.params.extend(option for option in _globals() if own.isdisjoint(option.opts))
    return command  # type: ignore[no-any-return]


def _epilog(example: str) -> str:
    return f"\b\nExample:\n  {example}"


def _globals() -> list[TyperOption]:
    """Return the options that every command has, before or after its name."""
    return [
        _option("-C", "directory", "DIR", "Look for the memory here instead."),
        _option("--json", "json", None, "Print one line of JSON."),
        _option("--quiet", "quiet", None, "Say nothing on standard error but errors.", "-q"),
        _option("--no-color", "no_color", None, "Print without colours."),
        _option("--actor", "actor", "NAME", "Who writes."),
        _option("--agent", "asker", "NAME", "Who asks: only what its allowlist names is seen."),
        _option("--now", "now", "TIME", "Take this as the present."),
        _option("--redact", "redact", None, "Keep a text that holds a secret without it."),
        _option("--read-only", "read_only", None, "Write nothing."),
        _telling("--help", "Show this message and leave.", _help),
    ]


def _option(
    flag: str, name: str, metavar: str | None, help_: str, other: str | None = None
) -> TyperOption:
    return TyperOption(
        param_decls=[flag, *([other] if other else []), name],
        metavar=metavar,
        is_flag=metavar is None,
        default=None,
        expose_value=False,
        callback=_remember,
        help=help_,
    )


def _remember(ctx: Any, parameter: Any, value: Any) -> Any:
    """Note a global option in the session, wherever it stood on the command line."""
    if value or (value == "" and parameter.name == "asker"):  # who asks must not be lost
        setattr(ctx.obj, parameter.name, value)
    return value


class _Told(Exception):
    """Raised where an option answers in the command's place."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer


def _telling(flag: str, help_: str, tell: Callable[[Any], Answer]) -> TyperOption:
    def callback(ctx: Any, _parameter: Any, value: Any) -> None:
        if value:
            raise _Told(tell(ctx))

    return TyperOption(
        param_decls=[flag],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=callback,
        help=help_,
    )


def _version(_ctx: Any) -> Answer:
    from pmem import __version__

    return Answer(data={"version": __version__}, raw=f"pmem {__version__}\n")


def _help(ctx: Any) -> Answer:
    text = ctx.get_help()
    return Answer(data={"help": text}, raw=f"{text}\n")


def _answer(session: CommandSession, arguments: Sequence[str]) -> int:
    answer = _computed(session, arguments)
    if not isinstance(answer, Answer):
        return int(answer or 0)
    try:
        render.show(session, answer)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise StorageRefused(f"standard output cannot be written: {error.strerror}") from None
    return answer.exit_code


def _computed(session: CommandSession, arguments: Sequence[str]) -> Any:
    """Return a command's answer, or what stands in its place: help, the version."""
    options = takewhile("--".__ne__, arguments)
    session.json = "--json" in options  # also when things go wrong before options are read
    for argument in arguments:
        if "\0" in utf8(argument, "an argument"):
            raise InvalidValue(f"an argument has a zero byte: {argument!r}", "leave it out")
    if _COMPLETE in session.environment:
        _load_completion()
    try:
        return root().main(
            args=list(arguments), prog_name="pmem", standalone_mode=False, obj=session
        )
    except _Told as told:
        return told.answer
    except NoArgsIsHelpError as error:
        if session.json:
            raise UsageError("a command is missing", "`--help` lists them") from None
        return Answer(data=None, note=error.message, exit_code=UsageError.exit_code)
    except ClickException as error:
        from pmem.cli.usage import sentence

        raise UsageError(*sentence(error)) from None


def _as_it_is(session: CommandSession, error: PmemError) -> PmemError:
    """Return an error that does not say that nothing happened where something did."""
    wrote = any(done.has_written for done in session.outcomes) or (
        session.opened is not None and session.opened.has_written
    )
    return Unfinished(error.message) if wrote and isinstance(error, StorageRefused) else error


def _load_completion() -> None:
    """Teach the command line the shells' questions; needed only when one asks."""
    from typer._completion_classes import completion_init

    completion_init()


def _closed_pipe() -> int:
    """Nobody reads on: stop without a word, and keep the interpreter from flushing."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _bug(session: CommandSession, error: Exception) -> int:
    """Say one sentence about what should never happen, and keep the rest for a report."""
    import traceback

    from pmem.core.secrets import unsecret
    from pmem.project.failures import note_failure

    trace = unsecret("".join(traceback.format_exception(error)))
    where = None if session.opened is None else note_failure(session.opened, trace)
    sentence = f"this is a bug in pmem: {type(error).__name__}: {error}"
    if where is None:
        render.fail(session, PmemError(f"{sentence}\n{trace}"))
    else:
        render.fail(session, PmemError(sentence, f"please report it with {where}"))
    return PmemError.exit_code
