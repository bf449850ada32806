"""Completion in shells: the scripts by which they ask, and the form in which they take answers.

What may stand where somebody types is found by Click; Typer's own scripts are not used, as they
let zsh run what a record says, and know nothing of quotes, colons and descriptions in bash. The
first line of an answer is `files` where the shell is to complete a path, and `words` before lines
of words. Words are quoted for the shell where it does not do that itself.
"""

import re
from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, Final

from typer._click.shell_completion import (  # typer 0.28 exports none of them
    CompletionItem,
    ShellComplete,
    split_arg_string,
)

from pmem.cli.app import root
from pmem.cli.completion.candidates import Line
from pmem.core.lines import shortened

COMPLETE: Final = "_PMEM_COMPLETE"
"""The variable by which a shell asks for completions: it names the shell."""
_END: Final = "."
"""Stands where the cursor is, so that the last word is the one being typed, even an empty one."""
_MENUS: Final = ("37", "42")
"""Kinds of completion by which bash puts whole words in: they get no description."""
_NARROWEST: Final = 20
_LONGEST: Final = 200
"""Characters of a description."""
_PLAIN: Final = re.compile(r"[^\w@%+=:,./-]")


class _Shell(ShellComplete):
    """What a shell asks and is told; `ctx_args` have the line that is being typed."""

    def source_vars(self) -> dict[str, Any]:
        return {"variable": self.complete_var}

    def get_completion_args(self) -> tuple[list[str], str]:
        *words, last = split_arg_string(self._said("_PMEM_LINE") + _END)
        return words[1:], last.removesuffix(_END)

    def complete(self) -> str:
        line: Line = self.ctx_args["obj"]
        line.words, typed = self.get_completion_args()
        items = self.get_completions(line.words, typed)
        if not items and line.takes_files:
            return "files\n"
        flag, sign, _ = typed.partition("=")
        before = flag + sign if typed.startswith("-") and sign else ""
        for item in items:
            item.value = before + _clean(item.value)
            item.help = _clean(item.help or "")[:_LONGEST]
        return "".join(f"{each}\n" for each in ("words", *self.lines(items, typed)))

    def lines(self, items: list[CompletionItem], typed: str) -> list[str]:  # noqa: ARG002
        return [self.format_completion(item) for item in items]

    @abstractmethod
    def format_completion(self, item: CompletionItem) -> str: ...

    def _said(self, name: str) -> str:
        """Return what the script says in a variable."""
        return str(self.ctx_args["obj"].environment.get(name, ""))


class _Bash(_Shell):
    """Bash replaces what stands behind the last colon or equals sign; it sees no descriptions."""

    name = "bash"
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
        replaced = self._said("_PMEM_WORD")
        if not self._quote():
            replaced = split_arg_string(replaced + _END)[-1].removesuffix(_END)
        kept = typed.removesuffix(replaced)
        for item in items:
            item.value = item.value.removeprefix(kept)
        words = [self.format_completion(item) for item in items]
        width = max(map(len, words), default=0) + 2
        columns = self._said("_PMEM_COLUMNS")
        room = (int(columns) if columns.isdigit() else 80) - width - 3
        if len(words) < 2 or room < _NARROWEST or self._said("_PMEM_KEY") in _MENUS:
            return words
        return [
            f"{word:<{width}}({shortened(item.help or '', room)})" if item.help else word
            for word, item in zip(words, items, strict=True)
        ]

    def format_completion(self, item: CompletionItem) -> str:
        if self._quote() == "'":
            return str(item.value).replace("'", "'\\''")
        if self._quote() == '"':
            return re.sub(r'([$`"\\])', r"\\\1", item.value)
        return _PLAIN.sub(r"\\\g<0>", item.value)

    def _quote(self) -> str:
        """Return the quote that is open; it stands before the word that bash replaces."""
        before = self._said("_PMEM_LINE").removesuffix(self._said("_PMEM_WORD"))[-1:]
        return before if before in ("'", '"') else ""


class _Zsh(_Shell):
    """Zsh quotes words by itself, and shows what they mean."""

    name = "zsh"
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
    """Fish quotes words by itself, and shows what they mean."""

    name = "fish"
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
    """PowerShell takes words apart by itself, and shows what they mean."""

    name = "powershell"
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
        *words, last = self._said("_PMEM_WORDS").split("\n")
        return words, last

    def format_completion(self, item: CompletionItem) -> str:
        word = item.value
        if _PLAIN.search(word):
            word = "'" + word.replace("'", "''") + "'"
        return f"{word}\t{item.help or item.value}"


SHELLS: Final[Mapping[str, type[_Shell]]] = {
    each.name: each for each in (_Bash, _Zsh, _Fish, _PowerShell)
}


def answer(environment: Mapping[str, str]) -> bytes:
    """Answer a shell; whatever goes wrong, it is told nothing."""
    try:
        return _shell(environment[COMPLETE], environment).complete().encode("utf-8", "ignore")
    except Exception:  # a person is typing, and wants to hear of nothing
        return b""


def script(shell: str) -> str:
    """Return the script that completes pmem's commands."""
    return _shell("powershell" if shell == "pwsh" else shell, {}).source()


def _shell(name: str, environment: Mapping[str, str]) -> _Shell:
    return SHELLS[name](root(), {"obj": Line(environment)}, "pmem", COMPLETE)


def _clean(text: str) -> str:
    """Return a text that no terminal takes for an order, on one line."""
    return " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
