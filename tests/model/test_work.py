"""Work for models: found, done through the whole path, handed out, and never applied wrongly."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pmem import Project
from pmem.errors import InvalidValue, ModelFailed
from pmem.model.models import Models
from pmem.model.tasks import TASKS
from pmem.operations import table
from pmem.operations.pipeline import run
from pmem.project.caller import Caller
from pmem.project.workspace import Workspace
from pmem.upkeep.consolidation import UpkeepRequest
from pmem.upkeep.work import of_memories
from pmem.values.records import Chunk, Episode, Event, Memory
from tests.conftest import NOW
from tests.model.scripted import REFUSED, say
from tests.model.talks import SETTINGS, Perfect, fill, make_eager, opened
from tests.once import Once


@pytest.fixture(autouse=True)
def _eager(monkeypatch: pytest.MonkeyPatch) -> None:
    make_eager(monkeypatch)


@pytest.fixture
def filled(root: str, once: Once) -> str:
    once(lambda: fill(root))
    return root


def consolidated(root: str, models: Any, **settings: Any) -> tuple[str, ...]:
    project = opened(root, models, **settings)
    return run(project.workspace, table.CONSOLIDATE, UpkeepRequest()).notes


def records(root: str) -> dict[str, bytes]:
    top = Path(root)
    files = (path for path in top.rglob("*.json") if "local" not in path.parts)
    return {str(path.relative_to(top)): path.read_bytes() for path in files}


def all_of(root: str, store: str) -> list[Any]:
    workspace = Workspace(root, now=NOW)
    return list(getattr(workspace, store).find())


def signed(history: tuple[Event, ...], prompt: str) -> bool:
    return any(str(event.detail.get("prompt", "")).startswith(f"{prompt}/") for event in history)


@pytest.mark.row("S1.3.7", "S1.4.8", "S1.13.10")
def test_a_perfect_models_work_arrives_whole(filled: str) -> None:
    perfect = Perfect()
    notes = consolidated(filled, perfect.models())
    (chunk,) = (one for one in all_of(filled, "chunks"))
    assert isinstance(chunk, Chunk)
    assert chunk.summary.startswith("Orders will go to PostgreSQL from Monday on")
    assert chunk.made_by is not None
    assert chunk.made_by.model == "perfect"
    told = [one for one in all_of(filled, "episodes") if one.turns]
    assert all(signed(one.history, "episode") for one in told if isinstance(one, Episode)), notes
    memories = all_of(filled, "memories")
    (insight,) = (one for one in memories if one.type == "insight")
    assert signed(insight.history, "insight")
    assert {link.type for link in insight.relationships} == {"derived_from"}
    (procedure,) = (one for one in memories if one.type == "procedure")
    assert "2. Run make migrate." in procedure.content
    merged = [one for one in memories if one.state == "merged" and one.scope.app is None]
    assert len(merged) == 1
    assert signed(merged[0].history, "same_fact")
    facts = [fact for one in all_of(filled, "conversations") for fact in one.facts]
    facts += [fact for one in all_of(filled, "chunks") for fact in one.facts]
    (found,) = (fact for fact in facts if fact.made_by is not None)
    assert found.content == "The migration must never run on Fridays."
    assert not any("went by the rules" in note for note in notes)
    left = {item.kind for item in opened(filled).work().items}
    assert left <= {"conversation_summary", "compaction"}  # those are the apps'


def test_a_second_run_asks_nothing_and_changes_nothing(filled: str) -> None:
    consolidated(filled, Perfect().models())
    before, again = records(filled), Perfect()
    consolidated(filled, again.models())
    assert again.asked == []
    assert records(filled) == before


@pytest.mark.row("S0.8.1")
def test_the_same_answers_make_the_same_bytes(filled: str, tmp_path: Path) -> None:
    other = str(tmp_path / "other" / ".project-memory")
    shutil.copytree(filled, other)
    consolidated(filled, Perfect().models())
    shutil.copy(Path(filled, "local/state.sqlite3"), Path(other, "local/state.sqlite3"))
    forget_work(other)
    again = Perfect()
    consolidated(other, again.models())
    assert again.asked == []
    ours, theirs = records(filled), records(other)
    same = [name for name in ours if name.startswith(("episodic", "conversation-chunks"))]
    assert same
    assert [ours[name] for name in same] == [theirs[name] for name in same]


def forget_work(root: str) -> None:
    """Forget in a clone which work is done, but not what was answered."""
    import sqlite3

    with sqlite3.connect(Path(root, "local/state.sqlite3")) as connection:
        connection.execute("delete from model_work")
        connection.execute("delete from judged")


def lying(mode: str) -> Models:

    def wrong(kind: str) -> Callable[[Any], Any]:
        return lambda given: say(mode, kind)

    return Models("liar", **{kind: wrong(kind) for kind in TASKS})  # type: ignore[arg-type]


def failing() -> Models:
    def fail(given: Any) -> Any:
        raise ConnectionError("nobody is there")

    return Models("gone", **dict.fromkeys(TASKS, fail))  # type: ignore[arg-type]


@pytest.mark.parametrize("models", [*map(lying, REFUSED), failing()], ids=[*REFUSED, "gone"])
def test_what_a_bad_model_leaves_is_what_the_rules_do(
    filled: str, tmp_path: Path, models: Models
) -> None:
    by_rules = str(tmp_path / "rules" / ".project-memory")
    shutil.copytree(filled, by_rules)
    consolidated(by_rules, None)
    notes = consolidated(filled, models)
    assert any("went by the rules" in note for note in notes)
    assert records(filled) == records(by_rules)


def test_a_refused_answer_is_asked_for_twice_and_no_more(filled: str) -> None:
    asked: list[str] = []

    def wrong(given: Any) -> Any:
        asked.append("episode")
        return {"title": "x", "summary": "Kubernetes was chosen."}

    models = Models("liar", episode=wrong)
    for _ in range(4):
        consolidated(filled, models)
    waiting = opened(filled).work(["episode"]).items
    assert len(asked) == 2 * len(waiting)
    assert waiting  # others may still do it


def test_no_model_is_asked_while_the_lock_is_held(filled: str) -> None:
    perfect = Perfect()
    free: list[bool] = []

    def taking_the_lock(function: Any) -> Any:
        def asked(given: Any) -> Any:
            other = Workspace(filled, actor="bob", now=NOW, overrides={"lock_timeout": 0.0})
            with other.transaction():
                free.append(True)
            return function(given)

        return asked

    kinds = {kind: taking_the_lock(getattr(perfect, kind)) for kind in TASKS}
    models = Models("perfect", **kinds)
    consolidated(filled, models)
    project = opened(filled, models)
    app = project.start_conversation("More", app="calendar")
    project.add_message("user", "Ben prefers rooms with a window, and so does Ada.", speaker="ben")
    project.end_conversation(conversation=app.id)
    project.start_conversation("Talk")
    long = "We agreed that the release notes are written by the person who merges the change."
    project.add_message("user", long, speaker="ada", learn=True)
    assert {"conversation_summary", "compaction", "turn_facts", "insight"} <= set(perfect.asked)
    assert len(free) == len(perfect.asked)


@pytest.mark.row("S0.2.6")
def test_an_app_remembers_what_the_model_says_and_pays_for_it(filled: str) -> None:
    perfect = Perfect()
    project = opened(filled, perfect.models(), **{"apps.limit": 9})
    before = project.apps.stats().energy
    talk = project.start_conversation("More", app="mail")
    project.add_message("user", "Ben reads mail in the morning only.", speaker="ben")
    project.end_conversation(conversation=talk.id)
    (memory,) = project.apps.list("mail").items
    assert memory.content == "The talk was about this: Ben reads mail in the morning only."
    history = project.history(memory.id)
    assert signed(history, "conversation_summary")
    after = project.apps.stats().energy
    assert before is not None
    assert after is not None
    assert before.units - after.units == 12
    project.resume_conversation(talk.id)
    project.end_conversation(conversation=talk.id)  # the same question costs nothing
    again = project.apps.stats().energy
    assert again is not None
    assert again.spent == after.spent


def test_insights_come_once_in_a_day(filled: str) -> None:
    perfect = Perfect()
    for hours in (0, 23, 25):
        project = opened(filled, perfect.models(), hours=hours)
        run(project.workspace, table.CONSOLIDATE, UpkeepRequest())
        if hours == 0:
            project.add("Deploys happen on Tuesdays.", force=True)
    assert perfect.asked.count("insight") == 2


def backups(root: str, *places: str) -> None:
    project = opened(root)
    for place in places:
        project.add(f"The nightly backup of orders runs on the server in {place}.", force=True)
        project.add(f"The nightly backup of {place} orders takes long on the server.", force=True)


def comparing(asked: list[int], most: int = 8) -> Models:
    """Return a model that finds so many pairs of a question different, and tells of no others."""

    def different(given: Any) -> Any:
        asked.append(len(given.pairs))
        return {"pairs": [{"id": pair.id, "verdict": "different"} for pair in given.pairs[:most]]}

    return Models("x", same_fact=different)


@pytest.mark.row("S1.4.8")
def test_pairs_that_no_rule_decides_are_asked_eight_together(root: str) -> None:
    backups(root, "Hamburg", "Berlin", "Munich", "Vienna", "Prague", "Zurich")
    asked: list[int] = []
    consolidated(root, comparing(asked))
    *full, rest = asked
    assert set(full) == {8}
    assert 0 < rest <= 8


def test_what_a_batch_leaves_out_is_asked_for_the_next_time(root: str) -> None:
    backups(root, "Hamburg", "Berlin", "Munich")
    asked: list[int] = []
    for _ in range(9):
        consolidated(root, comparing(asked, most=1))
    assert len(asked) > 1
    assert asked == list(range(len(asked), 0, -1))  # nobody asks about a pair again


def test_an_answer_that_leaves_all_pairs_out_does_not_count_as_done(root: str) -> None:
    backups(root, "Hamburg", "Berlin", "Munich")
    asked: list[int] = []
    consolidated(root, comparing(asked, most=0))
    (batch,) = asked
    consolidated(root, comparing(asked))
    assert asked == [batch, batch]


@pytest.mark.row("S1.4.9")
def test_a_day_compares_only_so_many_pairs(root: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(of_memories, "MOST_PAIRS_A_DAY", 2)
    backups(root, "Hamburg", "Berlin", "Munich", "Vienna")
    asked: list[int] = []
    for _ in range(3):
        consolidated(root, comparing(asked))
    assert sum(asked) == 2


def test_a_strict_command_fails_after_the_rules_have_done_their_part(filled: str) -> None:
    project = opened(filled, lying("half"), **{"model.strict": True, "apps.limit": 9})
    talk = project.start_conversation("More", app="mail")
    project.add_message("user", "Ben reads mail in the morning only.", speaker="ben")
    with pytest.raises(ModelFailed, match="conversation_summary") as caught:
        project.end_conversation(conversation=talk.id)
    assert caught.value.exit_code == 8
    assert len(opened(filled).apps.list("mail").items) == 1


def test_three_facts_of_a_turn_become_memories_at_once_at_the_most(root: str) -> None:
    words = ("alpha", "beta", "gamma", "delta", "omega")
    text = " ".join(f"The {word} server keeps all files for {word} weeks." for word in words)

    def all_five(given: Any) -> Any:
        return {
            "facts": [
                {"content": f"The {word} server keeps all files.", "type": "fact", "importance": 5}
                for word in words
            ]
        }

    project = opened(root, Models("eager", turn_facts=all_five), **{"promotion_threshold": 0.9})
    project.start_conversation("Servers")
    project.add_message("user", text, speaker="ada", learn=True)
    memories = [one for one in all_of(root, "memories") if isinstance(one, Memory)]
    assert len(memories) == 3
    assert all(signed(one.history, "turn_facts") for one in memories)


@pytest.mark.row("S1.13.10")
def test_without_learn_a_message_is_read_by_the_rules_alone(root: str) -> None:
    perfect = Perfect()
    project = opened(root, perfect.models())
    project.start_conversation("Talk")
    project.add_message("user", "The migration must never run on Fridays, for the whole team.")
    assert perfect.asked == []


# handing out


def answers(project: Project, limit: int = 100, **request: Any) -> list[dict[str, Any]]:
    """Return right answers to the next work, as an assistant would give them."""
    from msgspec import convert

    from tests.model.scripted import data_of

    perfect = Perfect()
    made = []
    for piece in project.next_work(limit, **request).items:
        given = convert(data_of(piece.prompt), TASKS[piece.kind].given)
        answer = getattr(perfect, piece.kind)(given)
        made.append({"id": piece.id, "digest": piece.digest, "answer": answer, "model": "me"})
    return made


def test_every_kind_of_work_can_be_handed_out_and_applied(filled: str) -> None:
    project = opened(filled)
    kinds = {item.kind for item in project.work().items}
    assert kinds == set(TASKS)
    for _ in range(4):  # what one answer changes may move what another rests on
        done = project.apply_work(answers(project)) if project.work().total else None
        if done is not None:
            assert {item.status for item in done.items} <= {"applied", "nothing", "moved"}, done
    assert opened(filled).work().items == ()


def test_an_answer_given_twice_is_applied_once(filled: str) -> None:
    project = opened(filled)
    given = answers(project, kinds=("episode",))
    assert {item.status for item in project.apply_work(given).items} == {"applied"}
    before = records(filled)
    assert {item.status for item in opened(filled).apply_work(given).items} == {"known"}
    other = [{**one, "answer": {"title": "x", "summary": "y"}} for one in given]
    assert {item.status for item in opened(filled).apply_work(other).items} == {"known"}
    assert records(filled) == before


def test_what_moved_is_not_applied_and_comes_back_as_it_is_now(filled: str) -> None:
    (given,) = answers(opened(filled), kinds=("insight",))
    project = opened(filled, hours=1)
    project.add("Deploys happen on Tuesdays.", force=True)
    before = records(filled)
    (item,) = project.apply_work([given]).items
    assert item.status == "moved"
    assert item.next is not None
    assert item.next.digest != given["digest"]
    assert "Tuesdays" in item.next.prompt
    assert records(filled) == before


def test_a_forged_digest_and_unknown_work_are_never_applied(filled: str) -> None:
    project = opened(filled)
    (given, *_) = answers(project, kinds=("episode",))
    before = records(filled)
    for forged in (
        {**given, "digest": "0" * 32},
        {**given, "id": "episode:gone"},
        {**given, "id": "episode:../../etc/passwd"},
        {**given, "id": "insight:" + given["id"]},
        {**given, "id": "nonsense"},
        {**given, "id": "turn_facts:a/b"},
        {**given, "id": "same_fact:aaaaaaaa-bbbbbbbb,"},
        {**given, "id": "compaction:\u202e"},
    ):
        (item,) = project.apply_work([forged]).items
        assert item.status in ("moved", "refused")
    assert records(filled) == before


@pytest.mark.parametrize("mode", REFUSED)
def test_a_wrong_answer_to_work_is_refused_with_the_reason(filled: str, mode: str) -> None:
    project = opened(filled)
    before = records(filled)
    for given in answers(project):
        kind = given["id"].partition(":")[0]
        right = given["answer"] if given["answer"] != {"facts": []} else None
        wrong = {**given, "answer": say(mode, kind, right)}
        (item,) = project.apply_work([wrong]).items
        assert item.status == "refused", (kind, item)
        assert item.reason
    assert records(filled) == before


def test_answers_need_their_form(filled: str) -> None:
    with pytest.raises(InvalidValue, match=r"answers\[0\] has no `digest`"):
        opened(filled).apply_work([{"id": "x"}])
    with pytest.raises(InvalidValue, match="there is no answer"):
        opened(filled).apply_work([])


def test_an_agent_does_work_but_merges_nothing_that_a_person_wrote(filled: str) -> None:
    workspace = Workspace(filled, actor="ada", now=NOW, overrides=SETTINGS)
    given = answers(opened(filled), kinds=("same_fact", "chunk_summary"))
    from msgspec import convert

    from pmem.upkeep.work.doing import WorkAnswer, WorkAnswersRequest

    request = WorkAnswersRequest(answers=convert(given, tuple[WorkAnswer, ...]))
    done = run(workspace, table.APPLY_WORK, request, Caller("claude")).result
    by_kind = {item.id.partition(":")[0]: item for item in done.items}
    assert by_kind["chunk_summary"].status == "applied"
    assert by_kind["same_fact"].status == "refused"
    assert "a person wrote" in by_kind["same_fact"].reason


def test_an_app_is_handed_no_work_of_others(filled: str) -> None:
    project = Project(filled, actor="ada", now=NOW, app="mail", **SETTINGS)
    kinds = {item.id.partition(":")[0] for item in project.work().items}
    assert "compaction" not in kinds
    assert "conversation_summary" not in kinds


def test_only_a_models_is_taken_as_models(root: str) -> None:
    with pytest.raises(InvalidValue, match="models must be a `Models`, not str"):
        Project(root, models="claude")
