"""How much each sign counts when documents are ranked: for messages, and for memories."""

from typing import Final, NamedTuple

import msgspec
from msgspec.structs import replace

from pmem.core.retrieval.evidence import Bm25, Constants
from pmem.values.config import Settings


class RankingSettings(msgspec.Struct, frozen=True):
    """Weights of the ranking.

    `neighbours` and `session` weigh a score relative to its maximum against that of single
    documents, which has weight 1. The gains say how many times more a document counts that shows
    the sign; `question` and `repeat` how many times less.

    Attributes:
        constants: BM25 constants and the weights of neighbouring turns.
        not_english: the same where a question is not surely English; None for no others.
        neighbours, session: weights of windows and sessions.
        reply: whether what holds no word of the question is found beside what does.
        related: weight of a related word against a word of the question.
        speaker: gain of messages of the person whom the question names, and of memories about it.
        elsewhere: gain of sessions in which the named person takes part.
        trust: ratio of the best score of the named person to that of others: from no gain
            (first) to all of it (second). It limits the harm of a wrong name.
        time, number, quoted: gains where the question asks for a time, a number, a name or title.
        question: factor of messages that are questions themselves.
        same_question: factor of a person's question that has every word of this one.
        phrase: gain of documents with the quoted phrase.
        exact: gain of messages that hold every key of the question themselves.
        insight: factor of insights, which nobody said.
        roles: factors of what assistants said, tools were told, and tools answered.
        bulk: the least factor of messages longer than `constants.room` averages.
        meaning: what one standard deviation of nearness in meaning is worth, as a logarithm.
        repeat: factor for each better hit of the same session, if an answer has several parts.
        prior: the most that recency, importance, access and links take away.
        merits: how these four are weighed among each other.
    """

    constants: Constants = Constants()
    not_english: Constants | None = None
    neighbours: float = 3.0
    session: float = 1.4
    reply: bool = True
    related: float = 0.35
    speaker: float = 1.7
    elsewhere: float = 3.0
    trust: tuple[float, float] = (0.7, 1.0)
    time: float = 1.8
    number: float = 1.35
    quoted: float = 1.2
    question: float = 0.85
    same_question: float = 0.01
    phrase: float = 2.0
    exact: float = 10.0
    bulk: float = 0.5
    insight: float = 0.5
    roles: tuple[float, float, float] = (0.9, 0.7, 0.66)
    meaning: float = 0.15
    repeat: float = 0.9
    prior: float = 0.02
    merits: tuple[float, float, float, float] = (0.3, 0.4, 0.2, 0.1)


DEFAULTS = RankingSettings()
MEMORIES = RankingSettings(
    Constants(text=Bm25(1.2, 0.75), crowd=50, letters=0.8, spelt=20),
    not_english=Constants(text=Bm25(0.9, 0.4), rarity=1.5, crowd=50, letters=1.0, spelt=30),
    neighbours=0.5,
    session=0.5,
    reply=False,
    time=1.3,
    repeat=1.0,
)
"""How memories are ranked: each stands alone, or with the few that were written along with it."""


class Weights(NamedTuple):
    """Weights of the signals, 0 or more; only their ratios count.

    Attributes:
        semantic: TF-IDF of the words of the question.
        keyword: share of the words of the question that the document holds.
        recency: half-life of 30 days.
        importance: as stored.
        access: how often it was used.
    """

    semantic: float = 0.4
    keyword: float = 0.3
    recency: float = 0.2
    importance: float = 0.1
    access: float = 0.0


SEMANTIC_WEIGHT: Final = 0.4
"""Weight of TF-IDF in the weighted sum."""
KEYWORD_WEIGHT: Final = 0.3
"""Weight of matched words in the weighted sum."""
ACCESS_WEIGHT: Final = 0.0
"""Weight of access, among the priors and in the weighted sum."""
RELATION_WEIGHT: Final = 0.1
"""Weight of a memory's strongest link, among the priors."""


def weights_of(settings: Settings) -> Weights:
    """Return the weights of the signals, for a ranking by their sum."""
    return Weights(
        semantic=SEMANTIC_WEIGHT,
        keyword=KEYWORD_WEIGHT,
        recency=settings.recency_weight,
        importance=settings.importance_weight,
        access=ACCESS_WEIGHT,
    )


def measured(settings: Settings, kind: str) -> RankingSettings:
    """Return the measured weights of a kind with the project's priors."""
    measured = MEMORIES if kind == "memory" else DEFAULTS
    return replace(
        measured,
        prior=settings.prior_share,
        merits=(
            settings.recency_weight,
            settings.importance_weight,
            ACCESS_WEIGHT,
            RELATION_WEIGHT,
        ),
    )
