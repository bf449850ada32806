"""Scoring formulas, one small pure function each, with its source."""

from math import log, log1p

from pmem.values.defaults import HALF_LIFE_DAYS

DAY = 86_400.0  # seconds


def idf(documents: int, containing: float) -> float:
    """Return the always positive inverse document frequency of a term.

    log(1 + (N - n + 0.5) / (n + 0.5)), where n of N documents have the term: Robertson and Sparck
    Jones' weight with 1 added inside the logarithm, as in Lucene, so that a term of more than half
    the documents never counts against a document.
    """
    return log(1.0 + (documents - containing + 0.5) / (containing + 0.5))


def length_norm(length: float, average: float, k1: float, b: float) -> float:
    """Return BM25's k1 * (1 - b + b * length / average), the frequency that scores half.

    Robertson and Zaragoza, The Probabilistic Relevance Framework (2009), equation 3.15. An average
    of 0 counts as no length information.
    """
    return k1 * (1.0 - b + b * (length / average if average else 1.0))


def saturation(frequency: float, norm: float, k1: float) -> float:
    """Return BM25's term weight tf * (k1 + 1) / (tf + norm), below k1 + 1.

    Robertson and Zaragoza (2009), equation 3.15, with the customary (k1 + 1) in the numerator.
    `norm` comes from `length_norm`.
    """
    return frequency * (k1 + 1.0) / (frequency + norm)


def recency(age: float, half_life: float = HALF_LIFE_DAYS) -> float:
    """Return 0.5 ** (age / half_life): 1 now or in future, one half after `half_life` days.

    `age` is in seconds.
    """
    return float(0.5 ** (max(age, 0.0) / DAY / half_life))


def familiarity(accesses: int) -> float:
    """Return how often something was used, in [0, 1): log(1 + n) / (1 + log(1 + n))."""
    grown = log1p(max(accesses, 0))
    return grown / (1.0 + grown)


def plain_idf(documents: int, containing: int) -> float:
    """Return log(N / n), the inverse document frequency of specification S2; 0 for n = 0."""
    return log(documents / containing) if containing else 0.0


def relative_frequency(frequency: float, highest: float) -> float:
    """Return count / highest count of any term of the document: specification S2's tf."""
    return frequency / highest if highest else 0.0


def confidence(ratio: float, low: float, high: float) -> float:
    """Return 0 up to `low`, 1 from `high` on, and a straight line between."""
    return min(1.0, max(0.0, (ratio - low) / (high - low)))


def substance(length: float, full: float = 40.0, power: float = 0.1) -> float:
    """Return a prior for messages that say something: (min(length, full) / full) ** power.

    A one-word reply ("Thanks!") rarely answers a question. `length` is in terms.
    """
    return float((max(min(length, full), 1.0) / full) ** power)


def smooth_share(part: float, whole: float) -> float:
    """Return `part / whole` held within [0, 1]; 0 for an empty whole."""
    return min(1.0, max(0.0, part / whole)) if whole else 0.0
