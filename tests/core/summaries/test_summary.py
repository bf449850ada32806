"""What a summary keeps, what it may cost, and how two become one."""

import re
from collections.abc import Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pmem.core.summaries.clauses import called, pieces
from pmem.core.summaries.summary import (
    EARLIER,
    FLOOR,
    MOST_TOKENS,
    THEN,
    merged,
    summarise,
)
from pmem.core.summaries.topics import key_topics, merged_topics
from pmem.core.text.sentences import split_sentences
from pmem.core.text.terms import terms
from pmem.core.tokens import count_tokens
from pmem.values.records import Message, Role
from tests.conftest import NOW
from tests.core.summaries.technical import TALKS, Talk

SHARES = (0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 1.0)
BITS = (
    "Hey Ada, ",
    "Wow! ",
    "we chose PostgreSQL 15 ",
    "it's not really ready, ",
    "but the parser fails on Friday. ",
    "Which port is it? ",
    "If the disk is full, we stop. ",
    "[shared image: a photo of a red bicycle] ",
    "```\nERROR in parse_rows (rows.py:88)\n```\n",
    "我们决定使用新的数据库。",
    "データベースの移行は金曜日です。",
    "데이터베이스를 옮긴다. ",
    "😀 ",
    "\n",
    "- a list; with parts — and more ",
    "x" * 400,
)
texts = st.lists(st.sampled_from(BITS), max_size=12).map("".join) | st.text(max_size=60)
speakers = st.sampled_from([None, "Ada", "Bob Lee", "艾达"])
talks = st.lists(st.tuples(speakers, texts), max_size=10).map(lambda said: talk(*said))


def talk(*said: tuple[str | None, str]) -> list[Message]:
    return [
        Message(id=f"x-{n:08d}", role=Role.USER, speaker=speaker, content=text, created_at=NOW)
        for n, (speaker, text) in enumerate(said)
    ]


def chatter(*said: str) -> list[Message]:
    return talk(*(("AB"[n % 2], text) for n, text in enumerate(said)))


def words_of(text: str) -> list[str]:
    return re.findall(r"\w+", text)


def whole(messages: Sequence[Message]) -> list[str]:
    return [f"{message.speaker or message.role}: {message.content}" for message in messages]


def one(text: str, share: float = 1.0) -> str:
    return summarise(chatter(text), count_tokens, share)


def brief(talk_: Talk) -> list[Message]:
    roles = {"user": Role.USER, "assistant": Role.ASSISTANT}
    return [
        Message(
            id=f"x-{n:08d}",
            role=roles.get(speaker, Role.USER),
            speaker=None if speaker in roles else speaker,
            content=text,
            created_at=NOW,
        )
        for n, (speaker, text) in enumerate(talk_.said)
    ]


@pytest.mark.row("S2.3.3")
@pytest.mark.parametrize("share", SHARES)
@given(talks)
def test_a_summary_keeps_its_share_of_tokens_and_of_characters(
    share: float, said: list[Message]
) -> None:
    found = summarise(said, count_tokens, share)
    tokens = sum(map(count_tokens, whole(said)))
    assert count_tokens(found) <= min(MOST_TOKENS, max(FLOOR, share * tokens))
    assert len(found) <= max(FLOOR * 4, share * sum(map(len, whole(said))))


@pytest.mark.row("S2.3.3")
@given(talks, st.sampled_from(SHARES))
def test_every_word_of_a_summary_was_said_in_that_order(said: list[Message], share: float) -> None:
    found = summarise(said, count_tokens, share)
    spoken = [word for message in said for word in words_of(message.content)]
    names = {word for line in whole(said) for word in words_of(line.split(": ")[0])}
    left = iter(spoken)
    for word in words_of(found.rstrip("…") if "…" not in found else found.replace("…", " ")):
        if word not in names:
            assert any(word == other or other.startswith(word) for other in left), word


@pytest.mark.row("S3.13.2")
@given(talks)
def test_the_same_messages_give_the_same_summary(said: list[Message]) -> None:
    assert summarise(said, count_tokens) == summarise(iter(said), count_tokens)
    assert key_topics(said) == key_topics(iter(said))


@pytest.mark.row("S2.12.4")
@pytest.mark.parametrize("text", ["Deploy on Friday.", "👍", "数据库", "ok", "```\nls\n```", "?!"])
def test_a_tiny_stretch_still_gets_a_line(text: str) -> None:
    assert one(text, 0.15)


def test_one_giant_message_is_summarised_from_both_ends() -> None:
    filling = "And so it went on and on as it always does. " * 5_000
    found = summarise(
        chatter(f"We chose Valkey on 3 May. {filling}The budget is 9,000 euros."), count_tokens
    )
    assert "Valkey" in found
    assert "9,000 euros" in found
    assert len(found) < 1_000


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("Hey Ada! We really chose PostgreSQL.", "We chose PostgreSQL."),
        ("Thanks, Ada, the parser works.", "the parser works."),
        ("Oh wow, by the way, Ada: port 2222 is open.", "port 2222 is open."),
        ("The parser works again, Ada!", "The parser works again."),
        ("[shared image: a photo of a red bicycle]", "[photo of a red bicycle]"),
        ("- Berlin is next", "Berlin is next"),
    ],
)
def test_greetings_and_fillers_are_left_out(said: str, told: str) -> None:
    found = pieces(talk(("Ada", said)), {"Ada"})
    assert [piece.text + piece.end for piece in found] == [told]


@pytest.mark.parametrize(
    "sentence",
    [
        "The parser is not really ready.",
        "No really good name is left.",
        "If the disk is full, we stop the import.",
        "I don't think that it works, and we said it failed.",
        "We would take RabbitMQ, but nobody has run it before.",
        "We stop the import when the disk is full, unless the operator says so.",
        "PostgreSQL it is, with SKIP LOCKED, and no Redis at all here.",
        "I hope it lasts, and we get the new server on Monday.",
        "We moved to Valkey, which is a fork of Redis.",
        "The red tests, the slow tests, and most of the others pass.",
        "The queue is empty, so far the new worker keeps up.",
    ],
)
def test_what_would_change_the_meaning_stays_together(sentence: str) -> None:
    found = pieces(chatter(sentence), ())
    assert [piece.text + piece.end for piece in found] == [sentence]


def test_clauses_that_stand_alone_are_parted() -> None:
    said = chatter("The migration went through last night, and we deploy release 3.2 on Thursday.")
    assert [piece.text for piece in pieces(said, ())] == [
        "The migration went through last night",
        "we deploy release 3.2 on Thursday",
    ]


@given(st.lists(st.sampled_from(BITS), max_size=6).map("".join))
@example("We moved to Berlin last year, and we like it here, what about you?")
def test_a_question_stays_a_question(text: str) -> None:
    for piece in pieces(chatter(text), ()):
        asked = "Which port" in piece.text or "what about you" in piece.text
        if asked and piece.kind == "prose":
            assert piece.end == "?"
        if "?" not in text:
            assert piece.end != "?"


def test_who_said_it_stands_before_it_once() -> None:
    said = talk(
        ("Ada", "We chose PostgreSQL 15 for the queue."),
        ("Ada", "The migration is on 14 March."),
        ("Bob", "Redis loses jobs after a restart."),
        ("Ada", "Thank you, that was really good to know!"),
    )
    assert summarise(said, count_tokens, 1.0) == (
        "Ada: We chose PostgreSQL 15 for the queue. The migration is on 14 March.\n"
        "Bob: Redis loses jobs after a restart."
    )


def test_chinese_is_summarised_by_sentences() -> None:
    said = chatter(
        "早上好！大家睡得好吗？",
        "我们决定使用PostgreSQL数据库，迁移在3月14日进行。",
        "好的，谢谢你。",
        "昨天的错误是超时造成的，已经修复了。今天天气很好。",
    )
    found = summarise(said, count_tokens, 0.5)
    assert "PostgreSQL" in found
    assert "睡得" not in found


@pytest.mark.parametrize(("share", "least"), [(0.15, 0.33), (0.25, 0.58), (0.35, 0.7)])
def test_technical_talks_keep_what_is_asked_for_later(share: float, least: float) -> None:
    kept = led = wanted = 0
    for each in TALKS:
        asked = set(terms(each.asked))
        said = brief(each)
        found = summarise(said, count_tokens, share)
        lead = "\n".join(whole(said))
        kept += len(asked.intersection(terms(found)))
        led += len(asked.intersection(terms(lead[: int(len(lead) * share)])))
        wanted += len(asked)
    assert kept >= least * wanted
    assert kept >= 3 * led


@pytest.mark.parametrize(
    ("told", "left"),
    [
        ("The boat goes to Oslo.", "The boat goes to harbours."),
        ("The ferry leaves on Monday.", "The ferry leaves on water."),
        ("The port is open.", "Is the port open?"),
        ("We fixed the parser.", "We read the parser."),
        ("I walk to the harbour at dawn.", "People walk to the harbour at dawn."),
    ],
)
def test_of_two_statements_the_more_telling_one_is_kept(told: str, left: str) -> None:
    for said in ((told, left), (left, told)):
        assert summarise(chatter(*said), count_tokens, 0.5).endswith(f": {told}")


def test_forms_of_a_word_are_one_topic_in_its_usual_form() -> None:
    said = chatter("The tests fail.", "I tested it.", "Are the tests slow?", "Yes, the tests.")
    assert key_topics(said)[0] == "tests"


def test_names_of_two_words_and_identifiers_stay_whole() -> None:
    said = chatter(
        "Call parse_rows before you fly to San Francisco.",
        "In San Francisco we moved to Redis Cluster, parse_rows is slow there.",
    )
    assert {"San Francisco", "Redis Cluster", "parse_rows"} <= set(key_topics(said))
    assert "Kestrel" in key_topics(chatter("A Kestrel server answers."))


@pytest.mark.row("S2.3.4")
def test_g3_what_only_leads_to_an_example_is_no_topic() -> None:
    said = chatter(
        "The parser reads rows, e.g. wide ones.", "The parser skips some, e.g. empty ones."
    )
    assert "e.g" not in key_topics(said)
    assert "parser" in key_topics(said)


def test_chatter_and_speakers_are_no_topics() -> None:
    said = talk(
        ("Melanie", "Hey Ada, how are you? Great to see you again, thanks!"),
        ("Ada", "Wow, Mel, good to see you too! I really can't wait. The lighthouse is near."),
    )
    assert key_topics(said) == ("lighthouse",)
    assert called(said) >= {"Ada", "Melanie", "Mel"}


def test_chinese_japanese_and_korean_have_topics() -> None:
    assert "数据库" in key_topics(chatter("数据库迁移失败了。", "新的数据库很快。"))
    assert key_topics(chatter("データベースの移行です。", "データベースは移行した。"))[:2] == (
        "データベース",
        "移行",
    )
    assert key_topics(chatter("데이터베이스를 바꾸자", "데이터베이스는 느리다"))[0] == (
        "데이터베이스"
    )


@pytest.mark.row("S2.3.4")
@given(talks, st.integers(0, 12))
def test_topics_are_few_and_all_different(said: list[Message], most: int) -> None:
    found = key_topics(said, most)
    assert len(found) <= most
    assert len({topic.casefold() for topic in found}) == len(found)


def test_merged_topics_put_first_what_lasted() -> None:
    found = merged_topics(("Redis", "tests", "parser"), ("testing", "lexer", "redis"), 4)
    assert found == ("testing", "redis", "lexer", "parser")


@pytest.mark.row("S2.3.8")
@given(st.lists(texts, max_size=9), st.lists(texts, max_size=9), st.integers(0, 9))
def test_merged_topics_are_bounded_and_taken_from_both(
    one_: list[str], other: list[str], most: int
) -> None:
    found = merged_topics(one_, other, most)
    assert len(found) <= most
    assert set(found) <= {*one_, *other}
    assert merged_topics(found, found, most) == found


@pytest.mark.row("S2.3.7")
def test_two_summaries_become_earlier_and_then() -> None:
    found = merged("Ada: We chose Valkey.", "Bob: It runs.", count_tokens, 100)
    assert found == "Earlier: Ada: We chose Valkey.\n\nThen: Bob: It runs."


def test_merging_again_leaves_two_parts() -> None:
    first = merged("Ada: One is 1.", "Bob: Two is 2.", count_tokens, 100)
    second = merged("Ada: Three is 3.", "Bob: Four is 4.", count_tokens, 100)
    assert merged(first, second, count_tokens, 100) == (
        "Earlier: Ada: One is 1.\nBob: Two is 2.\nAda: Three is 3.\n\nThen: Bob: Four is 4."
    )


def test_what_is_too_long_loses_the_least_telling_of_the_older_part() -> None:
    older = "Ada: It was nice to be there again. We chose PostgreSQL 15 on 14 March."
    assert merged(older, "Bob: Redis is switched off.", count_tokens, 28) == (
        "Earlier: Ada: We chose PostgreSQL 15 on 14 March.\n\nThen: Bob: Redis is switched off."
    )


@given(st.lists(texts, min_size=2, max_size=5), st.integers(4, 60))
def test_merged_summaries_are_bounded_flat_and_never_empty(parts: list[str], most: int) -> None:
    found = parts[0]
    for part in parts[1:]:
        found = merged(found, part, count_tokens, most)
        assert count_tokens(found) <= most
        assert found.count(THEN) <= 1 or THEN in "".join(parts)
        assert found.count(EARLIER) <= 1 or EARLIER in "".join(parts)
    assert bool(found.strip()) >= any(part.strip() for part in parts[-1:])


@given(talks, talks, st.integers(30, 200))
def test_sentences_are_merged_whole(one_: list[Message], other: list[Message], most: int) -> None:
    before, after = (summarise(said, count_tokens, 0.5) for said in (one_, other))
    known = {text for line in f"{before}\n{after}".splitlines() for text in _told(line)}
    found = merged(before, after, count_tokens, most)
    if "…" not in found:
        lines = found.replace(EARLIER, "").replace(THEN, "").splitlines()
        assert {text for line in lines for text in _told(line)} <= known


def _told(line: str) -> list[str]:
    """Return a line's sentences; a dash is a bullet only where a line begins with it."""
    said = split_sentences(re.sub(r"\A(?:Ada|Bob Lee|艾达|user): ", "", line))
    return [text.removeprefix("- ") for text in said]
