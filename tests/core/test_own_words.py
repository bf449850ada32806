"""What hooks said is taken out of what a tool answered, and nothing else is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem.core.own_words import ABOUT_FILE, TITLES, without_own_words
from tests.work import STALLED, seconds

FENCES = st.sampled_from(["```", "`````"])


@given(
    st.text("a`\n :", max_size=20), st.sampled_from(TITLES), FENCES, st.text("ab -", max_size=20),
    st.text("b`\n :", max_size=20),
)  # fmt: skip
def test_what_hooks_said_goes_and_what_stands_around_it_stays(
    before: str, title: str, fence: str, said: str, after: str
) -> None:
    own = f"{title}:\n{fence}\n- [dead_end x] {said}\n{fence}"
    assert without_own_words(before + own + after) == before + after
    assert without_own_words(f"{own}{before}{own}") == before


@given(st.text("The memory`\n:-", max_size=60))
def test_all_other_text_stays(text: str) -> None:
    assert without_own_words(text) == text


@pytest.mark.parametrize(
    "text", [f"{ABOUT_FILE}:", f"{ABOUT_FILE}:\n```", f"{ABOUT_FILE}:\n``` x\n"]
)
def test_what_has_no_end_stays(text: str) -> None:
    assert without_own_words(text) == text


@pytest.mark.parametrize(
    "part",
    [f"{title}:\n```\n" for title in TITLES]
    + ["`", "\n```", f"{ABOUT_FILE}:\n```\n- x\n```\n", f"{ABOUT_FILE}:\n````"],
)
def test_the_time_is_linear_in_the_text(part: str) -> None:
    text = part * (1_000_000 // len(part))
    assert seconds(lambda: without_own_words(text)) < STALLED
