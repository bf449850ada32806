"""What may be cited, how citations change, and where stale ones show."""

import os
import shutil
import socket
from pathlib import Path
from typing import Any

import msgspec
import pytest

from pmem import AddRequest
from pmem.core.citations import CitationState, Content
from pmem.core.context.filling import PATIENCE
from pmem.errors import InvalidValue
from pmem.library import Project
from pmem.memory import citations
from pmem.memory.citation_watch import WATCHED_BYTES, Watch
from pmem.memory.citations import MOST_CITATIONS, MOST_NAMED, VerifyRequest
from pmem.operations import table
from pmem.search.context_request import ContextRequest
from pmem.storage.git import project_files as reading
from pmem.storage.git.project_files import MOST_BYTES, Sources, Unreadable, blob_of
from pmem.values.records import Citation, EventKind, Memory
from tests.asking import ask
from tests.cli.shell import pmem
from tests.git.branches import begin, ok

CODE = [f"def step_{n:02d}(): return 'queue step {n:02d}'" for n in range(1, 31)]
TEXT = "".join(f"{line}\n" for line in CODE)
SECRET = "the secret outside of the project\n"


@pytest.fixture
def project() -> Project:
    """Make a project without git, with a file that can be cited."""
    Path("project/src").mkdir(parents=True)
    os.chdir("project")
    Path("src/queue.py").write_text(TEXT)
    return Project(actor="ada")


def cited(project: Project, *places: str) -> Memory:
    return project.add("The queue has thirty steps", cite=places).memory


def verified(project: Project, *references: str) -> list[tuple[str, str]]:
    done = project.verify(*references)
    return [(item.file, item.state) for item in done.items]


def planted(project: Project, file: str, data: bytes, **fields: Any) -> Memory:
    """Keep a memory as a stranger may have written it: it cites what `data` says is there."""
    memory = project.add(f"Somebody cites {len(file)} {file[:50]!r}", force=True).memory
    citation = Citation(file=file, digest=Content(data).digest(), **fields)
    workspace = project.workspace
    with workspace.transaction():
        kept = workspace.memories.get(memory.id)
        return workspace.memories.put(msgspec.structs.replace(kept, citations=(citation,)))


def test_a_citation_says_which_text_it_means(project: Project) -> None:
    (citation,) = cited(project, "src/queue.py:10-12").citations
    data = TEXT.encode()
    assert citation == Citation(
        file="src/queue.py",
        lines=(10, 12),
        digest=Content(data).digest((10, 12)),
        folded=Content(data).folded((10, 12), "src/queue.py"),
        blob=blob_of(data, None),
        commit=None,
    )
    os.chdir("src")
    (seen_from_there,) = project.add("Another", cite=("queue.py:10-12",)).memory.citations
    assert seen_from_there == citation


def test_git_has_the_names_that_a_citation_gives() -> None:
    begin()
    Path("queue.py").write_text(TEXT)
    ok("add", "--all")
    ok("commit", "--quiet", "--message", "One")
    (citation,) = cited(Project(actor="ada"), "queue.py").citations
    assert citation.blob == f"git:{ok('rev-parse', 'HEAD:queue.py').strip()}"
    assert citation.commit == f"git:{ok('rev-parse', 'HEAD').strip()}"
    assert blob_of(TEXT.encode(), "0" * 64) == blob_of(TEXT.encode(), f"git:{'f' * 64}")
    assert len(blob_of(b"", "0" * 64)) == len("git:") + 64


@pytest.mark.parametrize(
    ("place", "why"),
    [
        ("../outside.txt", "not in the project"),
        ("/etc/passwd", "not in the project"),
        (".", "not in the project"),
        ("out", "not in the project"),
        ("outside/outside.txt", "not in the project"),
        ("src", "no regular file"),
        ("pipe", "no regular file"),
        ("huge.bin", "larger than 16 MB"),
        ("missing.py", "not there"),
        ("src/queue.py:0", "has no lines 0: it has 30"),
        ("src/queue.py:31", "has no lines 31: it has 30"),
        ("src/queue.py:20-31", "has no lines 20-31"),
        ("src/queue.py:9-3", "has no lines 9-3"),
        ("src/queue.py:1-2-3", "not there"),
        ("src/queue.py:", "not there"),
        (":3", "not there"),
        ("logo.png:1", "binary and has no lines"),
        ("", "must not be empty"),
        ("a\0b", "is no file"),
        (".git/HEAD", "belongs to git"),
        (".project-memory/local/lock", "this clone alone"),
        ("src/queue.py:" + "9" * 5000, "cannot be cited"),
    ],
)
def test_what_cannot_be_cited_is_told_and_nothing_is_written(
    project: Project, place: str, why: str
) -> None:
    Path("../outside.txt").write_text(SECRET)
    os.symlink("../outside.txt", "out")
    os.symlink("..", "outside")
    os.mkfifo("pipe")
    Path("logo.png").write_bytes(b"\x89PNG\0\n")
    Path("huge.bin").touch()
    os.truncate("huge.bin", MOST_BYTES + 1)
    Path(".git").mkdir()
    Path(".git/HEAD").write_text("ref: refs/heads/main\n")
    Path(".project-memory/local").mkdir(exist_ok=True)
    Path(".project-memory/local/lock").touch()
    with pytest.raises(InvalidValue, match=why):
        project.add("Nothing", cite=(place,))
    assert project.list().total == 0


def test_a_link_inside_the_project_stands_for_its_file(project: Project) -> None:
    os.symlink("src", "lib")
    os.symlink("queue.py", "src/link.py")
    memory = cited(project, "lib/queue.py:1", "src/link.py:2")
    assert [one.place for one in memory.citations] == ["src/queue.py:1", "src/queue.py:2"]


def test_a_name_with_a_colon_is_a_name_where_there_is_such_a_file(project: Project) -> None:
    Path("src/queue.py:7").write_text("seven\n")
    memory = cited(project, "src/queue.py:7", "src/queue.py:8", "src/queue.py:7:1")
    assert [(one.file, one.lines) for one in memory.citations] == [
        ("src/queue.py:7", None),
        ("src/queue.py", (8, 8)),
        ("src/queue.py:7", (1, 1)),
    ]


def test_a_memory_cites_so_many_places_and_no_more(project: Project) -> None:
    for number in range(MOST_CITATIONS + 1):
        Path(f"{number}.txt").write_text("a")
    names = [f"{number}.txt" for number in range(MOST_CITATIONS + 1)]
    with pytest.raises(InvalidValue, match="more than 100"):
        cited(project, *names)
    assert len(cited(project, *names[1:], "1.txt").citations) == MOST_CITATIONS


def test_editing_adds_renews_and_removes_citations(project: Project) -> None:
    memory = cited(project, "src/queue.py:1", "src/queue.py:2-3")
    Path("src/queue.py").write_text(f"# new\n{TEXT}")
    Path("notes.md").write_text("notes\n")
    edited = project.edit(memory.id, cite=("notes.md", "src/queue.py:1"))
    assert [one.place for one in edited.citations] == [
        "src/queue.py:1",
        "src/queue.py:2-3",
        "notes.md",
    ]
    assert edited.citations[0].digest != memory.citations[0].digest
    assert edited.citations[1] == memory.citations[1]
    os.unlink("notes.md")
    left = project.edit(memory.id, uncite=("notes.md", "src/queue.py:2-3"))
    assert [one.place for one in left.citations] == ["src/queue.py:1"]
    assert project.edit(memory.id, uncite=("src/queue.py",)).citations == ()
    events = project.history(memory.id)
    assert [event.event for event in events] == [EventKind.ADD, *[EventKind.UPDATE] * 3]


def test_what_replaces_a_memory_cites_what_it_is_given(project: Project) -> None:
    memory = cited(project, "src/queue.py:1")
    done = project.supersede(memory.id, "The queue has forty steps", cite=("src/queue.py:2",))
    assert [one.place for one in done.memory.citations] == ["src/queue.py:2"]
    assert [one.place for one in done.superseded.citations] == ["src/queue.py:1"]
    last = project.supersede(done.memory.id, "The queue has fifty steps").memory
    assert last.citations == ()


def test_only_memories_that_hold_are_verified_unless_they_are_named(project: Project) -> None:
    removed, kept = cited(project, "src/queue.py:1"), project.add("Kept", cite=("src/queue.py",))
    project.remove(removed.id)
    Path("src/queue.py").unlink()
    assert verified(project) == [("src/queue.py", "gone")]
    assert ask(project.workspace, table.VERIFY, VerifyRequest()).items[0].id == kept.memory.id
    assert verified(project, removed.id) == [("src/queue.py", "gone")]


def test_an_update_follows_the_text_and_leaves_a_trace(project: Project) -> None:
    memory = cited(project, "src/queue.py:10-12", "src/queue.py:25")
    Path("src/pipeline.py").write_text("# new\n" + TEXT.replace("step 25", "step 99"))
    Path("src/queue.py").unlink()
    done = project.verify(update=True)
    assert (done.updated, done.stale) == (1, 1)
    now = project.show(memory.id)
    assert isinstance(now, Memory)
    moved, gone = now.citations
    assert moved == msgspec.structs.replace(
        memory.citations[0],
        file="src/pipeline.py",
        lines=(11, 13),
        blob=blob_of(Path("src/pipeline.py").read_bytes(), None),
    )
    assert gone == memory.citations[1]
    event = now.history[-1]
    assert (event.event, event.source, list(event.before)) == ("UPDATE", "verify", ["citations"])
    again = ask(project.workspace, table.VERIFY, VerifyRequest(update=True))
    assert (again.updated, again.counts[CitationState.FRESH], again.counts[CitationState.GONE]) == (
        0,
        1,
        1,
    )
    assert project.show(memory.id) == now


def test_a_file_that_changes_while_citations_are_updated_is_left_alone(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = cited(project, "src/queue.py:10")
    Path("src/queue.py").write_text(f"# new\n{TEXT}")
    real = citations._verdicts

    def racing(*arguments: Any) -> Any:
        found = real(*arguments)
        Path("src/queue.py").write_text("something else\n")
        return found

    monkeypatch.setattr(citations, "_verdicts", racing)
    assert project.verify(update=True).updated == 0
    assert project.show(memory.id) == memory


def test_what_another_process_has_updated_gets_no_second_event(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = cited(project, "src/queue.py:10")
    Path("src/queue.py").write_text(f"# new\n{TEXT}")
    real = citations._moved_citations

    def outrun(*arguments: Any) -> Any:
        monkeypatch.setattr(citations, "_moved_citations", real)
        assert Project(actor="kim").verify(update=True).updated == 1
        return real(*arguments)

    monkeypatch.setattr(citations, "_moved_citations", outrun)
    assert project.verify(update=True).updated == 0
    now = project.show(memory.id)
    assert isinstance(now, Memory)
    assert [event.event for event in now.history] == ["ADD", "UPDATE"]


def test_a_citation_that_moves_is_no_news_to_a_thread(project: Project) -> None:
    memory = cited(project, "src/queue.py:10")
    project.delta("review")
    Path("src/queue.py").write_text(f"# new\n{TEXT}")
    assert project.verify(update=True).updated == 1
    assert project.delta("review").changes == ()
    project.edit(memory.id, "The queue has forty steps", cite=("src/queue.py:3",))
    assert len(project.delta("review").changes) == 1


def test_citations_that_meet_become_one(project: Project) -> None:
    memory = cited(project, "src/queue.py:10")
    Path("src/queue.py").write_text(f"# new\n{TEXT}")
    project.edit(memory.id, cite=("src/queue.py:11",))
    assert ask(project.workspace, table.VERIFY, VerifyRequest(update=True)).updated == 1
    now = project.show(memory.id)
    assert isinstance(now, Memory)
    assert [one.place for one in now.citations] == ["src/queue.py:11"]


@pytest.mark.parametrize(
    "file",
    [
        "/etc/hostname",
        "../outside.txt",
        "src/../../outside.txt",
        "link.txt",
        "up/outside.txt",
        "pipe",
        "talk",
        "huge.bin",
        "src",
        ".git/config",
        "sub/.GIT/config",
        ".project-memory/local/index.sqlite3",
        "",
        ".",
        "..",
        "src//queue.py",
        "src/queue.py/",
        "src/./queue.py",
        "src/queue.py/x",
        "nul\0byte",
        "x" * 5000,
        "y" * 300,
        "/dev/zero",
        "shut.txt",
    ],
)
def test_a_stranger_s_citation_reads_nothing_outside_and_blocks_nothing(
    project: Project, file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside = Path("../outside.txt")
    outside.write_text(SECRET)
    os.symlink("../outside.txt", "link.txt")
    os.symlink("..", "up")
    os.mkfifo("pipe")
    with socket.socket(socket.AF_UNIX) as talk:
        talk.bind("talk")
    Path("huge.bin").touch()
    os.truncate("huge.bin", 20 * 1024**3)
    for folder in (".git", "sub/.GIT"):
        Path(folder).mkdir(parents=True)
        Path(folder, "config").write_text(SECRET)
    planted(project, file, SECRET.encode())
    opened = _opened(monkeypatch)
    done = ask(project.workspace, table.VERIFY, VerifyRequest())
    (item,) = done.items
    assert item.state is CitationState.GONE
    assert item.reason or file in ("shut.txt", "x" * 5000, "y" * 300), item
    assert ("(stale: " in project.build_context().text) == (file != "huge.bin")
    forbidden = [os.stat(path) for path in ("../outside.txt", "pipe", "talk", "/dev/zero")]
    assert not any(os.path.samestat(one, other) for one in opened for other in forbidden)


def _opened(monkeypatch: pytest.MonkeyPatch) -> list[os.stat_result]:
    """Note every file that is opened to see what it holds."""
    opened: list[os.stat_result] = []
    real = os.open

    def noting(path: Any, *arguments: Any, **options: Any) -> int:
        descriptor = real(path, *arguments, **options)
        if arguments and arguments[0] == reading._OPEN:
            opened.append(os.fstat(descriptor))
        return descriptor

    monkeypatch.setattr(os, "open", noting)
    return opened


@pytest.mark.skipif(os.open not in os.supports_dir_fd, reason="the system opens whole paths only")
def test_a_folder_that_becomes_a_link_meanwhile_leads_nowhere(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("../outside").mkdir()
    Path("../outside/queue.py").write_text(SECRET)
    real = reading._must

    def swapping(*arguments: Any) -> None:
        real(*arguments)
        if not Path("src").is_symlink():
            os.rename("src", "before")
            os.symlink("../outside", "src")

    monkeypatch.setattr(reading, "_must", swapping)
    with pytest.raises(Unreadable):
        project.workspace.sources.read("src/queue.py")


@pytest.mark.parametrize(
    "fields",
    [
        {"lines": (20, 10)},
        {"lines": (1, 2**62)},
        {"lines": (2**62, 2**62)},
        {"lines": (1, 1), "blob": "no blob", "commit": "--upload-pack=x"},
    ],
)
def test_impossible_lines_are_changed_ones(project: Project, fields: dict[str, Any]) -> None:
    planted(project, "src/queue.py", SECRET.encode(), **fields)
    assert verified(project) == [("src/queue.py", "changed")]


def test_a_context_and_a_search_mark_what_does_not_hold(project: Project) -> None:
    project.add("Steps are numbered", cite=("src/queue.py:1-2", "src/queue.py:5"))
    project.add("Nothing is cited here")
    assert "stale" not in project.build_context("steps").text
    Path("src/queue.py").write_text("# above\n" + TEXT.replace("step 05", "step 99"))
    built = project.build_context("steps")
    assert "(stale: src/queue.py:5 changed) Steps are numbered" in built.text
    marks = {item.text: item.stale for part in built.sections for item in part.items}
    assert marks["Steps are numbered"] == ("src/queue.py:5 changed",)
    assert marks["Nothing is cited here"] == ()
    hit = project.search("steps numbered").hits[0]
    assert hit.stale == ("src/queue.py:5 changed",)
    assert built.retrieval_results[0].stale == hit.stale
    os.rename("src/queue.py", "src/other.py")
    assert "(stale: src/queue.py:1-2 gone, src/queue.py:5 gone)" in project.build_context().text


def test_the_past_is_not_compared_with_the_files_of_today(project: Project) -> None:
    memory = cited(project, "src/queue.py:1")
    Path("src/queue.py").unlink()
    assert "stale" not in project.at(memory.created_at).build_context().text
    assert project.at(memory.created_at).search("queue").hits[0].stale == ()


def test_only_shown_memories_are_looked_at_and_no_git_is_asked(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(200):
        Path(f"{number}.txt").write_text("one line\n")
    project.add_all(
        [
            AddRequest(content=f"Fact {number} of the queue", cite=(f"{number}.txt",))
            for number in range(200)
        ]
    )
    asked: list[str] = []
    real = Sources.read

    def noting(self: Sources, file: str, most: int) -> bytes:
        asked.append(file)
        return real(self, file, most)

    monkeypatch.setattr(Sources, "read", noting)
    monkeypatch.setattr("subprocess.Popen", None)
    built = ask(project.workspace, table.CONTEXT, ContextRequest(query="queue", budget=300))
    shown = sum(len(part.items) for part in built.sections)
    assert 0 < shown < 40
    assert len(asked) == len(set(asked)) <= shown + 3 * PATIENCE


def test_a_context_reads_only_so_much_of_what_strangers_cite(project: Project) -> None:
    names = [f"{number}.bin" for number in range(9)]
    for name in names:
        Path(name).write_bytes(b"\0" * (WATCHED_BYTES // 4))
    Path("huge.bin").write_bytes(b"\0" * (WATCHED_BYTES + 1))
    watch = Watch(project.workspace)
    told = watch.stale([Citation(file=name, digest="") for name in ("huge.bin", *names)])
    assert told == tuple(f"{name} changed" for name in names[:4])


def test_a_project_too_large_to_be_looked_through_is_told(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    cited(project, "src/queue.py:1")
    os.rename("src/queue.py", "src/zz.py")
    Path("src/aa.py").write_text(TEXT[50:])
    monkeypatch.setattr(citations, "SEARCHED_BYTES", 10)
    done = ask(project.workspace, table.VERIFY, VerifyRequest())
    assert (done.complete, done.items[0].state) == (False, CitationState.GONE)
    monkeypatch.undo()
    assert (
        ask(project.workspace, table.VERIFY, VerifyRequest()).items[0].state is CitationState.MOVED
    )


_LOST = "".join(f"{line}\n" for line in CODE if "queue step 1" not in line)
MOVES: dict[str, tuple[dict[str, str], str]] = {
    "to a file that changed": ({"src/queue.py": _LOST, "src/other.py": TEXT}, "moved"),
    "to a new file": ({"src/queue.py": _LOST, "new.py": TEXT}, "moved"),
    "with its file": ({"src/queue.py": "", "lib/queue.py": TEXT}, "moved"),
    "to where a file of its name had it": ({"src/queue.py": _LOST}, "moved"),
    "only in part": ({"src/queue.py": "", "new.py": CODE[9]}, "changed"),
    "nowhere": ({"src/queue.py": _LOST, "src/other.py": "", "old/queue.py": ""}, "changed"),
}


@pytest.mark.parametrize("few", [0, citations.FEW_FILES], ids=["asking git first", "in all files"])
@pytest.mark.parametrize("where", MOVES)
def test_a_text_is_found_where_it_moved_in_a_project_of_any_size(
    where: str, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin()
    files, state = MOVES[where]
    for file, text in {"src/queue.py": TEXT, "src/other.py": "x = 1\n", "rest.md": "y"}.items():
        Path(file).parent.mkdir(exist_ok=True)
        Path(file).write_text(text)
    if where in ("to where a file of its name had it", "nowhere"):
        Path("old").mkdir()
        Path("old/queue.py").write_text(TEXT)
    ok("add", "--all")
    ok("commit", "--quiet", "--message", "One")
    project = Project(actor="ada")
    memory = cited(project, "src/queue.py:10-12")
    for file, text in files.items():
        Path(file).parent.mkdir(exist_ok=True)
        Path(file).write_text(text)
    monkeypatch.setattr(citations, "FEW_FILES", few)
    done = ask(project.workspace, table.VERIFY, VerifyRequest(references=(memory.id,)))
    assert (done.complete, done.items[0].state) == (True, state)


def test_hidden_and_ignored_files_are_no_place_to_move_to(project: Project) -> None:
    memory = cited(project, "src/queue.py:1-3")
    os.rename("src", ".hidden")
    assert verified(project, memory.id) == [("src/queue.py", "gone")]
    ok("init", "--quiet")
    assert verified(project, memory.id) == [("src/queue.py", "moved")]
    Path(".gitignore").write_text(".hidden\n")
    assert verified(project, memory.id) == [("src/queue.py", "gone")]


def test_a_text_that_stands_in_a_memory_has_not_moved_there(project: Project) -> None:
    cited(project, "src/queue.py:1-3")
    shutil.copy("src/queue.py", ".project-memory/notes.py")
    Path("src/queue.py").unlink()
    assert verified(project) == [("src/queue.py", "gone")]


def test_the_top_of_a_project_is_that_of_its_repository() -> None:
    Path("top/inner").mkdir(parents=True)
    Path("top/.git").write_text("gitdir: elsewhere\n")
    inner = Sources(os.path.abspath("top/inner/.project-memory"), os.environ)
    assert inner.top == os.path.abspath("top")
    os.unlink("top/.git")
    assert Sources(os.path.abspath("top/inner/.project-memory"), {}).top.endswith("top/inner")


def test_verify_answers_with_its_exit_code(project: Project) -> None:
    assert pmem("check", "citations").code == 0
    cited(project, "src/queue.py:10")
    assert pmem("check", "citations").code == 0
    Path("src/queue.py").write_text(f"# new\n{TEXT}")
    assert pmem("check", "citations").code == 1
    assert pmem("check", "citations", "--fix", "--read-only").code == 7
    assert pmem("check", "citations", "--fix").code == 0
    assert pmem("check", "citations").code == 0
    Path("src/queue.py").unlink()
    assert pmem("check", "citations", "--fix").code == 1
    assert pmem("check", "citations", "--accept", "nobody").code == 3


def test_a_citation_is_one_line_whatever_its_file_is_called(project: Project) -> None:
    for number, name in enumerate(("a\nb.py", "c\u2028d.py")):
        Path(name).write_text("this is going to change\n")
        project.add(f"The queue has {number} names", cite=[name], force=True)
        Path(name).write_text("this has changed\n")
    summary, *cited, _, _ = pmem("check", "citations").text.splitlines()
    assert summary == "citations  2 changed"
    assert cited[0] == ""
    assert len(cited) == 3


@pytest.mark.parametrize("folder", [".", "src"])
def test_a_memory_made_of_a_fact_cites_the_files_that_it_names(
    project: Project, folder: str
) -> None:
    os.chdir(folder)
    project.start_conversation("talk")
    said = "Remember that `src/queue.py:3` has the steps, and `src/gone.py` and ../x.py had them."
    (promotion,) = project.add_message("user", said).promoted
    assert [cited.place for cited in promotion.memory.citations] == ["src/queue.py"]


def test_a_fact_looks_for_so_many_files_and_no_more(project: Project) -> None:
    project.start_conversation("talk")
    missing = " ".join(f"src/{number}.py" for number in range(MOST_NAMED))
    said = f"Remember that {missing} and src/queue.py are gone."
    (promotion,) = project.add_message("user", said).promoted
    assert promotion.memory.citations == ()
