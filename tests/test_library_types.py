"""Calls of the library with values of wrong types: a refusal in one sentence, and nothing kept."""

import os
import shutil
from contextlib import suppress
from datetime import date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

from pmem import AddRequest, PmemError, Project
from pmem.apps.remembering import RememberRequest
from pmem.conversation.conversations import SayRequest
from pmem.conversation.episodes import EpisodeRequest, EpisodesRequest
from pmem.conversation.pruning import PruneRequest
from pmem.core.filters import Filter
from pmem.core.journal import Wanted
from pmem.errors import InvalidValue
from pmem.memory.facts import FactsRequest
from pmem.memory.outcomes import TriedRequest
from pmem.memory.requests import EditRequest
from pmem.search.context_request import ContextRequest
from pmem.search.picking import SearchRequest
from tests.conftest import NOW
from tests.faults.console import bytes_of
from tests.policy.calls import OPENING, public

ANY: Final = object()
"""Stands for the value of a field that is not given, but in its turn."""
UNTYPED: Final[Any] = "x"
NAMED: Final = frozenset({"content", "query", "role", "summary", "conversation", "title", "app"})
DEEP: Final[list[Any]] = []
_inner = DEEP
for _ in range(2000):
    _inner.append([])
    _inner = _inner[0]
WRONG: Final[tuple[Any, ...]] = (
    None,
    7,
    1.5,
    b"x",
    ["x", 7],
    {"x": 1},
    object(),
    "\ud800",
    True,
    -1,
    10**400,
    float("nan"),
    float("inf"),
    "",
    "a\0b",
    datetime(2026, 1, 1),
    datetime.max.replace(tzinfo=timezone(timedelta(hours=-12))),
    datetime.min.replace(tzinfo=timezone(timedelta(hours=12))),
    date(2026, 1, 1),
    {"x"},
    Path("x"),
    int,
    len,
    DEEP,
    ["\ud800"],
    {"\ud800": "\ud800"},
    {7: 7},
)


class Made(NamedTuple):
    """A prepared project, and the ids of two memories and a conversation in it."""

    folder: str
    ref: str
    other: str
    talk: str


def _calls(made: Made) -> dict[str, dict[str, Any]]:
    """Return valid arguments of every operation, by name."""
    ref, talk = made.ref, made.talk
    return {
        "add": {"content": "We use Go", **_fields(AddRequest)},
        "edit": {**_fields(EditRequest), "reference": ref, "content": "We use Rust"},
        "supersede": {**_fields(EditRequest), "reference": ref, "content": "We use Rust"},
        "supersede_by": {"reference": ref, "successor": made.other},
        "show": {"reference": ref, "at": NOW},
        "list": {"wanted": Filter(), "limit": 3, "at": NOW},
        "block": {"wanted": Filter()},
        "pin": {"reference": ref, "pinned": True},
        "work": {"kinds": ("episode",)},
        "next_work": {"limit": 1, "kinds": ("episode",)},
        "apply_work": {"answers": [{"id": "x", "digest": "0", "answer": {}}]},
        "test_model": {"kinds": ("episode",)},
        "undo": {"many": 1, "reference": ref, "dry_run": True},
        "share": {"reference": ref, "force": True},
        "link": {"start": ref, "end": made.other, "type": "x", "strength": 0.5},
        "unlink": {"start": ref, "end": made.other},
        "history": {"reference": ref},
        "versions": {"reference": ref},
        "search": {"query": "Go", **_fields(SearchRequest)},
        "build_context": {"query": "Go", **_fields(ContextRequest)},
        "query": {"request": {"query": "Go"}},
        "events": {"limit": 3, "reference": ref, **_fields(Wanted)},
        "audit": {"user": "ada"},
        "start_conversation": {"title": "x", "app": "calendar"},
        "add_message": {"role": "user", "content": "Hello", **_fields(SayRequest)},
        "end_conversation": {"outcome": "x", "conversation": talk},
        "pause_conversation": {"conversation": talk},
        "resume_conversation": {"conversation": talk},
        "clear_conversation": {"conversation": talk},
        "conversations": {"status": None},
        "transcript": {"conversation": talk},
        "prune_conversation": {**_fields(PruneRequest), "conversation": talk},
        "pruned_messages": {"conversation": talk},
        "mark_message": {"message": ref, "pinned": True},
        "remove_message": {"message": ref, "reason": "x"},
        "conversation_stats": {"conversation": talk},
        "facts": {"limit": 3, **_fields(FactsRequest)},
        "add_episode": {"summary": "x", "title": "x", **_fields(EpisodeRequest)},
        "episodes": {"limit": 3, **_fields(EpisodesRequest)},
        "narrative_arc": {"conversation": talk},
        "delta": {"thread": "t"},
        "save_checkpoint": {"thread": "t", "state": {}, "user": "ada"},
        "load_checkpoint": {"thread": "t", "user": "ada"},
        "remove_checkpoint": {"thread": "t", "user": "ada"},
        "checkpoints": {"user": "ada"},
        "changelog": {"revisions": "HEAD.."},
        "provenance": {"reference": ref},
        "evaluate": {"file": "golden.jsonl"},
        "add_question": {"query": "Go", "reference": ref, "file": "golden.jsonl", "max_rank": 3},
        "import_messages": {"lines": [], "name": "x"},
        "import_sessions": {"harness": None, "path": "absent", "learn": True},
        "import_arrays": {"folder": "absent", "untrusted": True},
        "check_merges": {"revisions": "HEAD.."},
        "at": {"when": NOW},
        "add_all": {"memories": [AddRequest(content="x")]},
        "confirm": {"agent": "claude-code"},
        "promote_facts": {"above": 0.5},
        "purge": {"force": True},
        "repair": {"dry_run": True},
        "sync": {"dry_run": True, "conversations": True},
        "verify": {"update": True},
        "outcome": {"reference": ref, "verdict": "good", "text": "x"},
        "due": {"until": NOW},
        "week": {"since": NOW},
        "inbox": {"*": "fact", "limit": 3},
        "report": {"tasks": ["x"], "since": NOW},
        "receipts": {"task": "x", "budgets": [200]},
        "names": {"of": "subjects"},
        "why": {"place": "src/a.py"},
        "tried": {**_fields(TriedRequest), "tried": "x", "failed": "y"},
        "doctor": {"fix": True},
        "waiting": {"decisions": True},
        "consolidate": {"dry_run": True, "expected": None},
        "sweep": {"dry_run": True, "expected": None},
        "remove": {"*": ref},
        "restore": {"*": ref},
        "settle": {"*": ref, "theirs": True, "text": "Port 443"},
        "approve": {"*": ref},
        "reject": {"*": ref},
        "reject_facts": {"*": ref},
        "apps.remember": {"app": "calendar", "content": "x", **_fields(RememberRequest)},
        "apps.list": {"app": "calendar"},
        "apps.show": {"app": "calendar", "reference": ref},
        "apps.context": {"app": "calendar", "conversation": talk},
        "apps.compact": {"app": "calendar"},
        "apps.delete": {"app": "calendar", "reference": ref, "for_good": True},
        "apps.purge": {"app": "calendar"},
        "apps.uninstall": {"app": "calendar", "purge": True},
        "operations": {"after": None, "before": None, "limit": 3},
    }


def _fields(struct: Any) -> dict[str, Any]:
    return {name: ANY for name in struct.__struct_fields__ if name not in NAMED}


NOTHING: Final = set(
    "apps.all apps.poll_energy apps.stats check export_arrays export_markdown flush problems stats"
    " discover mine apps close database_status".split()
)
"""What takes no values, or opens the memory in another way."""
CALLS: Final = _calls(Made("", "", "", ""))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    folder = str(tmp_path_factory.mktemp("made") / ".project-memory")
    project = Project(folder, actor="ada", now=NOW)
    one = project.add("We use PostgreSQL 17").memory.id
    other = project.add("Deploys happen on Fridays").memory.id
    talk = project.start_conversation("Queue").id
    project.add_message("user", "We decided to use Go.")
    return Made(folder, one, other, talk)


@pytest.mark.some(10)
@pytest.mark.parametrize("name", CALLS)
def test_a_value_of_a_wrong_type_is_refused_or_taken_whole(
    name: str, made: Made, tmp_path: Path
) -> None:
    folder = str(tmp_path / ".project-memory")
    valid = _calls(made)[name]
    for argument in valid:
        for wrong in WRONG:
            if not os.path.isdir(folder):
                shutil.copytree(made.folder, folder)
                before = bytes_of(folder)
            _call(Project(folder, actor="ada", now=NOW), name, {**valid, argument: wrong})
            if bytes_of(folder) != before:
                assert not Project(folder).check().findings, (argument, wrong)
                shutil.rmtree(folder)


def _call(project: Project, name: str, given: dict[str, Any]) -> None:
    """Call an operation; a refusal must be a sentence that pmem wrote."""
    operation: Any = project
    for part in name.split("."):
        operation = getattr(operation, part)
    known = {key: value for key, value in given.items() if value is not ANY and key != "*"}
    try:
        operation(*[given[key] for key in given if key == "*"], **known)
    except PmemError as error:
        refused: PmemError | None = error
    else:
        refused = None
    assert refused is None or refused.exit_code != PmemError.exit_code


def test_every_operation_with_arguments_is_tried() -> None:
    assert set(CALLS) | NOTHING == public()
    assert set(OPENING) - {"at"} <= NOTHING


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda p: p.add(7), "content must be text, not a whole number"),
        (lambda p: p.add(None), "content must be text, not None"),
        (lambda p: p.add("x", tags=["a", 7]), r"tags\[1\] must be text, not a whole number"),
        (lambda p: p.add("x", importance="high"), "importance must be a number, not text"),
        (lambda p: p.add("x", type="rumour"), "type cannot be 'rumour'"),
        (lambda p: p.add("x", valid_from=7), "valid_from must be a time such as"),
        (lambda p: p.search("x", top_k="3"), "top_k must be a whole number, not text"),
        (lambda p: p.remove(["a"]), r"references\[0\] must be text, not a list"),
        (lambda p: p.list(limit=1.5), "limit must be a whole number, not one with a fraction"),
        (lambda p: p.list(Filter(types=UNTYPED)), "types must be a list, not text"),
        (lambda p: p.list({"types": 7}), r"^wanted\.types must be a list, not a whole number"),
        (lambda p: p.save_checkpoint("t", {1: 2}), "^a key of state must be text, not a whole"),
        (lambda p: p.add_all("x"), r"memories must be a list, not text"),
        (lambda p: p.import_messages(["{}"]), "lines must be bytes, not text"),
        (lambda p: p.add_message("user", "x", tool_call=b"x"), "tool's call .* not bytes"),
        (lambda p: p.add_message("user", "x", tool_call={1: 2}), "tool's call has a key"),
        (lambda p: p.consolidate(dry_run="yes"), "dry_run must be true or false, not text"),
    ],
)
def test_the_sentence_names_the_argument(call: Any, sentence: str) -> None:
    with pytest.raises(InvalidValue, match=sentence):
        call(_talking())


def _talking() -> Project:
    project = Project(now=NOW)
    project.start_conversation()
    return project


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"now": "x"}, "now must be a time such as"),
        ({"now": datetime(2026, 1, 1)}, "now must be a time with a zone,"),
        ({"memory_dir": 5}, "memory_dir must be text, not a whole number"),
        ({"memory_dir": "a\0b"}, "memory_dir has a zero byte"),
        ({"memory_dir": b"x"}, "memory_dir must be text, not bytes"),
        ({"memory_dir": ""}, "memory_dir must not be empty"),
        ({"actor": 5}, "actor must be text, not a whole number"),
        ({"agent": ["a"]}, "agent must be text, not a list"),
        ({"app": 1.5}, "app must be text, not a number"),
        ({"read_only": "yes"}, "read_only must be true or false, not text"),
        ({"backend": 5}, "backend must be Backend, not a whole number"),
        ({"settings": 5}, "there is no setting 'settings'"),
        ({"chunk_size": "many"}, "chunk_size cannot be 'many'"),
        ({"chunk_size": "\ud800"}, "chunk_size cannot be"),
    ],
)
def test_a_project_is_opened_with_the_types_that_it_names(
    options: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(InvalidValue, match=sentence):
        Project(**options).add("We use Go")


@pytest.mark.parametrize("option", ["memory_dir", "actor", "now", "read_only", "agent", "app"])
def test_a_project_is_opened_or_refused_with_anything(option: str, made: Made) -> None:
    for wrong in WRONG:
        given: dict[str, Any] = {"memory_dir": made.folder, "read_only": True, option: wrong}
        with suppress(PmemError):
            Project(**given).search("Go")


@pytest.mark.parametrize("start", [5, None, b"x", "a\0b", "\ud800", ["x"]])
def test_a_place_to_look_from_is_a_path(start: Any) -> None:
    with pytest.raises(PmemError, match=r"start|UTF-8"):
        Project.discover(start)


def test_paths_may_be_those_of_pathlib() -> None:
    assert Project(Path("memory")).export_arrays()
    os.rename("memory", ".project-memory")
    assert Project.discover(Path()).stats()


def test_a_time_without_a_zone_is_refused_wherever_it_is_given() -> None:
    naive = datetime(2026, 1, 1)
    project = Project(now=NOW)
    ref = project.add("We use Go").memory.id
    for call in (
        lambda: project.add("x", valid_from=naive),
        lambda: project.add("x", valid_until=naive),
        lambda: project.edit(ref, valid_until=naive),
        lambda: project.add_all([AddRequest(content="x", valid_from=naive)]),
        lambda: project.list(Filter(created_after=naive)),
        lambda: project.show(ref, at=naive),
        lambda: project.at(naive),
    ):
        with pytest.raises(InvalidValue, match="must be a time with a zone"):
            call()


def test_a_field_that_there_is_not_is_a_mistake_of_the_program() -> None:
    with pytest.raises(TypeError, match="colour"):
        Project(now=NOW).add("x", colour="red")
