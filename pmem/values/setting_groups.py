"""Which settings are everyday ones, and in which group each of the others is."""

from typing import Any, Final, NamedTuple

import msgspec

from pmem.errors import InvalidValue
from pmem.values.config import Settings

EVERYDAY: Final = tuple(
    """project_name memory_dir database extract_facts detect_episodes record_access
    consent.changes allowlists secrets.gate secrets.mask secrets.allow mine.contexts
    hooks.enabled hooks.deny capture writing.lint limits.memory categories.names
    categories.strict retrieval_top_k tokenizer purge_days model.use model.name
    vectors.model""".split()
)
"""The settings that `pmem config list` always shows."""


class SettingGroup(NamedTuple):
    """Settings for one purpose, with a sentence that says who needs to change them."""

    title: str
    readers: str
    names: tuple[str, ...]


FURTHER: Final = tuple(
    SettingGroup(title, readers, tuple(names.split()))
    for title, readers, names in (
        (
            "Contexts",
            "For a model with a small window, or contexts with too much of one thing.",
            """max_context_tokens working_memory_tokens system_prompt_tokens recent_share
            hooks.session_tokens hooks.take_in context.standing context.said_share
            categories.context categories.rag_length""",
        ),
        (
            "Conversations",
            "For programs that record long conversations.",
            """chunk_size max_recent_messages max_chunks max_messages max_tokens pruning_strategy
            min_recent_messages importance short_term_retention_turns promotion_threshold""",
        ),
        (
            "Fading and links",
            "For a memory of which `pmem consolidate` removes too much, or too little.",
            """decay fading consolidation_threshold_days max_episodic_memories ttl_days link_on_add
            note_insights""",
        ),
        (
            "Ranking",
            "For projects where `pmem eval` shows that searches miss memories.",
            """ranking relevance_threshold recency_weight importance_weight prior_share""",
        ),
        (
            "Agents and consent",
            "For a memory that several agents write to, or that is about people.",
            """limits.agent consent.fields consent.two_signals trust.unconfirmed trust.ref
            trust.unreviewed mine.agents""",
        ),
        (
            "Apps",
            "For apps that keep memories about their users.",
            """apps.limit apps.energy limits.app_memory""",
        ),
        (
            "Models",
            "For a model or a program of your own, or a model that is slow or expensive.",
            """model.command model.url model.key_variable model.timeout model.calls_per_day
            model.strict vectors.command vectors.url""",
        ),
        (
            "Clones and servers",
            "For unusual folders and clones, and for servers and disks that are slow.",
            """safe_folders database_project ignored_by_git record_operations lock_timeout
            limits.record""",
        ),
    )
)
"""All other settings, by purpose."""


_WINDOW: Final = ("max_context_tokens", "working_memory_tokens", "system_prompt_tokens")


def check_together(settings: Settings, name: str, value: Any) -> str:
    """Refuse a new value that contradicts another setting; return what it does unexpectedly."""
    if name not in Settings.__struct_fields__:
        return ""
    then = msgspec.structs.replace(settings, **{name: value})
    reserved = then.working_memory_tokens + then.system_prompt_tokens
    if name in _WINDOW and reserved >= then.max_context_tokens:
        raise InvalidValue(
            f"working_memory_tokens and system_prompt_tokens ({reserved:,} together) leave nothing "
            f"of max_context_tokens ({then.max_context_tokens:,})",
            "keep less free, or make the window larger first",
        )
    if name in ("chunk_size", "max_recent_messages") and then.chunk_size > then.max_recent_messages:
        return (
            f"chunk_size ({then.chunk_size}) is more than max_recent_messages "
            f"({then.max_recent_messages}): a chunk takes half of these"
        )
    if name in ("min_recent_messages", "max_messages") and (
        then.min_recent_messages > then.max_messages
    ):
        return (
            f"min_recent_messages ({then.min_recent_messages}) is more than max_messages "
            f"({then.max_messages}): so many of the latest messages stay"
        )
    return ""
