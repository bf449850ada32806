"""The scripts by which shells ask, and the form in which each of them takes the answer.

The first line of an answer is `files` where the shell is to complete a path, and `words` before
lines of words. Words are quoted for the shell where it does not do that itself; nothing of an
answer is ever run.
"""

import re

TYPE_CHECKING = False  # as checkers know it, without the time that importing typing takes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pmem.cli.completion.line import Asked

    Find = Callable[[Sequence[str], Mapping[str, str]], tuple[Asked, dict[str, str] | None]]

COMPLETE = "_PMEM_COMPLETE"
"""The variable by which a shell asks for completions: it names the shell."""
SCRIPTS: "Mapping[str, str]" = {
    "bash": r"""# bash completion of pmem
_pmem() {
    local line kind=""
    COMPREPLY=()
    while IFS= read -r line; do
        if [[ -z $kind ]]; then kind=$line; else COMPREPLY+=("$line"); fi
    done < <(_PMEM_COMPLETE=bash _PMEM_COLUMNS=${COLUMNS:-80} _PMEM_KEY=${COMP_TYPE:-9} \
        "${1/#\~/$HOME}" "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
    if [[ $kind == words ]]; then compopt +o default 2>/dev/null; fi
}
complete -o default -o nosort -F _pmem pmem 2>/dev/null || complete -o default -F _pmem pmem
""",
    "zsh": r"""#compdef pmem
_pmem() {
    local -a lines
    lines=("${(@f)$(_PMEM_COMPLETE=zsh ${(Q)~words[1]} "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    local kind=$lines[1]
    shift lines
    if [[ $kind == files ]]; then
        [[ $PREFIX == --*=* ]] && compset -P 1 '*='
        _files
    elif (( $#lines )); then
        [[ $PREFIX == --*=* ]] && compset -P 1 '*='
        _describe -V pmem lines
    fi
}
if [[ $funcstack[1] == _pmem ]]; then
    _pmem "$@"
else
    (( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
    compdef _pmem pmem
fi
""",
    "fish": r"""# fish completion of pmem
function __pmem_complete
    set -l words (commandline -opc)
    set -l last (commandline -ct)
    set -l lines (env _PMEM_COMPLETE=fish $words[1] $words[2..-1] "$last" 2>/dev/null)
    if test "$lines[1]" = files
        set -l path (string replace -r '^--[^=]*=' '' -- "$last")
        set -l before (string match -r '^--[^=]*=' -- "$last")
        for found in (__fish_complete_path "$path")
            echo "$before$found"
        end
    else
        string join \n -- $lines[2..-1]
    end
end
complete -c pmem -f -k -a '(__pmem_complete)'
""",
    "powershell": r"""# PowerShell completion of pmem
Register-ArgumentCompleter -Native -CommandName pmem -ScriptBlock {
    param($word, $ast, $cursor)
    $words = @($ast.CommandElements | Select-Object -Skip 1 |
        Where-Object { $_.Extent.EndOffset -lt $cursor } |
        ForEach-Object { if ($null -ne $_.Value) { $_.Value } else { $_.Extent.Text } })
    $env:_PMEM_COMPLETE = 'powershell'
    $env:_PMEM_WORDS = ($words + $word) -join "`n"
    try {
        pmem 2>$null | Select-Object -Skip 1 | ForEach-Object {
            $value, $about = $_ -split "`t", 2
            [System.Management.Automation.CompletionResult]::new(
                $value, $value, 'ParameterValue', $about)
        }
    } finally {
        Remove-Item Env:_PMEM_COMPLETE, Env:_PMEM_WORDS
    }
}
""",
}
_MENUS = ("37", "42")
"""Kinds of completion by which bash puts whole words in: they get no description."""
_NARROWEST = 20
_BREAKS = re.compile("[:=]+")
_PLAIN = re.compile(r"[^\w@%+=:,./-]")
_LONGEST = 200
"""Characters of a description."""


def written(
    shell: str, words: "Sequence[str]", environment: "Mapping[str, str]", find: "Find"
) -> str:
    """Write the answer to a shell.

    Args:
        shell: One of `SCRIPTS`.
        words: The words up to the one being typed; bash gives them as they were typed.
        environment: The environment's variables.
        find: What tells what is asked and what may stand there; None for a file.
    """
    current = words[-1] if words else ""
    words = joined(words) if shell == "bash" else words
    typed = words[-1] if words else ""
    quoted = 1 if shell == "fish" else len(words)  # fish quotes the last one only
    if shell != "powershell":
        words = [*words[:-quoted], *map(unquoted, words[-quoted:])]
    what, found = find(words, environment)
    if found is None:
        return "files\n"
    before = what.before if shell in ("bash", "fish", "powershell") else ""
    fitting = {
        _clean(name): _clean(about)[:_LONGEST]
        for name, about in found.items()
        if name.startswith(what.incomplete)
    }
    if shell == "bash":
        lines = _for_bash(fitting, before, typed, typed.removesuffix(current), environment)
    elif shell == "zsh":
        lines = [_for_zsh(name, about) for name, about in fitting.items()]
    elif shell == "fish":
        lines = [f"{before}{name}\t{about}" for name, about in fitting.items()]
    else:
        lines = [
            f"{_for_powershell(before + name)}\t{about or name}" for name, about in fitting.items()
        ]
    return "".join(f"{line}\n" for line in ("words", *lines))


def joined(words: "Sequence[str]") -> list[str]:
    """Return the words of bash as people see them: it breaks them at colons and equals signs.

    Args:
        words: As bash has them; the last is the one being typed.
    """
    found: list[str] = []
    glue = False
    for word in words:
        is_break = bool(_BREAKS.fullmatch(word))
        if found and (glue or is_break):
            found[-1] += word
        else:
            found.append(word)
        glue = is_break
    return found


def unquoted(word: str) -> str:
    """Return what a word of bash stands for; a quote may still be open.

    Args:
        word: As it was typed.
    """
    found, quote, signs = [], "", iter(word)
    for sign in signs:
        if sign == "\\" and quote != "'":
            found.append(next(signs, ""))
        elif sign == quote:
            quote = ""
        elif sign in "'\"" and not quote:
            quote = sign
        else:
            found.append(sign)
    return "".join(found)


def _for_bash(
    found: "dict[str, str]", before: str, typed: str, kept: str, environment: "Mapping[str, str]"
) -> list[str]:
    """Quote words, and put what they mean beside them where there is a choice of several."""
    quote = typed[:1] if typed[:1] in ("'", '"') else ""
    words = {_in_bash(before + name, quote): about for name, about in found.items()}
    words = {word[len(kept) :]: about for word, about in words.items() if word.startswith(kept)}
    if len(words) < 2 or environment.get("_PMEM_KEY") in _MENUS:
        return [*words]
    width = max(map(len, words)) + 2
    columns = environment.get("_PMEM_COLUMNS", "")
    room = (int(columns) if columns.isdigit() else 80) - width - 3
    if room < _NARROWEST:
        return [*words]
    return [
        f"{word:<{width}}({_shortened(about, room)})" if about else word
        for word, about in words.items()
    ]


def _in_bash(word: str, quote: str) -> str:
    if quote == "'":
        return word.replace("'", "'\\''")
    if quote == '"':
        return re.sub(r'([$`"\\])', r"\\\1", word)
    return _PLAIN.sub(r"\\\g<0>", word)


def _for_zsh(word: str, about: str) -> str:
    word = word.replace("\\", "\\\\").replace(":", "\\:")
    return f"{word}:{about}" if about else word


def _for_powershell(word: str) -> str:
    return word if not _PLAIN.search(word) else "'" + word.replace("'", "''") + "'"


def _shortened(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _clean(text: str) -> str:
    """Return a text that no terminal takes for an order, on one line."""
    return " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
