"""What of a message is its author's own word, and what only stands in it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem.core.text.blocks import OWN_TAGS, BlockKind, TextBlock, blocks, read_prose
from tests.labelled import read_rows
from tests.work import STALLED, seconds

LINES = read_rows(__file__, "blocks.jsonl")
PIECES = st.sampled_from(
    "say it|```|~~~|\n|\n\n|    x|> |<a-b>|</a-b>|<c>|</c>|$ x|{|}|- |1. |k:|  k: v| ".split("|")
)
TEXTS = st.text(max_size=200) | st.lists(PIECES, max_size=40).map("".join)


@pytest.mark.parametrize(("kind", "text"), LINES)
def test_a_block_is_told_by_its_lines(kind: str, text: str) -> None:
    assert [(block.kind, block.text) for block in blocks(text)] == [(kind, text)]


@given(TEXTS)
def test_every_letter_is_in_one_block(text: str) -> None:
    parted = "".join("".join(block.text for block in blocks(text)).split())
    assert parted == "".join(text.split())


def test_prose_around_other_blocks_is_kept() -> None:
    text = "Use tabs.\n```\nx\n```\nNever spaces.\n$ make\nfine\n\nThanks."
    assert read_prose(text).split("\n") == ["Use tabs.", "", "Never spaces.", "", "Thanks."]


def test_a_blank_line_ends_output_but_no_code() -> None:
    kinds = [block.kind for block in blocks("$ make\nfine\n\nUse tabs.\n\n    x\n\n    y")]
    assert kinds == [BlockKind.LOG, BlockKind.PROSE, BlockKind.CODE]


def test_what_belongs_to_an_item_of_a_list_is_no_code() -> None:
    text = "1. Use tabs.\n    Never spaces.\n\nSo:\n    x = 1"
    kinds = [block.kind for block in blocks(text)]
    assert kinds == [BlockKind.PROSE, BlockKind.CODE]


def test_a_tag_in_a_sentence_counts_only_with_a_name_of_several_words() -> None:
    assert read_prose("Use <b>tabs</b> here.") == "Use <b>tabs</b> here."
    assert read_prose("Use tabs. <system-reminder>No.</system-reminder> Yes.").split() == [
        "Use", "tabs.", "Yes.",
    ]  # fmt: skip


@pytest.mark.parametrize("tag", sorted(OWN_TAGS))
def test_tags_around_the_authors_own_words_leave_them(tag: str) -> None:
    assert read_prose(f"<{tag}>Use tabs.</{tag}>").strip() == "Use tabs."


@pytest.mark.some(6)
@pytest.mark.parametrize(
    "unit",
    ["<a-b>", "<a-b></a-b>", "```\n", "    x\n", "> ", "\n", "a@", "[", "k:\n  k: v\n", "{", "1 ",
     "10:11:12 ", "</", "async ", "x" * 50 + " "],
)  # fmt: skip
def test_a_megabyte_of_anything_is_taken_apart_quickly(unit: str) -> None:
    text = unit * (1_000_000 // len(unit))
    assert seconds(lambda: blocks(text)) < STALLED


def test_a_message_that_a_hook_begins_is_the_hooks_to_its_end() -> None:
    text = "Stop hook feedback:\nUse tabs.\n\nTo go on, press a key."
    assert blocks(text) == (TextBlock(BlockKind.PASTED, text),)
    after = blocks("I saw this.\n\nStop hook feedback:\nUse tabs.\n\nWhat is it?")
    assert [block.kind for block in after] == [BlockKind.PROSE, BlockKind.PASTED, BlockKind.PROSE]
