"""Golden sets and their runs: what is read, how it is judged, what counts as a regression."""

import os
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem import Project
from pmem.conversation.exchange import MessagesRequest
from pmem.errors import Damaged, InvalidValue, NotFound, Refused, StorageRefused
from pmem.memory.changes import RecordsRequest
from pmem.memory.requests import AddRequest, PinRequest
from pmem.operations import table
from pmem.project.workspace import Workspace
from pmem.search import evaluation, golden
from pmem.search.evaluation import Evaluation, EvaluationRequest, QuestionResult, Run
from pmem.search.golden import Golden, Question, QuestionAdded, QuestionRequest, parse, read
from pmem.search.hits import SearchHit, SearchKind, SearchRequest
from pmem.search.search import SearchResult
from pmem.values.ids import short
from pmem.values.records import Memory, dump_line
from tests.asking import ask
from tests.conftest import NOW
from tests.storage.in_memory import InMemory

Ranking = Callable[..., None]
YEARS_AGO = NOW - timedelta(days=1000)


def in_memory(**options: Any) -> Workspace:
    return Workspace(os.getcwd(), actor="tester", now=NOW, backend=InMemory(), **options)


def keep(workspace: Workspace, content: str, **fields: Any) -> Memory:
    return ask(workspace, table.ADD, AddRequest(content=content, force=True, **fields)).memory


def run(workspace: Workspace, *questions: Question, **fields: Any) -> Evaluation:
    return ask(
        workspace,
        table.EVALUATE,
        EvaluationRequest(golden=Golden(questions, "set.jsonl"), **fields),
    )


def judged(workspace: Workspace, **fields: Any) -> QuestionResult:
    (found,) = run(workspace, Question(query="database", **fields)).questions
    return found


def write(text: str, path: str = "set.jsonl") -> str:
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(text)
    return path


def text_of(path: str) -> str:
    with open(path, encoding="utf-8", newline="") as file:
        return file.read()


def question_added(workspace: Workspace, query: str, ref: str, **fields: Any) -> QuestionAdded:
    return ask(workspace, table.ADD_QUESTION, QuestionRequest(query=query, reference=ref, **fields))


@pytest.fixture
def full() -> Workspace:
    """Return a memory about a database, and a message from elsewhere."""
    workspace = in_memory()
    keep(workspace, "The database is PostgreSQL")
    keep(workspace, "Lunch is at noon")
    line = b'{"id": "m7", "content": "The dinosaur is extinct"}'
    ask(
        workspace,
        table.IMPORT_MESSAGES,
        MessagesRequest(lines=[line], name="talk", progress=lambda done, total: None),
    )
    return workspace


@pytest.fixture
def ranking(monkeypatch: pytest.MonkeyPatch) -> Ranking:
    """Return what fixes the ids that every search finds, in their order."""

    def fix(*ids: str, external: str | None = None) -> None:
        def search(_: Workspace, request: SearchRequest) -> SearchResult:
            hits = tuple(
                SearchHit(
                    id=id_,
                    short=short(id_),
                    kind=SearchKind.MEMORY,
                    score=1 / place,
                    text="",
                    created_at=NOW,
                    external_id=external,
                )
                for place, id_ in enumerate(ids[: request.top_k], start=1)
            )
            return SearchResult(
                query=request.query, hits=hits, total=len(ids), removed={}, related=()
            )

        monkeypatch.setattr(evaluation, "search", search)

    return fix


# The file


def test_a_line_has_a_query_and_references() -> None:
    line = (
        b'{"query": "q", "must": ["a"], "must_not": ["b"], "max_rank": 5, "kind": ["memory"],'
        b' "budget": 900}'
    )
    assert parse([line], "set") == (
        Question(
            query="q",
            must=("a",),
            must_not=("b",),
            max_rank=5,
            kind=(SearchKind.MEMORY,),
            budget=900,
        ),
    )


def test_blank_lines_and_comments_are_passed_over() -> None:
    lines = [b"", b"  ", b"# why", b'  # {"query": 1}', b'{"query":"q","must":["a"]}\r']
    assert parse(lines, "set") == (Question(query="q", must=("a",)),)


def test_lines_that_ask_the_same_become_one_question() -> None:
    lines = [
        b'{"query":"q","must":["a"]}',
        b'{"query":"other","must":["a"]}',
        b'{"query":"q","must":["b","a"]}',
        b'{"query":"q","must_not":["c"]}',
        b'{"query":"q","must":["a"],"max_rank":1}',
    ]
    assert parse(lines, "set") == (
        Question(query="q", must=("a", "b"), must_not=("c",)),
        Question(query="other", must=("a",)),
        Question(query="q", must=("a",), max_rank=1),
    )


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b"query: x", "not valid JSON: the mistake is at column 1"),
        (b"[]", "it must be an object, not a list"),
        (b'{"must":["a"]}', "it has no `query`"),
        (b'{"query":" ","must":["a"]}', "its query is empty"),
        (b'{"query":"q"}', "neither `must` nor `must_not` names anything"),
        (b'{"query":"q","must":"a"}', "must must be a list, not text"),
        (b'{"query":"q","must":["a"],"max_rank":0}', "max_rank must be at least 1"),
        (b'{"query":"q","must":["a"],"budget":0}', "budget must be at least 1"),
        (b'{"query":"q","must":["a"],"kind":["thing"]}', "kind\\[0\\] cannot be 'thing'"),
        (b'{"query":"q","mustnot":["a"]}', "it has the unknown key `mustnot`"),
        (b'{"query":"q","must":["a"],"must_not":["a"]}', "both wants and forbids 'a'"),
        (b'{"query":"\xff","must":["a"]}', "not UTF-8 at byte 10"),
        (b"[" * 100_000, "nested too deep"),
    ],
)
def test_a_bad_line_is_named_with_its_number(line: bytes, why: str) -> None:
    with pytest.raises(InvalidValue, match=why) as caught:
        parse([b"# fine", line], "set.jsonl")
    assert caught.value.message.startswith("set.jsonl line 2 ")


questions = st.builds(
    Question,
    query=st.text(st.characters(codec="utf-8"), min_size=1).filter(str.strip),
    must=st.lists(st.text("abc", min_size=1), min_size=1, unique=True).map(tuple),
    must_not=st.lists(st.text("xyz", min_size=1), unique=True).map(tuple),
    max_rank=st.none() | st.integers(1, 100),
    kind=st.lists(st.sampled_from(SearchKind), unique=True).map(tuple),
    budget=st.none() | st.integers(1, 10_000),
)


@given(questions)
def test_a_question_reads_back_as_it_was_written(question: Question) -> None:
    assert parse([dump_line(question)], "set") == (question,)


def test_a_missing_file_is_named_with_what_to_do() -> None:
    with pytest.raises(InvalidValue, match=r"there is no file none\.jsonl") as caught:
        read("none.jsonl")
    assert "pmem eval add" in caught.value.hint


def test_a_file_that_may_not_be_read_is_named() -> None:
    os.symlink("set.jsonl", "set.jsonl")
    with pytest.raises(StorageRefused, match=r"set\.jsonl cannot be read"):
        read("set.jsonl")


# Adding questions


def test_the_first_question_starts_the_projects_own_set(full: Workspace) -> None:
    reference = full.memories.ids()[0]
    done = question_added(full, "which database", short(reference)[:6])
    assert done.action == "added"
    assert done.file == golden.default_file(full)
    assert text_of(done.file) == f'{{"query":"which database","must":["{reference}"]}}\n'


def test_a_question_can_forbid_and_set_a_rank(full: Workspace) -> None:
    question_added(full, "dinner", "m7", forbidden=True, max_rank=3, file="sets/own.jsonl")
    line = '{"query":"dinner","must_not":["m7"],"max_rank":3}\n'
    assert text_of("sets/own.jsonl") == line


def test_adding_keeps_every_line_as_it_stands(full: Workspace) -> None:
    before = '# mine\r\n\n{ "must": ["m7"], "query": "q" }'
    question_added(full, "other", "m7", file=write(before))
    assert text_of("set.jsonl") == f'{before}\n{{"query":"other","must":["m7"]}}\n'


def test_adding_again_changes_nothing(full: Workspace) -> None:
    before = '{"query":"q","must":["x","m7"]}'
    done = question_added(full, " q\n", "m7", file=write(before))
    assert done.action == "unchanged"
    assert text_of("set.jsonl") == before


def test_a_message_is_kept_by_the_name_that_was_given(full: Workspace) -> None:
    (conversation,) = full.conversations.find()
    identifier = conversation.recent_messages[0].id
    assert question_added(full, "one", "m7").question.must == ("m7",)
    for given_ in (identifier, short(identifier), short(identifier)[:7]):
        assert question_added(full, "two", given_).question.must == (identifier,)


@pytest.mark.parametrize(
    ("query", "reference", "fields", "error", "why"),
    [
        ("q", "nothing", {}, NotFound, "no record has an id"),
        ("q", "", {}, NotFound, "an id is needed"),
        (" ", "m7", {}, InvalidValue, "the query is empty"),
        ("q", "m7", {"max_rank": 0}, InvalidValue, "at least 1, not 0"),
        ("known", "m7", {"forbidden": True}, InvalidValue, "says the opposite already"),
    ],
)
def test_what_cannot_be_asked_is_not_added(
    full: Workspace, query: str, reference: str, fields: Any, error: Any, why: str
) -> None:
    before = '# one\n{"query":"known","must":["m7"]}\n'
    with pytest.raises(error, match=why):
        question_added(full, query, reference, file=write(before), **fields)
    assert text_of("set.jsonl") == before


def test_a_conversation_is_never_wanted(full: Workspace) -> None:
    with pytest.raises(InvalidValue, match="never found itself"):
        question_added(full, "q", full.conversations.ids()[0])


def test_nothing_is_added_to_a_set_with_a_bad_line(full: Workspace) -> None:
    with pytest.raises(InvalidValue, match=r"set\.jsonl line 1 is not valid JSON"):
        question_added(full, "q", "m7", file=write("<<<<<<< HEAD\n"))
    assert text_of("set.jsonl") == "<<<<<<< HEAD\n"


def test_a_folder_is_no_set(full: Workspace) -> None:
    with pytest.raises(InvalidValue, match="is a folder"):
        question_added(full, "q", "m7", file=os.getcwd())


# Judging


@pytest.mark.parametrize("name", ["x-00000001", "00000001", "elsewhere"])
def test_a_reference_is_an_id_a_short_id_or_an_external_id(
    full: Workspace, ranking: Ranking, name: str
) -> None:
    ranking("x-00000001", external="elsewhere")
    found = judged(full, must=(name,))
    assert (found.passed, found.ranks, found.reason) == (True, {name: 1}, "")


def test_of_several_hits_with_one_name_the_best_counts(full: Workspace, ranking: Ranking) -> None:
    ranking("x-00000001", "x-00000002", external="7")
    assert judged(full, must=("7",)).ranks == {"7": 1}


def test_a_wanted_hit_beyond_the_maximum_rank_is_a_miss(full: Workspace, ranking: Ranking) -> None:
    ranking("x-00000001", "x-00000002")
    assert judged(full, must=("00000002",), max_rank=2).passed
    found = judged(full, must=("x-00000002",), max_rank=1)
    assert (found.passed, found.reason) == (False, "00000002 is at rank 2, beyond 1")


def test_without_a_maximum_rank_a_search_must_show_it(ranking: Ranking) -> None:
    ranking("x-00000001", "x-00000002")
    few, more = (in_memory(overrides={"retrieval_top_k": most}) for most in (1, 2))
    assert not judged(few, must=("00000002",)).passed
    assert judged(more, must=("00000002",)).passed


def test_a_forbidden_hit_is_a_miss_up_to_the_maximum_rank(
    full: Workspace, ranking: Ranking
) -> None:
    ranking("x-00000001", "x-00000002")
    assert judged(full, must_not=("00000002",), max_rank=1).passed
    found = judged(full, must_not=("00000002",))
    assert not found.passed
    assert found.reason == "00000002 is at rank 2 and must not be among the first 10"


def test_a_late_rank_is_looked_for(full: Workspace, ranking: Ranking) -> None:
    ranking(*(f"x-{place:08d}" for place in range(1, 301)))
    assert judged(full, must=("00000300",), max_rank=300).passed
    found = judged(full, must=("00000300",))
    assert found.reason == "00000300 does not exist"
    assert judged(full, must=("00000100",)).ranks == {"00000100": 100}


def test_what_is_not_found_is_explained(full: Workspace) -> None:
    lunch = next(item for item in full.memories.find() if "Lunch" in item.content)
    past = keep(full, "The database was MySQL", valid_from=YEARS_AGO, valid_until=NOW)
    gone = keep(full, "The database was dBase")
    ask(full, table.REMOVE, RecordsRequest(references=(gone.id,)))
    reasons = {
        lunch.id: "is not among 1 hit",
        "never": "does not exist",
        past.id: "does not hold at this time",
        gone.id: "is soft deleted",
        full.conversations.ids()[0]: "is a record of the kind conversation, which is not searched",
        "m7": "is a record of the kind message, which is not searched",
    }
    found = judged(full, must=tuple(reasons), kind=(SearchKind.MEMORY,))
    said = [f"{evaluation.label(name)} {reason}" for name, reason in reasons.items()]
    assert found.reason.split("; ") == said
    assert not found.passed
    assert set(found.ranks.values()) == {None}


def test_what_is_damaged_is_a_miss_with_its_reason(root: str) -> None:
    with open(f"{root}/long-term-memory/x-00000001.json", "w", encoding="utf-8") as file:
        file.write("{")
    assert "cannot be used: " in golden.Kept(
        Workspace(root, now=NOW, read_only=True)
    ).why_not_found("00000001", ())


def test_forbidding_what_is_gone_passes_and_is_said(full: Workspace) -> None:
    found = judged(full, must_not=("never", "m7"))
    assert (found.passed, found.reason) == (True, "never does not exist")


def test_the_search_is_the_one_that_people_use(full: Workspace) -> None:
    first = full.memories.ids()[0]
    assert judged(full, must=(first,)).ranks == {first: 1}
    found = judged(full, must=(first,), kind=(SearchKind.MESSAGE,))
    assert found.ranks == {first: None}


def test_a_context_covers_what_fits_its_budget(full: Workspace) -> None:
    first = full.memories.ids()[0]
    ask(full, table.PIN, PinRequest(reference=first))
    said = Question(query="dinosaur", must=("m7", first))
    assert run(full, said).questions[0].covered
    assert not judged(full, must=(first,), budget=1).covered
    done = run(full, Question(query="database", must=(first,)), budget=1)
    assert done.totals["budget_coverage"] == 0


def test_the_totals_are_means_over_the_questions_that_want_something(
    full: Workspace, ranking: Ranking
) -> None:
    ranking("x-00000001", "x-00000002")
    done = run(
        full,
        Question(query="a", must=("00000001",)),
        Question(query="b", must=("00000002",)),
        Question(query="c", must_not=("m7",)),
        k=2,
    )
    assert done.totals == {
        "recall@1": 0.5,
        "recall@2": 1,
        "recall@5": 1,
        "recall@10": 1,
        "mrr": 0.75,
        "ndcg@10": 0.815465,
        "budget_coverage": 0,
    }
    assert run(full, Question(query="c", must_not=("m7",))).totals == {}


def test_recall_is_told_by_how_the_questions_are_written(full: Workspace, ranking: Ranking) -> None:
    ranking("x-00000001", "x-00000002")
    asked = [
        Question(query="when do we deploy", must=("00000001",)),
        Question(query="wer löscht Rechnungen", must=("00000003",)),
        Question(query="Rechnungen löschen", must=("00000001",)),
        Question(query="кто удаляет счета", must=("00000002",)),
        Question(query="誰が請求書を消すか", must_not=("00000001",)),
    ]
    assert run(full, *asked).languages == {"cyrillic": 1, "english": 1, "latin": 0.5}
    assert run(full, *asked, accept=True).languages
    assert run(full, *asked[1:3]).languages == {}


def test_progress_is_told(full: Workspace) -> None:
    told: list[tuple[int, int]] = []
    asked = tuple(Question(query=query, must=("m7",)) for query in "ab")
    request = EvaluationRequest(
        golden=Golden(asked), progress=lambda done, total: told.append((done, total))
    )
    ask(full, table.EVALUATE, request)
    assert told == [(1, 2), (2, 2)]


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"golden": Golden(())}, "standard input holds no question"),
        ({"golden": Golden((), "set.jsonl")}, "set.jsonl holds no question"),
        ({"k": 0}, "the number of hits must be at least 1, not 0"),
        ({"budget": 0}, "a budget must be at least 1 token, not 0"),
        ({"accept": True}, "which must be a file"),
    ],
)
def test_what_cannot_be_measured_is_an_error(full: Workspace, fields: Any, why: str) -> None:
    known = {"golden": Golden((Question(query="q", must=("m7",)),))}
    with pytest.raises(InvalidValue, match=why):
        ask(full, table.EVALUATE, EvaluationRequest(**known | fields))


# The accepted run


ONE = Question(query="one", must=("00000001",))
TWO = Question(query="two", must=("00000002",), max_rank=2)


def test_without_an_accepted_run_every_question_must_pass(
    full: Workspace, ranking: Ranking
) -> None:
    ranking("x-00000001")
    assert run(full, ONE).regressions == ()
    done = run(full, ONE, TWO)
    assert done.accepted is None
    (change,) = done.regressions
    assert (change.figure, change.query, change.before, change.after) == ("passed", "two", None, 0)
    assert change.reason == "00000002 does not exist"


def test_an_accepted_run_lies_beside_its_set_in_the_same_bytes(
    full: Workspace, ranking: Ranking
) -> None:
    ranking("x-00000001")
    done = run(full, ONE, TWO, accept=True)
    assert (done.accepted, done.regressions) == (done.totals, ())
    first = text_of("set.accepted.json")
    run(full, ONE, TWO, accept=True)
    assert text_of("set.accepted.json") == first
    kept = msgspec.json.decode(first, type=Run)
    assert (kept.totals, kept.questions) == (done.totals, done.questions)
    assert first.endswith("}\n")


def test_a_known_failure_is_no_regression(full: Workspace, ranking: Ranking) -> None:
    ranking("x-00000001")
    run(full, ONE, TWO, accept=True)
    done = run(full, ONE, TWO)
    assert (done.regressions, done.improvements) == ((), ())
    assert done.accepted == done.totals


def test_a_question_that_fails_where_it_passed_is_a_regression(
    full: Workspace, ranking: Ranking
) -> None:
    ranking("x-00000001", "x-00000002")
    run(full, ONE, TWO, accept=True)
    ranking("x-00000001", "x-00000003", "x-00000002")
    passed, *figures = run(full, ONE, TWO).regressions
    assert (passed.figure, passed.query, passed.before, passed.after) == ("passed", "two", 1, 0)
    assert passed.reason == "00000002 is at rank 3, beyond 2"
    assert [change.figure for change in figures] == ["mrr", "ndcg@10"]
    assert figures[0].reason == "mrr fell from 0.750 to 0.667: 'two'"


def test_a_lower_total_is_a_regression_though_every_question_passes(
    full: Workspace, ranking: Ranking
) -> None:
    ranking("x-00000002", "x-00000001")
    run(full, ONE, TWO, accept=True)
    ranking("x-00000003", "x-00000002", "x-00000001")
    done = run(full, ONE, TWO)
    assert all(question.passed for question in done.questions)
    assert [change.figure for change in done.regressions] == ["recall@1", "mrr", "ndcg@10"]
    assert done.regressions[1].reason == "mrr fell from 0.750 to 0.417: 'one', 'two'"


def test_improvements_are_said_too(full: Workspace, ranking: Ranking) -> None:
    ranking("x-00000001")
    run(full, ONE, TWO, accept=True)
    ranking("x-00000001", "x-00000002")
    done = run(full, ONE, TWO)
    assert done.regressions == ()
    assert [change.figure for change in done.improvements] == [
        *("passed", "recall@5", "recall@10", "mrr", "ndcg@10")
    ]
    assert done.improvements[0].reason == "passes now"
    assert done.improvements[1].reason == "recall@5 rose from 0.500 to 1.000: 'two'"


def test_totals_are_compared_on_the_questions_of_both_runs(
    full: Workspace, ranking: Ranking
) -> None:
    ranking("x-00000001")
    run(full, ONE, accept=True)
    changed = Question(query="one", must=("00000001", "00000002"))
    for more in ((ONE, TWO), (TWO,), (changed,)):
        done = run(full, *more)
        assert [change.figure for change in done.regressions] == ["passed"]
        assert done.regressions[0].before is None
    late = Question(query="late", must=("00000001",))
    assert run(full, late).regressions == run(full, ONE, late).regressions == ()


def test_coverage_is_compared_within_the_same_budget_only(full: Workspace) -> None:
    asked = Question(query="database", must=(full.memories.ids()[0],))
    run(full, asked, accept=True)
    assert run(full, asked, budget=1).regressions == ()
    assert run(full, asked).improvements == ()
    run(full, asked, budget=1, accept=True)
    keep(full, "The lunch database is here")
    assert run(full, asked, budget=1).regressions == ()


def test_many_queries_are_counted_rather_than_listed(full: Workspace, ranking: Ranking) -> None:
    asked = [Question(query=f"q{n}", must=("00000001",)) for n in range(5)]
    ranking("x-00000001")
    run(full, *asked, accept=True)
    ranking("x-00000002", "x-00000001")
    assert run(full, *asked).regressions[0].reason.endswith(": 'q0', 'q1', 'q2', 2 more")


@pytest.mark.parametrize("text", ["", "{", "[]", "<<<<<<< HEAD\n", "[" * 100_000])
def test_a_damaged_accepted_run_is_named_and_left_alone(full: Workspace, text: str) -> None:
    write(text, "set.accepted.json")
    with pytest.raises(Damaged, match=r"set\.accepted\.json is no accepted run") as caught:
        run(full, ONE)
    assert "--accept" in caught.value.hint
    assert text_of("set.accepted.json") == text


def test_a_set_without_a_file_has_no_accepted_run(full: Workspace, ranking: Ranking) -> None:
    ranking("x-00000001")
    run(full, ONE, accept=True)
    assert ask(full, table.EVALUATE, EvaluationRequest(golden=Golden((ONE,)))).accepted is None


def test_a_read_only_run_measures_and_accepts_nothing(ranking: Ranking) -> None:
    closed = in_memory(read_only=True)
    ranking("x-00000001")
    assert run(closed, ONE).totals["mrr"] == 1
    with pytest.raises(Refused):
        run(closed, ONE, accept=True)
    with pytest.raises(Refused):
        question_added(closed, "q", "m7")
    assert os.listdir() == []


# The library


def test_the_library_measures_and_adds_too(full: Workspace) -> None:
    project = Project(os.getcwd(), backend=full.backend, now=NOW)
    first = full.memories.ids()[0]
    assert project.add_question("which database", first, max_rank=1).action == "added"
    assert project.evaluate(accept=True).totals["recall@1"] == 1
    assert project.evaluate("golden.jsonl", k=3).accepted is not None
