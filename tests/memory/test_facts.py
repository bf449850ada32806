"""Facts: noted as messages state them, each once, promoted to memories or rejected."""

import os
from typing import Any

import orjson
import pytest

from pmem import Project
from pmem.errors import Ambiguous, InvalidValue, NotFound
from pmem.memory.facts import FactsRequest, Stated
from pmem.values.ids import short
from pmem.values.records import Fact, MemoryType, Message, Standing
from tests.conftest import NOW
from tests.storage.in_memory import InMemory

CERTAIN = "Remember that the staging port is 8443."
FACT = "the staging port is 8443"
LIKELY = "I prefer tabs over spaces."
PREFERRED = "The user prefers tabs over spaces"
RULE = "We must never log passwords."


def project(**overrides: Any) -> Project:
    made = Project(actor="tester", now=NOW, backend=InMemory(), **overrides)
    made.start_conversation("Set-up")
    return made


def shy(**overrides: Any) -> Project:
    """Return a project in which nothing is promoted unless somebody says so."""
    return project(promotion_threshold=1.0, **overrides)


def imported(made: Project, *contents: str, name: str = "talk") -> None:
    made.import_messages(lines(*contents, name=name))


def lines(*contents: str, name: str = "talk") -> list[bytes]:
    return [
        orjson.dumps(
            {
                "id": str(number),
                "conversation": name,
                "role": "user",
                "content": content,
                "timestamp": f"2026-01-0{1 + number // 50}T10:{number % 50:02d}:00Z",
            }
        )
        for number, content in enumerate(contents)
    ]


def pending(made: Project) -> list[str]:
    return [item.fact.content for item in made.facts().items]


def every(made: Project) -> list[tuple[str, str]]:
    return [(i.fact.content, i.fact.standing.value) for i in made.facts(standing=None).items]


def remembered(made: Project) -> list[str]:
    return [memory.content for memory in made.list().items]


def only(made: Project, **wanted: Any) -> Stated:
    (found,) = made.facts(**wanted).items
    return found


def chatter(made: Project, count: int = 25) -> None:
    """Say what states nothing, so that everything before it moves into chunks."""
    for number in range(count):
        made.add_message("user", f"Line {number} of the log?")


# Noted


@pytest.mark.row("S2.8.5", "S2.8.6")
def test_what_is_said_is_noted_with_where_and_when() -> None:
    made = shy()
    heard = made.add_message("user", f"{LIKELY} {RULE}")
    first, second = heard.facts
    assert (first.content, first.type) == (PREFERRED, MemoryType.PREFERENCE)
    assert (second.content, second.type) == ("We must never log passwords", MemoryType.CONSTRAINT)
    assert {fact.message for fact in heard.facts} == {heard.message.id}
    assert {fact.extracted_at for fact in heard.facts} == {NOW}
    assert {fact.standing for fact in heard.facts} == {Standing.PENDING}
    assert only(made, types=(MemoryType.PREFERENCE,)).conversation == heard.conversation


def test_a_transcript_states_facts_too_and_promotes_none() -> None:
    made = project()
    imported(made, CERTAIN, LIKELY, "How are you?")
    assert every(made) == [(FACT, "pending"), (PREFERRED, "pending")]
    assert remembered(made) == []


@pytest.mark.parametrize("role", ["system", "tool"])
def test_systems_and_tools_state_nothing(role: str) -> None:
    made = project()
    assert made.add_message(role, f"{CERTAIN} {RULE}").facts == ()
    assert every(made) == []


def test_facts_can_be_left_alone() -> None:
    made = project(extract_facts=False)
    assert made.add_message("user", CERTAIN).facts == ()
    imported(made, CERTAIN)
    assert every(made) == []
    assert remembered(made) == []


# Never twice


def test_two_conversations_share_a_fact() -> None:
    made = shy()
    first = made.add_message("user", LIKELY)
    made.start_conversation("Another")
    made.add_message("user", LIKELY)
    imported(made, LIKELY)
    assert made.facts().total == 1
    assert made.facts(conversation=first.conversation).total == 1
    (rejected,) = made.reject_facts(short(first.facts[0].id))
    assert every(made) == [(PREFERRED, "rejected")]
    assert rejected.standing is Standing.REJECTED


@pytest.mark.parametrize("lines_between", [0, 25])
def test_what_was_rejected_never_comes_back(lines_between: int) -> None:
    made = project(promotion_threshold=0.8)
    imported(made, LIKELY)  # which promotes nothing
    made.reject_facts(only(made).fact.id)
    chatter(made, lines_between)
    heard = made.add_message("user", LIKELY)
    made.start_conversation("Another")
    again = made.add_message("user", "i prefer tabs over spaces")
    assert (heard.facts, heard.promoted, again.facts, again.promoted) == ((), (), (), ())
    assert every(made) == [(PREFERRED, "rejected")]
    assert remembered(made) == []


def test_what_was_promoted_is_not_promoted_again() -> None:
    made = project()
    heard = made.add_message("user", CERTAIN)
    chatter(made)
    made.start_conversation("Another")
    again = made.add_message("user", CERTAIN.upper())
    assert len(heard.promoted) == 1
    assert again.promoted == ()
    assert remembered(made) == [FACT]
    assert [standing for _, standing in every(made)] == ["promoted"]


def test_a_memory_that_somebody_removed_is_not_brought_back_by_saying_it_again() -> None:
    made = project()
    (promotion,) = made.add_message("user", CERTAIN).promoted
    made.remove(promotion.memory.id)
    made.start_conversation("Another")
    made.add_message("user", CERTAIN)
    assert remembered(made) == []


# Edited transcripts


def test_an_edited_message_states_what_it_says_now() -> None:
    made = shy()
    imported(made, LIKELY, RULE)
    imported(made, "I prefer spaces over tabs.", RULE)
    assert sorted(pending(made)) == [
        "The user prefers spaces over tabs",
        "We must never log passwords",
    ]


@pytest.mark.parametrize("before", [2, 45])
def test_what_was_settled_survives_the_edit_of_its_message(before: int) -> None:
    made = shy()
    talk = [LIKELY, RULE, *(f"Line {number}?" for number in range(before))]
    imported(made, *talk)
    made.promote_facts(only(made, types=(MemoryType.PREFERENCE,)).fact.id)
    made.reject_facts(only(made, types=(MemoryType.CONSTRAINT,)).fact.id)
    imported(made, f"{LIKELY} That is all.", f"Well: {RULE}", *talk[2:])
    assert sorted(every(made)) == [
        (PREFERRED, "promoted"),
        ("We must never log passwords", "rejected"),
    ]
    assert remembered(made) == [PREFERRED]
    assert made.check().findings == ()


# Promotion


@pytest.mark.row("S2.2.4")
def test_what_is_certain_becomes_a_memory_at_once() -> None:
    made = project()
    heard = made.add_message("user", f"{CERTAIN} {LIKELY}")
    (promotion,) = heard.promoted
    memory = promotion.memory
    assert (memory.content, memory.type, promotion.added) == (FACT, MemoryType.FACT, True)
    assert (memory.source.kind, memory.source.conversation, memory.source.message) == (
        "conversation",
        heard.conversation,
        heard.message.id,
    )
    assert pending(made) == [PREFERRED]
    assert [fact.standing for fact in heard.facts] == [Standing.PROMOTED, Standing.PENDING]
    assert made.transcript().conversation.active_facts == (memory.id,)


@pytest.mark.row("S2.8.7")
@pytest.mark.parametrize(("threshold", "is_promoted"), [(0.8, True), (0.81, False), (1.0, False)])
def test_the_threshold_decides(threshold: float, is_promoted: bool) -> None:
    made = project(promotion_threshold=threshold)
    heard = made.add_message("user", LIKELY)
    assert heard.facts[0].confidence == 0.8
    assert bool(heard.promoted) is is_promoted


@pytest.mark.row("S2.8.8")
def test_a_fact_is_promoted_by_hand() -> None:
    made = shy()
    heard = made.add_message("user", LIKELY)
    (promotion,) = list(made.promote_facts(short(heard.facts[0].id)))
    assert promotion.added
    assert promotion.fact.memory == promotion.memory.id
    assert promotion.memory.source.message == heard.message.id
    assert made.transcript().conversation.active_facts == (promotion.memory.id,)
    assert list(made.promote_facts(heard.facts[0].id)) == []
    assert remembered(made) == [PREFERRED]


def test_facts_of_a_confidence_are_promoted_together() -> None:
    made = shy()
    made.add_message("user", f"{CERTAIN} {LIKELY} The deploy script lives in tools/deploy.sh.")
    assert [item.fact.confidence for item in made.facts().items] == [0.95, 0.8, 0.7]
    assert contents(made.promote_facts(above=0.8)) == [FACT, PREFERRED]
    assert pending(made) == ["The deploy script lives in tools/deploy.sh"]
    assert contents(made.promote_facts(above=0.8)) == []


def contents(promotions: Any) -> list[str]:
    return [promotion.memory.content for promotion in promotions]


@pytest.mark.parametrize("above", [-0.1, 1.1, float("nan"), None])
def test_a_confidence_must_be_a_share_where_no_fact_is_named(above: float | None) -> None:
    with pytest.raises(InvalidValue, match="between 0 and 1" if above else "no fact is named"):
        shy().promote_facts(above=above)


@pytest.mark.row("S1.13.5")
@pytest.mark.parametrize("by_hand", [True, False])
@pytest.mark.parametrize(
    "content",
    [FACT, "The staging port is 8443.", "THE STAGING PORT IS 8443", "Staging port is 8443!"],
)
def test_a_memory_that_says_the_same_is_taken(content: str, by_hand: bool) -> None:
    made = shy() if by_hand else project()
    known = made.add(content).memory
    heard = made.add_message("user", CERTAIN)
    done = list(made.promote_facts(heard.facts[0].id)) if by_hand else list(heard.promoted)
    assert [(item.memory.id, item.added) for item in done] == [(known.id, False)]
    assert remembered(made) == [content]
    assert made.transcript().conversation.active_facts == (known.id,)


@pytest.mark.row("S1.13.5")
def test_f125_a_memory_that_says_otherwise_leaves_the_fact_pending_and_stands_beside_it() -> None:
    made = project()
    known = made.add("Mira is the author", subject="Mira").memory
    heard = made.add_message("user", "Remember that Mira is the designer.")
    assert (heard.promoted, [one.memory for one in heard.unpromoted]) == ((), [known.id])
    assert list(made.promote_facts(above=0.5)) == []
    assert pending(made) == ["Mira is the designer"]
    (promotion,) = list(made.promote_facts(heard.facts[0].id))
    assert (promotion.added, promotion.beside and promotion.beside.id) == (True, known.id)
    assert sorted(remembered(made)) == ["Mira is the author", "Mira is the designer"]


@pytest.mark.row("S1.9.7")
def test_f105_what_does_not_say_whom_it_means_waits_for_somebody_who_names_it() -> None:
    made = project()
    heard = made.add_message("user", "Remember that they live in the tower.")
    assert [one.fact for one in heard.unpromoted] == [heard.facts[0].id]
    assert list(made.promote_facts(above=0.5)) == []
    assert pending(made) == ["they live in the tower"]
    assert contents(made.promote_facts(heard.facts[0].id)) == ["they live in the tower"]


@pytest.mark.row("S1.13.7")
def test_what_a_person_says_of_himself_is_a_memory_about_him() -> None:
    made = project()
    for said in ("Remember that I work from Graz.", "Remember that I sing in a choir."):
        (promotion,) = made.add_message("user", said, speaker="Ada").promoted
        memory = promotion.memory
        assert memory.content.startswith("Ada ")
        assert (memory.subject, memory.scope.user) == ("Ada", "Ada")
    assert len(remembered(made)) == 2


@pytest.mark.row("S1.13.7")
def test_a_rule_concerns_everyone_whoever_said_it() -> None:
    made = project()
    (promotion,) = made.add_message("user", CERTAIN, speaker="Ada").promoted
    assert (promotion.fact.user, promotion.memory.subject) == ("Ada", None)
    assert promotion.memory.scope.user is None


def test_a_memory_that_says_the_same_counts_before_one_on_the_same_subject() -> None:
    made = project()
    made.add("Mira writes the docs", subject="Mira")
    known = made.add("Mira is the designer.", subject="Mira", force=True).memory
    (promotion,) = made.add_message("user", "Remember that Mira is the designer.").promoted
    assert (promotion.memory.id, promotion.added) == (known.id, False)


@pytest.mark.parametrize("known", ["BEN, LIVES, IN, HAMBURG!", "Ben lives in Hamburg"])
def test_what_a_memory_says_already_needs_no_consent(known: str) -> None:
    made = shy()
    memory = made.add(known).memory
    heard = made.add_message("user", "Ben lives in Hamburg.", speaker="Ada")
    done = made.promote_facts(heard.facts[0].id)
    assert [(one.memory.id, one.added) for one in done] == [(memory.id, False)]


def test_what_the_settings_do_not_allow_stays_pending_and_say_goes_on() -> None:
    made = project(**{"categories.names": ("project",), "categories.strict": True})
    heard = made.add_message("user", f"{CERTAIN} We decided to use PostgreSQL.")
    assert contents(heard.promoted) == ["We decided to use PostgreSQL"]
    assert pending(made) == [FACT]
    with pytest.raises(InvalidValue, match="categories"):
        made.promote_facts(only(made).fact.id)
    assert pending(made) == [FACT]


def test_facts_of_messages_in_chunks_can_be_promoted_and_rejected() -> None:
    made = shy()
    heard = made.add_message("user", f"{LIKELY} {RULE}")
    chatter(made)
    assert made.transcript().conversation.facts == ()
    assert len(made.transcript().chunks[0].facts) == 2
    (promotion,) = list(made.promote_facts(heard.facts[0].id))
    made.reject_facts(heard.facts[1].id)
    assert [fact.standing for fact in made.transcript().chunks[0].facts] == [
        Standing.PROMOTED,
        Standing.REJECTED,
    ]
    assert made.transcript().conversation.active_facts == (promotion.memory.id,)
    assert pending(made) == []


def test_what_was_promoted_in_a_chunk_cannot_be_rejected_through_its_repetition() -> None:
    made = shy()
    (fact,) = made.add_message("user", LIKELY).facts
    chatter(made)
    made.promote_facts(fact.id)
    made.start_conversation("Another")
    made.add_message("user", LIKELY)
    with pytest.raises(InvalidValue, match="is the memory"):
        made.reject_facts(short(fact.id))
    assert every(made) == [(PREFERRED, "promoted")]


def test_rejecting_is_all_or_nothing() -> None:
    made = project()
    heard = made.add_message("user", f"{CERTAIN} {LIKELY}")
    with pytest.raises(InvalidValue, match="is the memory"):
        made.reject_facts(heard.facts[1].id, heard.facts[0].id)
    assert pending(made) == [PREFERRED]


def test_a_rejected_fact_can_still_be_promoted_by_name_but_not_by_confidence() -> None:
    made = shy()
    (fact,) = made.add_message("user", LIKELY).facts
    made.reject_facts(fact.id)
    assert list(made.promote_facts(above=0)) == []
    assert contents(made.promote_facts(fact.id)) == [PREFERRED]
    assert every(made) == [(PREFERRED, "promoted")]


# References


def test_a_reference_is_the_start_of_either_part_of_an_id() -> None:
    made = shy()
    first, second = made.add_message("user", f"{LIKELY} {RULE}").facts
    with pytest.raises(Ambiguous, match="fits the facts") as caught:
        made.reject_facts(first.id.split("-")[0])
    assert short(first.id) in caught.value.message
    assert short(second.id) in caught.value.message
    (rejected,) = made.reject_facts(short(first.id)[:5])
    assert rejected.content == first.content


@pytest.mark.parametrize("reference", ["", "zzzzzzzz", "no such fact"])
def test_an_unknown_reference_says_so(reference: str) -> None:
    made = shy()
    made.add_message("user", LIKELY)
    for change in (made.promote_facts, made.reject_facts):
        with pytest.raises(NotFound, match="no fact"):
            change(reference)
    assert pending(made) == [PREFERRED]


# On disk


def test_a_transcript_makes_the_same_bytes_in_two_clones() -> None:
    talk = lines(*(f"{LIKELY} {RULE} Item {number} matters." for number in range(30)), CERTAIN)
    for name in ("one", "two"):
        Project(name, actor=name).import_messages(talk)
    Project("two", actor="two").import_messages(talk)
    assert files("one") == files("two")
    assert any(b'"standing"' not in data and b'"facts"' in data for data in files("one").values())


def files(root: str) -> dict[str, bytes]:
    found = {}
    for folder in ("conversations", "conversation-chunks"):
        for name in sorted(os.listdir(f"{root}/{folder}")):
            with open(f"{root}/{folder}/{name}", "rb") as file:
                found[f"{folder}/{name}"] = file.read()
    return found


def test_every_fact_lies_with_its_message() -> None:
    made = shy(max_recent_messages=4, chunk_size=2)
    for number in range(12):
        made.add_message("user", f"We must never log secret {number}.")
    shown = made.transcript()
    parts = [(chunk.messages, chunk.facts) for chunk in shown.chunks]
    parts.append((shown.conversation.recent_messages, shown.conversation.facts))
    held: list[tuple[tuple[Message, ...], tuple[Fact, ...]]] = parts
    for messages, facts in held:
        assert {fact.message for fact in facts} == {message.id for message in messages}
    assert made.facts().total == 12


def test_a_listing_can_be_narrowed() -> None:
    made = shy()
    made.add_message("user", f"{CERTAIN} {LIKELY} {RULE}")
    assert made.facts(limit=1).total == 3
    assert [item.fact.content for item in made.facts(limit=1).items] == [FACT]
    assert made.facts(above=0.9).total == 1
    assert only(made, types=(MemoryType.CONSTRAINT,)).fact.content == "We must never log passwords"
    assert made.facts(conversation=made.start_conversation().id).total == 0
    assert FactsRequest().standing is Standing.PENDING


CORRECTED = "The user asked to use 8082 instead (before: The port is 8081)"


@pytest.mark.parametrize("way", ["said", "imported"])
def test_a_correction_takes_the_place_of_what_it_corrects(way: str) -> None:
    made = project()
    said = ("The port is 8081.", "No, use 8082 instead.", "The limit is 9.")
    if way == "imported":
        imported(made, *said)
    else:
        heard = [made.add_message("user", one) for one in said]
        assert [fact.content for fact in heard[1].facts] == [CORRECTED]
        assert [fact.content for fact in heard[2].facts] == ["The limit is 9"]
    assert sorted(pending(made)) == ["The limit is 9", CORRECTED]


def test_a_correction_leaves_alone_what_was_settled_or_said_long_before() -> None:
    made = project()
    made.add_message("user", "The port is 8081.")
    made.promote_facts(only(made).fact.id)
    made.add_message("user", "No, use 8082 instead.")
    assert len(every(made)) == 2
    late = project()
    late.add_message("user", "The port is 8081.")
    for _ in range(4):
        late.add_message("assistant", "I see.")
    late.add_message("user", "No, use 8082 instead.")
    assert len(pending(late)) == 2
