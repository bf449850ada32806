"""Words and sentences: one tokeniser for what is kept and for what is asked."""

import re
import unicodedata
from typing import Final

STOP_WORDS: Final = frozenset(
    [
        "a",
        "about",
        "after",
        "all",
        "also",
        "am",
        "an",
        "and",
        "any",
        "are",
        "as",
        "at",
        "be",
        "because",
        "been",
        "before",
        "being",
        "but",
        "by",
        "can",
        "could",
        "did",
        "do",
        "does",
        "doing",
        "for",
        "from",
        "had",
        "has",
        "have",
        "having",
        "he",
        "her",
        "here",
        "hers",
        "him",
        "his",
        "how",
        "i",
        "if",
        "in",
        "into",
        "is",
        "it",
        "its",
        "just",
        "me",
        "my",
        "of",
        "on",
        "or",
        "our",
        "ours",
        "she",
        "so",
        "some",
        "such",
        "than",
        "that",
        "the",
        "their",
        "theirs",
        "them",
        "then",
        "there",
        "these",
        "they",
        "this",
        "those",
        "to",
        "too",
        "us",
        "was",
        "we",
        "were",
        "what",
        "when",
        "where",
        "which",
        "while",
        "who",
        "whom",
        "whose",
        "why",
        "will",
        "with",
        "would",
        "you",
        "your",
        "yours",
    ]
)

_WORD = re.compile(r"[^\W_]+", re.UNICODE)
_SENTENCE_END = re.compile(r"(?<=[.!?。!?])\s+|\n+")
_CJK: Final = (
    ("\u3040", "\u30ff"),
    ("\u3400", "\u4dbf"),
    ("\u4e00", "\u9fff"),
    ("\uac00", "\ud7af"),
)


def words(text: str) -> list[str]:
    """Split a text into lower-case words without accents, stop words included.

    Chinese, Japanese and Korean runs become pairs of neighbouring characters.

    Args:
        text: Any text.
    """
    found: list[str] = []
    for word in _WORD.findall(_fold(text)):
        found.extend(_pairs(word) if _is_cjk(word[0]) else [word])
    return found


def terms(text: str) -> list[str]:
    """Split a text into the words that count for finding it: no stop words.

    Args:
        text: Any text.
    """
    return [word for word in words(text) if word not in STOP_WORDS]


def sentences(text: str) -> list[str]:
    """Split a text at sentence ends and line breaks, without empty pieces.

    Args:
        text: Any text.
    """
    return [piece.strip() for piece in _SENTENCE_END.split(text) if piece.strip()]


def _fold(text: str) -> str:
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    bare = "".join(mark for mark in decomposed if not "\u0300" <= mark <= "\u036f")
    return unicodedata.normalize("NFC", bare)


def _is_cjk(character: str) -> bool:
    return any(first <= character <= last for first, last in _CJK)


def _pairs(run: str) -> list[str]:
    return [run[i : i + 2] for i in range(len(run) - 1)] or [run]
