"""Every kind of work, in the order in which it is handed out."""

from collections.abc import Mapping
from typing import Final

from pmem.model.tasks import TaskKind
from pmem.upkeep.work import (
    app_summaries,
    chunk_summaries,
    compactions,
    episode_texts,
    insights,
    procedures,
    same_facts,
    turn_facts,
)
from pmem.upkeep.work.kinds import WorkKind

KINDS: Final[Mapping[TaskKind, WorkKind]] = {
    "compaction": WorkKind(compactions.waiting, compactions.given, compactions.apply),
    "conversation_summary": WorkKind(
        app_summaries.waiting, app_summaries.given, app_summaries.apply
    ),
    "turn_facts": WorkKind(turn_facts.waiting, turn_facts.given, turn_facts.apply),
    "episode": WorkKind(episode_texts.waiting, episode_texts.given, episode_texts.apply),
    "chunk_summary": WorkKind(
        chunk_summaries.waiting, chunk_summaries.given, chunk_summaries.apply
    ),
    "same_fact": WorkKind(same_facts.waiting, same_facts.given, same_facts.apply),
    "procedure": WorkKind(procedures.waiting, procedures.given, procedures.apply),
    "insight": WorkKind(insights.waiting, insights.given, insights.apply),
}
