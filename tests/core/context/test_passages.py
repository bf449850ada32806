"""Of a long message a context shows the passages that answer, and says what it leaves out."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem.core.context.chat_items import (
    LEAST_SAID,
    LONGEST_PASSAGE,
    LOOKED_AT,
    matching_passages,
    shown_characters,
)
from pmem.core.text.commands import LEAST_SHOWN
from pmem.core.text.terms import terms
from pmem.values.records import Message, Role
from tests.conftest import NOW
from tests.work import STALLED, seconds

MARK = re.compile(r"\[\.\.\. ([\d,]+) characters left out\]\n?")
FILLING = [f"Line {n} says nothing that anybody asks for here." for n in range(60)]


def message(text: str, role: Role = Role.ASSISTANT, **more: object) -> Message:
    return Message(id="m", role=role, content=text, created_at=NOW, **more)  # type: ignore[arg-type]


def shown(said: Message, question: str, most: int = 400) -> str:
    return matching_passages(said, frozenset(terms(question)), most)


def lines(*at: tuple[int, str]) -> str:
    text = list(FILLING)
    for place, line in at:
        text[place] = line
    return "\n".join(text)


def test_a_short_message_stands_as_it_is() -> None:
    assert shown(message("Short.\n"), "anything") == "Short.\n"


def test_the_passages_with_the_words_of_the_question_stand_in_their_order() -> None:
    said = message(lines((50, "The port of the proxy is 8081."), (30, "We moved the proxy.")))
    text = shown(said, "which port has the proxy?")
    assert text.index("We moved the proxy.") < text.index("The port of the proxy is 8081.")


def test_a_rare_word_of_the_message_says_more_than_a_common_one() -> None:
    said = message("\n".join([*FILLING, "The Zanzibar line."]))
    assert "Zanzibar" in shown(said, "which line says Zanzibar", 120)


def test_the_first_passage_always_stands() -> None:
    said = message(lines((0, "I looked at the build."), (40, "The port is 8081.")))
    assert shown(said, "port").startswith("I looked at the build.")


def test_a_gap_is_marked_with_what_it_holds() -> None:
    text = shown(message(lines((40, "The port is 8081."))), "port")
    left = sum(int(count.replace(",", "")) for count in MARK.findall(text))
    assert left + len(MARK.sub("", text)) == len("\n".join(FILLING)) - len(FILLING[40]) + 17


def test_a_gap_no_longer_than_its_mark_is_no_gap() -> None:
    text = shown(message(lines((30, "One port."), (31, "No."), (32, "Two ports."))), "port", 70)
    assert "One port.\nNo.\nTwo ports." in text


def test_the_room_is_filled_from_the_beginning_of_what_people_say() -> None:
    assert FILLING[1] in shown(message("\n".join(FILLING)), "port")


def test_but_not_with_what_a_tool_printed() -> None:
    result = message("\n".join(FILLING), Role.TOOL, tool_result={"content": "x"})
    assert FILLING[1] not in shown(result, "port")


def test_of_a_tool_s_result_the_error_stands_whatever_is_asked() -> None:
    output = lines((33, "ValueError: the row has no name"))
    result = message(output, Role.TOOL, tool_result={"content": output, "is_error": True})
    assert "ValueError: the row has no name" in shown(result, "port", 200)


def test_of_a_tool_s_call_the_command_stands_whatever_is_asked() -> None:
    call = {"name": "run", "input": {"note": "x" * 900, "command": "make check"}}
    text = "run\n" + "\n".join(FILLING) + "\nmake check\n" + "\n".join(FILLING)
    assert "make check" in shown(message(text, tool_call=call), "port", 200)


def test_a_long_line_is_divided_at_the_end_of_a_sentence() -> None:
    said = message(" ".join([*FILLING, "The port is 8081.", *FILLING]))
    text = shown(said, "port")
    assert "The port is 8081." in text
    assert all(len(part) < 400 for part in MARK.split(text))


def test_the_middle_of_an_endless_message_is_not_looked_at() -> None:
    word = "port is 8081.\n"
    said = message("a\n" * LOOKED_AT + word + "b\n" * LOOKED_AT + "last port\n")
    assert word not in shown(said, "port")
    assert "last port" in shown(said, "port")


def test_a_larger_budget_shows_more_of_what_is_said_than_of_tools() -> None:
    talk, result = message("a"), message("a", Role.TOOL, tool_result={"content": "a"})
    assert [shown_characters(talk, budget) for budget in (0, 300, 5000)] == [
        LEAST_SAID,
        LEAST_SAID,
        8225,
    ]
    assert [shown_characters(result, budget) for budget in (0, 300, 5000)] == [
        LEAST_SHOWN,
        LEAST_SHOWN,
        500,
    ]


@given(
    st.lists(st.sampled_from([*FILLING[:5], "", "The port is 8081.", "x" * 700, "a. b; c!"])),
    st.integers(0, 900),
    st.sampled_from(["port", "line says", ""]),
)
def test_what_stands_was_said_and_is_no_longer_than_allowed(
    parts: list[str], most: int, question: str
) -> None:
    said = message("\n".join(parts))
    text = shown(said, question, most)
    gaps = len(MARK.findall(text)) + text.count("\n") + 1
    assert len(MARK.sub("", text)) <= max(most, LONGEST_PASSAGE) + 35 * gaps
    at = 0
    for part in MARK.split(text)[::2]:
        assert said.content.find(part, at) >= 0
        at = said.content.find(part, at) + len(part)
    assert text == shown(said, question, most)


@pytest.mark.parametrize("piece", ["a", "a. ", "\n", "port ", "port\n", ";", "é"])
def test_a_megabyte_of_anything_is_shortened_quickly(piece: str) -> None:
    said = message(piece * (1_000_000 // len(piece)))
    assert seconds(lambda: shown(said, "the port of the proxy")) < STALLED
