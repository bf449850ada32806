"""Architecture decision records: Nygard's form and MADR's."""

from datetime import date

from hypothesis import given
from hypothesis import strategies as st

from pmem.interchange.adr import DecisionRecord, RecordName, read_decision

NYGARD = """# 7. Use RabbitMQ

Date: 2026-01-12

## Status

Superseded by [9. Use PostgreSQL](0009-postgresql.md)

## Context

We need a queue.

## Decision

We will use RabbitMQ
because it routes by topic.

More of it.

## Consequences

One more server.
"""
MADR = """---
status: accepted
date: 2026-05-02
---
# Use PostgreSQL as the queue

## Context and Problem Statement

RabbitMQ lost messages.

## Considered Options

* PostgreSQL
* RabbitMQ with mirrored queues
* Kafka

## Decision Outcome

Chosen option: "PostgreSQL", because it is there already.

### Consequences

* Good, because one server less.
"""


def decision(name: str, text: str) -> DecisionRecord:
    found = read_decision(name, text)
    assert isinstance(found, DecisionRecord), found
    return found


def number(name: RecordName | None) -> int | None:
    return None if name is None else name.number


def test_nygards_form_is_read() -> None:
    found = decision("0007-rabbitmq.md", NYGARD)
    assert (found.number, found.title, found.state) == (7, "Use RabbitMQ", "superseded")
    assert found.day == date(2026, 1, 12)
    assert found.decision == "We will use RabbitMQ because it routes by topic. More of it."
    assert (number(found.superseded_by), found.supersedes, found.rejected) == (9, None, ())
    first, last = found.lines
    assert NYGARD.splitlines()[first - 1] == "## Decision"
    assert NYGARD.splitlines()[last - 1] == "More of it."


def test_madrs_form_is_read_with_what_was_rejected() -> None:
    found = decision("adr-0009-postgresql.md", MADR)
    assert (found.number, found.state, found.day) == (9, "accepted", date(2026, 5, 2))
    assert found.decision == 'Chosen option: "PostgreSQL", because it is there already.'
    assert found.rejected == ("RabbitMQ with mirrored queues", "Kafka")


def test_what_was_chosen_is_not_among_what_was_rejected() -> None:
    chosen = (
        "* [RabbitMQ](r.md)\n* [PostgreSQL](https://example.org/p)\n* Kafka, with\n  one server\n"
    )
    text = MADR.replace('"PostgreSQL"', "**[PostgreSQL](#p)**")
    head, _, rest = text.partition("* PostgreSQL")
    found = decision("1-x.md", f"{head}{chosen}{rest.partition('Kafka')[2]}")
    assert found.rejected == ("RabbitMQ", "Kafka, with one server")
    assert found.decision == "Chosen option: PostgreSQL, because it is there already."


def test_options_may_have_headings_of_their_own() -> None:
    options = "### PostgreSQL\n\n* Good\n\n### Kafka\n\n* Bad, as it is large\n"
    head, _, rest = MADR.partition("* PostgreSQL\n")
    found = decision(
        "1-x.md", f"{head}{options}\n## Decision Outcome{rest.partition('Outcome')[2]}"
    )
    assert found.rejected == ("Kafka",)
    text = NYGARD.replace(
        "## Consequences", "## Alternatives\n\n### Use files\n\nSlow.\n\n## Consequences"
    )
    assert decision("1-x.md", text).rejected == ("Use files",)


def test_the_chosen_one_is_known_by_its_name() -> None:
    head, rest = MADR.split("* PostgreSQL\n", maxsplit=1)[0], MADR.split("## Decision Outcome")[1]
    options = "### Option 1: PostgreSQL\n\n* Good\n\n### Option 2: Kafka\n"
    found = decision("1-x.md", f"{head}{options}\n## Decision Outcome{rest}")
    assert found.rejected == ("Option 2: Kafka",)
    others = "## Alternatives\n\n- RabbitMQ: routes by topic\n- Files: slow\n\n### Cost\n\nLow.\n\n"
    text = NYGARD.replace("## Consequences", f"{others}## Consequences")
    assert decision("1-x.md", text).rejected == ("Files: slow",)


def test_a_superseded_record_in_another_form_is_called_superseded() -> None:
    text = "# 10. Tests\n\n## Status\n\nSuperseded\n\n## What we do\n\nNothing.\n"
    assert read_decision("10-tests.md", text) == "is superseded"
    found = decision("1-x.md", NYGARD.replace("## Decision\n", "## Decisions\n"))
    assert found.decision.startswith("We will use RabbitMQ")


def test_a_record_may_say_what_it_supersedes() -> None:
    text = "# 9. Queue\n\n## Status\n\nAccepted, supersedes ADR-0007\n\n## Decision\n\nIt is so.\n"
    found = decision("9-queue.md", text)
    assert (number(found.supersedes), found.superseded_by, found.state) == (7, None, "accepted")


def test_what_has_no_decision_is_none() -> None:
    for text in ("# Decisions\n\nThey stand here.\n", "# 1. Title\n\n## Decision\n"):
        assert "no section Decision" in str(read_decision("README.md", text))


@given(st.text(max_size=400))
def test_any_text_is_read(text: str) -> None:
    read_decision("0001-x.md", text)
    read_decision("0001-x.md", f"# 1. Title\n\n## Status\n\n{text}\n\n## Decision\n\n{text}\n")


POINTS = "".join(f"- **Rule {n} holds.** {'It does so for a reason. ' * 12}\n" for n in range(6))


def test_each_point_of_a_long_decision_is_told_and_what_is_cut_is_named() -> None:
    text = NYGARD.replace("More of it.\n", f"More of it.\n\n{POINTS}\n### Rejected\n\n- No rules\n")
    found = decision("1-x.md", text)
    assert found.decision.startswith("We will use RabbitMQ because it routes by topic. More of it.")
    assert all(f"Rule {n} holds." in found.decision for n in range(6))
    assert len(found.decision) <= 1500
    assert found.decision.endswith(".")
    assert found.rejected == ("No rules",)
    shortened = [part.lines for part in found.left_out if part.what == "shortened bullet"]
    assert shortened == [(n, n) for n in range(20, 26)]


def test_a_reason_ends_with_a_sentence_and_has_both_ends_of_what_is_said() -> None:
    ways = "".join(f"- Way {n} is {'too slow ' * 8}here.\n" for n in range(5))
    context = f"It is slow. {'It was slow before. ' * 12}\n\n{ways}"
    found = decision("1-x.md", NYGARD.replace("We need a queue.\n", context))
    assert found.context.startswith("It is slow. Way 0 is too slow")
    assert found.context.endswith("here.")
    assert "Way 4" in found.context
    assert "Way 2" not in found.context
    assert [part.what for part in found.left_out] == ["shortened paragraph", "bullet"]


def test_what_binds_is_kept_before_what_is_told() -> None:
    told = " ".join(f"The old queue was read by service number {n} at night." for n in range(40))
    binds = "Nobody may start it again. Do not remove its table before May."
    for heading, part in (("Decision", "decision"), ("Consequences", "consequences")):
        text = NYGARD.replace(f"## {heading}\n", f"## {heading}\n\nWe drop it. {told} {binds}\n")
        found = read_decision("0007.md", text)
        assert isinstance(found, DecisionRecord)
        assert getattr(found, part).startswith("We drop it. The old queue")
        assert "Do not remove its table before May." in getattr(found, part)


def test_what_it_costs_stands_beside_what_it_brings() -> None:
    good = "".join(f"- Good, because of {'a long reason, ' * 5}number {n}.\n" for n in range(6))
    one_list = f"{good}- Bad, because the old data has to move.\n"
    headed = (
        f"### Positive Outcomes\n\n{good}\n### Negative Outcomes\n\n- The old data has to move.\n"
    )
    for follows in (one_list, headed):
        text = NYGARD.replace("## Consequences\n\nOne more server.\n", f"## Outcomes\n\n{follows}")
        assert "old data has to move" in decision("1-x.md", text).consequences
        assert "number 0" in decision("1-x.md", text).consequences


def test_what_is_to_be_filled_in_is_left_out() -> None:
    follows = "- Quick\n- {{ NEGATIVE CONSEQUENCE 1 }}\n- Templates write `{{ name }}`\n"
    text = NYGARD.replace("One more server.\n", follows)
    assert decision("1-x.md", text).consequences == "Quick; Templates write `{{ name }}`"


def test_a_reason_is_not_cut_behind_an_abbreviation() -> None:
    context = (
        f"We need a broker, e.g. RabbitMQ or Kafka. {'It has to be fast for all of us. ' * 20}\n"
    )
    found = decision("1-x.md", NYGARD.replace("We need a queue.\n", context))
    assert found.context.startswith("We need a broker, e.g. RabbitMQ or Kafka.")
    assert found.context.endswith("us.")


def test_an_option_that_is_named_otherwise_where_it_is_chosen_is_known_by_its_words() -> None:
    options = "* Keep the queue isolated\n* Make it a non-isolated queue for all\n"
    head, _, rest = MADR.partition("* PostgreSQL\n")
    rest = rest.partition("## Decision")[2].replace('"PostgreSQL"', '"Non-isolated queue"')
    assert decision("1-x.md", f"{head}{options}\n## Decision{rest}").rejected == (
        "Keep the queue isolated",
    )
    unsure = f"{head}* Files\n* Sockets\n\n## Decision{rest}"
    assert decision("1-x.md", unsure).rejected == ()


def test_what_may_have_been_chosen_was_not_rejected() -> None:
    head, _, rest = MADR.partition("* PostgreSQL\n")
    outcome = rest.partition("Outcome\n\n")[2]

    def rejected(options: str, told: str) -> tuple[str, ...]:
        text = f"{head}{options}\n## Decision Outcome\n\n{told}{outcome.partition('.')[2]}"
        return decision("1-x.md", text).rejected

    cups = "* cups\n* glasses by Acme\n"
    assert rejected(cups, "Use cups in the kitchen. The glasses by Acme break too often") == (
        "glasses by Acme",
    )
    assert rejected(cups, "Cups beat the glasses by Acme. We take the first") == ()
    both = "* Take plain plates\n* Paint them by hand, as Delft does\n* Stay with paper\n"
    assert rejected(both, "Chosen option: Take plain plates with Delft. It looks good") == (
        "Stay with paper",
    )


def test_an_option_that_is_chosen_by_its_number_is_named() -> None:
    head, _, rest = MADR.partition("* PostgreSQL\n")
    options = "1. Files\n    * one each\n2. A queue in the database\n3. Kafka\n"
    rest = rest.partition("## Decision")[2].replace('"PostgreSQL"', "Option 2")
    found = decision("1-x.md", f"{head}{options}\n## Decision{rest}")
    assert found.decision.startswith("Chosen option: Option 2 (A queue in the database), because")
    assert found.rejected == ("Files", "Kafka")
    text = f"{head}{options}\n## Decision{rest}".replace("n 2,", "n 3 - Kafka,")
    assert decision("1-x.md", text).rejected == ("Files", "A queue in the database")


def test_brackets_in_code_are_no_link() -> None:
    text = NYGARD.replace("More of it.", "Titles are `<type>[scope][!]: text`, see [it][1].")
    assert decision("1-x.md", text).decision.endswith("are `<type>[scope][!]: text`, see it.")
