"""The ways in for people, agents and other programs: imports, settings, requests, references."""

import os
from typing import Any, Final, NamedTuple

import msgspec
import orjson

from pmem.cli.memory import batch_request as batch_line
from pmem.cli.session import CommandSession
from pmem.core import exactjson, managed_block, queries
from pmem.core.citations import Content, constant_of, judged, values_of
from pmem.errors import InvalidValue, UsageError
from pmem.interchange import arrays, messages
from pmem.memory.citations import parse_citation as cited
from pmem.memory.requests import AddRequest
from pmem.memory.symbols import parse_symbol_citation
from pmem.project.configuration import parse_config
from pmem.project.setup import write_setting
from pmem.search import golden, threads
from pmem.storage.git.project_files import Sources
from pmem.values.config import checked, from_environment, known, resolve, table
from pmem.values.ids import derived_id, is_id, matches, moment_of, short
from pmem.values.records import STORES, Citation, dump_line
from pmem.values.rules import as_text
from pmem.values.times import day, iso, parse_time
from tests.fuzz import files
from tests.fuzz.files import NOW
from tests.fuzz.judging import Entry, told


class _Lines(NamedTuple):
    """A session whose standard input is known."""

    data: bytes

    def read_lines(self, _path: str, _most: int = 0) -> list[bytes]:
        return self.data.splitlines()

    def time(self, text: str | None) -> Any:
        return CommandSession({"PMEM_NOW": iso(NOW)}).time(text)

    def ahead(self, text: str | None) -> Any:
        return CommandSession({"PMEM_NOW": iso(NOW)}).ahead(text)


def _arrays(data: bytes) -> Any:
    parts = data.split(files.SEPARATOR)
    parsed = arrays.parse(dict(zip(arrays.FILES, parts, strict=False)))
    again = arrays.parse(arrays.write(parsed.records))
    assert again.records == parsed.records
    assert not again.skipped
    dump_line(parsed.skipped)
    return parsed


def _messages(data: bytes) -> Any:
    parsed = messages.parse(data.splitlines(), "chat", 100_000)
    lines = [
        dump_line(
            {
                "conversation": name,
                "id": said.external_id,
                "role": said.role,
                "speaker": said.speaker,
                "content": said.content,
                "timestamp": said.created_at,
                "tool_call": said.tool_call,
                "tool_result": said.tool_result,
            }
        )
        for name, all_said in parsed.conversations.items()
        for said in all_said
    ]
    again = messages.parse(lines, "chat", 100_000)
    assert again.conversations == parsed.conversations
    assert not again.skipped
    dump_line(parsed.skipped)
    return parsed


def _batch(data: bytes) -> Any:
    session: Any = _Lines(data)
    found = [
        batch_line(session, line, number, AddRequest(content=""))
        for number, line in enumerate(data.splitlines(), start=1)
        if line.strip()
    ]
    dump_line(found)
    return found


def _config(data: bytes) -> Any:
    settings, resolved = resolve([("project", parse_config(data, "config.toml"))])
    dump_line(resolved)
    for row in resolved:
        as_text(row.value)
    assert resolve([("project", {row.name: row.value for row in resolved if row.value})])
    return settings


def _changed_config(data: bytes) -> Any:
    """Change a setting in a file, with everything else in it left as it stands."""
    before = parse_config(data, "config.toml")
    path = os.path.join(files.folder(), "config.toml")
    with open(path, "wb") as file:
        file.write(data)
    write_setting(path, "limits.memory", 7)
    with open(path, "rb") as file:
        after = parse_config(file.read(), path)
    assert told(after) == told(before | {"limits.memory": 7}) or "limits.memory" not in before
    assert after["limits.memory"] == 7
    return after


def _environment(data: bytes) -> Any:
    pairs = [line.partition("=") for line in _text(data).split("\n")]
    found = from_environment({name: value for name, _, value in pairs})
    settings, resolved = resolve([("environment", found)])
    dump_line(resolved)
    return settings


def _setting(data: bytes) -> Any:
    name, _, value = _text(data).partition("=")
    kept = checked(name, value)
    assert checked(name, as_text(kept)) == kept or not isinstance(kept, str | int | float | bool)
    dump_line([known(name), kept])
    return kept


def _query(data: bytes) -> Any:
    given = exactjson.read_given(b"\n".join(data.splitlines()), "the query", queries.EXAMPLE)
    request = queries.parse(given)
    dump_line(request)
    wanted = queries.filter_of(request, lambda text: parse_time(text, NOW))
    assert queries.parse(msgspec.to_builtins(request)) == request
    return request, wanted


def _golden(data: bytes) -> Any:
    questions = golden.parse(data.splitlines(), "golden.jsonl")
    lines = [dump_line(question) for question in questions]
    assert golden.parse(lines, "golden.jsonl") == questions
    return questions


def _time(data: bytes) -> Any:
    at = parse_time(_text(data), NOW)
    assert parse_time(iso(at), NOW) == at
    derived_id(at, "x")
    return day(at), at


def _reference(data: bytes) -> Any:
    text = _text(data)
    moment = moment_of(text)
    assert is_id(text) or moment is None
    if is_id(text):
        assert matches(text, text)
        assert matches(short(text), text)
        assert os.path.basename(text) == text
    return moment, matches(text, "0a0a0a0a-k3v9m2x1")


def _citation(data: bytes) -> Any:
    text, _, content = data.partition(files.SEPARATOR)
    file, lines = cited(_text(text))
    try:
        Sources(files.folder(), {}).named(file)
    except InvalidValue:
        pass
    held = Content(content)
    if lines is not None and held.has(lines):
        one = Citation(file=file, lines=lines, digest=held.digest(lines))
        place = judged(one, Content(b"before\n" + content))
        assert place is not None
        assert held.is_binary or place.lines is not None
    return file, lines, held.digest(), held.weight(), _symbol(_text(text), held)


def _symbol(text: str, held: Content) -> Any:
    named = parse_symbol_citation(text)
    if named is None or held.is_binary or not held.size:
        return None
    lines = (1, held.size)
    folded = held.folded(lines, named[0])
    one = Citation(
        file=named[0], lines=lines, symbol=named[1], digest=held.digest(lines), folded=folded
    )
    constant = constant_of(one)
    return constant and values_of(one, held, constant[0]), judged(one, held)


def _checkpoint(data: bytes) -> Any:
    state = orjson.loads(data)
    encoded = threads._encode_state(state)
    assert orjson.loads(encoded) == state
    return encoded


def _hook(data: bytes) -> Any:
    text = _text(data)
    own = managed_block.found(text)
    left = managed_block.without(text)
    assert managed_block.found(left) is None
    block = "# >>> pmem >>>\nexit 0\n# <<< pmem <<<\n"
    managed_block.first_repository(text, block)
    return (
        own,
        left,
        managed_block.after_first_line(left, block),
        managed_block.is_shell_script(text),
    )


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


_MESSAGES: Final = b"""{"conversation":"c1","id":1,"role":"user","content":"Hello",\
"timestamp":"2026-11-21T14:30:00Z"}
{"conversation":"c1","id":"2","role":"assistant","speaker":"Bo","content":"We use Go","tool_call":\
{"name":"ls","arguments":[1,{"a":null}]}}
{"content":"Hello","role":"tool","tool_result":[1.5,"x"]}
{"content":"Hello","role":"tool"}
"""
_ARRAYS: Final = files.SEPARATOR.join(
    b"[%s]" % b",".join(files._sides(store, 2)[:2]) for store in STORES.values()
)
_CAMEL: Final = files.SEPARATOR.join(
    (
        b"""[{"id":"mem-1","type":"decision","content":"We use Go",
"createdAt":"2026-01-01T00:00:00Z",
"metadata":{"importance":0.7,"accessCount":3,"source":{"type":"chat","conversation":"c-1"}},
"relationships":[{"targetId":"mem-2","type":"updates"}]},{"id":7,"content":"Two",
"createdAt":"2026-01-02"}]""",
        b"""[{"id":"ep-1","episodeType":"pivot","title":"T","summary":"S","emotionalValence":0.5,
"createdAt":"2026-01-01T00:00:00Z","conversationRef":{"conversation":"c-1","turnRange":
{"start":1,"end":2}},"linkedMemories":["mem-1",{"id":7}]}]""",
        b"""[{"id":"c-1","startedAt":"2026-01-01T00:00:00Z","totalTurns":1,"recentMessages":
[{"id":"m1","role":"user","content":"Hi","timestamp":"2026-01-01T00:00:00Z"}],"chunks":
[{"id":"ch-1","conversationId":"c-1","chunkNumber":1,"summary":"s","messages":[],
"createdAt":"2026-01-01T00:00:00Z"}]}]""",
    )
)
_BATCH: Final = b"""{"content":"We use Go","type":"decision","tags":["a","b"],"importance":0.5}
{"content":"Due soon","valid_from":"3d","valid_until":"2027-01-01","cite":["a.py:1"],"pinned":true}
{"content":"x","category":"tasks","subject":"s","app":"a","user":"u","agent":"g","force":true}
"""
_CONFIG: Final = b"""# settings
project_name = "Phoenix"
chunk_size = 12
recent_share = 0.5
extract_facts = false
lock_timeout = 3
[limits]
memory = 2000
[categories]
strict = true
names = ["tasks", "goals"]
[allowlists]
planner = ["tasks", "goals"]
[[others]]
x = 2026-11-21T14:30:00Z
"""
_VARIABLES: Final = b"""PMEM_CHUNK_SIZE=12
PMEM_RECENT_SHARE=0.5
PMEM_EXTRACT_FACTS=false
PMEM_CATEGORIES_NAMES=tasks,goals
PMEM_ALLOWLISTS=planner=tasks goals,executor=tasks
PMEM_TOKENIZER=estimate"""
_ASKED: Final = (
    b'{"query":"deployment plan"}',
    b"""{"agent":"planner","query":"plan","categories":["tasks"],"filters":{"user_id":"u",
"agent_id":null,"role":"user","category":"tasks","pinned":true,"importance_min":1,
"importance_max":5,"updated_after":"3d","updated_before":"2027-01-01"},"top_k":3,
"threshold":0.2,"return":"full","budget_tokens":512}""",
)
_GOLDEN: Final = b"""# questions
{"query":"which database","must":["k3v9","ext-1"],"must_not":["p7q2"],"max_rank":3}
{"query":"which queue","must":["a"],"kind":["memory","chunk"],"budget":100}
{"query":"which queue","must":["b"],"kind":["memory","chunk"],"budget":100}
"""
_SETTINGS: Final = tuple(
    f"{row.name}={as_text(row.default)}".encode() for row in table() if row.default
)
_HOOK: Final = b"""#!/bin/sh
echo before
# >>> pmem >>>
exec pmem check
# <<< pmem <<<
echo after
"""
_REPOSITORIES: Final = b"""repos:
- repo: local
  hooks:
  - id: pmem
"""
_SAVED: Final = b'{"context":"step 3","messages":[{"a":1.5}],"agents":{"x":[true,null]}}'
_CITED: Final = b"src/main.py:2-3\n\x1e\none\ntwo  \nthree\r\nfour\n"
_NAMED: Final = b"src/main.py::A.B=3\n\x1e\nclass A:\n    B = 3\n"
_REFUSED: Final = (InvalidValue, UsageError)

ENTRIES: Final = (
    Entry("array files", _arrays, (_ARRAYS, _CAMEL)),
    Entry("transcripts", _messages, (_MESSAGES,)),
    Entry("batch adds", _batch, (_BATCH,)),
    Entry("config.toml", _config, (_CONFIG,), share=0.4),
    Entry("config.toml changed", _changed_config, (_CONFIG,), share=0.2),
    Entry("environment", _environment, (_VARIABLES,), share=0.4),
    Entry("one setting", _setting, _SETTINGS, share=0.5),
    Entry("query requests", _query, _ASKED),
    Entry("golden sets", _golden, (_GOLDEN,)),
    Entry("times and ages", _time, (b"2026-11-21T14:30:00Z", b"3d", b"2026-11-21", b"52w")),
    Entry(
        "ids and references", _reference, (b"0a0a0a0a-k3v9m2x1", b"k3v9", b"zzzzzzzzzzz-00000000")
    ),
    Entry("citations", _citation, (_CITED, _NAMED, b"a.py", b"a.py:3")),
    Entry("checkpoints", _checkpoint, (_SAVED,), (orjson.JSONDecodeError,)),
    Entry("hook scripts", _hook, (_HOOK, _REPOSITORIES), (managed_block.Unclear,)),
)
