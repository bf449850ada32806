"""Which texts and names need consent: labelled statements, and what no text can do to the rules."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem.core.consent import benign, sensitive
from pmem.values.rules import CONSENT_FIELDS as FIELDS
from tests.work import STALLED, seconds

PERSONAL = """\
preferred_name|Please call me Ana
preferred_name|Just call me Teo.
preferred_name|You can call me captain
preferred_name|My name is Ana Reyes
preferred_name|my nickname is Bee
preferred_name|The user's preferred name is Ana.
preferred_name|Preferred name is Ana
preferred_name|The user prefers to be called Ana.
preferred_name|I go by Kit.
preferred_name|The user is called Mirjam.
preferred_name|Everyone calls me Juniper
pronouns|My pronouns are they/them
pronouns|The user's pronouns are she/her.
pronouns|pronouns: he/him
pronouns|The user uses they/them pronouns.
pronouns|I use she/her
pronouns|She prefers neutral pronouns
city|I live in Berlin
city|i live in berlin
city|I currently live in São Paulo.
city|I'm based in Lisbon
city|I am from Kraków
city|The user lives in Oslo.
city|My home address is Elm Street 4
city|My city is Porto
city|The user moved to Graz last year.
city|The user moved to Lisbon
city|I have just moved to Munich.
city|I'm moving to Oslo in June.
language|My mother tongue is Dutch.
city|He is based in Turin.
language|My native language is Polish
language|I speak fluent Portuguese
language|I'm a native Korean speaker
language|The user prefers answers in German.
language|The user speaks Finnish.
language|I prefer to write in French
contact|ana.reyes@halden.io
contact|Reach Ana at ana@example.com
contact|My phone number is 0171 2345678
contact|Call me at +49 171 2345678
contact|The user's number is +1 (555) 010-9999.
contact|My telegram handle is @ana_r
health|I'm allergic to peanuts
health|The user is lactose intolerant.
health|I have type 2 diabetes
health|She was diagnosed with epilepsy.
health|I suffer from migraines
health|My therapist says hello
health|The user has ADHD.
health|I am pregnant
birthday|My birthday is 4 May
birthday|I was born in 1988
birthday|The user is 34 years old.
beliefs|I'm a practising Catholic
beliefs|The user is an atheist.
beliefs|My religion is nobody's business
city|The user Mira lives in Genoa.
city|User based in Lisbon.
city|The user moved to Vienna and lives there.
city|The user, Tomas, lives near Ghent.
city|User Mira Lindt is based in Bergen.
city|The user relocated to Porto in March.
city|The user's home is in Turku.
beliefs|The user votes green.
beliefs|I vote Labour in every election.
beliefs|The user is a member of the Green Party.
health|The user Mira has asthma.
health|User allergic to peanuts.
language|The user Tomas speaks Dutch at home.
birthday|The user Mira was born in 1990.
preferred_name|The user Miriam goes by Mira."""

PLAIN = """\
We use PostgreSQL for orders
The config lives in /etc/app
State lives in Redis and nowhere else
I live in the terminal
I live in vim
Call me back when the build is green
Call me when the deploy is done
The callback will call me twice
Don't call me before ten
My project's name is Phoenix
The variable name is user_id
The preferred database is PostgreSQL
The field pronouns was removed from the form
Functions should be called in order
I go by the book
I go by bike on Fridays
I'm from QA
I am from Marketing
We moved to Kubernetes
I moved to Rust last year with great pleasure
The server is based in Frankfurt
The cluster resides in eu-west-1
The IP address is 10.0.0.1
The address of the buffer is aligned
My preferred language is Rust
The language is Go
The parser speaks JSON
Our docs are in English
Errors are logged in English
The API prefers German number formats
git@github.com:halden/app.git
Alerts go to ops@halden.io
Mail support@halden.io about outages
Use the @property decorator
pip install pmem@1.2.3
Version +12345 is newer
The offset is +0100
2026-11-22T10:00:00+01:00
The health check endpoint returns 200
The service is healthy
The cache has a cold start problem
The team has anxiety about the release
This test was diagnosed as flaky
I am blind to that argument
The user has access to billing
The user is called twice a day by the job
I have an allergy to boilerplate
The doctor command looks at everything
The class was born in version 2
The file is 30 years old
The vote went for option B
A liberal licence is preferred
The user votes on proposals
The user moved to the next page
The user moved to Kubernetes
The user moved to Settings
User data moved to Frankfurt
The records of the user moved to Oslo servers
We moved to London server rooms
The user moved to Berlin's infra team
He is based on a template
I have a depression of keys in the heat map
I need 30 years of logs
The user prefers short answers
The user wants a dark theme
The user works on the billing service
Ana leads the platform team
Ana lives for good tests
Names are called out in the changelog
My number is up in the queue
I can speak to the vendor
请记住数据库使用 PostgreSQL
データベースはオスロにあります
The user service lives in the monorepo.
The User Service is based in Frankfurt.
The user Mira works on the billing service.
User-based routing is in the gateway.
A user story lives in Jira.
The user table lives in Postgres.
The user API is based in Frankfurt.
The user votes green builds up.
The user votes down flaky tests.
The user moved the file to Archive and left it there.
User records moved to Frankfurt in 2024.
The user relocated to the staging cluster.
The user is disabled after five failed logins.
User disabled by the admin.
The user is a member of the release party."""


WRITTEN_LATER = """\
The user Jonas resides in Malmö.
User Ivo has diabetes.
User now based in Ljubljana.
The user usually votes Republican.
The user Pia is pregnant.
Our user Lea speaks Greek.
The user Noa's birthday is 3 June.
The user just relocated to Denver.
The user's apartment is in Ghent.
The user Sven's pronouns are he/him.
I voted Labour.
The user, Anna Weiss, lives in Bonn.
User Karl is 41 years old.
She is a member of the Lutheran Church.
The user lives with a dog in Rouen."""

PLAIN_LATER = """\
User living in the cache is stale.
The user Table is based in the schema.
The User Model lives in core.
User located in the wrong tenant gets 403.
User on the allowlist skips it.
The user moved to Settings and saved.
The user home is in /home.
The user votes up.
The user is blind by default.
I relocated to the new branch.
User is disabled when the trial ends.
The user's house style is plain.
The user is a member of the group.
The user Mira wrote the parser.
User based in part on roles."""


def told(text: str, **names: str) -> str | None:
    """Return the sensitive field of a text."""
    return sensitive(text, FIELDS, **names)


@pytest.mark.row("S1.10.1")
def test_the_labelled_statements_are_told_apart_with_few_mistakes() -> None:
    personal = [line.split("|") for line in PERSONAL.splitlines()]
    found = [(field, told(text), text) for field, text in personal]
    missed = [text for field, got, text in found if got != field]
    alarms = [text for text in PLAIN.splitlines() if told(text)]
    assert missed == []
    assert len(alarms) <= 0.04 * len(PLAIN.splitlines()), alarms


def test_statements_that_were_written_after_the_rules_are_told_apart_as_well() -> None:
    missed = [text for text in WRITTEN_LATER.splitlines() if not told(text)]
    assert missed == ["The user lives with a dog in Rouen."]
    assert [text for text in PLAIN_LATER.splitlines() if told(text)] == []


@pytest.mark.parametrize("field", FIELDS)
def test_every_field_is_known_by_its_own_name_as_a_category(field: str) -> None:
    assert told("Anything at all", category=field) == field
    assert told("Anything at all", category=field.replace("_", " ").title()) == field


@pytest.mark.parametrize("subject", ["pronouns", "Preferred name", "home_address", "date of birth"])
def test_a_subject_or_a_tag_may_name_a_field(subject: str) -> None:
    assert told("xyz", subject=subject)
    assert sensitive("xyz", FIELDS, tags=[subject])


@pytest.mark.parametrize("word", ["language", "health", "contact", "city"])
def test_a_subject_that_names_a_part_of_a_program_says_too_little(word: str) -> None:
    assert told("It returns 200", subject=word) is None


def test_a_language_is_personal_where_people_speak_it() -> None:
    assert told("German", subject="language") == "language"
    assert told("Python 3.12", subject="language") is None


def test_a_name_counts_where_the_memory_is_filed_under_people() -> None:
    assert told("Quux lives in Lisbon") is None
    assert told("Quux lives in Lisbon", category="person") == "city"
    assert told("Quux is 34 years old", category="profile") == "birthday"


@pytest.mark.parametrize(
    ("field", "text"),
    [
        ("health", "The new hire is diabetic"),
        ("health", "Quux works here and is allergic to nuts"),
        ("health", "Colleague was diagnosed with flu"),
        ("language", "Our designer (Quux) speaks French"),
        ("birthday", "Was born in 1980"),
        ("beliefs", "my boss is Jewish"),
        ("preferred_name", "Goes by Zed"),
        ("pronouns", "boss uses they/them"),
    ],
)
def test_filed_under_people_no_name_is_needed(field: str, text: str) -> None:
    assert told(text, category="relationships") == field
    assert told(text) is None


def test_who_relocates_anywhere_has_a_home_there() -> None:
    assert told("I relocated to Smalltown") == "city"


OF_NAMED = """\
city|Ana lives in Porto
city|Ana Reyes is based in Lisbon.
city|Since March Tom lives in Graz.
city|Mira moved to Hamburg in May
city|Tom Weber has just moved to Graz.
city|Tom is moving to Graz
city|Customer is from Madrid
preferred_name|Call the user Ana
preferred_name|Robert goes by Bob.
pronouns|Noor's pronouns are they/them.
pronouns|Mira uses she/her
language|Ana speaks Portuguese
health|Bob is deaf
health|Ana is allergic to peanuts
health|Peter has asthma
birthday|Lena was born in 1988
birthday|Paul's birthday is 4 May
beliefs|Omar is a Muslim
language|The customer's mother tongue is Portuguese
"""
NOT_OF_NAMED = """\
Staging lives in Frankfurt
Redis is based in Memory
Ana reviews the plan of the billing service
Ana's service is disabled by default
Bob is responsible for Porto
Tom is blind to that option
Ana lives in the code
Mira moved to Platform in May
Tom moved to Rust
Ana moved to the Berlin office
Ana moved to Berlin team duties
Ana moved to Charlotte's team
Alice lives in fixtures.json
Bob is located at line 30
Alice is currently based in QA
Bob prefers to be called asynchronously
Alice moved to Platform last week
Peter is from Marketing
Lena has a German keyboard
Prettier is conservative about comments
Call Ana about the invoice
Call the user service first
The customer is from SAP
Paul is 3 tickets behind
"""


@pytest.mark.row("S1.10.1")
def test_a_given_name_counts_wherever_the_memory_is_filed() -> None:
    texts = [line.partition("|")[2] for line in OF_NAMED.splitlines()]
    found = [f"{told(text)}|{text}" for text in texts]
    assert found == OF_NAMED.splitlines()
    assert [text for text in NOT_OF_NAMED.splitlines() if told(text)] == []


HOMES = """\
We moved to Berlin.
We've just moved to Oslo with the kids
Mira and others moved to Berlin
Mira and others are moving to Madrid in June
We relocated to Belgrade in 2024
We live in Athens
We're moving to Madrid
I moved to Basel early this year
I moved to Lagos many years ago
I moved to Lagos years ago
We moved to Dublin today
I moved to Berlin-Mitte
I moved to Oslo mid 2020
I'm moving to Porto tomorrow
I moved to Ghent full time
Ana moved to Lyon several months ago
I moved to Lyon months ago
I moved to Graz straight after school
"""
NO_HOMES = """\
I moved to Oxford commas.
Mira and others moved to Oxford commas
The user moved to London time zones
I moved to Boston terriers from poodles
We moved to Berlin-based hosting
We live in Jira
We are moving to Frankfurt servers
"""


@pytest.mark.row("S1.10.1")
def test_a_town_is_a_home_where_no_noun_follows_whoever_moves_there() -> None:
    assert {told(text) for text in HOMES.splitlines()} == {"city"}
    assert [text for text in NO_HOMES.splitlines() if told(text)] == []


def test_a_field_of_ones_own_is_told_by_its_name() -> None:
    assert sensitive("4,000", ["salary"], subject="Salary") == "salary"
    assert sensitive("My salary is 4,000", ["salary"]) is None


@pytest.mark.parametrize(
    "text",
    [
        "I live\nin Berlin",
        "I  live \t in   Berlin",
        "I\u00a0live in Berlin",
        "I\u200b live in\u2060 Berlin",
        "I live in **Berlin**",
        'The user lives in "Berlin"',
        "The user's city is `Berlin`",
        "*I* live in Berlin",
        "As for the office,\r\nI live\r\nin Berlin",
    ],
)
def test_line_breaks_and_marks_between_words_hide_nothing(text: str) -> None:
    assert told(text) == "city"


@given(st.sampled_from([line.split("|") for line in PERSONAL.splitlines()]), st.data())
def test_no_white_space_between_words_hides_what_a_text_says(
    statement: list[str], data: st.DataObject
) -> None:
    field, text = statement
    words = text.split()
    gaps = st.text(" \n\t\u00a0\u2003", min_size=1, max_size=4)
    wide = "".join(word + data.draw(gaps) for word in words)
    assert told(wide) == told(text) == field


def test_only_the_fields_that_are_asked_for_count() -> None:
    assert sensitive("I live in Berlin", ["pronouns"]) is None
    assert sensitive("I live in Berlin", []) is None


def test_benign_fields_are_told_by_names_alone() -> None:
    fields = ("tone", "goals")
    assert benign(fields, ["tone"]) == "tone"
    assert benign(fields, ["project", "Goals"]) == "goals"
    assert benign(fields, ["project", "database"]) is None


@given(st.text(max_size=300), st.text(max_size=30), st.text(max_size=30))
def test_any_text_gets_the_same_answer_every_time(text: str, subject: str, category: str) -> None:
    first = told(text, subject=subject, category=category)
    assert first == told(text, subject=subject, category=category)
    assert first is None or first in FIELDS


@pytest.mark.long
@pytest.mark.parametrize(
    "piece",
    [
        "i live in ",
        "my ",
        "a",
        "a@",
        "+1 ",
        "+",
        "call me ",
        "Ana ",
        "user's ",
        "é",
        "the user Mira ",
    ],
)
def test_a_long_text_is_judged_quickly(piece: str) -> None:
    text = piece * (100_000 // len(piece))
    assert seconds(lambda: told(text, category="person")) < STALLED
