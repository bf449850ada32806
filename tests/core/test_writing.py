"""The writing rules: labelled texts, the measures they reach, and what no text can do to them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem.core.style_rules import MOST_CHARACTERS, lints
from tests.work import STALLED, WITHIN, calls, seconds

SOUND = """\
Ana Reyes leads the platform team.
The release train leaves every second Tuesday.
The orders service keeps its data in PostgreSQL.|pronouns
Mira prefers short answers with a code example.
The staging cluster runs in Frankfurt.
Deployments need two approvals from the platform team.
The user works on the billing service.
Invoices are sent on the first working day of a month.
The search index is rebuilt at night because the morning load is high.
Jonas Weber is the customer's contact at Halden Freight.
The API returns 429 when a client sends more than 50 requests per second.
Customer data must not leave the European Union.
The team chose trunk-based development in March.
The mobile app supports Android 10 and later.
Tests run with pytest and hypothesis.
The budget for the migration is 40,000 euros.
Priya wants weekly summaries on Fridays. Nobody else receives summaries.
The payment provider retries a webhook five times. The sixth failure raises an alarm.
The project uses Python 3.12 and typer.
Secrets are kept in the vault, never in the repository.
The US office closes at 17:00.
Logs are deleted after 30 days.
The button that starts an export says "Give me my data".
Version 2.4 dropped support for Node 16.
The I/O scheduler is set to `none`.
IT approves every new vendor.
Sam reports to Lena since the reorganisation.
The customer pays by bank transfer.
Feature flags expire after 90 days.
Dr. Okafor reviews the medical texts.
The nightly job takes about 40 minutes.
The cache holds sessions for 12 hours.
The user likes tables more than long paragraphs.
Pull requests above 400 lines are split.
The design system has six shades of grey.
Backups are copied to a second region.
The office in Porto opens in May.
Kubernetes upgrades happen every quarter.
The parser reads at most 1 MB per file.
The order number is unique per tenant, e.g. per shop.
Errors are reported in English and German.
The vendor's contract ends on 31 March 2027."""

BROKEN = """\
I prefer dark mode.|third_person
We use PostgreSQL for orders.|third_person
My manager is Alec.|third_person
You should deploy on Fridays.|third_person
Please send your reports to Mira.|third_person
Our release is on Monday.|third_person
I'm allergic to long meetings.|third_person
Let's keep the old name for now.|third_person complete
We've moved the cluster to Frankfurt.|third_person
The vendor told us about the price.|third_person
The backlog is mine.|third_person
You're responsible for the invoices.|third_person
We don't support Windows.|third_person
The key was given to me in May.|third_person
She leads the platform team.|pronouns
He prefers short answers.|pronouns
They moved to the Design team last week.|pronouns
It runs in Frankfurt.|pronouns
Ana said her team is full.|pronouns
The service lost its connection.|pronouns
Jonas told them about the plan.|pronouns
The data is theirs.|pronouns
It's slow on Mondays.|pronouns
Mira asked him for a review.|pronouns
The team keeps their own calendar.|pronouns
The parser repairs itself after an error.|pronouns
I told her that the plan changed.|third_person pronouns
We think it works.|third_person pronouns
You said they are late.|third_person pronouns
My team likes it.|third_person pronouns
PostgreSQL|complete
dark mode|complete
Alec: boss|complete
deploy script|complete
The following rules hold:|complete
Frankfurt, staging cluster|complete
Friday due dates|complete
release on Tuesday|complete
blue and green deployment|complete
Mira, head of design,|complete
The deploy failed again!|tone
NEVER TOUCH the main branch again, that is forbidden.|tone
The build is broken!!!|tone
The new API is amazing!|tone
DONT PUSH anything on Fridays is the rule.|tone
I love this so much!|third_person tone
It works!|pronouns tone complete
One service runs in Graz. Another one runs in Dublin. The third one runs in Oslo.|sentences
Ana leads design. Ben leads sales. Cleo leads support. Dan leads operations.|sentences
The plan changed. Nobody was told. The release slipped. The customer noticed.|sentences
Was the price raised? Nobody knows. The vendor is silent.|sentences
We met. We talked. We left.|sentences third_person
The bug is fixed. It was a race. They found the cause.|sentences pronouns
LONG|length
LONGER|length sentences"""

EPISODES = """\
The team chose PostgreSQL over MySQL.
Mira fixed the login bug by renewing the certificate.
The migration was finished on 3 May.
Jonas and Priya agreed on a price of 40 euros.
The deployment failed because the disk was full.
The customer met the platform team in Porto.
Ben wrote the first draft of the contract.
The outage lasted 40 minutes and hit two regions.
Lena told the vendor about the delay.
The group decided to drop Node 16.
The build broke after the upgrade. Sam found the cause.
The plan was cut to three milestones.
Cleo ran the load test at night.
The team is moving to Porto.|past_tense
Mira fixes the login bug.|past_tense
The migration will be finished in May.|past_tense
Jonas and Priya agree on a price.|past_tense
The customer wants a new contract.|past_tense
The group is going to drop Node 16.|past_tense
The deployment fails when the disk is full.|past_tense
Ben writes the first draft of the contract.|past_tense
The team needs a bigger budget.|past_tense
We chose PostgreSQL.|third_person
They fixed the bug.|pronouns
I fix the bug.|third_person past_tense
It is done.|pronouns
Fixed!|complete tone"""

LONG = {
    "LONG": "The contract says that " + "the vendor delivers, " * 14 + "and the customer pays.",
    "LONGER": "The vendor delivers the first part of the work in the spring of the year. " * 5,
}


def labelled(lines: str) -> list[tuple[str, frozenset[str]]]:
    """Return texts, and the rules that each breaks."""
    pairs = (line.partition("|") for line in lines.splitlines())
    return [(LONG.get(text, text), frozenset(rules.split())) for text, _, rules in pairs]


TEXTS = [(text, want, False) for text, want in labelled(SOUND) + labelled(BROKEN)]
TEXTS += [(text, want, True) for text, want in labelled(EPISODES)]


def broken(text: str, episodic: bool = False) -> set[str]:
    """Return the names of the rules that a text breaks."""
    return {lint.rule for lint in lints(text, episodic=episodic)}


@pytest.mark.row("S1.9.1", "S1.9.4")
def test_the_labelled_texts_are_judged_with_few_mistakes() -> None:
    found = [(broken(text, episodic), want) for text, want, episodic in TEXTS]
    right = sum(len(got & want) for got, want in found)
    precision = right / sum(len(got) for got, _ in found)
    recall = right / sum(len(want) for _, want in found)
    assert len(TEXTS) >= 120
    assert precision >= 0.95, precision
    assert recall >= 0.95, recall


def test_nearly_all_sound_texts_pass_at_once() -> None:
    sound = [(text, episodic) for text, want, episodic in TEXTS if not want]
    assert sum(not broken(*text) for text in sound) / len(sound) >= 0.95


@pytest.mark.row("S1.9.1")
@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("We use PostgreSQL for orders.", "third_person"),
        ("She leads the platform team.", "pronouns"),
        ("dark mode", "complete"),
        ("The build is broken!", "tone"),
        ("One is here. Two is there. Three is gone.", "sentences"),
        (f"The {'very ' * 60}long plan was written.", "length"),
    ],
)
def test_a_broken_rule_is_named_with_what_to_do(text: str, rule: str) -> None:
    (lint,) = lints(text)
    assert lint.rule == rule
    assert lint.sentence


def test_words_in_quotation_marks_are_not_the_writers() -> None:
    assert broken('The button says "Give me my data".') == set()
    assert broken("The flag `--my-data` prints everything.") == set()


def test_abbreviations_end_no_sentence() -> None:
    assert broken("Dr. Okafor reviews texts, e.g. labels. Mr. Lind signs the texts.") == set()


@pytest.mark.parametrize(
    "text", ["请记住数据库使用 PostgreSQL。", "データベースはオスロにあります。", "🙂🙂🙂"]
)
def test_other_scripts_are_held_to_their_size_only(text: str) -> None:
    assert broken(text) <= {"length", "sentences", "complete"}
    assert broken("规则。" * 3) == {"sentences"}


def test_an_empty_text_breaks_no_rule() -> None:
    assert lints("") == lints("   ") == []


@given(st.text(max_size=400))
def test_every_text_is_judged_the_same_every_time(text: str) -> None:
    found = lints(text)
    assert found == lints(text)
    assert len({lint.rule for lint in found}) == len(found)
    assert ("length" in broken(text)) == (len(text.strip()) > MOST_CHARACTERS)


@pytest.mark.parametrize("piece", ["a", "a. ", '"', "`", "I ", "A.", "'/-", "é", "。"])
def test_a_long_text_is_judged_quickly(piece: str) -> None:
    text = piece * (1_000_000 // len(piece))
    assert calls(lambda: lints(text, episodic=True)) < WITHIN * 500
    assert seconds(lambda: lints(text, episodic=True)) < STALLED
