"""Tools that an assistant was told of and that cannot start: the extra is not installed."""

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Final

_EXTRA: Final = "mcp"
MISSING: Final = "the assistant's tools do not start: run `pip install 'pmem-cli[mcp]'`"


def can_serve() -> bool:
    """Tell whether tools can be served here."""
    return find_spec(_EXTRA) is not None


def missing_tools(harness: str, top: str, environment: Mapping[str, str]) -> str:
    """Say that the tools that an assistant was told of do not start; nothing where they do."""
    if can_serve():
        return ""
    from pmem.assistants.harnesses import HARNESSES, place_of

    known = HARNESSES.get(harness)
    for scope, files in known.files.items() if known else ():
        for file in files:
            if file.server is None and file.block != "toml":
                continue
            try:
                with open(place_of(file, scope, top, environment), "rb") as settings:
                    if b'"mcp"' in settings.read():
                        return MISSING
            except OSError:
                continue
    return ""
