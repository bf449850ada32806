"""Files and symbols of programs that a text names: `src/a.py`, `main.py:12`, `run()`, `--flag`."""

from collections.abc import Iterator
from typing import Final

from pmem.values.patterns import lazily

LONGEST: Final = 200
"""Characters of a name; what is longer is no name but data."""
_CANDIDATE = lazily(r"(?<![\w./@:~$-])[~.@$]?[\w/-][\w./@:~{}*$-]{1,200}(?:\(\))?")
_ENDS: Final = ".,:;-*@$"
_FILE = lazily(r"(?:[\w@~.{}$*-]{0,80}/){0,20}[\w@{}$*-][\w@.{}$*-]{0,80}\.[A-Za-z]\w{0,9}")
_DOTTED = lazily(r"\.[a-z]{0,20}(?:ignore|rc|env|attributes|config)")
_LINES = lazily(r":\d{1,7}(?:[:-]\d{1,7})?\Z")
_SYMBOL = lazily(
    r"[\w.:]{1,80}\(\)|--[a-z][\w-]{1,60}|[a-z]{1,40}(?:[A-Z][a-z0-9]{1,40}){1,8}"
    r"|(?:[A-Z][a-z0-9]{1,40}){2,8}|_{0,2}[A-Za-z][a-z0-9]{0,40}(?:_[a-z0-9]{1,40}){1,8}_{0,2}"
    r"|[A-Z][A-Z0-9]{0,40}(?:_[A-Z0-9]{1,40}){1,8}"
)
_ENDINGS: Final = frozenset(
    """bash bat c cc cfg cjs conf cpp cs css csv diff env example fish gif go gradle h hpp htm html
    ini ipynb java jpeg jpg js json jsonl jsx kt less lock log lua md mdc mdx mjs mod patch pdf php
    png proto ps1 py pyi r rb rs rst scala scss sh sql sum svelte svg swift tf toml ts tsv tsx txt
    vue xml yaml yml zsh""".split()
)


def named_paths(text: str) -> tuple[str, ...]:
    """Return the files and folders that a text names, in order, each once, without line numbers.

    A name counts as a file's by its ending, as a folder's by two slashes or one at its end. Links
    are no files.
    """
    return tuple(dict.fromkeys(filter(None, map(_path_in, _candidates(text)))))


def named_symbols(text: str) -> tuple[str, ...]:
    """Return the functions, classes, variables and options that a text names, in order, once."""
    return tuple(dict.fromkeys(name for name in _candidates(text) if _SYMBOL.fullmatch(name)))


def _candidates(text: str) -> Iterator[str]:
    for match in _CANDIDATE.finditer(text):
        name = match.group().rstrip(_ENDS)
        if 1 < len(name) <= LONGEST:
            yield name


def _path_in(name: str) -> str:
    """Return a candidate as a path, or nothing."""
    name = _LINES.sub("", name).lstrip("@").rstrip(_ENDS)
    ending = name.rpartition(".")[2].lower()
    named = _DOTTED.fullmatch(name) or (_FILE.fullmatch(name) and ending in _ENDINGS)
    folded = name.count("/") > 1 or (name.endswith("/") and len(name) > 2)
    whole = any(map(str.isalpha, name)) and "//" not in name
    return name if whole and (named or folded) else ""
