"""What people wrote who had not seen the rules is found, and nothing that only looks like it."""

from typing import Final

import pytest

from pmem.core.secrets import find
from tests.core.secrets.written import SETS, Written, innocents, secrets

SEEDS: Final = range(3)
BAR: Final = 0.95


def missed(case: Written) -> list[str]:
    """Return the secrets of a text that are not found whole wherever they stand."""
    hits = find(case.text)
    return [
        secret
        for secret in case.secrets
        if any(
            not any(hit.start <= start and start + len(secret) <= hit.end for hit in hits)
            for start in range(len(case.text))
            if case.text.startswith(secret, start)
        )
    ]


@pytest.mark.parametrize("name", SETS)
def test_secrets_in_the_words_of_others_are_found(name: str) -> None:
    cases = [case for seed in SEEDS for case in secrets(name, seed)]
    left = [(case.text, missed(case)) for case in cases if missed(case)]
    count = sum(len(case.secrets) for case in cases)
    assert sum(len(values) for _, values in left) <= (1 - BAR) * count, left


@pytest.mark.parametrize("name", SETS)
def test_nothing_that_others_wrote_without_a_secret_is_taken_for_one(name: str) -> None:
    assert [case for case in innocents(name) if find(case.text)] == []
