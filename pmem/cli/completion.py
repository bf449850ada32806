"""Completion in shells: the scripts that ask for it, and the answers.

Click finds which argument or option is typed; Typer's own scripts let zsh run what a record says,
and know nothing of quotes, colons and descriptions in bash. The first line of an answer is `files`
where the shell is to complete a path, and `words` before lines of words, quoted where the shell
does not do that itself. It is asked at every press of a key, so little is loaded.
"""

import os
import re
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing, suppress
from sqlite3 import Error
from typing import Any, Final

from typer._click.shell_completion import (  # typer 0.28 exports none of them
    CompletionItem,
    ShellComplete,
    split_arg_string,
)

from pmem.cli.commands import reference
from pmem.cli.hook import memory_folder
from pmem.cli.manual import documents
from pmem.cli.tree import root
from pmem.core.lines import shortened
from pmem.storage.index import suggestions
from pmem.values.fields import Completes

COMPLETE: Final = "_PMEM_COMPLETE"
"""The variable by which a shell asks for completions: it names the shell."""
_CURSOR: Final = "."
"""Stands where the cursor is, so that the last word is the one being typed, even an empty one."""
_MENUS: Final = ("37", "42")
"""Kinds of completion by which bash puts whole words in: they get no description."""
_NARROWEST: Final = 20
_LONGEST: Final = 200  # characters of a description
_PLAIN: Final = re.compile(r"[^\w@%+=:,./-]")


class _TypedLine:
    """A line that is being typed: the words so far, and what the options of all commands say."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self.environment = environment
        self.words: list[str] = []
        self.directory: str | None = None
        self.asker: str | None = None
        self.takes_files = True

    def folder(self) -> str:
        """Return the folder of the memory that may be read; nothing of others' or for agents."""
        place = self.directory or self.environment.get("PMEM_DIR") or os.getcwd()
        folder = "" if self.asker is not None else memory_folder(place, self.environment)
        is_own = not hasattr(os, "getuid") or not folder or os.lstat(folder).st_uid == os.getuid()
        return folder if is_own else ""

    def candidates(self, what: Completes, ctx: Any, start: str) -> list[tuple[str, str]]:
        """Return what may stand in an argument or an option, and what it means."""
        self.takes_files = False
        given = self.words if what in (*_IDS, "decision") else ()  # a record is named once
        return [each for each in _look_up(what, ctx, start) if each[0] not in given]


class _Shell(ShellComplete):
    def source_vars(self) -> dict[str, Any]:
        return {"variable": self.complete_var}

    def get_completion_args(self) -> tuple[list[str], str]:
        *words, last = split_arg_string(self._given("_PMEM_LINE") + _CURSOR)
        return words[1:], last.removesuffix(_CURSOR)

    def complete(self) -> str:
        line: _TypedLine = self.ctx_args["obj"]
        line.words, typed = self.get_completion_args()
        items = self.get_completions(line.words, typed)
        if not items and line.takes_files:
            return "files\n"
        flag, sign, _ = typed.partition("=")
        before = flag + sign if typed.startswith("-") and sign else ""
        for item in items:
            item.value = before + _printable(item.value)
            item.help = _printable(item.help or "")[:_LONGEST]
        return "".join(f"{each}\n" for each in ("words", *self.lines(items, typed)))

    def lines(self, items: list[CompletionItem], typed: str) -> list[str]:  # noqa: ARG002
        return [self.format_completion(item) for item in items]

    @abstractmethod
    def format_completion(self, item: CompletionItem) -> str: ...

    def _given(self, name: str) -> str:
        return str(self.ctx_args["obj"].environment.get(name, ""))


class _Bash(_Shell):
    """Bash replaces what stands behind the last colon or equals sign; it sees no descriptions."""

    source_template = r"""# bash completion of pmem
_pmem() {
    local line kind=""
    COMPREPLY=()
    while IFS= read -r line; do
        if [[ -z $kind ]]; then kind=$line; else COMPREPLY+=("$line"); fi
    done < <(%(variable)s=bash _PMEM_LINE="${COMP_LINE:0:COMP_POINT}" _PMEM_WORD="$2" \
        _PMEM_COLUMNS=${COLUMNS:-80} _PMEM_KEY=${COMP_TYPE:-9} "${1/#\~/$HOME}" 2>/dev/null)
    if [[ $kind == words ]]; then compopt +o default 2>/dev/null; fi
}
complete -o default -o nosort -F _pmem pmem 2>/dev/null || complete -o default -F _pmem pmem
"""

    def lines(self, items: list[CompletionItem], typed: str) -> list[str]:
        """Put what words mean beside them where there is a choice of several."""
        replaced = self._given("_PMEM_WORD")
        if not self._open_quote():
            replaced = split_arg_string(replaced + _CURSOR)[-1].removesuffix(_CURSOR)
        kept = typed.removesuffix(replaced)
        for item in items:
            item.value = item.value.removeprefix(kept)
        words = [self.format_completion(item) for item in items]
        width = max(map(len, words), default=0) + 2
        columns = self._given("_PMEM_COLUMNS")
        room = (int(columns) if columns.isdigit() else 80) - width - 3
        if len(words) < 2 or room < _NARROWEST or self._given("_PMEM_KEY") in _MENUS:
            return words
        return [
            f"{word:<{width}}({shortened(item.help or '', room)})" if item.help else word
            for word, item in zip(words, items, strict=True)
        ]

    def format_completion(self, item: CompletionItem) -> str:
        if self._open_quote() == "'":
            return str(item.value).replace("'", "'\\''")
        if self._open_quote() == '"':
            return re.sub(r'([$`"\\])', r"\\\1", item.value)
        return _PLAIN.sub(r"\\\g<0>", item.value)

    def _open_quote(self) -> str:
        """Return the quote that is open; it stands before the word that bash replaces."""
        before = self._given("_PMEM_LINE").removesuffix(self._given("_PMEM_WORD"))[-1:]
        return before if before in ("'", '"') else ""


class _Zsh(_Shell):
    source_template = r"""#compdef pmem
_pmem() {
    local -a lines
    local line="${words[1,CURRENT]}"
    lines=("${(@f)$(%(variable)s=zsh _PMEM_LINE=$line ${(Q)~words[1]} 2>/dev/null)}")
    local kind=$lines[1]
    shift lines
    if [[ $kind == files ]]; then
        [[ $PREFIX == --*=* ]] && compset -P 1 '*='
        _files
    elif (( $#lines )); then
        _describe -V pmem lines
    fi
}
if [[ $funcstack[1] == _pmem ]]; then
    _pmem "$@"
else
    (( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
    compdef _pmem pmem
fi
"""

    def format_completion(self, item: CompletionItem) -> str:
        word = item.value.replace("\\", "\\\\").replace(":", "\\:")
        return f"{word}:{item.help}" if item.help else word


class _Fish(_Shell):
    source_template = r"""# fish completion of pmem
function __pmem_complete
    set -l words (commandline -opc)
    set -l line (commandline -cp)
    set -l lines (env %(variable)s=fish _PMEM_LINE="$line" $words[1] 2>/dev/null)
    if test "$lines[1]" = files
        set -l last (commandline -ct)
        set -l before (string match -r '^--[^=]*=' -- "$last")
        for found in (__fish_complete_path (string replace -r '^--[^=]*=' '' -- "$last"))
            echo "$before$found"
        end
    else
        string join \n -- $lines[2..-1]
    end
end
complete -c pmem -f -k -a '(__pmem_complete)'
"""

    def format_completion(self, item: CompletionItem) -> str:
        return f"{item.value}\t{item.help}"


class _PowerShell(_Shell):
    source_template = r"""# PowerShell completion of pmem
Register-ArgumentCompleter -Native -CommandName pmem -ScriptBlock {
    param($word, $ast, $cursor)
    $words = @($ast.CommandElements | Select-Object -Skip 1 |
        Where-Object { $_.Extent.EndOffset -lt $cursor } |
        ForEach-Object { if ($null -ne $_.Value) { $_.Value } else { $_.Extent.Text } })
    $env:%(variable)s = 'powershell'
    $env:_PMEM_WORDS = ($words + $word) -join "`n"
    try {
        pmem 2>$null | Select-Object -Skip 1 | ForEach-Object {
            $value, $about = $_ -split "`t", 2
            [System.Management.Automation.CompletionResult]::new(
                $value, $value, 'ParameterValue', $about)
        }
    } finally {
        Remove-Item Env:%(variable)s, Env:_PMEM_WORDS
    }
}
"""

    def get_completion_args(self) -> tuple[list[str], str]:
        *words, last = self._given("_PMEM_WORDS").split("\n")
        return words, last

    def format_completion(self, item: CompletionItem) -> str:
        word = item.value
        if _PLAIN.search(word):
            word = "'" + word.replace("'", "''") + "'"
        return f"{word}\t{item.help or item.value}"


SHELLS: Final[Mapping[str, type[_Shell]]] = {
    "bash": _Bash, "zsh": _Zsh, "fish": _Fish, "powershell": _PowerShell, "pwsh": _PowerShell,
}  # fmt: skip


def answer(environment: Mapping[str, str]) -> bytes:
    """Answer a shell; whatever goes wrong, it is told nothing."""
    try:
        return _shell(environment[COMPLETE], environment).complete().encode("utf-8", "ignore")
    except Exception:  # a person is typing, and wants to hear of nothing
        return b""


def script(shell: str) -> str:
    """Return the script that completes pmem's commands."""
    return _shell(shell, {}).source()


def _shell(name: str, environment: Mapping[str, str]) -> _Shell:
    return SHELLS[name](root(), {"obj": _TypedLine(environment)}, "pmem", COMPLETE)


def _printable(text: str) -> str:
    """Return a text that no terminal takes for an order, on one line."""
    return " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())


_ACTIVE: Final = ("active",)
_REMOVED: Final = ("soft_deleted", "archived", "superseded", "merged")
_IDS: Final = {
    "memory": ((suggestions.MEMORIES,), _ACTIVE),
    "record": ((suggestions.MEMORIES, suggestions.EPISODES), _ACTIVE),
    "removed": ((suggestions.MEMORIES, suggestions.EPISODES), _REMOVED),
    "any": ((suggestions.MEMORIES, suggestions.EPISODES), ()),
    "episode": ((suggestions.EPISODES,), ()),
    "conversation": ((suggestions.CONVERSATIONS,), ()),
}
"""The stores and states of the records whose ids are meant; all states where there are none."""
_THREADS: Final = {
    "thread": suggestions.known_threads,
    "checkpoint": suggestions.checkpoint_threads,
}
_Meanings = Iterable[tuple[str, str]]


def _look_up(what: Completes, ctx: Any, start: str) -> _Meanings:
    if what == "setting":
        settings: dict[str, str] = reference()["settings"]
        return settings.items()
    if what == "explained":
        return _to_explain(ctx.params["words"] or ()).items()
    folder = ctx.obj.folder()
    if folder and what in _THREADS:
        return _THREADS[what](folder).items()
    return _look_into(folder, what, ctx, start) if folder else ()


def _look_into(folder: str, what: Completes, ctx: Any, start: str) -> _Meanings:
    with closing(suggestions.Suggestions(folder)) as index:
        if what == "decision":
            with suppress(OSError, ValueError, Error):  # nothing waits, or nobody can tell
                return [*index.facts(start), *suggestions.proposals(folder).items()]
            return index.facts(start)
        if what == "app memory":
            return index.ids(start, *_IDS["memory"], ctx.params["app"])
        if what in _IDS:
            return index.ids(start, *_IDS[what])
        named = {"tag": index.tags, "subject": index.subjects}.get(what)
        return [(word, "") for word in (named() if named else index.values(what))]


def _to_explain(words: Sequence[str]) -> dict[str, str]:
    table = reference()
    commands = table["commands"]
    if words:
        group = " ".join(words)
        members = commands.get(group, {}).get("commands", ())
        return {name: commands[f"{group} {name}"]["summary"] for name in members}
    names = [name for part in table["sections"] for name in part["commands"]]
    found = {f"{name}.md" if name in names else name: "document" for name in documents()}
    return {**found, **{name: commands[name]["summary"] for name in names}}
