"""The table of commands: the module and the function of each, and an example."""

from typing import Final

import msgspec


class CommandEntry(msgspec.Struct, frozen=True):
    """Where a command's function is, and an example of its use."""

    module: str
    function: str
    example: str


def _table(rows: dict[str, tuple[str, str, str]]) -> dict[str, CommandEntry]:
    return {name: CommandEntry(*row) for name, row in rows.items()}


_COMMANDS: Final = {
    "init": ("project", "init", "pmem init --name Phoenix"),
    "add": ("memory", "add", 'pmem add "We use PostgreSQL" --type decision'),
    "share": ("changes", "share", "pmem share k3v9"),
    "show": ("memory", "show", "pmem show k3v9"),
    "list": ("memory", "list_", "pmem list --type decision --tag database"),
    "edit": ("changes", "edit", 'pmem edit k3v9 "We use PostgreSQL 17" --importance 0.9'),
    "rm": ("changes", "rm", "pmem rm k3v9"),
    "restore": ("changes", "restore", "pmem restore k3v9"),
    "undo": ("changes", "undo", "pmem undo --dry-run"),
    "purge": ("changes", "purge", "pmem purge k3v9"),
    "log": ("log", "log", "pmem log --since 1w --by ada"),
    "why": ("places", "why", "pmem why src/billing/retry.py"),
    "tried": ("places", "tried", 'pmem tried "Retry 5 times" --failed "The vendor blocked us"'),
    "outcome": ("places", "outcome", 'pmem outcome k3v9 bad "It lost messages under load"'),
    "browse": ("report", "browse", "pmem browse"),
    "report": ("report", "report", 'pmem report memory.html --task "Move billing out"'),
    "review": ("review", "review", "pmem review main..HEAD --format markdown"),
    "search": ("recall", "search", 'pmem search "which database" --kind memory'),
    "query": ("recall", "query", "pmem query request.json --agent planner"),
    "context": ("context", "context", 'pmem context "which database" --budget 1000'),
    "mcp": ("serve", "mcp", "pmem mcp --tools read"),
    "serve": ("serve", "serve", "pmem serve --token agent:planner"),
    "consolidate": ("upkeep", "consolidate", "pmem consolidate --dry-run"),
    "delta": ("threads", "delta", "pmem delta --thread review-42"),
    "stats": ("project", "stats", "pmem stats"),
    "check": ("checking", "check", "pmem check citations --fix"),
    "resolve": ("team", "resolve", "pmem resolve k3v9 --other"),
    "hook": ("setup", "hook", "pmem hook prompt --harness codex"),
    "help": ("manual", "help_", "pmem help merging"),
}

_GROUPS: Final[dict[str, tuple[str, dict[str, tuple[str, str, str]]]]] = {
    "conversation": (
        "Record conversations, and look back at them.",
        {
            "start": ("conversation", "start", 'pmem conversation start "Database choice"'),
            "say": ("conversation", "say", 'pmem conversation say "Which one?" --role user'),
            "end": ("conversation", "end", 'pmem conversation end "PostgreSQL it is"'),
            "pause": ("conversation", "pause", "pmem conversation pause"),
            "resume": ("conversation", "resume", "pmem conversation resume"),
            "list": ("conversation", "list_", "pmem conversation list --status active"),
            "show": ("conversation", "show", "pmem conversation show k3v9"),
            "clear": ("conversation", "clear", "pmem conversation clear --yes"),
            "mark": ("conversation", "mark", "pmem conversation mark k3v9 --pin"),
            "rm": ("conversation", "remove", 'pmem conversation rm k3v9 --reason "wrong person"'),
            "stats": ("conversation", "stats", "pmem conversation stats"),
            "prune": ("conversation", "prune", "pmem conversation prune --dry-run"),
        },
    ),
    "inbox": (
        "Decide what waits for you. `pmem inbox` goes through all of it.",
        {
            "walk": ("inbox", "inbox", "pmem inbox walk --kind fact"),
            "facts": ("inbox", "facts", "pmem inbox facts --above 0.7"),
            "proposals": ("inbox", "proposals", "pmem inbox proposals"),
            "accept": ("inbox", "accept", "pmem inbox accept k3v9"),
            "reject": ("inbox", "reject", "pmem inbox reject k3v9"),
        },
    ),
    "episode": (
        "List key moments of conversations, and add your own.",
        {
            "add": (
                "conversation",
                "add_episode",
                'pmem episode add "The queue is RabbitMQ" --title Queue',
            ),
            "list": ("conversation", "list_episodes", "pmem episode list --type decision_made"),
            "show": ("conversation", "show_episode", "pmem episode show k3v9"),
            "arc": ("conversation", "arc", "pmem episode arc"),
        },
    ),
    "app": (
        "Keep what each app remembers, apart from the others.",
        {
            "remember": ("apps", "remember", 'pmem app remember calendar "Meetings after 2pm"'),
            "list": ("apps", "list_", "pmem app list calendar"),
            "show": ("apps", "show", "pmem app show calendar k3v9"),
            "context": ("apps", "context", "pmem app context calendar"),
            "compact": ("apps", "compact", "pmem app compact calendar"),
            "delete": ("apps", "delete", "pmem app delete calendar k3v9"),
            "purge": ("apps", "purge", "pmem app purge calendar --yes"),
            "uninstall": ("apps", "uninstall", "pmem app uninstall calendar"),
            "stats": ("apps", "stats", "pmem app stats"),
        },
    ),
    "work": (
        "Hand out work for a model, and apply answers.",
        {
            "list": ("work", "list_", "pmem work list"),
            "next": ("work", "next_", "pmem work next --json"),
            "apply": ("work", "apply", "pmem work apply - < answers.jsonl"),
        },
    ),
    "model": (
        "Try the language model that your own settings choose.",
        {"test": ("work", "try_", "pmem model test")},
    ),
    "checkpoint": (
        "Save and load the state of a thread of work.",
        {
            "save": ("threads", "save", 'pmem checkpoint save review-42 \'{"context": "step 3"}\''),
            "load": ("threads", "load", "pmem checkpoint load review-42"),
            "list": ("threads", "list_", "pmem checkpoint list"),
            "rm": ("threads", "remove", "pmem checkpoint rm review-42"),
        },
    ),
    "config": (
        "Show the settings, and change the project's.",
        {
            "list": ("project", "config_list", "pmem config list"),
            "get": ("project", "config_get", "pmem config get chunk_size"),
            "set": ("project", "config_set", "pmem config set chunk_size 20"),
            "unset": ("project", "config_unset", "pmem config unset chunk_size"),
        },
    ),
    "db": (
        "Keep the records on a PostgreSQL server.",
        {
            "init": ("team", "init", "pmem db init"),
            "migrate": ("team", "migrate", "pmem db migrate"),
            "status": ("team", "status", "pmem db status"),
            "sync": ("team", "sync", "pmem db sync --dry-run"),
        },
    ),
    "setup": (
        "Connect git, pre-commit and coding assistants.",
        {
            "git": ("setup", "git", "pmem setup git"),
            "pre-commit": ("setup", "pre_commit", "pmem setup pre-commit"),
            "claude-code": ("setup", "claude_code", "pmem setup claude-code"),
            "codex": ("setup", "codex", "pmem setup codex"),
            "gemini": ("setup", "gemini", "pmem setup gemini --print"),
            "cursor": ("setup", "cursor", "pmem setup cursor"),
            "vscode": ("setup", "vscode", "pmem setup vscode"),
            "opencode": ("setup", "opencode", "pmem setup opencode"),
            "zed": ("setup", "zed", "pmem setup zed --user"),
            "agents-md": ("setup", "agents_md", "pmem setup agents-md"),
            "rules": ("setup", "rules", "pmem setup rules agents-md cursor"),
            "completion": ("setup", "completion", "pmem setup completion zsh"),
            "list": ("setup", "list_", "pmem setup list"),
        },
    ),
    "import": (
        "Import sessions, notes, decisions and git history.",
        {
            "messages": ("exchange", "import_messages", "pmem import messages chat.jsonl"),
            "claude-code": ("exchange", "claude_code", "pmem import claude-code"),
            "codex": ("exchange", "codex", "pmem import codex --since 1w"),
            "gemini": ("exchange", "gemini", "pmem import gemini --learn"),
            "auto": ("exchange", "auto", "pmem import auto session.jsonl"),
            "notes": ("exchange", "notes", "pmem import notes AGENTS.md"),
            "git": ("exchange", "git", "pmem import git --dry-run"),
            "adr": ("exchange", "adr", "pmem import adr 0001-queue.md"),
            "arrays": ("exchange", "import_arrays", "pmem import arrays old-memory"),
        },
    ),
    "export": (
        "Export the memory to files.",
        {
            "arrays": ("exchange", "export_arrays", "pmem export arrays backup"),
            "markdown": ("exchange", "export_markdown", "pmem export markdown memory.md"),
            "audit": ("exchange", "export_audit", "pmem export audit trail.jsonl"),
        },
    ),
    "eval": (
        "Test search with questions whose answers you know."
        " `pmem eval FILE` is short for `pmem eval run FILE`.",
        {
            "run": ("evaluation", "run", "pmem eval run golden.jsonl"),
            "add": ("evaluation", "add", 'pmem eval add "which database" k3v9'),
            "misses": ("evaluation", "misses", "pmem eval misses"),
        },
    ),
}

COMMANDS: Final = _table(_COMMANDS)
GROUPS: Final = {name: (meaning, _table(rows)) for name, (meaning, rows) in _GROUPS.items()}

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
