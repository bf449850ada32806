"""Front matter: the YAML between two lines `---` at the beginning of a Markdown file.

Many programs read it without a YAML parser, and people write for these: `globs: **/*.ts` and
`description: Rules: ours` are no YAML. Where the parser fails, each such value counts as text.
"""

import re
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

_BARE: Final = re.compile(
    r"^([ \t]*(?:-|[\w-]+:)[ \t]+)(?![|>][-+]?[ \t]*$)([^\s\"'#].*?)[ \t]*$", re.MULTILINE
)
_KEY: Final = re.compile(r"^[\w-]+\s*:", re.MULTILINE)


class FrontMatter(NamedTuple):
    """What a file says of itself.

    Attributes:
        values: Text, lists and mappings by their keys, in small letters without `-` and `_`.
        lines: How many lines it takes; none where the file has no front matter.
        is_readable: Whether it is YAML, or nearly so.
    """

    values: dict[str, Any]
    lines: int
    is_readable: bool = True

    def texts(self, key: str) -> list[str]:
        """Return what a key has: the texts of a list, one text, or nothing."""
        value = self.values.get(key)
        values = value if isinstance(value, list | dict) else [value]
        return [one.strip() for one in values if isinstance(one, str) and one.strip()]


def read_front_matter(lines: Sequence[str]) -> FrontMatter:
    """Read the front matter of a file's lines."""
    if not lines or lines[0].rstrip() != "---":
        return FrontMatter({}, 0)
    ends = (n for n, line in enumerate(lines[1:], start=2) if line.rstrip() in ("---", "..."))
    end = next(ends, 0)
    text = "\n".join(lines[1 : end - 1])
    if not end or (text.strip() and not _KEY.search(text)):
        return FrontMatter({}, 0)
    found = _parse(text)
    if found is None:
        found = _parse(_BARE.sub(_quoted, text))
    if not isinstance(found, dict):
        return FrontMatter({}, end, is_readable=found == "" or not text.strip())
    return FrontMatter({named(str(key)): value for key, value in found.items()}, end)


def named(key: str) -> str:
    """Return a key as it is looked up: `superseded-by` and `supersededBy` are one."""
    return re.sub(r"[-_\s]", "", key).casefold()


def _parse(text: str) -> Any:
    """Return what YAML says, every scalar as text; None where it is no YAML."""
    import yaml

    try:
        return yaml.load(text, Loader=yaml.BaseLoader) or ""  # noqa: S506 - it makes texts alone
    except (yaml.YAMLError, RecursionError):
        return None


def _quoted(found: re.Match[str]) -> str:
    mark, value = found.groups()
    return "{}'{}'".format(mark, value.replace("'", "''"))
