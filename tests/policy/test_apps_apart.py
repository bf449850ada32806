"""No app sees what is another's, on any path, and what is for nobody's app shows none of theirs."""

import os
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any, Final
from unittest import mock

import pytest

from pmem import Filter, Project
from pmem.errors import InvalidValue, Refused
from pmem.project.setup import initialise
from tests.conftest import NOW
from tests.faults.console import pmem
from tests.labelled import sections

APPS: Final = ("calendar", "mail", "mail-2", "m")
LINES: Final = sections("policy/lines.txt")
TRIED: Final = LINES["an app tries"]
"""What an app may try, which is answered for what is its own."""
REFUSED: Final = LINES["an app is refused"]
"""What an app may try that names what is another's, or takes in everything."""
FOR_NOBODY: Final = LINES["for nobody"]
"""What is written for models with no app named."""


class Host:
    """A project with records of several apps and of none; every text has a word of its own."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.words: dict[str, str | None] = {}
        self.named: dict[str | None, dict[str, str]] = {}
        self.minutes = 0
        for owner in (*APPS, None):
            self.minutes += 1
            self._fill(owner)

    def project(self, app: str | None = None) -> Project:
        settings: dict[str, Any] = {"max_recent_messages": 2, "chunk_size": 2}
        now = NOW + timedelta(minutes=self.minutes)
        return Project(self.root, actor="ada", now=now, app=app, **settings)

    def _word(self, owner: str | None) -> str:
        made = f"qz{len(self.words):04}zq"
        self.words[made] = owner
        return made

    def _fill(self, owner: str | None) -> None:
        project = self.project()
        text = f"The gear {self._word(owner)} turns a wheel."
        memory = project.add(text, app=owner, subject=f"gear {owner}", force=True).memory
        talk = project.start_conversation(f"gears {self._word(owner)}", app=owner)
        for _ in range(4):
            said = f"We decided to order the gear {self._word(owner)} from Oslo."
            message = project.add_message("user", said, conversation=talk.id).message
        summary = f"The gear {self._word(owner)} broke."
        episode = project.add_episode(summary, conversation=talk.id)
        self.named[owner] = {
            "memory": memory.id,
            "talk": talk.id,
            "episode": episode.id,
            "message": message.id,
        }

    def beyond(self, app: str | None, answer: str) -> list[str]:
        """Return the words of an answer that belong to other apps."""
        return [
            word
            for word, owner in self.words.items()
            if owner not in (app, None) and word in answer
        ]

    def run(self, line: str, app: str | None, as_json: bool) -> tuple[int, str]:
        """Run a command as an app, or as a person, and return its code and all that it said."""
        now = (NOW + timedelta(hours=1)).isoformat()
        environment = {"PMEM_DIR": self.root, "PMEM_NOW": now} | ({"PMEM_APP": app} if app else {})
        done = pmem(*line.split(), *(["--json"] if as_json else []), environment=environment)
        return done.code, done.out.decode() + done.err


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    root = str(tmp_path_factory.mktemp("apart") / ".project-memory")
    with mock.patch("os.fsync"), mock.patch.dict(os.environ, {"HOME": root}):
        initialise(root)
        yield Host(root)


@pytest.mark.some(16)
@pytest.mark.row("S0.4.4")
@pytest.mark.parametrize("as_json", [False, True], ids=["text", "json"])
@pytest.mark.parametrize("line", TRIED)
def test_an_app_is_answered_with_what_is_its_own_or_the_projects(
    host: Host, line: str, as_json: bool
) -> None:
    code, answer = host.run(line.format(other="mail"), "calendar", as_json)
    assert code == 0
    assert host.beyond("calendar", answer) == []
    assert host.beyond(None, host.run(line.format(other="mail"), "nobody's", as_json)[1]) == []


@pytest.mark.row("S0.10.1")
@pytest.mark.parametrize("as_json", [False, True], ids=["text", "json"])
@pytest.mark.parametrize("line", REFUSED)
def test_an_app_is_refused_what_is_anothers(host: Host, line: str, as_json: bool) -> None:
    theirs = host.named["mail"] | {"own": host.named["calendar"]["memory"]}
    line = line.format(app="calendar", other="mail", **theirs)
    code, answer = host.run(line, "calendar", as_json)
    assert code == 7, answer
    assert host.beyond("calendar", answer) == []


@pytest.mark.parametrize("line", FOR_NOBODY)
def test_a_block_for_nobodys_app_has_nothing_of_apps(host: Host, line: str) -> None:
    for as_json in (False, True):
        code, answer = host.run(line, None, as_json)
        assert (code, host.beyond(None, answer)) == (0, [])


@pytest.mark.row("S0.12.2")
def test_a_person_finds_what_every_app_remembers(host: Host) -> None:
    for line in ("list", "search gear -k 99", "export arrays"):
        answer = host.run(line, None, as_json=True)[1]
        assert set(host.beyond(None, answer)) > {"qz0000zq"}, line


@pytest.mark.row("S0.4.3", "S0.12.6")
def test_the_context_of_an_app_has_what_is_its_own_and_the_projects(host: Host) -> None:
    project = host.project()
    for request in ({"app": "mail"}, {"conversation": host.named["mail"]["talk"]}):
        text = project.build_context("gear", budget=4000, **request).text
        assert host.beyond("mail", text) == []
        (own,) = project.list(Filter(app="mail"), limit=1).items
        assert own.content in text
        shown = {owner for word, owner in host.words.items() if word in text}
        assert shown == {"mail", None}


def test_the_block_of_an_app_has_its_memories(host: Host) -> None:
    block = host.project().block(Filter(app="mail"))
    assert [owner for word, owner in host.words.items() if word in block] == ["mail"]


def test_a_query_answers_the_app_that_asks(host: Host) -> None:
    asked = {"query": "gear", "categories": ["activity", "event", "fact"], "return": "full"}
    for app in (None, "mail"):
        answer = repr(host.project(app).query(asked | {"top_k": 99}))
        assert host.beyond(app, answer) == []
        assert {owner for word, owner in host.words.items() if word in answer} == {app, None}


def test_what_an_app_adds_is_its_own(root: str) -> None:
    mail = Project(root, now=NOW, app="mail")
    assert mail.add("Nora answers on Fridays.").memory.scope.app == "mail"
    talk = mail.start_conversation("inbox")
    assert talk.app == "mail"
    assert mail.add_episode("The inbox was emptied.").app == "mail"
    with pytest.raises(Refused, match="what belongs to the app calendar"):
        mail.add("Lunch is at noon.", app="calendar")


def test_what_is_said_in_an_app_stays_there(root: str) -> None:
    project = Project(root, now=NOW, promotion_threshold=0.5)
    talk = project.start_conversation("inbox", app="mail")
    heard = project.add_message("user", "We decided to answer on Fridays.", conversation=talk.id)
    assert heard.facts
    assert project.list().items == ()
    (promoted,) = project.promote_facts(*(fact.id for fact in heard.facts))
    assert promoted.memory.scope.app == "mail"


def test_an_app_has_a_name(root: str) -> None:
    with pytest.raises(InvalidValue, match="the app's name is empty"):
        Project(root, app="").list()


def test_nobody_asks_as_another_app(root: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PMEM_APP", "mail")
    with pytest.raises(Refused, match="mail may not ask as calendar"):
        Project(root, app="calendar").list()
    assert Path(root).is_dir()


@pytest.mark.parametrize("line", [("list",), ("search", "gear"), ("log",), ("list", "--block")])
def test_an_app_that_asks_for_another_one_is_refused(line: tuple[str, ...], root: str) -> None:
    as_calendar = {"PMEM_APP": "calendar"}
    done = pmem(*line, "--app", "mail", environment=as_calendar)
    assert done.code == 7
    assert "calendar may not see what belongs to the app mail" in done.err
    assert pmem(*line, "--app", "calendar", environment=as_calendar).code == 0
    assert pmem(*line, "--app", "mail").code == 0
