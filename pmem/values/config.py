"""Every setting in one table: validation, default, environment variable and description.

The classes below are the table. Each field's annotation holds what its value may be, and the
class's docstring the sentence that documents it; everything else (checks, `pmem config`, the
reference in `docs/settings.md`) is derived from them. `Annotated[..., Meta()]` is a table whose
entries are settings, too.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Annotated, Any, Final, Literal, NamedTuple, get_args

import msgspec
from msgspec import Meta
from msgspec.structs import fields

from pmem.errors import InvalidValue
from pmem.values.rules import (
    LIST,
    MOST,
    TABLE,
    AppRules,
    Categories,
    Consent,
    ContextRules,
    Fading,
    HookRules,
    Limits,
    ModelRules,
    Natural,
    OwnRules,
    Positive,
    Scoring,
    Secrets,
    Share,
    TrustRules,
    VectorRules,
    Writing,
    descriptions,
    is_struct,
    read_list,
    rule,
    type_name,
)

ENVIRONMENT_PREFIX: Final = "PMEM_"
_MENDING: Final = {
    "project": "`pmem config set {name} VALUE` fixes it, `pmem config unset {name}` takes it out",
    "user": "fix it in your own config.toml",
    "environment": "fix or unset the variable that says so",
}
"""What to do about a wrong setting, by where it comes from."""
Layer = tuple[str, Mapping[str, Any]]
"""Where values come from (as people read it), and the values by dotted name."""


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Every setting with its default.

    Attributes:
        memory_dir: The folder that holds the memory, looked for here and in every parent.
        safe_folders: Memory folders, or their projects, that may be links or another user's; * is
            any.
        project_name: The project's name; its folder's where it is `Project`.
        database: The address of the PostgreSQL server that has the records; empty for files.
        database_project: The key by which a server knows this project; `pmem db init` writes it.
        tokenizer: How tokens are counted; `auto` counts budgets exactly where `pip install
            'pmem-cli[tokens]'` was run, and estimates all else, and over MCP.
        max_context_tokens: The model's whole context window, in tokens.
        working_memory_tokens: Tokens kept free for the current turn when no budget is given.
        system_prompt_tokens: Tokens kept free for the system prompt when no budget is given.
        recent_share: Share of a context's budget for recent messages; the rest is recall's.
        chunk_size: How many of the oldest recent messages move into a chunk together.
        max_recent_messages: How many messages a conversation keeps outside chunks.
        max_chunks: How many chunks keep a summary of their own; older ones are merged.
        max_messages: The most messages of a conversation that a context shows.
        max_tokens: Tokens of a conversation in a context; 0 is 80 % of max_context_tokens.
        pruning_strategy: Which messages leave a context first: the oldest, the least important, or
            both.
        min_recent_messages: How many of the latest messages are never pruned.
        short_term_retention_turns: How many turns back chunk summaries have a share of a context of
            their own.
        extract_facts: Note the facts that messages state.
        promotion_threshold: Confidence from which a fact that is said becomes a memory at once; 1
            is never.
        detect_episodes: Keep an episode for every key moment.
        consolidation_threshold_days: Age from which a faded memory is due for consolidation, in
            days.
        decay: What fades: facts, episodes, entities and insights (`fading`), or all alike (`s2`).
        link_on_add: Link a memory to its neighbours when it is added.
        note_insights: Let consolidation note what histories say, at most three a day.
        ttl_days: Days without use after which a sweep removes what is unimportant.
        max_episodic_memories: How many active episodes consolidation keeps.
        record_access: Count in this clone what `search`, `context` and `show` recall.
        ignored_by_git: Git ignores the records on purpose, so nothing warns of that.
        record_operations: Note in this clone which operations ran, without any text.
        retrieval_top_k: How many hits recall returns.
        relevance_threshold: In the weighted sum, what scores below it is not recalled into a
            context.
        ranking: How recall ranks: by relevance and structure, or by a weighted sum of signals.
        recency_weight: Weight of recency, among the priors and in the weighted sum.
        importance_weight: Weight of importance, among the priors and in the weighted sum.
        prior_share: The most that all priors together can take from a score.
        lock_timeout: How long a writer waits for another, in seconds.
        purge_days: How long a removed memory can be restored, in days.
        allowlists: The categories that each agent sees; where there are any, others see nothing.
        importance: What each property of a message adds to its importance, from -1 to 1.
        fading: Days without use that halve what fades, and how many memories stay anyway.
        capture: Ask an assistant what of a session is worth keeping: once as it stops, else at the
            next start; only then; or never.
    """

    memory_dir: Annotated[str, Meta(min_length=1)] = ".project-memory"
    safe_folders: tuple[str, ...] = ()
    project_name: str = "Project"
    database: str = ""
    database_project: str = ""
    tokenizer: Literal["auto", "estimate", "o200k_base", "cl100k_base"] = "auto"

    max_context_tokens: Annotated[int, Meta(ge=50, le=MOST)] = 128_000
    working_memory_tokens: Natural = 8000
    system_prompt_tokens: Natural = 2000
    recent_share: Share = 0.6

    chunk_size: Positive = 10
    max_recent_messages: Positive = 20
    max_chunks: Positive = 50
    max_messages: Positive = 50
    max_tokens: Natural = 0
    pruning_strategy: Literal["rolling_window", "importance", "hybrid"] = "rolling_window"
    min_recent_messages: Positive = 10

    short_term_retention_turns: Positive = 50
    extract_facts: bool = True
    promotion_threshold: Share = 0.9
    detect_episodes: bool = True
    consolidation_threshold_days: Positive = 30
    decay: Literal["by_type", "s2"] = "by_type"
    link_on_add: bool = True
    note_insights: bool = True
    ttl_days: Positive = 60
    max_episodic_memories: Positive = 100

    record_access: bool = True
    ignored_by_git: bool = False
    record_operations: bool = True
    retrieval_top_k: Positive = 10
    relevance_threshold: Share = 0.3
    ranking: Literal["structure", "weighted_sum"] = "structure"
    recency_weight: Share = 0.3
    importance_weight: Share = 0.4
    prior_share: Share = 0.02

    lock_timeout: Annotated[float, Meta(ge=0, le=86400)] = 10.0
    purge_days: Natural = 30

    allowlists: dict[str, tuple[str, ...]] = {}
    limits: Limits = Limits()
    context: ContextRules = ContextRules()
    categories: Categories = Categories()
    importance: Annotated[Scoring, Meta()] = Scoring()
    apps: AppRules = AppRules()
    fading: Annotated[Fading, Meta()] = Fading()
    consent: Consent = Consent()
    hooks: HookRules = HookRules()
    capture: Literal["ask", "later", "off"] = "ask"
    mine: OwnRules = OwnRules()
    writing: Writing = Writing()
    secrets: Secrets = Secrets()
    trust: TrustRules = TrustRules()
    vectors: VectorRules = VectorRules()
    model: ModelRules = ModelRules()

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


@cache
def table() -> tuple[Setting, ...]:
    """Return every setting in the order of the classes above."""
    return tuple(_row(name, field) for name, field in _fields().items())


def unknown_names(values: Mapping[str, Any]) -> list[str]:
    """Return the names that no setting has, and that are no entry of a table."""
    rows = {row.name for row in table()}
    groups = {name.rpartition(".")[0] for name in rows}
    return [
        name
        for name, value in values.items()
        if name not in rows and not _table_of(name)[1] and not (value == {} and name in groups)
    ]


def known(name: str) -> Setting:
    """Return the setting of that name; where there is none, the hint names the closest."""
    rows = {row.name: row for row in table()}
    if name in rows:
        return rows[name]
    whole, key = _table_of(name)
    if key:
        own = _own_entries(whole)
        if own:
            return _row(name, own[key])
        type_ = type_name(_value_type(whole, key))
        return Setting(name, type_, rows[whole].default.get(key), rows[whole].description)
    from difflib import get_close_matches

    entries = [f"{row.name}.{key}" for row in table() for key in _own_entries(row.name)]
    close = get_close_matches(name, [*rows, *entries], n=1, cutoff=0.7)
    hint = f"did you mean {close[0]}?" if close else "`pmem config list --all` shows every setting"
    raise InvalidValue(f"there is no setting {name!r}", hint)


def settings_of(layers: list[Layer]) -> Settings:
    """Lay the layers over the defaults; where they say nothing, no row of the table is made."""
    return resolve(layers)[0] if any(values for _, values in layers) else Settings()


def resolve(layers: list[Layer]) -> tuple[Settings, list[Resolved]]:
    """Lay the layers over the defaults; names that no setting has count for nothing.

    The strongest layer is the first; from the environment, values are text. Also returned is every
    setting's value with its origin.
    """
    resolved = []
    for row in table():
        origin, value = _strongest(row, layers)
        resolved.append(Resolved(row.name, value, origin))
    nested: dict[str, Any] = {}
    for item in resolved:
        head, _, tail = item.name.rpartition(".")
        (nested.setdefault(head, {}) if head else nested)[tail] = item.value
    return msgspec.convert(nested, Settings), resolved


def resolve_one(name: str, layers: list[Layer]) -> Resolved:
    """Return one setting's value and origin, whatever the layers say about others."""
    row = known(name)
    origin, value = _strongest(row, layers)
    return Resolved(row.name, value, origin)


def from_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Pick the settings out of the environment, by dotted name."""
    if not any(variable.startswith(ENVIRONMENT_PREFIX) for variable in environment):
        return {}
    return {row.name: environment[row.variable] for row in table() if row.variable in environment}


def checked(name: str, value: Any) -> Any:
    """Return `value` as the setting `name` stores it.

    Text is read as a value of its type (a list as `read_list` reads it).

    Raises:
        InvalidValue: There is no such setting, or it does not allow the value.
    """
    row = known(name)
    if row.type == TABLE:
        return _checked_table(name, value)
    _check_unicode(name, value)
    whole, key = _table_of(name)
    type_ = _value_type(whole, key) if key else _fields()[name].type
    read = read_list(value) if isinstance(value, str) and row.type == LIST else value
    try:
        return msgspec.convert(read, type_, strict=not isinstance(read, str))
    except msgspec.ValidationError as error:
        raise InvalidValue(f"{name} cannot be {value!r}: {rule(str(error), row.type)}") from None


def _check_unicode(name: str, value: Any) -> None:
    try:
        str(value if isinstance(value, str) else "").encode()
    except UnicodeEncodeError:
        raise InvalidValue(f"{name} cannot be {value!r}: it must be UTF-8") from None


def _table_of(name: str) -> tuple[str, str]:
    """Split the name of an entry of a table: `allowlists.planner`; no key, no such entry."""
    for row in table():
        if row.type == TABLE and name.startswith(f"{row.name}."):
            key, own = name[len(row.name) + 1 :], _own_entries(row.name)
            return (row.name, key) if not own or key in own else (name, "")
    return name, ""


@cache
def _own_entries(name: str) -> "dict[str, _Field]":
    """Return the entries that a table has by itself; none where the user chooses their names."""
    class_ = get_args(_fields()[name].type)[:1]
    return dict(_fields_of(*class_)) if any(map(is_struct, class_)) else {}


def _value_type(name: str, key: str) -> Any:
    """Return what an entry of a table is."""
    own = _own_entries(name)
    return own[key].type if own else get_args(_fields()[name].type)[1]


def _checked_table(name: str, value: Any) -> dict[str, Any]:
    """Read a whole table: `executor=tasks,planner=goals tasks` where it is text."""
    _check_unicode(name, value)
    if isinstance(value, str):
        pairs = [part.partition("=") for part in value.split(",") if part.strip()]
        if not all(mark for _, mark, _ in pairs):
            form = "its entries are NAME=VALUE, with commas between them"
            raise InvalidValue(f"{name} cannot be {value!r}: {form}")
        value = {key.strip(): text.strip().replace(" ", ",") for key, _, text in pairs}
    if not isinstance(value, Mapping) or not value:
        raise InvalidValue(f"{name} cannot be {value!r}: it must be a table with an entry or more")
    return {key: checked(f"{name}.{key}", part) for key, part in value.items()}


def _strongest(row: Setting, layers: list[Layer]) -> tuple[str, Any]:
    if row.type == TABLE:
        return _merge_layers(row, layers)
    for origin, values in layers:
        if row.name in values:
            try:
                return origin, checked(row.name, values[row.name])
            except InvalidValue as error:
                raise _from(origin, row.name, error) from None
    return "default", row.default


def _from(origin: str, name: str, error: InvalidValue) -> InvalidValue:
    """Say of a wrong setting where it comes from, and how to mend it."""
    return InvalidValue(
        f"{error.message} (from {origin})", _MENDING.get(origin, "").format(name=name)
    )


def _merge_layers(row: Setting, layers: list[Layer]) -> tuple[str, Any]:
    """Lay the layers of a table over its default, entry by entry."""
    found, strongest = dict(row.default), "default"
    for origin, values in reversed(layers):
        start = f"{row.name}."
        own = {key[len(start) :]: part for key, part in values.items() if key.startswith(start)}
        try:
            is_empty = values.get(row.name) == {} and bool(_own_entries(row.name))
            if row.name in values and not is_empty:
                own |= _checked_table(row.name, values[row.name])
            found |= {key: checked(start + key, part) for key, part in own.items()}
        except InvalidValue as error:
            raise _from(origin, row.name, error) from None
        strongest = origin if own else strongest
    return strongest, dict(sorted(found.items()))


class _Field(NamedTuple):
    """What the classes say of a setting."""

    type: Any
    default: Any
    text: str


@cache
def _fields() -> dict[str, _Field]:
    """Return what the classes say of every setting, by dotted name."""
    return dict(_fields_of(Settings))


def _fields_of(class_: type[msgspec.Struct], prefix: str = "") -> Iterator[tuple[str, _Field]]:
    texts = descriptions(class_)  # none where Python drops docstrings
    for field in fields(class_):
        made = field.default_factory
        default = field.default if made is msgspec.NODEFAULT else made()
        if is_struct(field.type):
            yield from _fields_of(field.type, f"{prefix}{field.name}.")
        else:
            yield prefix + field.name, _Field(field.type, default, texts.get(field.name, ""))


def _row(name: str, field: _Field) -> Setting:
    default = field.default
    plain = msgspec.structs.asdict(default) if isinstance(default, msgspec.Struct) else default
    return Setting(name, type_name(field.type), plain, field.text)
