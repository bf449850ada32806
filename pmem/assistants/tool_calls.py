"""What a tool's call of a coding assistant touches, and how a command failed.

Every harness names its tools and their fields in its own way; what reads and edits files, and
what runs commands, is known here, and nothing else counts. Only the standard library is loaded.
"""

TYPE_CHECKING = False  # as checkers know it, without the time that importing typing takes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from pmem.assistants.events import HookInput

MOST_FILES = 20
"""Of one call so many files are looked at."""
_READ = ("Read", "read_file")
_EDIT = ("Edit", "MultiEdit", "replace", "NotebookEdit")
_WRITE = ("Write", "write_file")
_PATCH = "apply_patch"
_SHELL = ("Bash", "shell", "local_shell", "exec_command", "run_shell_command")
_PATHS = ("file_path", "notebook_path", "absolute_path", "path")
_PATCH_BEGINS = "*** Begin Patch"
_PATCHED = ("*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: ")
_READERS = frozenset(("cat", "sed", "head", "tail", "nl", "less", "more", "bat"))
_LONGEST_COMMAND = 2000
"""A longer command line is no plain look into a file."""
_EXITED = ("exit code ", "exit code: ")
_OUTPUT = "Output: "


class ToolFile:
    """A file that a tool's call reads or edits.

    `texts` are what an edit replaces; none where that is all of it. `lines` are the first line and
    how many are read; None for the whole file.
    """

    def __init__(
        self,
        path: str,
        *,
        is_edit: bool = False,
        texts: "Sequence[str]" = (),
        lines: "tuple[int, int] | None" = None,
    ) -> None:
        self.path, self.is_edit, self.texts, self.lines = path, is_edit, tuple(texts), lines


def touched(given: "HookInput") -> "list[ToolFile]":
    """Return the files that a call reads or edits; nothing for any other tool."""
    asked = given.asked_of_tool
    command = _text(asked, "command", "input", "patch")
    if given.tool == _PATCH or (given.tool in _SHELL and _PATCH_BEGINS in command):
        return list(_patched(command))[:MOST_FILES]
    if given.tool in _SHELL:
        return [ToolFile(path) for path in _shown_by(command)][:MOST_FILES]
    path = _text(asked, *_PATHS)
    if not path:
        return []
    if given.tool in _READ:
        return [ToolFile(path, lines=_lines(asked))]
    if given.tool in _EDIT:
        return [ToolFile(path, is_edit=True, texts=list(_replaced(asked)))]
    return [ToolFile(path, is_edit=True)] if given.tool in _WRITE else []


def failure(given: "HookInput") -> str:
    """Return what a command wrote as it failed; empty where it did not, or was none.

    Codex does not say whether a command failed, so there all that it wrote is looked at.
    """
    if given.tool not in _SHELL:
        return ""
    if given.tool_error:
        first, _, rest = given.tool_error.partition("\n")
        return rest if first.lower().startswith(_EXITED) else given.tool_error
    answer = given.tool_answer
    if isinstance(answer, str):
        return answer
    if not isinstance(answer, dict) or not _has_failed(answer):
        return ""
    shown = _text(answer, "returnDisplay", "stderr", "output")
    return shown or _text(answer, "llmContent").partition(_OUTPUT)[2]


def _text(fields: "Mapping[str, Any]", *names: str) -> str:
    found = (fields.get(name) for name in names)
    return next((value for value in found if isinstance(value, str) and value), "")


def _lines(asked: "Mapping[str, Any]") -> "tuple[int, int] | None":
    """Return where a look into a file begins, and how many lines it takes."""
    first, most = asked.get("offset"), asked.get("limit")
    if type(first) is int and type(most) is int and first > 0 and most > 0:
        return first, most
    return None


def _replaced(asked: "Mapping[str, Any]") -> "Iterator[str]":
    """Yield the texts that edits replace."""
    edits = asked.get("edits")
    for edit in (asked, *(edits if isinstance(edits, list) else ())):
        old = edit.get("old_string") if isinstance(edit, dict) else None
        if isinstance(old, str) and old:
            yield old


def _patched(patch: str) -> "Iterator[ToolFile]":
    """Yield the files of a patch in Codex's form, and what each hunk expects to find there."""
    path, texts, hunk = "", [], []  # type: str, list[str], list[str]
    for line in [*patch.split("\n"), _PATCHED[0]]:
        head = next((head for head in _PATCHED if line.startswith(head)), "")
        if (head or line.startswith("@@")) and hunk:
            texts.append("\n".join(hunk))
            hunk = []
        if head:
            if path:
                yield ToolFile(path, is_edit=True, texts=texts)
            path, texts = line[len(head) :].strip(), []
        elif line[:1] in (" ", "-"):
            hunk.append(line[1:])


def _shown_by(command: str) -> "Iterator[str]":
    """Yield the files that a plain command line prints, such as `sed -n 1,40p src/main.py`."""
    if len(command) > _LONGEST_COMMAND or _READERS.isdisjoint(command.split()):
        return
    import shlex

    words = shlex.shlex(command, posix=True, punctuation_chars=True)
    words.whitespace_split, words.commenters = True, ""
    try:
        found = list(words)
    except ValueError:
        return
    run: list[str] = []
    for word in [*found, ";"]:
        if not word.strip("|&;()"):
            yield from _shown_by_one(run)
            run = []
        else:
            run.append(word)


def _shown_by_one(run: "Sequence[str]") -> "Iterator[str]":
    """Yield the files that one program prints; what writes, or edits in place, prints none."""
    if not run or run[0] not in _READERS or any("<" in word or ">" in word for word in run):
        return
    options = [word for word in run[1:] if word.startswith("-")]
    names = [word for word in run[1:] if not word.startswith("-")]
    if run[0] == "sed":
        if any(option.startswith(("-i", "--in-place")) for option in options):
            return
        names = names[1:]  # the script
    yield from names


def _has_failed(answer: "Mapping[str, Any]") -> bool:
    """Tell whether an answer says that a command failed."""
    code = answer.get("exit_code", answer.get("exitCode"))
    if type(code) is int:
        return code != 0
    if answer.get("error"):
        return True
    lines = _text(answer, "llmContent").lower().split("\n")
    codes = [line.removeprefix(_EXITED[1]) for line in lines if line.startswith(_EXITED[1])]
    return any(code.strip() not in ("0", "(none)") for code in codes)
