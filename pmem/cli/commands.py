"""The table of commands: the module and the function of each, an example, and what all take."""

import json
import os
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

import msgspec

from pmem.values.fields import Completes

if TYPE_CHECKING:
    from pmem.cli.asking import AskedCommand


class CommandEntry(msgspec.Struct, frozen=True):
    """Where a command's function is, and an example of its use."""

    module: str
    function: str
    example: str

    def loaded(self) -> "AskedCommand":
        """Return the command."""
        module = import_module(f"pmem.cli.{self.module}")
        return getattr(module, self.function)  # type: ignore[no-any-return]


@cache
def reference() -> dict[str, Any]:
    """Return the table of all commands, as docs/generate.py made it of their functions."""
    path = os.path.join(os.path.dirname(__file__), "reference.json")
    with open(path, encoding="utf-8") as file:
        return json.load(file)  # type: ignore[no-any-return]


class SharedOption(msgspec.Struct, frozen=True):
    """An option that every command takes: the attribute of the session that it sets, and its help.

    One without a `metavar` takes no value.
    """

    name: str
    flags: tuple[str, ...]
    meaning: str
    metavar: str | None = None
    completes: Completes = ""

    def apply(self, session: object, value: Any) -> None:
        """Have a session do as it says; one that says nothing is passed over."""
        if value or (value == "" and self.name == "asker"):  # who asks must not be lost
            setattr(session, self.name, value)


SHARED: Final = (
    SharedOption("directory", ("-C",), "Use the memory of this folder.", "DIR"),
    SharedOption("json", ("--json",), "Print one line of JSON."),
    SharedOption("mine", ("--mine",), "Use your own memory, not the project's."),
    SharedOption("quiet", ("--quiet", "-q"), "Print no notes; of a change nothing but errors."),
    SharedOption("no_color", ("--no-color",), "Print without colours."),
    SharedOption("exact_times", ("--exact-times",), "Print exact times, also on a terminal."),
    SharedOption("actor", ("--actor",), "Write as this person or program.", "NAME"),
    SharedOption(
        "asker", ("--agent",), "Act as this agent, within its allowlist.", "NAME", "agent"
    ),
    SharedOption("now", ("--now",), "Pretend that it is this time.", "TIME"),
    SharedOption("redact", ("--redact",), "Save the text with its secrets blanked out."),
    SharedOption("read_only", ("--read-only",), "Write nothing."),
    SharedOption("strict_model", ("--strict-model",), "Exit with 8 where a model failed."),
)

_ROWS: Final = {
    "init": ("project", "init", "--name Phoenix"),
    "add": ("memory", "add", '"We use PostgreSQL" --type decision'),
    "share": ("changes", "share", "k3v9"),
    "show": ("memory", "show", "k3v9"),
    "list": ("memory", "list_", "--type decision --tag database"),
    "edit": ("changes", "edit", 'k3v9 "We use PostgreSQL 17" --importance 0.9'),
    "rm": ("changes", "rm", "k3v9"),
    "restore": ("changes", "restore", "k3v9"),
    "undo": ("changes", "undo", "--dry-run"),
    "purge": ("changes", "purge", "k3v9"),
    "log": ("log", "log", "--since 1w --by ada"),
    "why": ("places", "why", "src/billing/retry.py"),
    "tried": ("places", "tried", '"Retry 5 times" --failed "The vendor blocked us"'),
    "outcome": ("places", "outcome", 'k3v9 bad "It lost messages under load"'),
    "browse": ("report", "browse", ""),
    "report": ("report", "report", 'memory.html --task "Move billing out"'),
    "review": ("review", "review", "main..HEAD --format markdown"),
    "search": ("recall", "search", '"which database" --kind memory'),
    "query": ("recall", "query", "request.json --agent planner"),
    "context": ("threads", "context", '"which database" --budget 1000'),
    "mcp": ("serve", "mcp", "--tools read"),
    "serve": ("serve", "serve", "--token agent:planner"),
    "consolidate": ("upkeep", "consolidate", "--dry-run"),
    "delta": ("threads", "delta", "--thread review-42"),
    "stats": ("project", "stats", ""),
    "check": ("checking", "check", "citations --fix"),
    "resolve": ("team", "resolve", "k3v9 --other"),
    "hook": ("setup", "hook", "prompt --harness codex"),
    "help": ("manual", "help_", "merging"),
    "conversation start": ("conversation", "start", '"Database choice"'),
    "conversation say": ("conversation", "say", '"Which one?" --role user'),
    "conversation end": ("conversation", "end", '"PostgreSQL it is"'),
    "conversation pause": ("conversation", "pause", ""),
    "conversation resume": ("conversation", "resume", ""),
    "conversation list": ("conversation", "list_", "--status active"),
    "conversation show": ("conversation", "show", "k3v9"),
    "conversation clear": ("conversation", "clear", "--yes"),
    "conversation mark": ("conversation", "mark", "k3v9 --pin"),
    "conversation rm": ("conversation", "remove", 'k3v9 --reason "wrong person"'),
    "conversation stats": ("conversation", "stats", ""),
    "conversation prune": ("conversation", "prune", "--dry-run"),
    "inbox walk": ("inbox", "inbox", "--kind fact"),
    "inbox facts": ("inbox", "facts", "--above 0.7"),
    "inbox proposals": ("inbox", "proposals", ""),
    "inbox accept": ("inbox", "accept", "k3v9"),
    "inbox reject": ("inbox", "reject", "k3v9"),
    "episode add": ("conversation", "add_episode", '"The queue is RabbitMQ" --title Queue'),
    "episode list": ("conversation", "list_episodes", "--type decision_made"),
    "episode show": ("conversation", "show_episode", "k3v9"),
    "episode arc": ("conversation", "arc", ""),
    "app remember": ("apps", "remember", 'calendar "Meetings after 2pm"'),
    "app list": ("apps", "list_", "calendar"),
    "app show": ("apps", "show", "calendar k3v9"),
    "app context": ("apps", "context", "calendar"),
    "app compact": ("apps", "compact", "calendar"),
    "app delete": ("apps", "delete", "calendar k3v9"),
    "app purge": ("apps", "purge", "calendar --yes"),
    "app uninstall": ("apps", "uninstall", "calendar"),
    "app stats": ("apps", "stats", ""),
    "work list": ("work", "list_", ""),
    "work next": ("work", "next_", "--json"),
    "work apply": ("work", "apply", "- < answers.jsonl"),
    "model test": ("work", "try_", ""),
    "checkpoint save": ("threads", "save", 'review-42 \'{"context": "step 3"}\''),
    "checkpoint load": ("threads", "load", "review-42"),
    "checkpoint list": ("threads", "list_", ""),
    "checkpoint rm": ("threads", "remove", "review-42"),
    "config list": ("project", "config_list", ""),
    "config get": ("project", "config_get", "chunk_size"),
    "config set": ("project", "config_set", "chunk_size 20"),
    "config unset": ("project", "config_unset", "chunk_size"),
    "db init": ("team", "init", ""),
    "db migrate": ("team", "migrate", ""),
    "db status": ("team", "status", ""),
    "db sync": ("team", "sync", "--dry-run"),
    "setup git": ("setup", "git", ""),
    "setup pre-commit": ("setup", "pre_commit", ""),
    "setup claude-code": ("setup", "claude_code", ""),
    "setup codex": ("setup", "codex", ""),
    "setup gemini": ("setup", "gemini", "--print"),
    "setup cursor": ("setup", "cursor", ""),
    "setup vscode": ("setup", "vscode", ""),
    "setup opencode": ("setup", "opencode", ""),
    "setup zed": ("setup", "zed", "--user"),
    "setup agents-md": ("setup", "agents_md", ""),
    "setup rules": ("setup", "rules", "agents-md cursor"),
    "setup completion": ("setup", "completion", "zsh"),
    "setup list": ("setup", "list_", ""),
    "import messages": ("exchange", "import_messages", "chat.jsonl"),
    "import claude-code": ("exchange", "claude_code", ""),
    "import codex": ("exchange", "codex", "--since 1w"),
    "import gemini": ("exchange", "gemini", "--learn"),
    "import auto": ("exchange", "auto", "session.jsonl"),
    "import notes": ("exchange", "notes", "AGENTS.md"),
    "import git": ("exchange", "git", "--dry-run"),
    "import adr": ("exchange", "adr", "0001-queue.md"),
    "import arrays": ("exchange", "import_arrays", "old-memory"),
    "export arrays": ("exchange", "export_arrays", "backup"),
    "export markdown": ("exchange", "export_markdown", "memory.md"),
    "export audit": ("exchange", "export_audit", "trail.jsonl"),
    "eval run": ("work", "evaluate", "golden.jsonl"),
    "eval add": ("work", "add_question", '"which database" k3v9'),
    "eval misses": ("work", "misses", ""),
}
"""The module and the function of each command, and what stands behind its name in the example."""
_MEANINGS: Final = {
    "conversation": "Record conversations, and look back at them.",
    "inbox": "Decide what waits for you. `pmem inbox` goes through all of it.",
    "episode": "List key moments of conversations, and add your own.",
    "app": "Keep what each app remembers, apart from the others.",
    "work": "Hand out work for a model, and apply answers.",
    "model": "Try the language model that your own settings choose.",
    "checkpoint": "Save and load the state of a thread of work.",
    "config": "Show the settings, and change the project's.",
    "db": "Keep the records on a PostgreSQL server.",
    "setup": "Connect git, pre-commit and coding assistants.",
    "import": "Import sessions, notes, decisions and git history.",
    "export": "Export the memory to files.",
    "eval": "Test search with questions whose answers you know."
    " `pmem eval FILE` is short for `pmem eval run FILE`.",
}
"""What each group is for."""


_ENTRIES: Final[dict[str, dict[str, CommandEntry]]] = {group: {} for group in ("", *_MEANINGS)}
for _words, (_module, _function, _given) in _ROWS.items():
    _group, _, _name = _words.rpartition(" ")
    _ENTRIES[_group][_name] = CommandEntry(_module, _function, f"pmem {_words} {_given}".rstrip())
COMMANDS: Final = _ENTRIES.pop("")
GROUPS: Final = {name: (_MEANINGS[name], entries) for name, entries in _ENTRIES.items()}

SECTIONS: Final[dict[str, tuple[str, ...]]] = {
    "Keep": ("init", "add", "tried", "edit", "rm", "undo"),
    "Find": ("search", "context", "list", "show", "why", "log"),
    "Decide": ("inbox", "review", "outcome"),
    "Talk": ("conversation", "import"),
    "Look after": ("check", "stats", "consolidate", "report"),
    "Connect": ("setup", "config", "help"),
}
"""The sections of `pmem --help`; each command is in one, of these or of the rest."""
MORE: Final[dict[str, tuple[str, ...]]] = {
    "Records": ("restore", "purge", "share", "episode", "export", "browse", "eval"),
    "Team": ("resolve", "db"),
    "Programs": (
        "mcp", "serve", "hook", "query", "delta", "checkpoint", "app", "work", "model",
    ),
}  # fmt: skip
"""The sections of `pmem help --all`, below those."""

DEFAULTS: Final = {
    "eval": "run",
    "inbox": "walk",
    "setup": "list",
    "import": "auto",
    "work": "next",
}
"""What a group does when its name is not followed by one of its commands."""
ALONE: Final = ("setup", "import", "work")
"""Groups that do so only when no word follows: what does is a slip in a command's name."""
