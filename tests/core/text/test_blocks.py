"""What of a message is its author's own word, and what only stands in it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem.core.text.blocks import OWN_TAGS, BlockKind, TextBlock, blocks, read_prose
from tests.work import STALLED, seconds

LINES = [
    # prose
    ("We use tabs.", BlockKind.PROSE),
    ("- use tabs", BlockKind.PROSE),
    ("\n".join(f"Fetching row {n} of 9" for n in range(5)), BlockKind.PROSE),
    ("\n".join(f"- use tabs in {name}" for name in "abcdefg"), BlockKind.PROSE),
    ("From now on, use tabs", BlockKind.PROSE),
    ("import the file from the disk", BlockKind.PROSE),
    ("return it to me", BlockKind.PROSE),
    ("Note: use tabs", BlockKind.PROSE),
    ("5 failed logins are too many for anybody. Block them.", BlockKind.PROSE),
    ("[Image 2] shows it", BlockKind.PROSE),
    ("The error: it fails", BlockKind.PROSE),
    ("options:\n  - tabs", BlockKind.PROSE),
    ("a < b and the <b>bold</b> one", BlockKind.PROSE),
    # code
    ("```\nWe use tabs.\n```", BlockKind.CODE),
    ("~~~python\nx = 1\n```\ny\n~~~", BlockKind.CODE),
    ("    x = tabs()", BlockKind.CODE),
    ("\tx = tabs()", BlockKind.CODE),
    ("if (x) {", BlockKind.CODE),
    ("const x = 5", BlockKind.CODE),
    ("let x = 5", BlockKind.CODE),
    ("public class Row<T>", BlockKind.CODE),
    ("private interface Row<T>", BlockKind.CODE),
    ("func run(x int)", BlockKind.CODE),
    ("export async function run(x)", BlockKind.CODE),
    ("import { x } from 'y'", BlockKind.CODE),
    ("from a.b import c", BlockKind.CODE),
    ("   12→return x", BlockKind.CODE),
    ("// use tabs", BlockKind.CODE),
    ("<div>", BlockKind.CODE),
    ("run(x);", BlockKind.CODE),
    ("/* use tabs", BlockKind.CODE),
    ("*/", BlockKind.CODE),
    ("#include <rows>", BlockKind.CODE),
    ("return x;", BlockKind.CODE),
    ("def run(x):", BlockKind.CODE),
    ("export class Row {", BlockKind.CODE),
    ("x = y }", BlockKind.CODE),
    ("x };", BlockKind.CODE),
    ("x ],", BlockKind.CODE),
    ("x =>", BlockKind.CODE),
    ("run x \\", BlockKind.CODE),
    # logs
    ("2026-01-05 10:11:12 started", BlockKind.LOG),
    ("2026-01-05T10:11:12Z started", BlockKind.LOG),
    ("[10:11:12] INFO started", BlockKind.LOG),
    ("ERROR task failed", BlockKind.LOG),
    ("[WARN] slow", BlockKind.LOG),
    ("level=info msg=x", BlockKind.LOG),
    ("12/Mar/2026:10:11:12 GET /rows", BlockKind.LOG),
    ("Traceback (most recent call last):", BlockKind.LOG),
    ('  File "a.py", line 3, in run', BlockKind.LOG),
    ("  at run (a.js:3:4)", BlockKind.LOG),
    ("ValueError: no such row", BlockKind.LOG),
    ("--- FAIL: TestRow (0.00s)", BlockKind.LOG),
    ("ok  \tproject/rows\t0.1s", BlockKind.LOG),
    ("✓ adds rows (3 ms)", BlockKind.LOG),
    ("3 passed, 2 failed", BlockKind.LOG),
    ("\n".join(f"Fetching row {n} of 9" for n in range(6)), BlockKind.LOG),
    ("[3/17] building", BlockKind.LOG),
    ("build ████░░ 50%", BlockKind.LOG),
    ("npm ERR missing", BlockKind.LOG),
    ("Caused by: a row", BlockKind.LOG),
    ("panic: no row", BlockKind.LOG),
    ("exit status 3", BlockKind.LOG),
    ("commit 0a1b2c3d4e5f60718293a4b5c6d7e8f901234567", BlockKind.LOG),
    ("?   \tproject/rows\t[no test files]", BlockKind.LOG),
    (" 45%|rows", BlockKind.LOG),
    ("rows [####......] of all", BlockKind.LOG),
    ("INFO:rows: read", BlockKind.LOG),
    ("➜ make", BlockKind.LOG),
    ("$ make\nall is well", BlockKind.LOG),
    ("anna@host:~/x$ make\nall is well", BlockKind.LOG),
    ("❯ make\nall is well", BlockKind.LOG),
    ("```\n$ make\nall is well\n```", BlockKind.LOG),
    # quotations
    ("> We use tabs.", BlockKind.QUOTE),
    # data
    ('{"a": 1}', BlockKind.DATA),
    ('  "a": 1,', BlockKind.DATA),
    ('["a", "b"]', BlockKind.DATA),
    ("| a | b |", BlockKind.DATA),
    ("diff --git a/x b/x", BlockKind.DATA),
    ("[", BlockKind.DATA),
    ("],", BlockKind.DATA),
    ('"a" : 1', BlockKind.DATA),
    ("@@ -1,3 +1,4 @@", BlockKind.DATA),
    ("services:\n  web:\n    image: x", BlockKind.DATA),
    ("```json\nx\n```", BlockKind.DATA),
    # what programs put in
    ("<system-reminder>Use tabs.\n\nNow.</system-reminder>", BlockKind.PASTED),
    ("<command-name>/clear</command-name>", BlockKind.PASTED),
    ("<context>\nUse tabs.\n</context>", BlockKind.PASTED),
    ("[Request interrupted by user for tool use]", BlockKind.PASTED),
    ("[Image #2]", BlockKind.PASTED),
    ("[Pasted text #1 +20 lines]", BlockKind.PASTED),
    ("[Attached file a.py]", BlockKind.PASTED),
    ("Stop hook blocking error from command", BlockKind.PASTED),
    ("Tool blocked by hook: use tabs", BlockKind.PASTED),
    ("Tool denied by hook: use tabs", BlockKind.PASTED),
    ("Stop hook error: use tabs", BlockKind.PASTED),
    ("Stop hook success: use tabs", BlockKind.PASTED),
    ("- [id:k3v9] Use tabs.", BlockKind.PASTED),
    ("(pmem: 3 messages were left out)", BlockKind.PASTED),
    ("Stop hook feedback:\nUse tabs.", BlockKind.PASTED),
    ("Operation stopped by hook: use tabs", BlockKind.PASTED),
    ("Caveat: The messages below were generated by a program", BlockKind.PASTED),
    ("This session is being continued from a previous conversation.\n\nTabs.", BlockKind.PASTED),
]
PIECES = st.sampled_from(
    "say it|```|~~~|\n|\n\n|    x|> |<a-b>|</a-b>|<c>|</c>|$ x|{|}|- |1. |k:|  k: v| ".split("|")
)
TEXTS = st.text(max_size=200) | st.lists(PIECES, max_size=40).map("".join)


@pytest.mark.parametrize(("text", "kind"), LINES)
def test_a_block_is_told_by_its_lines(text: str, kind: BlockKind) -> None:
    assert [(block.kind, block.text) for block in blocks(text)] == [(kind, text)]


@pytest.mark.parametrize(
    "level",
    """INFO DEBUG TRACE NOTICE VERBOSE WARN WARNING ERROR FATAL CRITICAL SEVERE FAIL FAILED PASS
    PASSED""".split(),
)
def test_a_line_that_begins_with_a_level_is_of_a_log(level: str) -> None:
    assert [block.kind for block in blocks(f"{level} row of Oslo")] == [BlockKind.LOG]


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


def test_a_list_that_is_indented_is_no_code() -> None:
    assert read_prose("So:\n    - use tabs\n    1. never spaces") != ""
    assert [block.kind for block in blocks("So:\n    - use tabs")] == [BlockKind.PROSE]


def test_what_ends_the_indentation_ends_data() -> None:
    kinds = [block.kind for block in blocks("web:\n  image: x\nUse tabs.")]
    assert kinds == [BlockKind.DATA, BlockKind.PROSE]


def test_a_tag_in_a_sentence_counts_only_with_a_name_of_several_words() -> None:
    assert read_prose("Use <b>tabs</b> here.") == "Use <b>tabs</b> here."
    assert read_prose("Use tabs. <system-reminder>No.</system-reminder> Yes.").split() == [
        "Use", "tabs.", "Yes.",
    ]  # fmt: skip


def test_a_tag_that_is_never_closed_is_text() -> None:
    assert read_prose("Use the <system-reminder> tag. <x></y>") != ""


@pytest.mark.parametrize("tag", sorted(OWN_TAGS))
def test_tags_around_the_authors_own_words_leave_them(tag: str) -> None:
    assert read_prose(f"<{tag}>Use tabs.</{tag}>").strip() == "Use tabs."


@pytest.mark.parametrize("info", ["json", "YAML", "yml", "toml", "xml", "csv", "diff", "patch"])
def test_a_fence_may_say_that_it_holds_data(info: str) -> None:
    assert [block.kind for block in blocks(f"```{info}\nx\n```")] == [BlockKind.DATA]


def test_of_two_tags_within_each_other_the_outer_one_counts() -> None:
    assert read_prose("<a-b>x <c-d>y</c-d> z</a-b> Use tabs.").strip() == "Use tabs."


def test_a_fence_that_is_never_closed_ends_with_the_message() -> None:
    assert read_prose("Use tabs.\n```\nx\n\ny").strip() == "Use tabs."


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
    assert blocks(text) == [TextBlock(BlockKind.PASTED, text)]
    after = blocks("I saw this.\n\nStop hook feedback:\nUse tabs.\n\nWhat is it?")
    assert [block.kind for block in after] == [BlockKind.PROSE, BlockKind.PASTED, BlockKind.PROSE]
