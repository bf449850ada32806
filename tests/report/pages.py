"""Reading a page as a browser would: its elements, its policy, its document."""

import json
import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser
from typing import Any, Final

_HELD: Final = ("script", "style", "title")


class ReadPage(HTMLParser):
    """A page taken apart.

    Args:
        text: The page.

    Attributes:
        tags: Every element that it opens, in order.
        attributes: All attributes of all elements.
        blocks: The text of each script and style sheet, by its element and its type.
        policy: The content security policy.
    """

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.blocks: dict[str, str] = {}
        self.policy = ""
        self._open = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        held = dict(attrs)
        self.tags.append(tag)
        self.attributes += attrs
        self._open = f"{tag} {held.get('type') or ''}".strip() if tag in _HELD else ""
        if held.get("http-equiv") == "Content-Security-Policy":
            self.policy = held["content"] or ""

    def handle_endtag(self, tag: str) -> None:
        self._open = ""

    def handle_data(self, data: str) -> None:
        if self._open:
            self.blocks[self._open] = self.blocks.get(self._open, "") + data

    @property
    def document(self) -> Any:
        """What the page draws."""
        return json.loads(self.blocks["script application/json"])

    def allows(self, block: str) -> bool:
        """Tell whether the policy lets in a script or a style sheet of the page."""
        digest = b64encode(sha256(self.blocks[block].encode()).digest()).decode()
        return f"{block}-src 'sha256-{digest}'" in self.policy


def addresses(text: str) -> list[str]:
    """Return all that a page could load or lead to, but for a name space that nobody fetches."""
    found = re.findall(r"(?:https?:)?//[\w.-]+\.[\w./-]+", text)
    return [each for each in found if each != "http://www.w3.org/2000/svg"]
