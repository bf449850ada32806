"""Every setting in one table: validation, default, environment variable and description.

The classes below are the table. Each field's annotation holds what its value may be and
the sentence that documents it; everything else (checks, `pmem config`, the reference in
`docs/settings.md`) is derived from them.
"""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Final, Literal, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta

from pmem.errors import InvalidValue

ENVIRONMENT_PREFIX: Final = "PMEM_"
MOST: Final = 10**12
"""The most that a whole number among the settings may be."""
Layer = tuple[str, Mapping[str, Any]]
"""Where values come from (as people read it), and the values by dotted name."""


def _number(low: int, text: str) -> Meta:
    return Meta(ge=low, le=MOST, description=text)


def _units(text: str) -> Meta:
    return Meta(ge=0, le=MOST, description=text)


def _share(text: str) -> Meta:
    return Meta(ge=0, le=1, description=text)


def _adds(text: str) -> Meta:
    return Meta(ge=-1, le=1, description=text)


def _says(text: str) -> Meta:
    return Meta(description=text)


CATEGORIES: Final = (
    "activity",
    "constraints",
    "context",
    "event",
    "goals",
    "history",
    "interests",
    "knowledge",
    "person",
    "preference",
    "preferences",
    "procedural",
    "profile",
    "project",
    "projects",
    "recent_activity",
    "relationship_dynamic",
    "relationships",
    "style",
    "tasks",
    "tone",
)
"""The default vocabulary: every category that the kinds of user pmem serves rely on."""


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """How long texts may be, in characters; longer ones are refused, never cut."""

    memory: Annotated[int, _number(1, "A memory's content, at the most.")] = 4000
    app_memory: Annotated[int, _number(1, "The content of an app's memory, at the most.")] = 200
    subject: Annotated[int, _number(1, "A memory's subject, at the most.")] = 200
    message: Annotated[int, _number(1, "A message, at the most.")] = 1_000_000
    agent: Annotated[int, _number(1, "What an agent adds or edits, at the most.")] = 500
    agent_least: Annotated[int, _number(0, "What an agent adds or edits, at the least.")] = 5


class Categories(msgspec.Struct, frozen=True, kw_only=True):
    """Which categories memories may have."""

    names: Annotated[tuple[str, ...], _says("The known categories.")] = CATEGORIES
    strict: Annotated[bool, _says("Refuse a category that is not among the names.")] = False


class AppRules(msgspec.Struct, frozen=True, kw_only=True):
    """How many memories an app has, and what a model may spend on them."""

    limit: Annotated[int, _number(1, "How many active memories an app has at the most.")] = 10
    energy: Annotated[float, _units("Units that models may spend at once on apps' memories.")] = 100
    energy_per_hour: Annotated[float, _units("Units that come back each hour.")] = 20
    energy_floor: Annotated[
        float, _share("Share of the units below which work that needs a model waits.")
    ] = 0.2
    creation_energy: Annotated[float, _units("Units that a model costs to sum up a talk.")] = 12
    compaction_energy: Annotated[float, _units("Units that a model costs to compact.")] = 25
    timeout: Annotated[
        float,
        Meta(gt=0, le=3600, description="How long a model may take for an app, in seconds."),
    ] = 30


class Scoring(msgspec.Struct, frozen=True, kw_only=True):
    """What each property of a message adds to its importance, from -1 to 1 (S3's table)."""

    base: Annotated[float, _adds("What every message starts from.")] = 0.5
    tool_call: Annotated[float, _adds("Added to a message that calls a tool.")] = 0.3
    tool_result: Annotated[float, _adds("Added to a message that holds a tool's result.")] = 0.2
    directive: Annotated[float, _adds("Added to a user's directive or constraint.")] = 0.2
    error: Annotated[float, _adds("Added to a message that reports an error.")] = 0.3
    correction: Annotated[float, _adds("Added to a correction or clarification.")] = 0.2
    reference: Annotated[float, _adds("Added for each reference to an earlier message.")] = 0.1
    per_day: Annotated[float, _adds("Added for each full day of a message's age.")] = -0.1
    casual: Annotated[float, _adds("Added to small talk.")] = -0.2
    finished: Annotated[float, _adds("Added when the message's task is marked complete.")] = -0.3
    last_5: Annotated[float, _adds("Added to the last 5 messages.")] = 0.4
    last_10: Annotated[float, _adds("Added to the last 10 messages, the last 5 excepted.")] = 0.2
    last_20: Annotated[float, _adds("Added to the last 20 messages, the last 10 excepted.")] = 0.1


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

    fields: Annotated[tuple[str, ...], _says("What waits for a person's consent.")] = CONSENT_FIELDS
    two_signals: Annotated[
        tuple[str, ...], _says("What an agent must learn twice before it is remembered.")
    ] = ("tone", "goals")
    days: Annotated[int, _number(1, "How long both wait, in days.")] = 7


class Writing(msgspec.Struct, frozen=True, kw_only=True):
    """Whether memories are held to the writing rules."""

    lint: Annotated[
        Literal["off", "agents", "everyone"],
        _says("Whose memories are held to the writing rules, with a note for each."),
    ] = "agents"
    enforce: Annotated[bool, _says("Refuse what an agent writes against the rules.")] = False


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Every setting with its default."""

    memory_dir: Annotated[
        str,
        Meta(
            min_length=1,
            description="The folder that holds the memory, looked for here and in every parent.",
        ),
    ] = ".project-memory"
    project_name: Annotated[str, _says("The project's name, as contexts show it.")] = "Project"
    tokenizer: Annotated[
        Literal["estimate", "o200k_base", "cl100k_base"],
        _says("How tokens are counted; the exact vocabularies need `pip install 'pmem[tokens]'`."),
    ] = "estimate"

    max_context_tokens: Annotated[
        int, _number(50, "The model's whole context window, in tokens.")
    ] = 128_000
    working_memory_tokens: Annotated[
        int, _number(0, "Kept free for the current turn when no budget is given, in tokens.")
    ] = 8000
    system_prompt_tokens: Annotated[
        int, _number(0, "Kept free for the system prompt when no budget is given, in tokens.")
    ] = 2000
    recent_share: Annotated[
        float, _share("Share of a context's budget for recent messages; the rest is recall's.")
    ] = 0.6

    chunk_size: Annotated[
        int, _number(1, "How many of the oldest recent messages move into a chunk together.")
    ] = 10
    max_recent_messages: Annotated[
        int, _number(1, "How many messages a conversation keeps outside chunks.")
    ] = 20
    max_chunks: Annotated[
        int,
        _number(1, "How many chunks keep a summary of their own; older ones are merged."),
    ] = 50
    summary_share: Annotated[
        float, _share("A chunk summary's tokens at the most, as a share of its messages'.")
    ] = 0.15
    max_messages: Annotated[
        int, _number(1, "How many messages of a conversation a context shows at the most.")
    ] = 50
    max_tokens: Annotated[
        int,
        _number(0, "Tokens of a conversation in a context; 0 is 80 % of max_context_tokens."),
    ] = 0
    pruning_strategy: Annotated[
        Literal["rolling_window", "importance", "hybrid"],
        _says("Which messages leave a context first: the oldest, the least important, or both."),
    ] = "rolling_window"
    prune_at: Annotated[
        float,
        _share("Share of a conversation's token limit from which it is pruned, by 10 points."),
    ] = 0.8
    prune_hard_at: Annotated[
        float, _share("Share of that limit from which it is pruned harder, by 40 points.")
    ] = 0.9
    prune_finished_tasks: Annotated[
        bool, _says("Prune finished tasks when a new one begins or a conversation is resumed.")
    ] = True
    min_recent_messages: Annotated[
        int, _number(1, "How many of the latest messages are never pruned.")
    ] = 10

    short_term_retention_turns: Annotated[
        int,
        _number(1, "How many turns back chunk summaries have a share of a context of their own."),
    ] = 50
    extract_facts: Annotated[bool, _says("Note the facts that messages state.")] = True
    promotion_threshold: Annotated[
        float,
        _share("Confidence from which a fact that is said becomes a memory at once; 1 is never."),
    ] = 0.9
    max_facts: Annotated[int, _number(0, "How many facts one message states at the most.")] = 5
    max_promotions: Annotated[
        int, _number(0, "How many facts of one message become memories at once at the most.")
    ] = 3
    max_promotions_per_day: Annotated[
        int, _number(0, "How many facts that are said become memories on one day at the most.")
    ] = 100
    detect_episodes: Annotated[bool, _says("Keep an episode for every key moment.")] = True
    consolidation_threshold_days: Annotated[
        int, _number(1, "Age from which a faded memory is due for consolidation, in days.")
    ] = 30
    half_life_days: Annotated[
        int, _number(1, "Days without recall after which a memory counts half.")
    ] = 30
    archive_below: Annotated[
        float, _share("Importance times presence below which an old memory is archived.")
    ] = 0.3
    link_on_add: Annotated[bool, _says("Link a memory to its neighbours when it is added.")] = True
    link_at: Annotated[float, _share("Similarity from which two memories are linked.")] = 0.6
    max_links: Annotated[
        int, _number(0, "How many neighbours are linked to one memory at the most.")
    ] = 3
    max_pairs: Annotated[
        int, _number(0, "How many pairs one consolidation merges or links at the most.")
    ] = 500
    note_insights: Annotated[
        bool, _says("Let consolidation note what histories say, at most three a day.")
    ] = True
    ttl_days: Annotated[
        int, _number(1, "Days without use after which a sweep removes what is unimportant.")
    ] = 60
    ttl_importance: Annotated[
        float, _share("Importance below which a sweep removes what is not used.")
    ] = 0.3
    max_episodic_memories: Annotated[
        int, _number(1, "How many active episodes consolidation keeps.")
    ] = 100

    record_access: Annotated[
        bool, _says("Count in this clone what `search`, `context` and `show` recall.")
    ] = True
    record_operations: Annotated[
        bool, _says("Note in this clone which operations ran, without any text.")
    ] = True
    retrieval_top_k: Annotated[int, _number(1, "How many hits recall returns.")] = 10
    relevance_threshold: Annotated[
        float, _share("A memory or an episode below this score is not recalled into a context.")
    ] = 0.3
    related_memories: Annotated[
        int, _number(0, "How many linked memories recall brings along at the most.")
    ] = 2
    ranking: Annotated[
        Literal["structure", "weighted_sum"],
        _says("How recall ranks: by relevance and structure, or by a weighted sum of signals."),
    ] = "structure"
    semantic_weight: Annotated[float, _share("Weight of TF-IDF in the weighted sum.")] = 0.4
    keyword_weight: Annotated[float, _share("Weight of matched words in the weighted sum.")] = 0.3
    recency_weight: Annotated[
        float, _share("Weight of recency, among the priors and in the weighted sum.")
    ] = 0.3
    importance_weight: Annotated[
        float, _share("Weight of importance, among the priors and in the weighted sum.")
    ] = 0.4
    access_weight: Annotated[
        float, _share("Weight of access, among the priors and in the weighted sum.")
    ] = 0.0
    prior_share: Annotated[
        float, _share("The most that all priors together can take from a score.")
    ] = 0.02

    lock_timeout: Annotated[
        float,
        Meta(ge=0, le=86_400, description="How long a writer waits for another, in seconds."),
    ] = 10.0
    purge_days: Annotated[
        int, _number(0, "How long a removed memory can be restored, in days.")
    ] = 30

    limits: Limits = Limits()
    categories: Categories = Categories()
    importance: Scoring = Scoring()
    apps: AppRules = AppRules()
    consent: Consent = Consent()
    writing: Writing = Writing()

    @property
    def conversation_tokens(self) -> int:
        """The limit that pruning watches: `max_tokens`, or 80 % of the context window."""
        return self.max_tokens or self.max_context_tokens * 8 // 10

    @property
    def default_budget(self) -> int:
        """Tokens for a context when none are asked for: the window less its reserves."""
        reserved = self.working_memory_tokens + self.system_prompt_tokens
        return max(50, self.max_context_tokens - reserved)


class Setting(msgspec.Struct, frozen=True):
    """One row of the table, as commands and documentation show it."""

    name: str
    type: str
    default: Any
    description: str

    @property
    def variable(self) -> str:
        """The environment variable that sets it."""
        return ENVIRONMENT_PREFIX + self.name.upper().replace(".", "_")


class Resolved(msgspec.Struct, frozen=True):
    """A setting's value and where it came from."""

    name: str
    value: Any
    origin: str


def table() -> Iterator[Setting]:
    """Yield every setting in the order of the classes above."""
    yield from _rows(Settings, "")


def known(name: str) -> Setting:
    """Return the setting of that name.

    Raises:
        InvalidValue: There is none; the hint names the closest.
    """
    rows = {row.name: row for row in table()}
    if name in rows:
        return rows[name]
    from difflib import get_close_matches

    close = get_close_matches(name, rows, n=1)
    hint = f"did you mean {close[0]}?" if close else "`pmem config list` shows every setting"
    raise InvalidValue(f"there is no setting {name!r}", hint)


def resolve(layers: list[Layer]) -> tuple[Settings, list[Resolved]]:
    """Lay the layers over the defaults.

    Args:
        layers: The strongest first; values by dotted name, text where they come from the
            environment.

    Returns:
        The settings, and every setting's value with its origin.

    Raises:
        InvalidValue: A layer names no setting or holds a value that is not allowed.
    """
    resolved = []
    for row in table():
        origin, value = _strongest(row, layers)
        resolved.append(Resolved(row.name, value, origin))
    return _build({item.name: item.value for item in resolved}), resolved


def resolve_one(name: str, layers: list[Layer]) -> Resolved:
    """Return one setting's value and origin, whatever the layers say about others.

    Raises:
        InvalidValue: There is no such setting, or a layer holds a value that it does not allow.
    """
    row = known(name)
    origin, value = _strongest(row, layers)
    return Resolved(row.name, value, origin)


def flatten(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Turn nested tables into dotted names: `{"limits": {"memory": 1}}` -> `limits.memory`."""
    flat: dict[str, Any] = {}
    for key, value in values.items():
        if isinstance(value, Mapping):
            flat |= flatten(value, f"{prefix}{key}.")
        else:
            flat[prefix + key] = value
    return flat


def from_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Pick the settings out of the environment, by dotted name."""
    return {row.name: environment[row.variable] for row in table() if row.variable in environment}


def checked(name: str, value: Any) -> Any:
    """Return `value` as the setting `name` stores it.

    Args:
        name: A setting's dotted name.
        value: A value of its type, or text to be read as one (a list is split at commas).

    Raises:
        InvalidValue: There is no such setting, or it does not allow the value.
    """
    row = known(name)
    type_ = _types()[row.name]
    if isinstance(value, str) and row.type == "list of texts":
        value = [part.strip() for part in value.split(",") if part.strip()]
    try:
        return msgspec.convert(value, type_, strict=not isinstance(value, str))
    except msgspec.ValidationError as error:
        raise InvalidValue(f"{name} cannot be {value!r}: {_rule(str(error), row)}") from None


def _strongest(row: Setting, layers: list[Layer]) -> tuple[str, Any]:
    for origin, values in layers:
        if row.name in values:
            try:
                return origin, checked(row.name, values[row.name])
            except InvalidValue as error:
                raise InvalidValue(f"{error.message} (from {origin})") from None
    return "default", row.default


def _build(flat: Mapping[str, Any]) -> Settings:
    nested: dict[str, Any] = {}
    for name, value in flat.items():
        head, _, tail = name.rpartition(".")
        (nested.setdefault(head, {}) if head else nested)[tail] = value
    return msgspec.convert(nested, Settings)


def _rows(class_: type[msgspec.Struct], prefix: str) -> Iterator[Setting]:
    hints = get_type_hints(class_, include_extras=True)
    for field in msgspec.structs.fields(class_):
        hint = hints[field.name]
        if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
            yield from _rows(hint, f"{prefix}{field.name}.")
            continue
        base, meta = get_args(hint)
        yield Setting(prefix + field.name, _type_name(base), field.default, meta.description)


def _types(class_: type[msgspec.Struct] = Settings, prefix: str = "") -> dict[str, Any]:
    types: dict[str, Any] = {}
    for name, hint in get_type_hints(class_, include_extras=True).items():
        if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
            types |= _types(hint, f"{prefix}{name}.")
        else:
            types[prefix + name] = hint
    return types


def _type_name(base: Any) -> str:
    if get_origin(base) is Literal:
        return " | ".join(get_args(base))
    names = {str: "text", int: "whole number", float: "number", bool: "true | false"}
    return names.get(base, "list of texts")


def _rule(error: str, row: Setting) -> str:
    if "length" in error:
        return "it must not be empty"
    for mark, words in ((">= ", "at least "), ("<= ", "at most ")):
        if mark in error:
            return f"it must be {words}{error.split(mark)[1].split(' - ', maxsplit=1)[0]}"
    return f"it must be a {row.type}" if " | " not in row.type else f"it must be {row.type}"
