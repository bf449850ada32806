"""A tool's call in one line, whether it failed, and what is shown of its result."""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, Final, NamedTuple

from pmem.core.lines import shortened
from pmem.core.text.calls import RecordedCall, recorded_calls
from pmem.core.text.paths import named_paths
from pmem.values.patterns import lazily
from pmem.values.records import Message, Role

LONGEST_CALL: Final = 160
"""Characters of a call in one line."""
LONGEST_ERROR: Final = 200
"""Characters of a line that tells an error."""
MOST_CALLS: Final = 3
MOST_ERRORS: Final = 3
MOST_FILES: Final = 8
LOOKED_AT: Final = 20_000
"""Characters of a result that are looked at: one half at its beginning, one at its end."""
LEAST_SHOWN: Final = 400
"""So many characters of a tool's output are shown, whatever the budget."""
SHOWN_SHARE: Final = 0.1
"""Of a large budget, so many characters for each of its tokens."""
RAN: Final = "ran: "
_COMMANDS: Final = ("command", "cmd", "script", "query", "pattern", "url", "prompt", "summary")
_FILES: Final = ("file_path", "filename", "target_file", "notebook_path", "path", "file", "glob")
_EXIT = lazily(
    r"\b(?:exit(?:ed with)?[ _](?:code|status)|exited with)\"?[: =]{1,3}(-?\d{1,4})\b", re.I
)
_ERROR = lazily(
    r"\b(?:errors?|fatal|failed|failure|panic|exception|denied|refused|cannot|not found"
    r"|no such|undefined|unrecognized|invalid|unable)\b|\w(?:Error|Exception)\b|^FAIL\b|[✗✘]"
    r"|^\S{1,200}:\d{1,6}:\d{1,6}: ",
    re.I,
)
_NO_ERROR = lazily(r"\b(?:0|no|without) (?:errors?|failure|failed)\b", re.I)
_NO_LINE = lazily(r"File \"|at \S|Traceback \(|Exit code |\d{1,6}→|$", re.I)
_CHANGED = lazily(
    r"(?:^|\n)\s*(?:The file (\S{1,200}) has been|(?:diff --git a/|\+\+\+ b/)(\S{1,200})"
    r"|(?:modified|new file|deleted|create mode \d+|delete mode \d+):? {1,12}(\S{1,200})"
    r"|(\S{1,200}) {1,60}\| {1,6}\d)"
)
_EDITS: Final = frozenset(
    "edit write multiedit edit_file write_file create_file apply_patch notebookedit".split()
)
_MOVE = lazily(r"\Acd \S{1,200} && ")
_TAG = lazily(r"</?[\w-]{1,40}>")
_WORD = lazily(r"[^\W_]+")


class ToolOutcome(NamedTuple):
    """How a tool's call ended, as the result says it.

    `errors` are the lines that tell what went wrong, of a call that failed, `files` those that it
    changed.
    """

    failed: bool
    exit_code: int | None = None
    errors: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


def command_line(message: Message) -> str:
    """Return a tool's call in one line: the command that ran, or the tool and its file."""
    calls = [_in_one_line(name, given) for name, given in _calls(message)]
    line = "; ".join(filter(None, calls[:MOST_CALLS])) or first_line(message.content)
    return shortened(line, LONGEST_CALL)


def call_line(calls: Iterable[RecordedCall]) -> str:
    """Return calls in one line, of one that has no arguments the tool alone."""
    lines = (_in_one_line(call.name, call.arguments) or call.name for call in calls)
    line = "; ".join(islice(filter(None, lines), MOST_CALLS)) or "a tool"
    return shortened(line, LONGEST_CALL)


def ran_commands(message: Message) -> tuple[str, ...]:
    """Return the commands that a tool's call runs, each by its first line."""
    given = (each for _, each in _calls(message))
    ran = (str(each[key]) for each in given for key in _COMMANDS[:3] if each.get(key))
    return tuple(shortened(line, LONGEST_CALL) for text in ran if (line := first_line(text)))


def tool_outcome(message: Message) -> ToolOutcome:
    """Read from a tool's result how it ended; of a long one both ends are looked at."""
    text = message.content
    if len(text) > LOOKED_AT:
        text = f"{text[: LOOKED_AT // 2]}\n{text[-LOOKED_AT // 2 :]}"
    result = message.tool_result if isinstance(message.tool_result, Mapping) else {}
    code = result.get("exit_code")
    if type(code) is not int:
        found = _EXIT.search(text, 0, 400) or _EXIT.search(text, max(0, len(text) - 400))
        code = int(found.group(1)) if found else None
    said = result.get("is_error", result.get("isError"))
    failed = bool(said or code) or text.startswith("<tool_use_error>")
    errors = _told(text)[:MOST_ERRORS] if failed else ()
    return ToolOutcome(failed, code, errors, () if failed else _changed(text))


def error_lines(text: str) -> tuple[str, ...]:
    """Return the lines of output that tell an error, each once."""
    return tuple(_shown(head) for head in _heads(text) if _is_error(head))


def edited_files(message: Message) -> tuple[str, ...]:
    """Return the files that a tool's call writes to."""
    found: list[str] = []
    for name, given in _calls(message):
        if name.lower() in _EDITS:
            named = [str(given[key]) for key in _FILES if given.get(key)]
            found += named[:1] or named_paths(message.content[:LONGEST_CALL])[:1]
    return tuple(dict.fromkeys(found))[:MOST_FILES]


def first_line(text: str) -> str:
    """Return the first line that says something, without the move to a folder before a command."""
    lines = (" ".join(line.split()) for line in text[:LOOKED_AT].splitlines())
    return _MOVE.sub("", next(filter(None, lines), ""))


def shown_of_tools(budget: int) -> int:
    """Return how many characters of a tool's output a context of some tokens shows."""
    return max(LEAST_SHOWN, int(budget * SHOWN_SHARE))


def tool_text(message: Message, most: int | None = None) -> str:
    """Return a message as it reads in a transcript: what its tools were asked, how that ended.

    `most` are the characters of a tool's output that are shown whole; None shortens nothing.
    """
    asks, answers = bool(message.tool_call), is_result(message)
    if asks and answers:
        return f"{ran_line(message)}\n{result_text(message, most)}"
    if asks:
        return call_text(message, most)
    return result_text(message, most) if answers else message.content


def is_result(message: Message) -> bool:
    """Tell whether a message is what a tool answered."""
    return bool(message.tool_result) or message.role is Role.TOOL


def call_text(message: Message, most: int | None = None) -> str:
    """Return what a message says, and in one line what it runs."""
    said, ran = message.content, ran_line(message)
    if repeats_calls(message):
        return said if most is None and said else ran
    if not _writes_out(message):
        return f"{said}\n{ran}"
    return said if most is None or len(said) <= most else f"{ran} {_size(said)}"


def result_text(message: Message, most: int | None = None) -> str:
    """Return a tool's result; of a longer one its errors, changed files, or how it begins."""
    said, outcome = message.content, tool_outcome(message)
    status = "failed" if outcome.failed else ""
    if outcome.exit_code is not None:
        status = f"exit code {outcome.exit_code}"
    if most is None or len(said) <= most:
        return said if status in said.casefold() else f"{status}: {said}"
    changed = f"changed {', '.join(outcome.files)}" if outcome.files else ""
    begins = shortened(first_line(said), LONGEST_ERROR)
    ended = "; ".join(outcome.errors) or changed or begins
    return f"{status}: {ended} {_size(said)}" if status else f"{ended} {_size(said)}"


def ran_line(message: Message) -> str:
    """Return in one line what a message runs."""
    return RAN + call_line(recorded_calls(message.tool_call))


def repeats_calls(message: Message) -> bool:
    """Tell whether every word that a message says stands in its calls as well."""
    calls = recorded_calls(message.tool_call)
    known = {word for call in calls for text in call.texts() for word in _words(text)}
    return known.issuperset(_words(message.content))


def _calls(message: Message) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the name and the arguments of each of the first calls."""
    calls = islice(recorded_calls(message.tool_call), MOST_FILES)
    return ((call.name, call.arguments) for call in calls)


def _in_one_line(name: str, given: Mapping[str, Any]) -> str:
    for keys in (_COMMANDS[:3], _FILES[:4], _COMMANDS[3:], _FILES[4:]):
        for key in keys:
            if given.get(key) and isinstance(given[key], str | int):
                line = first_line(str(given[key]))
                is_whole = key in _COMMANDS[:3] or key == "summary" or not name
                return line if is_whole else f"{name}: {line}"
    other = next((first_line(each) for each in given.values() if isinstance(each, str)), "")
    return f"{name}: {other}" if name and other else other


def _told(text: str) -> tuple[str, ...]:
    """Return the lines of a failed call that tell why; if none does, its first one."""
    return error_lines(text) or tuple(map(_shown, islice(_heads(text), 1)))


def _heads(text: str) -> Iterator[str]:
    heads = (_TAG.sub("", line[: 2 * LONGEST_ERROR]).strip() for line in text.splitlines())
    return iter(dict.fromkeys(head for head in heads if not _NO_LINE.match(head)))


def _is_error(head: str) -> bool:
    return _ERROR.search(head) is not None and _NO_ERROR.search(head) is None


def _shown(head: str) -> str:
    return shortened(" ".join(head.split()), LONGEST_ERROR)


def _changed(text: str) -> tuple[str, ...]:
    names = (next(filter(None, match.groups()), "") for match in _CHANGED.finditer(text))
    return tuple(dict.fromkeys(filter(None, names)))[:MOST_FILES]


def _writes_out(message: Message) -> bool:
    """Tell whether a text is a call written out: the tool's name, a colon, what it is given."""
    head, colon, _ = message.content.partition(":")
    named = _words(head)
    return bool(colon) and any(
        named == _words(call.name) for call in recorded_calls(message.tool_call)
    )


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _size(text: str) -> str:
    return f"[{len(text):,} characters]"
