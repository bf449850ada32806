"""Which commands there are, and where their functions stand."""

from typing import Final

import msgspec


class CommandEntry(msgspec.Struct, frozen=True):
    """Where a command's function is, and an example of its use."""

    module: str
    function: str
    example: str


COMMANDS: Final[dict[str, CommandEntry]] = {
    "init": CommandEntry("project", "init", "pmem init --name Phoenix"),
    "add": CommandEntry("memory", "add", 'pmem add "We use PostgreSQL" --type decision'),
    "share": CommandEntry("changes", "share", "pmem share k3v9"),
    "show": CommandEntry("memory", "show", "pmem show k3v9"),
    "list": CommandEntry("memory", "list_", "pmem list --type decision --tag database"),
    "edit": CommandEntry(
        "changes", "edit", 'pmem edit k3v9 "We use PostgreSQL 17" --importance 0.9'
    ),
    "rm": CommandEntry("changes", "rm", "pmem rm k3v9"),
    "restore": CommandEntry("changes", "restore", "pmem restore k3v9"),
    "undo": CommandEntry("undo", "undo", "pmem undo --dry-run"),
    "purge": CommandEntry("changes", "purge", "pmem purge k3v9"),
    "log": CommandEntry("log", "log", "pmem log --since 1w --by ada"),
    "why": CommandEntry("places", "why", "pmem why src/billing/retry.py"),
    "tried": CommandEntry(
        "places", "tried", 'pmem tried "Raise the retries to 5" --failed "The vendor blocked us"'
    ),
    "outcome": CommandEntry(
        "places", "outcome", 'pmem outcome k3v9 bad "It lost messages under load"'
    ),
    "browse": CommandEntry("browse", "browse", "pmem browse"),
    "report": CommandEntry("report", "report", 'pmem report memory.html --task "Move billing out"'),
    "review": CommandEntry("review", "review", "pmem review main..HEAD --format markdown"),
    "search": CommandEntry("recall", "search", 'pmem search "which database" --kind memory'),
    "query": CommandEntry("query", "query", "pmem query request.json --agent planner"),
    "context": CommandEntry("context", "context", 'pmem context "which database" --budget 1000'),
    "mcp": CommandEntry("mcp", "mcp", "pmem mcp --tools read"),
    "serve": CommandEntry("serve", "serve", "pmem serve --token agent:planner"),
    "consolidate": CommandEntry("upkeep", "consolidate", "pmem consolidate --dry-run"),
    "delta": CommandEntry("threads", "delta", "pmem delta --thread review-42"),
    "stats": CommandEntry("project", "stats", "pmem stats"),
    "check": CommandEntry("checking", "check", "pmem check citations --fix"),
    "resolve": CommandEntry("resolve", "resolve", "pmem resolve k3v9 --other"),
    "hook": CommandEntry("setup", "hook", "pmem hook prompt --harness codex"),
    "help": CommandEntry("manual", "help_", "pmem help merging"),
}

GROUPS: Final[dict[str, tuple[str, dict[str, CommandEntry]]]] = {
    "conversation": (
        "Record conversations, and look back at them.",
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
            "mark": CommandEntry("messages", "mark", "pmem conversation mark k3v9 --pin"),
            "rm": CommandEntry(
                "messages", "remove", 'pmem conversation rm k3v9 --reason "wrong person"'
            ),
            "stats": CommandEntry("pruning", "stats", "pmem conversation stats"),
            "prune": CommandEntry("pruning", "prune", "pmem conversation prune --dry-run"),
        },
    ),
    "inbox": (
        "Decide what waits for you. `pmem inbox` goes through all of it.",
        {
            "walk": CommandEntry("inbox", "inbox", "pmem inbox walk --kind fact"),
            "facts": CommandEntry("deciding", "facts", "pmem inbox facts --above 0.7"),
            "proposals": CommandEntry("deciding", "proposals", "pmem inbox proposals"),
            "accept": CommandEntry("deciding", "accept", "pmem inbox accept k3v9"),
            "reject": CommandEntry("deciding", "reject", "pmem inbox reject k3v9"),
        },
    ),
    "episode": (
        "List key moments of conversations, and add your own.",
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
        "Keep what each app remembers, apart from the others.",
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
    "work": (
        "Hand out work for a model, and apply answers.",
        {
            "list": CommandEntry("work", "list_", "pmem work list"),
            "next": CommandEntry("work", "next_", "pmem work next --json"),
            "apply": CommandEntry("work", "apply", "pmem work apply - < answers.jsonl"),
        },
    ),
    "model": (
        "Try the language model that your own settings choose.",
        {"test": CommandEntry("work", "try_", "pmem model test")},
    ),
    "checkpoint": (
        "Save and load the state of a thread of work.",
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
        "Show the settings, and change the project's.",
        {
            "list": CommandEntry("project", "config_list", "pmem config list"),
            "get": CommandEntry("project", "config_get", "pmem config get chunk_size"),
            "set": CommandEntry("project", "config_set", "pmem config set chunk_size 20"),
            "unset": CommandEntry("project", "config_unset", "pmem config unset chunk_size"),
        },
    ),
    "db": (
        "Keep the records on a PostgreSQL server.",
        {
            "init": CommandEntry("database", "init", "pmem db init"),
            "migrate": CommandEntry("database", "migrate", "pmem db migrate"),
            "status": CommandEntry("database", "status", "pmem db status"),
            "sync": CommandEntry("database", "sync", "pmem db sync --dry-run"),
        },
    ),
    "setup": (
        "Connect git, pre-commit and coding assistants.",
        {
            "git": CommandEntry("setup", "git", "pmem setup git"),
            "pre-commit": CommandEntry("setup", "pre_commit", "pmem setup pre-commit"),
            "claude-code": CommandEntry("setup", "claude_code", "pmem setup claude-code"),
            "codex": CommandEntry("setup", "codex", "pmem setup codex"),
            "gemini": CommandEntry("setup", "gemini", "pmem setup gemini --print"),
            "cursor": CommandEntry("setup", "cursor", "pmem setup cursor"),
            "vscode": CommandEntry("setup", "vscode", "pmem setup vscode"),
            "opencode": CommandEntry("setup", "opencode", "pmem setup opencode"),
            "zed": CommandEntry("setup", "zed", "pmem setup zed --user"),
            "agents-md": CommandEntry("setup", "agents_md", "pmem setup agents-md"),
            "rules": CommandEntry("setup", "rules", "pmem setup rules agents-md cursor"),
            "completion": CommandEntry("setup", "completion", "pmem setup completion zsh"),
            "list": CommandEntry("setup", "list_", "pmem setup list"),
        },
    ),
    "import": (
        "Import sessions, notes, decisions and git history.",
        {
            "messages": CommandEntry(
                "imports", "import_messages", "pmem import messages chat.jsonl"
            ),
            "claude-code": CommandEntry("imports", "claude_code", "pmem import claude-code"),
            "codex": CommandEntry("imports", "codex", "pmem import codex --since 1w"),
            "gemini": CommandEntry("imports", "gemini", "pmem import gemini --learn"),
            "auto": CommandEntry("imports", "auto", "pmem import auto session.jsonl"),
            "notes": CommandEntry("imports", "notes", "pmem import notes AGENTS.md"),
            "git": CommandEntry("imports", "git", "pmem import git --dry-run"),
            "adr": CommandEntry("imports", "adr", "pmem import adr 0001-queue.md"),
            "arrays": CommandEntry("imports", "import_arrays", "pmem import arrays old-memory"),
        },
    ),
    "export": (
        "Export the memory to files.",
        {
            "arrays": CommandEntry("exports", "export_arrays", "pmem export arrays backup"),
            "markdown": CommandEntry(
                "exports", "export_markdown", "pmem export markdown memory.md"
            ),
            "audit": CommandEntry("exports", "export_audit", "pmem export audit trail.jsonl"),
        },
    ),
    "eval": (
        "Test search with questions whose answers you know."
        " `pmem eval FILE` is short for `pmem eval run FILE`.",
        {
            "run": CommandEntry("evaluation", "run", "pmem eval run golden.jsonl"),
            "add": CommandEntry("evaluation", "add", 'pmem eval add "which database" k3v9'),
            "misses": CommandEntry("evaluation", "misses", "pmem eval misses"),
        },
    ),
}

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
