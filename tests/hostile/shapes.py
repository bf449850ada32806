"""Plants by shape: numbers, keys, names, sizes and kinds of files that no pmem ever writes."""

import os
from typing import Final

from tests.hostile.projects import OTHER, PLANTS, STORE, Plant, memory, remove, write

_CUT: Final = memory(OTHER)[:-1]
_AT: Final = "2026-01-05T12:00:00.000Z"


def _with(text: str) -> str:
    """Return a memory with more at its end, such as a key that it has already."""
    return f"{_CUT}, {text}}}"


RECORDS: Final[dict[str, str | bytes]] = {
    "100,000 levels of lists": b"[" * 100_000 + b"]" * 100_000,
    "100,000 levels of objects": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "a half of a pair": _with('"subject": "\\ud800"'),
    "invalid UTF-8": memory(OTHER).encode().replace(b"gear", b"g\xff\xfer"),
    "nothing": b"",
    "zeros": b"\0" * 4096,
    "another type": b'"text"',
    "a huge schema": memory(OTHER, schema=2**70),
    "a whole number beyond 64 bits": _with(f'"tokens": {2**64}'),
    "a number of 5,000 digits": _with(f'"tokens": {"9" * 5000}'),
    "a number below 64 bits": _with(f'"access": {{"count": {-(2**63) - 1}}}'),
    "a long number where nobody looks": _with(f'"x": {10**400}'),
    "endless where nobody looks": _with('"x": 1e999'),
    "minus endless": _with('"importance": -1e999'),
    "not a number where nobody looks": _with('"x": NaN'),
    "Infinity": _with('"tokens": Infinity'),
    "its id twice": _with('"id": "mjwaid1q-00000001"'),
    "its content twice": _with('"content": "another one"'),
    "a key twice where nobody looks": _with('"x": {"a": 1, "a": 2}'),
    "1 MB in one line": memory(OTHER, content="gear " * 220_000),
    "20,000 tags": memory(OTHER, tags=["gear"] * 20_000),
    "5,000 events": memory(OTHER, history=[{"event": "ADD", "at": _AT}] * 5_000),
    "10,000 levels in a field": f'{_CUT}, "x": {"[" * 10_000}{"]" * 10_000}}}',
    "10,000 levels in its past": memory(OTHER, history="HERE").replace(
        '"HERE"',
        f'[{{"event": "UPDATE", "at": "{_AT}", "before": {{"content": {"[" * 10_000}'
        f"{']' * 10_000}}}}}]",
    ),
    "NUL in its id": memory("mjwaid1q-\x0000000002"),
    "NUL in its content": memory(OTHER, content="gear\x00wheel"),
    "NUL between its keys": _with('\x00"x": 1'),
    "a byte-order mark": b"\xef\xbb\xbf" + memory(OTHER).encode(),
    "UTF-16": memory(OTHER).encode("utf-16"),
    "overlong UTF-8": memory(OTHER).encode().replace(b"gear", b"g\xc0\xafr"),
    "a surrogate in UTF-8": memory(OTHER).encode().replace(b"gear", b"g\xed\xa0\x80r"),
    "times beyond the calendar": memory(OTHER, created_at="9999-12-31T23:59:59.999-14:00"),
    "an id in other letters": memory("mjwaid1q-0000000\uff12"),
    "an id in Cyrillic": memory("mjw\u0430id1q-00000002"),
    "an id in other cases": memory(OTHER.upper()),
    "the id of another": memory("mjwaid1q-00000001"),
}
"""What stands in a record's file, by what is wrong with it."""


def _as_record(data: str | bytes) -> Plant:
    return lambda root, _: write(f"{root}/{STORE}/{OTHER}.json", data)


for _what, _data in RECORDS.items():
    PLANTS[f"a record that has {_what}"] = _as_record(_data)


def _sparse(root: str, secret: str) -> None:
    for name in (f"{STORE}/{OTHER}.json", "local/access.log"):
        remove(f"{root}/{name}")
        write(f"{root}/{name}", b"")
        os.truncate(f"{root}/{name}", 2**30)


def _many(root: str, secret: str) -> None:
    for folder in (STORE, "local", "local/.tmp-0", "conversation-chunks/deep/er", "."):
        for number in range(600):
            write(f"{root}/{folder}/{number}.x", "")


def _kinds_exchanged(root: str, secret: str) -> None:
    """Put files in the place of folders, and folders in that of records and of settings."""
    for folder in ("episodic-memory", "conversations", "conversation-chunks"):
        remove(f"{root}/{folder}")
        write(f"{root}/{folder}", "no folder")
    os.makedirs(f"{root}/{STORE}/mjwaid1q-00000003.json/mjwaid1q-00000004.json")


def _local_is_a_file(root: str, secret: str) -> None:
    remove(f"{root}/local")
    write(f"{root}/local", "no folder")


def _loops(root: str, secret: str) -> None:
    for folder in (STORE, "local"):
        os.makedirs(f"{root}/{folder}", exist_ok=True)
        os.symlink("..", f"{root}/{folder}/up")
        os.symlink(".", f"{root}/{folder}/same")
        os.symlink("mjwaid1q-00000003.json", f"{root}/{folder}/mjwaid1q-00000003.json")
    os.symlink(root, f"{os.path.dirname(root)}/around")


def _waiting(root: str, secret: str) -> None:
    """Put pipes, which nobody writes to, where records of every store are."""
    for folder in (STORE, "episodic-memory", "conversations", "conversation-chunks"):
        os.makedirs(f"{root}/{folder}", exist_ok=True)
        for number in range(3, 6):
            os.mkfifo(f"{root}/{folder}/mjwaid1q-0000000{number}.json")


def _settings_by_others(root: str, secret: str) -> None:
    lines = ['[allowlists]\n"\\u001b[2J" = ["\\u202e"]\n[categories.context]\n"\\u001b" = "all"']
    lines.insert(0, 'project_name = "\\u001b]0;owned\\u0007\\u202e"\n')
    write(f"{root}/config.toml", "\n".join(lines))


PLANTS.update(
    {
        "sparse files of a gigabyte": _sparse,
        "thousands of files in odd places": _many,
        "files in the place of folders": _kinds_exchanged,
        "a file in the place of local": _local_is_a_file,
        "links in a loop": _loops,
        "pipes among the records": _waiting,
        "names of settings that are escapes": _settings_by_others,
    }
)

SHAPES: Final = tuple(
    name for name, plant in PLANTS.items() if getattr(plant, "__module__", "") == __name__
)
"""The plants of this module."""
