"""A name tells a secret in the first words of its value, and not in a sentence behind it."""

import pytest

from pmem.core.secrets import find_named


@pytest.mark.parametrize("value", ["hunter2x9", "hunter2x9 now", "hunter2x9 for now"])
def test_the_value_of_a_password_is_a_secret_in_a_few_words(value: str) -> None:
    (found,) = find_named("password", value)
    assert value[found.start : found.end].startswith("hunter2x9")


@pytest.mark.parametrize(
    "value", ["kept in the vault by Ana", "is set by the deploy script", "see the wiki"]
)
def test_a_sentence_about_a_password_is_none(value: str) -> None:
    assert find_named("password", value) == []
