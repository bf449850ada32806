"""Settings of assistants as people leave them: generated in every layout, and some made by hand."""

import json
from typing import Any, Final

from hypothesis import strategies as st

NAMES: Final = (
    "hooks", "mcpServers", "servers", "mcp", "context_servers", "SessionStart", "Stop", "stop",
    "version", "theme", "a b", "", "ü", 'quo"te', "back\\slash", "pmem-like",
)  # fmt: skip
SCALARS: Final = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-5, 10**20),
    st.sampled_from(["", "x", "pmem", "a // no comment", "{", "línea\n", "\u2028", "npm run x"]),
)
OTHERS: Final = st.sampled_from(
    [
        {"hooks": [{"type": "command", "command": "make lint"}]},
        {"matcher": "Edit", "hooks": [{"type": "command", "command": "echo pmem hook"}]},
        {"command": "other-tool hook stop"},
        {"command": "npx", "args": ["-y", "server"]},
    ]
)
VALUES: Final = st.recursive(
    st.one_of(SCALARS, OTHERS),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(NAMES), inner, max_size=4)
    ),
    max_leaves=8,
)
CONFIGURATIONS: Final = st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=5)
PLACES: Final = st.fixed_dictionaries(
    {},
    optional={
        "hooks": st.dictionaries(
            st.sampled_from(["SessionStart", "sessionStart", "Stop", "stop", "PostToolUse"]),
            st.lists(OTHERS, max_size=2),
            max_size=3,
        ),
        "mcpServers": st.dictionaries(st.sampled_from(["x", "y"]), OTHERS, max_size=2),
        "servers": st.dictionaries(st.sampled_from(["x", "y"]), OTHERS, max_size=2),
        "mcp": st.dictionaries(st.sampled_from(["x", "y"]), OTHERS, max_size=2),
        "context_servers": st.dictionaries(st.sampled_from(["x"]), OTHERS, max_size=1),
        "version": st.just(1),
        "theme": SCALARS,
    },
)
"""Settings with something of somebody else's in every place where ours go."""


@st.composite
def texts(draw: Any) -> str:
    """Draw settings in a layout that a program, or a person, may have left them in."""
    value = draw(st.one_of(PLACES, CONFIGURATIONS))
    indent = draw(st.sampled_from([2, 4, "\t", None]))
    text = json.dumps(value, indent=indent, ensure_ascii=draw(st.booleans()))
    return text.replace("\n", "\r\n") if draw(st.booleans()) else f"\n{text}\n"


BY_HAND: Final[dict[str, bytes]] = {
    "nothing in it": b"{}",
    "nothing in it, over two lines": b"{\n}\n",
    "nothing in it, with a space": b"{ }",
    "no final line end": b'{\n  "theme": "dark"\n}',
    "windows line ends": b'{\r\n  "theme": "dark"\r\n}\r\n',
    "tabs": b'{\n\t"theme": "dark",\n\t"x": {\n\t\t"y": []\n\t}\n}\n',
    "dense": b'{"theme":"dark","x":{"y":[]}}',
    "four spaces, an empty list of hooks": b'{\n    "hooks": {\n        "Stop": []\n    }\n}\n',
    "empty places": b'{"hooks": {}, "mcpServers": {}, "servers": {}, "mcp": {}}\n',
    "others in every place": (
        b'{\n  "mcpServers": {\n    "other": {"command": "npx"}\n  },\n  "hooks": {\n'
        b'    "SessionStart": [\n      {"hooks": [{"type": "command", "command": "date"}]}\n'
        b"    ]\n  }\n}\n"
    ),
    "a group that nobody knows": b'{"hooks": {"SessionStart": [{"surprise": 1}, 7, null]}}',
    "an event that nobody knows": b'{"hooks": {"Teleport": [{"hooks": []}]}}\n',
    "escaped names": b'{"h\\u006foks": {}, "mcp\\u0053ervers": {"x": {}}}\n',
    "other characters": '{"thème": "dünkel", "世界": "🌍"}\n'.encode(),
    "a large number": b'{"n": 123456789012345678901234567890, "e": 1e40}\n',
    "only a version": b'{\n  "version": 1\n}\n',
    "a version before empty hooks": b'{"version": 1, "hooks": {}}',
    "hooks before a version": b'{\n  "hooks": {},\n  "version": 1\n}\n',
    "blank lines": b'\n\n{\n\n  "theme": "dark"\n\n}\n\n',
    "a comma on its own line": b'{\n  "a": 1\n  ,\n  "b": 2\n}\n',
    "somebody who speaks of pmem": b'{"hooks": {"Stop": [{"hooks": [{"command": "echo pmem"}]}]}}',
}
"""Settings that are valid, by what is odd about them."""
BROKEN: Final[dict[str, bytes]] = {
    "an empty file": b"",
    "half a file": b'{"hooks": {',
    "comments": b'{\n  // mine\n  "theme": "dark"\n}\n',
    "a comment in stars": b'{"theme": /* mine */ "dark"}',
    "a last comma": b'{"theme": "dark",}\n',
    "single quotes": b"{'theme': 'dark'}",
    "no number": b'{"theme": NaN}',
    "a number beyond all bounds": b'{"e": 1e400}',
    "a number of 5,000 digits": b'{"e": %b}' % (b"9" * 5_000),
    "not UTF-8": b'{"theme": "\xff"}',
    "two values": b"{} {}",
    "a raw line end in a text": b'{"theme": "da\nrk"}',
    "conflict markers": b'<<<<<<< ours\n{}\n=======\n{"a": 1}\n>>>>>>> theirs\n',
}
"""Files that are not JSON to the letter."""
IN_THE_WAY: Final[dict[str, bytes]] = {
    "a list": b"[]\n",
    "a text": b'"settings"\n',
    "hooks that are nothing": b'{"hooks": null}',
    "hooks that are a list": b'{"hooks": []}',
    "an event that is nothing": b'{"hooks": {"SessionStart": null, "sessionStart": null}}',
    "hooks twice": b'{"hooks": {}, "hooks": {}}',
    "an event twice": b'{"hooks": {"Stop": [], "Stop": [], "stop": [], "stop": []}}',
}
"""Files with something else where hooks belong."""
