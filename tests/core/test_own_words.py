"""What hooks said is taken out of what a tool answered, and nothing else is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem.core.own_words import (
    ABOUT_ERROR,
    ABOUT_FILE,
    AT_START,
    KEEP,
    ON_PROMPT,
    RECORDED,
    SEE_ABOVE,
    STOPS,
    is_own_answer,
    without_own_words,
)
from tests.work import STALLED, seconds

TITLES = [
    *(f"{one}:" for one in (ON_PROMPT, ABOUT_ERROR, STOPS, f"{ABOUT_FILE} src/a b.py")),
    f"{AT_START} (shop, 23 of 25; the rest: tool `search`). {KEEP}",
]
FENCES = st.sampled_from(["```", "`````"])


@given(
    st.text("a`\n :", max_size=20), st.sampled_from(TITLES), FENCES, st.text("ab -", max_size=20),
    st.text("b`\n :", max_size=20),
)  # fmt: skip
def test_what_hooks_said_goes_and_what_stands_around_it_stays(
    before: str, title: str, fence: str, said: str, after: str
) -> None:
    own = f"{title}\n{fence}\n- [x] {said}\n{fence}"
    assert without_own_words(before + own + after) == before + after
    assert without_own_words(f"{own}{before}{own}") == before
    assert without_own_words(f"{before}{SEE_ABOVE}: 4f7kq2z9\n{own}{after}") == before + after


@given(st.text("Recorded for this`\n:-", max_size=60))
def test_all_other_text_stays(text: str) -> None:
    assert without_own_words(text) == text


@pytest.mark.parametrize("text", [f"{ABOUT_FILE} x:", f"{ABOUT_FILE} x:\n```\n- x\n``", "```"])
def test_what_has_no_end_stays(text: str) -> None:
    assert without_own_words(text) == text


@pytest.mark.parametrize(
    "part",
    [f"{title}\n```\n- " for title in TITLES]
    + ["`", "\n```", f"{ABOUT_FILE} x:\n```\n- x\n```\n", f"{ABOUT_FILE} x:\n````", ABOUT_FILE]
    + [f"{ABOUT_FILE} {'x' * 300}", f"{AT_START} ("],
)
def test_the_time_is_linear_in_the_text(part: str) -> None:
    text = part * (1_000_000 // len(part))
    assert seconds(lambda: without_own_words(text)) < STALLED


@pytest.mark.parametrize(
    "text",
    [
        "1 found ({})\n```\n- x", "# Memory of shop ({})\n## Memory\n````\n- x",
        "updated x\nwhat it says ({})\n```\n- x", '{{"output":"1 found ({})\\n```\\n- x"}}',
    ],
)  # fmt: skip
def test_an_answer_of_a_tool_is_known_by_its_form(text: str) -> None:
    assert is_own_answer(text.format(RECORDED))


@pytest.mark.parametrize("text", ["", "1 found", f"1 found ({RECORDED})", f"({RECORDED}) ```"])
def test_another_answer_is_not(text: str) -> None:
    assert not is_own_answer(text)
