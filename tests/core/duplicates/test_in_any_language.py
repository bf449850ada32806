"""In any language two texts that differ in "not" are never the same; in forms of words, near."""

import pytest

from pmem.core.duplicates.comparing import Relation, compare
from pmem.core.duplicates.reading import claim_of
from tests.labelled import read_rows

PAIRS = read_rows(__file__, "languages.jsonl")


@pytest.mark.parametrize(("kind", "language", "one", "other"), PAIRS)
def test_what_is_denied_is_never_the_same_and_what_differs_in_a_form_is_near(
    kind: str, language: str, one: str, other: str
) -> None:
    far = Relation.DUPLICATE if kind == "denied" else Relation.DISTINCT
    assert compare(claim_of(one), claim_of(other)).relation is not far, language
