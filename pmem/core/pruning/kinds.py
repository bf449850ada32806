"""What kind of message a text is: a rule, an error, a correction, small talk, an ending.

Kinds are read from English words, clause by clause, so that "no errors" is no error and
"done?" is no ending. Code, quotations and pasted text are set aside; what looks like a log counts
as an error wherever it stands.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

from pmem.core.pruning.endings import ONGOING, Opening, completes, opening_of
from pmem.core.text.sentences import sentences
from pmem.core.text.words import STOP_WORDS
from pmem.values.records import Message, Role

HEAD: Final = 4000
TAIL: Final = 2000
"""How many characters of a long text are read at its beginning and at its end."""


class Kinds(NamedTuple):
    """Everything that is read from one message."""

    directive: bool = False
    error: bool = False
    correction: bool = False
    fix: bool = False
    references: int = 0
    casual: bool = False
    complete: bool = False
    opening: Opening = ""
    goes_on: bool = False


_MARKS: Final = frozenset((",", ";", ":", "(", ")", "-", "–", "—"))
_TURNS: Final = frozenset(("but", "however"))

_ERROR: Final = (
    r"(?:errors?|exceptions?)\b|\b(?:fail(?:s|ed|ing|ures?)?|crash(?:e[sd]|ing)?"
    r"|(?:is|are) broken|not work(?:ing)?)\b"
)
_NO_ERROR: Final = (
    r"\b(?:no|0|without|not|never) (?:\w+ ){0,2}\w*(?:errors?|exceptions?|fails?)\b"
    r"|\b(?:errors?|exceptions?)[- ](?:free|handl\w+|pages?|messages?|codes?)\b"
    r"|\bwith the exception\b|\btrial and error\b|\b(?:errors?|exceptions?) (?:is|are) gone\b"
    r"|[^|\n]*\b(?:if|should|would|could|might|must)\b[^|\n]*|^(?:did|does|is|are|any)\b.*\?$"
)
_LOG: Final = (
    r"^(?:\S+: )?(?:traceback \(|(?:fatal|panic|[\w.]*(?:error|exception))[:\[])"
    r"|\b[1-9]\d* (?:failed|failures?|errors?)\b|\bexit(?:ed with)?(?: code| status)? [1-9]"
    r"|: command not found\b|\bno such file or directory\b|\bpermission denied\b"
)

_DIRECTIVE: Final = (
    r"(?:^|\| )(?:but )?(?:use|avoid|prefer|keep(?! \w+ing\b)|limit|always|never|do not)\b"
    r"|\b(?:must|(?:we|you) (?:always|never)|should|please (?!help\b)[a-z]+|make sure|ensure"
    r"|(?:is|are) (?:required|forbidden|not allowed)|has to|have to|needs? to|only use"
    r"|no (?:more|longer|fewer|less) than)\b"
)
_NO_DIRECTIVE: Final = (
    r"\bnever mind\b|\bdo not (?:know|worry)\b|\bi (?:have|need) to\b|\bmust (?:have|be an?)\b"
    r"|\bshould (?:work|have|be (?:fine|ok|done|ready|enough|good))\b"
)
_POLITE: Final = r"\bplease \w|\b(?:can|could|would|will) you (?:make sure|ensure|always|never)\b"
_CORRECTION: Final = (
    r"(?:^|\| )(?:but )?(?:actually(?! (?:quite|very|really)\b)|correction|scratch that"
    r"|(?:what )?i meant?|to clarify|my (?:mistake|bad))\b"
    r"|\b(?:that|this|it|you|the \w+) (?:is|was|are) (?:not right|incorrect|wrong|mistaken)\b"
    r"|\bmisunderstood\b|^no \| (?!thank|that is\b)\w|^instead\b|\b(?:is|use|at) \S+ \| not \S"
    r"|\b(?:use|do|make|take|put|try|set|pick|keep|return|write)\b[^|\n]{0,60}\binstead\b"
)
_FIX: Final = (
    r"\b(?<!not )(?<!be )(?:fixed|solved|resolved)\b|\bcaused by\b|\bturn(?:s|ed) out\b"
    r"|\bthe (?:fix|problem|issue|(?:root )?cause|bug|reason) (?:is|was)\b|\bworks now\b"
)
_REFERENCE: Final = (
    r"\b(?:(?:i|you|we) (?:said|mentioned|discussed|agreed|decided)"
    r"|as (?:mentioned|discussed|agreed|described|said)|previously|last time|earlier(?! than\b)"
    r"|(?:list|code|example|message) above"
    r"|(?:your|my|the) (?:previous|last|first) (?:message|answer|question|point)"
    r")(?: earlier)?\b"
)

_SOCIAL: Final = frozenset(
    """hi hello hey hiya howdy thanks thank thx ty cheers bye goodbye cya great awesome cool nice
    perfect lovely wonderful excellent amazing brilliant sweet neat welcome lol haha hahaha ok okay
    yay wow congrats congratulations sorry good morning evening night afternoon weekend danke
    merci gracias grazie obrigado arigato 谢谢 谢谢你 好的 你好 ありがとう こんにちは 감사합니다
    안녕하세요""".split()
)
_FILLERS: Final = STOP_WORDS | frozenset(
    "lot day team guys mate work job help man friend today tomorrow later soon see problem".split()
)
_SMALL_TALK: Final = r"\b(?:how are you|see you|no problem)\b"
_SHORT: Final = 100


def kinds_of(message: Message) -> Kinds:
    """Read what importance and task boundaries need; a message of the system has no kind."""
    found = _read_kinds(message.role, _ends(message.content))
    failed = message.role is not Role.SYSTEM and _failed(message.tool_result)
    return found._replace(error=True) if failed else found


def plain_lines(text: str) -> list[str]:
    """Return the sentences that a message's author says, in plain words, one a line.

    Clauses are parted by `|`, questions end with `?`: "Done, but why?" is "done | but why ?".
    """
    lines = []
    for sentence in sentences(text):
        words = ["|" if word in _MARKS else word for word in sentence.words]
        words = [f"| {word}" if word in _TURNS else word for word in words]
        lines.append(" ".join([*words, "?"] if sentence.asked else words))
    return lines


@lru_cache(maxsize=4096)
def _read_kinds(role: Role, content: str) -> Kinds:
    """Read a message's content, once for all the times that a decision looks at it."""
    if role is Role.SYSTEM:
        return Kinds()
    if role is Role.TOOL:
        return Kinds(error=_is_log(content))
    lines = plain_lines(content)
    whole = "\n".join(lines)
    told = "\n".join(line for line in lines if not line.endswith("?"))
    is_user = role is Role.USER
    return Kinds(
        directive=is_user and _directs(told, whole),
        error=_is_log(content) or _finds(_ERROR, whole, but=_NO_ERROR),
        correction=_finds(_CORRECTION, told),
        fix=_finds(_FIX, told),
        references=len(re.findall(_REFERENCE, whole)),
        casual=_is_casual(content, lines),
        complete=completes(lines),
        opening=opening_of(lines) if is_user else "",
        goes_on=is_user and re.search(ONGOING, whole) is not None,
    )


def _ends(text: str) -> str:
    """Return as much of a text as is read: of a long one its beginning and its end."""
    return text if len(text) <= HEAD + TAIL else f"{text[:HEAD]}\n{text[-TAIL:]}"


def _finds(pattern: str, text: str, but: str = "") -> bool:
    """Tell whether a text has a pattern, after what only looks like it is taken out."""
    if re.search(pattern, text, re.MULTILINE) is None:
        return False
    return not but or _finds(pattern, re.sub(but, "-", text, flags=re.MULTILINE))


def _directs(told: str, whole: str) -> bool:
    asked = "\n".join(line for line in whole.splitlines() if line.endswith("?"))
    return _finds(_DIRECTIVE, told, but=_NO_DIRECTIVE) or _finds(_POLITE, asked)


def _is_log(text: str) -> bool:
    return re.search(_LOG, text, re.MULTILINE | re.IGNORECASE) is not None


def _failed(result: Any) -> bool:
    """Tell whether a tool's result says itself that it failed."""
    if isinstance(result, str):
        return _is_log(_ends(result))
    if not isinstance(result, Mapping):
        return False
    signs = ("error", "is_error", "exit_code", "returncode")
    return result.get("status") in ("error", "failed") or any(map(result.get, signs))


def _is_casual(text: str, lines: Sequence[str]) -> bool:
    if len(text) > _SHORT:
        return False
    said = " ".join(lines).replace("|", " ").replace("?", " ")
    words = re.sub(_SMALL_TALK, "thanks", said).split()
    if not text.isascii() and re.search(r"\w", text) is None:
        return True
    return any(word in _SOCIAL for word in words) and all(
        word in _SOCIAL or word in _FILLERS for word in words
    )
