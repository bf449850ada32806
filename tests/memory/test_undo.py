"""Commands are taken back one by one, and what was seen before them is seen again."""

import os
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pmem import Project
from pmem.conversation.exchange import MessagesRequest
from pmem.conversation.notes import NotesRequest
from pmem.core.filters import Filter
from pmem.core.threeway.history import open_conflicts
from pmem.core.trust import trust_of
from pmem.errors import BuiltOn, InvalidValue, NotFound, Refused
from pmem.memory.changes import RecordsRequest
from pmem.memory.conversations import unfold
from pmem.memory.facts import FactsRequest, list_facts
from pmem.memory.requests import AddRequest
from pmem.memory.undo import UndoRequest
from pmem.operations import table
from pmem.operations.operation import Operation
from pmem.project.setup import SettingChangeRequest, initialise
from pmem.storage.local.logs import COMMANDS_FILE
from pmem.values.records import Episode, Memory, Source, Standing, plain
from tests.asking import ask
from tests.conftest import NOW
from tests.effort import examples
from tests.storage.folders import contradict, opened

_TOP_K: Final = SettingChangeRequest(name="retrieval_top_k", value="7")
_BOOKS: Final = ("history", "updated_at", "access")

Step = Callable[[Project, list[str], int], Any]


def _ref(ids: list[str], number: int) -> str:
    return ids[number % len(ids)]


AHEAD: Final = datetime(2999, 1, 1, tzinfo=UTC)


def _asked(project: Project, operation: Operation[Any, Any], request: Any) -> Any:
    return ask(opened(project.workspace.root), operation, request)


def _fact(project: Project, number: int) -> str:
    return _ref([item.fact.id for item in project.facts().items] or ["none"], number)


def _cite(project: Project, reference: str, number: int) -> None:
    """Cite a file that says something else from now on."""
    file = Path(project.workspace.root).parent / f"file{number}.py"
    file.write_text(f"N = {number}\nM = 1\n", encoding="utf-8")
    try:
        project.edit(reference, cite=(f"{file}:1",))
    finally:
        said = f"# N\n\nN = {number}\n" if number % 2 else f"N = {number + 1}\n"
        file.write_text(said, encoding="utf-8")


def _approve(project: Project, number: int) -> None:
    project.add(f"The user lives in Town{number}.", agent="planner")
    project.approve(*(item.id for item in project.waiting().items))


def _of_app(project: Project, number: int) -> str:
    return _ref([item.id for item in project.apps.list("calendar").items] or ["none"], number)


def _notes(project: Project, number: int) -> None:
    file = Path(project.workspace.root).parent / f"N{number}.md"
    file.write_text(f"- The notes say that {number} is enough.\n", encoding="utf-8")
    _asked(project, table.IMPORT_NOTES, NotesRequest(paths=(str(file),)))


def _take_in(project: Project, number: int) -> None:
    """Import one of four transcripts, with more messages than before."""
    lines = tuple(
        msgspec.json.encode({"content": f"We decided to use tool {n} for step {number % 4}."})
        for n in range(number)
    )
    _asked(project, table.IMPORT_MESSAGES, MessagesRequest(lines=lines, name=f"t{number % 4}"))


STEPS: Final[dict[str, Step]] = {
    "add": lambda p, _, n: p.add(f"Fact number {n} of the plan", force=True, tags=(f"t{n}",)),
    "decide": lambda p, _, n: p.add(
        f"We use tool {n}", "decision", subject=f"tool {n}", force=True, instead_of=("none",)
    ),
    "edit": lambda p, ids, n: p.edit(_ref(ids, n), f"Another text {n}", importance=(n % 10) / 10),
    "tag": lambda p, ids, n: p.edit(_ref(ids, n), add_tags=(f"x{n}",), subject=f"subject {n}"),
    "place": lambda p, ids, n: p.edit(_ref(ids, n), places=(f"src/{n}/**",), review_if="later"),
    "supersede": lambda p, ids, n: p.supersede(_ref(ids, n), f"It holds now that {n}"),
    "rm": lambda p, ids, n: p.remove(_ref(ids, n)),
    "restore": lambda p, ids, n: p.restore(_ref(ids, n)),
    "pin": lambda p, ids, n: p.pin(_ref(ids, n), pinned=n % 2 == 0),
    "link": lambda p, ids, n: p.link(_ref(ids, n), _ref(ids, n + 1), "depends_on", 0.7),
    "relink": lambda p, ids, n: p.link(_ref(ids, n), _ref(ids, n + 1), "depends_on", 0.2),
    "unlink": lambda p, ids, n: p.unlink(_ref(ids, n), _ref(ids, n + 1)),
    "tried": lambda p, _, n: p.tried(f"raise it to {n}", "it blocked", worked=f"wait {n} seconds"),
    "outcome": lambda p, ids, n: p.outcome(_ref(ids, n), "bad", f"It lost {n}"),
    "episode": lambda p, _, n: p.add_episode(f"A turn of {n}", title=f"Turn {n}"),
    "consolidate": lambda p, _ids, _n: p.consolidate(),
    "sweep": lambda p, _ids, _n: p.sweep(),
    "batch": lambda p, _, n: p.add_all([AddRequest(content=f"Thing {n} of {one}") for one in "ab"]),
    "imported": lambda p, _, n: p.add(f"Imported {n}", source=Source(kind="import:notes")),
    "vouch": lambda p, ids, n: p.edit(_ref(ids, n), reviewed=True),
    "holds until": lambda p, ids, n: p.edit(_ref(ids, n), valid_until=AHEAD),
    "holds on": lambda p, ids, n: p.edit(_ref(ids, n), no_end=True),
    "superseded by": lambda p, ids, n: p.supersede_by(_ref(ids, n), _ref(ids, n + 1)),
    "restore since": lambda p, _ids, _n: p.restore(since=NOW - timedelta(days=1)),
    "say": lambda p, _, n: p.add_message("user", f"We decided to use tool {n} for the build."),
    "state": lambda p, _, n: p.add_message("user", f"I think we prefer {n} spaces."),
    "promote": lambda p, _, n: p.promote_facts(_fact(p, n)),
    "reject": lambda p, _, n: p.reject_facts(_fact(p, n)),
    "pause": lambda p, _ids, _n: p.pause_conversation(),
    "resume": lambda p, _ids, _n: p.resume_conversation("Talk"),
    "clear": lambda p, _ids, _n: p.clear_conversation(),
    "cite": lambda p, ids, n: _cite(p, _ref(ids, n), n),
    "accept": lambda p, ids, n: _asked(p, table.ACCEPT, RecordsRequest(references=(_ref(ids, n),))),
    "verify": lambda p, _ids, _n: p.verify(update=True),
    "approve": lambda p, _, n: _approve(p, n),
    "app": lambda p, _, n: p.apps.remember("calendar", f"Meetings begin after {n} o'clock."),
    "app delete": lambda p, _, n: p.apps.delete("calendar", _of_app(p, n)),
    "notes": lambda p, _, n: _notes(p, n),
    "take in": lambda p, _, n: _take_in(p, n),
    "settle": lambda p, ids, n: p.settle(ids[0], other=n % 2 == 0),
}


def seen(root: str) -> dict[str, Any]:
    """Return what lists, searches and contexts go by: every active record, the books apart.

    With how far each is trusted and what of it is disputed, what became of facts, and how
    conversations stand.
    """
    workspace = opened(root)
    found: dict[str, Any] = {}
    kept: list[Memory | Episode] = [*workspace.memories.find(Filter())]
    for one in (*kept, *workspace.episodes.find(Filter())):
        fields = {k: v for k, v in msgspec.structs.asdict(one).items() if k not in _BOOKS}
        found[one.id] = fields, trust_of(one), open_conflicts(plain(one.history))
    for talk in workspace.conversations.find():
        found[talk.id] = talk.status, talk.title, talk.cleared_turns, talk.active_facts
        if talk.external_id is not None:
            found[talk.external_id] = unfold(workspace, talk).messages
    for item in list_facts(workspace, FactsRequest(standing=None)).items:
        if item.fact.standing is not Standing.PENDING:
            found[item.fact.id] = item.fact.standing, item.fact.memory
    return found


def commands(root: str) -> int:
    log = Path(root, "local", COMMANDS_FILE)
    return len(log.read_bytes().splitlines()) if log.exists() else 0


def _forget_last(root: str) -> None:
    """Make the last command one of another clone."""
    log = Path(root, "local", COMMANDS_FILE)
    log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:-1]))


def _is_refused(project: Project) -> bool:
    """Tell whether the last command cannot be undone, and see that nothing is done then."""
    before = seen(project.workspace.root)
    try:
        project.undo(dry_run=True)
    except InvalidValue:
        with pytest.raises(InvalidValue, match="cannot be undone"):
            project.undo()
        assert seen(project.workspace.root) == before
        return True
    return False


@settings(max_examples=examples(80), deadline=None)
@given(st.lists(st.tuples(st.sampled_from(sorted(STEPS)), st.integers(0, 40)), max_size=12))
def test_whatever_was_done_is_undone_step_by_step(steps: list[tuple[str, int]]) -> None:
    root = os.path.join(tempfile.mkdtemp(prefix="undo-", dir="."), ".project-memory")
    initialise(root)
    project = Project(root)
    contradict(root, project.add("The first memory of all", tags=("first",)).memory.id)
    project.start_conversation("Talk")
    Path(root, "local", COMMANDS_FILE).unlink()  # what another clone did
    before = [seen(root)]
    for name, number in steps:
        ids = sorted(one.id for one in opened(root).memories.find() if isinstance(one, Memory))
        known = commands(root)
        try:
            STEPS[name](project, ids or ["none"], number)
        except (InvalidValue, NotFound, Refused):
            continue
        now = seen(root)
        if commands(root) > known and _is_refused(project):
            _forget_last(root)
        before += [now] * (commands(root) - known)
        assert commands(root) > known or now == before[-1]
    for state in reversed(before[1:]):
        assert seen(root) == state
        project.undo()
    assert seen(root) == before[0]
    with pytest.raises(NotFound):
        project.undo()


@pytest.fixture
def project(root: str) -> Project:
    return Project(root)


def test_what_others_built_on_is_not_taken_back(project: Project, root: str) -> None:
    memory = project.add("We use MySQL").memory
    project.edit(memory.id, "We use PostgreSQL")
    project.edit(memory.id, "We use PostgreSQL 17")
    _forget_last(root)
    with pytest.raises(BuiltOn, match=r"has changed since `edit` of .*: content"):
        project.undo()
    assert project.list().items[0].content == "We use PostgreSQL 17"
    project.edit(memory.id, "We use PostgreSQL")
    _forget_last(root)
    project.undo()
    assert project.list().items[0].content == "We use MySQL"


def test_a_command_that_a_history_lacks_is_not_taken_back(project: Project, root: str) -> None:
    memory = project.add("We use MySQL").memory
    project.tried("raise the retries", "they blocked us", worked="wait a minute")
    project.edit(memory.id, "We use Go")
    project.supersede(memory.id, "We use Rust")
    workspace = opened(root)
    with workspace.transaction():
        old = workspace.memories.get(memory.id)
        events = (*old.history[:-1], msgspec.structs.replace(old.history[-1], actor="somebody"))
        workspace.memories.put(msgspec.structs.replace(old, history=events))
    with pytest.raises(BuiltOn, match=r"does not have `edit --supersede` of"):
        project.undo()


def test_all_of_several_commands_are_taken_back_or_none(project: Project, root: str) -> None:
    first, second = project.add("One thing").memory, project.add("Another thing").memory
    project.edit(first.id, "One thing more")
    project.edit(second.id, "Another thing more")
    _forget_last(root)
    before = seen(root)
    with pytest.raises(BuiltOn):
        project.undo(2)
    assert seen(root) == before
    assert project.undo(1).total == 1


def test_the_last_command_is_named_where_it_cannot_be_undone(project: Project, root: str) -> None:
    memory = project.add("One thing").memory
    workspace = opened(root)
    ask(workspace, table.CHANGE_SETTING, _TOP_K)
    with pytest.raises(InvalidValue, match="the last command, `config set`, cannot be undone"):
        project.undo()
    assert project.list().total == 1
    assert project.undo(reference=memory.id).total == 1
    assert project.list().total == 0


def test_a_dry_run_changes_nothing(project: Project, root: str) -> None:
    memory = project.add("One thing").memory
    project.edit(memory.id, "One thing more")
    before, known = seen(root), commands(root)
    told = ask(opened(root), table.UNDO, UndoRequest(many=2, dry_run=True))
    assert [one.operation for one in told.items] == ["edit", "add"]
    assert project.undo(2, dry_run=True).total == 2
    assert (seen(root), commands(root)) == (before, known)


def test_a_log_that_is_lost_or_damaged_takes_nothing_back(project: Project, root: str) -> None:
    project.add("One thing")
    log = Path(root, "local", COMMANDS_FILE)
    kept = log.read_bytes()
    empty = b'{"at":"2026-01-01T00:00:00Z","operation":"add","changes":[]}\n'
    for data in (b"not a line\n" + kept[:-9], empty, b"[" * 100_000, b"\0" * 2**23):
        log.write_bytes(data)
        with pytest.raises(NotFound):
            project.undo()
        assert len(seen(root)) == 1
    log.write_bytes(empty + b"not a line\n" + kept)
    assert project.undo().total == 1


def test_a_rejection_is_taken_back_once_and_then_what_was_done_before(project: Project) -> None:
    project.start_conversation("Talk")
    project.add_message("user", "I think we prefer tabs.")
    memory = project.add("We use PostgreSQL 17").memory
    (fact,) = project.facts().items
    project.reject_facts(fact.fact.id)
    assert project.undo().items[0].operation == "facts.reject"
    assert project.undo().items[0].changes[0].id == memory.id
    assert project.list().items == ()
