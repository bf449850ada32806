"""The table of hostile projects: what each plants into a memory folder that was all right."""

import json
import os
import shutil
import socket
import sqlite3
from collections.abc import Callable
from typing import Any, Final

GOOD: Final = "mjwaid1q-00000001"
"""The id of a memory that stays usable whatever is planted."""
OTHER: Final = "mjwaid1q-00000002"
"""The id of another one, that plants may take the place of."""
STORE: Final = "long-term-memory"

Plant = Callable[[str, str], Any]
"""Makes a project hostile, given its memory folder and a folder outside that is to be harmed."""

PLANTS: Final[dict[str, Plant]] = {}


def memory(identifier: str, content: str = "The gear turns to the left", **fields: Any) -> str:
    """Return a memory as its file holds it."""
    at = "2026-01-05T12:00:00.000Z"
    record = {
        "id": identifier,
        "schema": 1,
        "type": "fact",
        "content": content,
        "category": "knowledge",
        "valid_from": at,
        "created_at": at,
        "updated_at": at,
        "history": [{"event": "ADD", "at": at, "actor": "ada"}],
    }
    return json.dumps(record | fields)


def write(path: str, data: str | bytes) -> None:
    """Write a file, its folder made where it is missing."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass"))


def remove(path: str) -> None:
    """Remove whatever is at a path."""
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    elif os.path.lexists(path):
        os.unlink(path)


def kinds(secret: str) -> dict[str, Callable[[str], Any]]:
    """Return what can stand where a file is expected, each made at a path."""
    return {
        "link": lambda path: os.symlink(f"{secret}/file", path),
        "link to nothing": lambda path: os.symlink(f"{secret}/absent", path),
        "link to a database": lambda path: os.symlink(f"{secret}/database", path),
        "link to an empty file": lambda path: os.symlink(f"{secret}/empty", path),
        "link to a folder": lambda path: os.symlink(secret, path),
        "link to zeros": lambda path: os.symlink("/dev/zero", path),
        "hard link": lambda path: os.link(f"{secret}/file", path),
        "hard link to a database": lambda path: os.link(f"{secret}/database", path),
        "pipe": os.mkfifo,
        "socket": _socket,
        "folder": lambda path: os.makedirs(f"{path}/inner"),
    }


def _socket(path: str) -> None:
    here = os.getcwd()
    os.chdir(os.path.dirname(path))  # the name of a socket must be short
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(os.path.basename(path))
    finally:
        os.chdir(here)


KINDS: Final = tuple(kinds(""))

FILES: Final = (
    f"{STORE}/{OTHER}.json",
    *("config.toml", ".gitattributes", ".gitignore", "golden.jsonl", "golden.accepted.json"),
    *(
        "local/lock",
        "local/index.sqlite3",
        "local/index.sqlite3-journal",
        "local/index.sqlite3-wal",
    ),
    *("local/state.sqlite3", "local/state.sqlite3-journal", "local/access.log"),
    *("local/operations.log", "local/commands.log", "local/pmem.log"),
    *("local/commit", "local/commit/plan.json"),
)
"""Files that pmem opens by name."""


def _in_place_of(name: str, kind: str) -> Plant:
    def plant(root: str, secret: str) -> None:
        path = os.path.join(root, name)
        remove(path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        kinds(secret)[kind](path)

    return plant


for _name in FILES:
    for _kind in KINDS:
        PLANTS[f"{_name}: {_kind}"] = _in_place_of(_name, _kind)


def _plant(name: str) -> Callable[[Plant], Plant]:
    def note(plant: Plant) -> Plant:
        PLANTS[name] = plant
        return plant

    return note


def _folder_link(name: str) -> Plant:
    def plant(root: str, secret: str) -> None:
        remove(f"{root}/{name}")
        os.symlink(secret, f"{root}/{name}")

    return plant


for _name in (STORE, "episodic-memory", "conversations", "conversation-chunks", "local"):
    PLANTS[f"{_name} is a link to a folder"] = _folder_link(_name)

NAMES: Final = (
    "..", "...", "-rf", "--help", "a\nb", "\x1b[2J", "\x1b]0;owned\x07", "con", "a" * 250,
    "e\u0301", "\u202etxt", "MJWAID1Q-00000003", "mjwaid1q-00000003 ", "mjwaid1q-00000003.json",
    "mjwaid1q-0000000\uff13", "", "$(touch pwned)", "'; drop table file; --",
)  # fmt: skip
"""Names of files, without the suffix, that are no ids."""


@_plant("names of files that are no ids")
def _names(root: str, secret: str) -> None:
    for store in (STORE, "episodic-memory", "conversations", "conversation-chunks"):
        for name in NAMES:
            write(f"{root}/{store}/{name}.json", memory(name))
    write(os.fsencode(f"{root}/{STORE}/").decode() + "\udcff.json", memory("x"))


IDS: Final = ("../../outside/file", "/etc/passwd", "a\x00b", "..", "", "\n", "mjwaid1q-00000009")


@_plant("ids that are no names")
def _ids(root: str, secret: str) -> None:
    for number, name in enumerate(IDS):
        write(f"{root}/{STORE}/mjwaid1q-0000010{number}.json", memory(name))


@_plant("references that lead outside")
def _references(root: str, secret: str) -> None:
    ways = ["../../secret/file", f"{secret}/file", "../secret/../secret/file", "a\x00b"]
    links = [{"target": way, "type": "related_to", "strength": 1} for way in ways]
    at = "2026-01-05T12:00:00.000Z"
    fields: dict[str, Any] = {
        "relationships": links,
        "history": [{"event": "SUPERSEDE", "at": at, "detail": {"by": way}} for way in ways],
    }
    write(f"{root}/{STORE}/{OTHER}.json", memory(OTHER, **fields))
    talk = {
        "id": "mjwaid1q-00000005",
        "schema": 1,
        "status": "active",
        "started_at": at,
        "updated_at": at,
        "chunks": ways,
        "milestones": ways,
        "active_facts": ways,
    }
    write(f"{root}/conversations/mjwaid1q-00000005.json", json.dumps(talk))


CITED: Final = (
    "../secret/file", "/etc/passwd", "/dev/zero", "/proc/self/environ", "link", "links/file",
    "pipe", "huge", ".git/config", "a\x00b", "x\\..\\..\\secret\\file",
    ".project-memory/../../secret/file",
)  # fmt: skip


@_plant("citations that lead outside")
def _citations(root: str, secret: str) -> None:
    project = os.path.dirname(root)
    os.symlink(f"{secret}/file", f"{project}/link")
    os.symlink(secret, f"{project}/links")
    os.mkfifo(f"{project}/pipe")
    with open(f"{project}/huge", "wb") as file:
        file.truncate(200 * 2**20)
    cited = [{"file": name, "lines": [1, 2], "digest": "ab" * 16} for name in CITED]
    write(f"{root}/{STORE}/{OTHER}.json", memory(OTHER, citations=cited))


PLANS: Final = (
    "../../secret/file", "../outside.json", f"{STORE}/../../outside.json", "/tmp/outside.json",
    "config.toml", "local/lock", f"{STORE}/x.json", f"{STORE}/a\x00b.json",
)  # fmt: skip


def _planned(path: str, staged: str | None) -> Plant:
    def plant(root: str, secret: str) -> None:
        os.makedirs(f"{root}/local/commit")
        write(f"{root}/local/commit/0.json", "planted")
        write(f"{root}/local/commit/plan.json", json.dumps([{"path": path, "staged": staged}]))

    return plant


for _path in PLANS:
    PLANTS[f"an unfinished write of {_path!r}"] = _planned(_path, "0.json")
    PLANTS[f"an unfinished removal of {_path!r}"] = _planned(_path, None)
for _staged in ("../../../../secret/file", "/etc/passwd", "../lock", "1e1.json", "²", ""):
    PLANTS[f"an unfinished write from {_staged!r}"] = _planned(f"{STORE}/{OTHER}.json", _staged)


@_plant("an unfinished write from a link")
def _linked_write(root: str, secret: str) -> None:
    _planned(f"{STORE}/{OTHER}.json", "0.json")(root, secret)
    os.unlink(f"{root}/local/commit/0.json")
    os.symlink(f"{secret}/file", f"{root}/local/commit/0.json")


@_plant("temporary files that are links")
def _temporary(root: str, secret: str) -> None:
    os.makedirs(f"{root}/local/.tmp-1", exist_ok=True)
    os.symlink(secret, f"{root}/local/.tmp-1/folder")
    os.symlink(secret, f"{root}/local/.tmp-2")
    os.symlink(f"{secret}/file", f"{root}/local/.tmp-3")


SCHEMAS: Final = {
    "triggers": (
        "create table looked (store, names, stamps, at); create table doc(x);"
        "create trigger t after insert on looked begin select writefile('pwned', 'x'); end;"
    ),
    "views": "create view looked as select 1 as store; create view document as select 1 as number",
    "endless views": (
        "create view looked as with recursive n(at) as (select 1 union all select at + 1 from n)"
        " select 'long-term-memory' as store, 'x' as names, 'y' as stamps, at from n"
    ),
    "a wrong schema": "create table looked (a); create table document (b); create table file (c)",
    "a virtual table": "create virtual table document using fts5(number)",
    "a computed column": "create table looked (store, names, stamps, at as (hex(store)))",
    "a computed index": "create table looked (a); create index looked_a on looked (hex(a))",
    "a computed default": "create table looked (a, b default (hex(randomblob(9))))",
    "a check": "create table looked (a check (length(hex(zeroblob(a))) > 0))",
    "nonsense": "create table looked (store, names, stamps, at);"
    "insert into looked values ('long-term-memory', zeroblob(3), zeroblob(5), 'x')",
}


def _database(name: str, schema: str) -> Plant:
    def plant(root: str, secret: str) -> None:
        path = f"{root}/local/{name}"
        remove(path)
        os.makedirs(f"{root}/local", exist_ok=True)
        connection = sqlite3.connect(path)
        connection.executescript(schema)
        for version in _versions()[name]:
            connection.execute(f"pragma user_version = {version}")
        connection.commit()
        connection.close()

    return plant


def _versions() -> dict[str, list[int]]:
    from pmem.storage.index import schema
    from pmem.storage.local import state

    return {
        "index.sqlite3": [schema.VERSION],
        "state.sqlite3": [state.VERSION],
    }


for _base in ("index.sqlite3", "state.sqlite3"):
    for _what, _schema in SCHEMAS.items():
        PLANTS[f"{_base} with {_what}"] = _database(_base, _schema)

STATES: Final = {
    "commands.log": (
        '{"at":"2026-01-01T00:00:00Z","operation":"x","changes":[]}\n',
        "[" * 100_000,
        "x" * 2**20,
    ),
    "operations.log": ('{"ts": "x"}\n' * 9, "[" * 100_000, "\x00" * 1000, "x" * 2**20),
    "access.log": ("../../secret/file\n" * 9, "[" * 100_000, "9" * 2**20, "\x00" * 1000),
}


def _state(name: str, text: str) -> Plant:
    return lambda root, _: write(f"{root}/local/{name}", text)


for _name, _texts in STATES.items():
    for _number, _text in enumerate(_texts):
        PLANTS[f"local/{_name} with nonsense {_number}"] = _state(_name, _text)

SETTINGS: Final = (
    "lock_timeout = 1e308",
    "lock_timeout = -1",
    "lock_timeout = nan",
    "chunk_size = 9223372036854775807",
    f"chunk_size = {'9' * 5000}",
    "retrieval_top_k = 99999999999",
    "purge_days = 0.0",
    'tokenizer = "../../../secret/file"',
    'tokenizer = "os.system"',
    'editor = "touch pwned"',
    'memory_dir = "../../secret"',
    'project_name = "\\u001b]52;c;AAAA\\u0007"',
    '[allowlists]\n"../x" = ["*"]\nall = []',
    '[categories]\nnames = ["(a+)+$", "../.."]\nstrict = true',
    "a = " + "[" * 5000,
    "a = '" + "x" * 2**20,
    "[" + ".".join("a" * 3000) + "]",
    "\x00",
)


def _setting(text: str) -> Plant:
    return lambda root, _: write(f"{root}/config.toml", text + "\n")


for _text in SETTINGS:
    PLANTS[f"config.toml with {_text[:40]!r}"] = _setting(_text)


@_plant("a huge config.toml")
def _huge_config(root: str, secret: str) -> None:
    with open(f"{root}/config.toml", "wb") as file:
        file.truncate(100 * 2**20)


_NAUGHTY: Final = "'; drop table document; --", "../../secret/file", "a\x00b", "*", "[x]", "\x1b[2J"


@_plant("names that are used in paths and queries")
def _words(root: str, secret: str) -> None:
    for number, word in enumerate(_NAUGHTY):
        id_ = f"mjwaid1q-0000020{number}"
        scope = {"app": word, "user": word, "agent": word, "actor": word}
        fields = {"tags": [word], "subject": word, "category": word, "scope": scope}
        write(f"{root}/{STORE}/{id_}.json", memory(id_, word, **fields))


@_plant("a record of 100 MB")
def _huge(root: str, secret: str) -> None:
    with open(f"{root}/{STORE}/{OTHER}.json", "wb") as file:
        file.truncate(100 * 2**20)
