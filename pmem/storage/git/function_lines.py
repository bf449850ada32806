"""Which lines of a program git takes for the start of a function, by its own patterns.

Git runs in an empty folder of its own, outside of any repository and without anybody's
configuration, so no attribute and no setting of a project, or of its user, can name a program or
another pattern. It is shown the lines in question alone, each followed by one that is none of the
program's, and is asked what stands before those.
"""

import os
import tempfile
from collections.abc import Mapping, Sequence
from typing import Final

from pmem.storage.git import git

_LONGEST: Final = 500
"""Bytes of a line that git is shown."""
_MOST: Final = 20_000
"""Lines that git is shown at once."""
_AFTER: Final = b"\x01"
_ATTRIBUTES: Final = "attributes"
_NAME: Final = r"[A-Za-z_$#][A-Za-z0-9_$]*"
_BEFORE: Final = (
    "((export|default|declare|abstract|async|static|public|private|protected|readonly|override"
    r"|get|set)[ \t]+)*"
)
_SCRIPT: Final = "\n".join(
    (
        r"!^[ \t]*(if|else|for|while|do|switch|case|catch|return|throw|new|await|yield|with)"
        "([^A-Za-z0-9_$]|$)",
        rf"^[ \t]*{_BEFORE}(function|class|interface|enum|namespace|module|type)[ \t*].*$",
        rf"^[ \t]*{_BEFORE}(const|let|var)[ \t]+{_NAME}.*$",
        rf"^[ \t]*{_BEFORE}[*]?[ \t]*{_NAME}[ \t]*(<.*>)?[ \t]*\(.*\)[^()=]*\{{[^()]*$",
        rf"^[ \t]*{_BEFORE}[*]?[ \t]*{_NAME}[ \t]*(<.*>)?[ \t]*\([^()]*$",
        rf"^[ \t]*{_BEFORE}{_NAME}([.]{_NAME})*[ \t]*[:=].*(=>|function).*$",
    )
)
"""Git has patterns for many languages, but none for this one."""
_OWN: Final = {"javascript": _SCRIPT}


def function_lines(
    wanted: Sequence[tuple[str, Sequence[bytes]]], environment: Mapping[str, str]
) -> list[set[int]] | None:
    """Return, of several texts, which lines may begin a function.

    Args:
        wanted: For each text git's name of its patterns, or nothing for those that fit any text,
            and its lines; of too many the first ones count.
        environment: The environment's variables.

    Returns:
        For each text its lines, counted from zero; None where there is no git, or no room for
        what it is shown.
    """
    left, shown = _MOST, []
    for driver, lines in wanted:
        shown.append((driver, lines[: max(0, left)]))
        left -= len(lines)
    try:
        with tempfile.TemporaryDirectory(prefix="pmem-") as folder:
            attributes = []
            for number, (driver, lines) in enumerate(shown):
                _write(
                    folder,
                    str(number),
                    [word for one in lines for word in (_first_bytes(one), _AFTER)],
                )
                attributes.append(f"{number} diff={driver or 'none'}".encode())
            _write(folder, _ATTRIBUTES, attributes)
            done = git.run_apart(folder, _arguments(), environment)
    except (OSError, *git.UNAVAILABLE):
        return None
    return _parse(done.out, len(shown)) if done.code in (0, 1) else None


def _arguments() -> list[str]:
    own = [("-c", f"diff.{driver}.xfuncname={patterns}") for driver, patterns in _OWN.items()]
    return [
        *(word for pair in own for word in pair),
        *("-c", f"core.attributesFile={_ATTRIBUTES}", "-c", "grep.threads=1"),
        *("grep", "--no-index", "--no-color", "--no-textconv", "--text", "-n", "-p", "-F"),
        *("-e", _AFTER.decode(), "--", "."),
    ]


def _first_bytes(line: bytes) -> bytes:
    """Return the line as git is shown it: one line, and never that which follows it."""
    return line[:_LONGEST].translate(None, b"\0\r\n" + _AFTER)


def _write(folder: str, name: str, lines: Sequence[bytes]) -> None:
    with open(os.path.join(folder, name), "xb") as file:
        file.write(b"".join(line + b"\n" for line in lines))


def _parse(answer: bytes, texts: int) -> list[set[int]]:
    """Read `3=17=def settle():`: in the fourth text, the ninth line may begin a function."""
    found: list[set[int]] = [set() for _ in range(texts)]
    for line in answer.split(b"\n"):
        name, equals, rest = line.partition(b"=")
        number = rest.partition(b"=")[0]
        if equals and name.isdigit() and number.isdigit():
            found[int(name)].add((int(number) - 1) // 2)
    return found
