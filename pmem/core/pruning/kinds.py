"""What kind of message a text is: a rule, an error, a correction, small talk, the end of a task.

Kinds are read from English words, clause by clause, so that "no errors" is no error and
"done?" is no ending. Code, quotations and pasted text are set aside; what looks like a log counts
as an error wherever it stands.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, Literal, NamedTuple

from pmem.core.text.sentences import sentences
from pmem.core.text.words import STOP_WORDS
from pmem.values.records import Message, Role

HEAD: Final = 4000
TAIL: Final = 2000
"""How many characters of a long text are read at its beginning and at its end."""
OPENING: Final = 400
"""How far into a message a new task may be announced, in characters."""
Opening = Literal["", "weak", "strong"]
"""How clearly a message turns to something new; a weak sign counts after a finished task."""


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
    r"\bnever mind\b|\bdo not (?:know|worry)\b|\bi (?:have|need) to\b"
    r"|\bmust (?:have|be an?)\b|\bshould work\b"
)
_CORRECTION: Final = (
    r"(?:^|\| )(?:but )?(?:actually(?! (?:quite|very|really)\b)|correction|scratch that"
    r"|(?:what )?i meant?|to clarify|my (?:mistake|bad))\b"
    r"|\b(?:that|this|it|you|the \w+) (?:is|was|are) (?:not right|incorrect|wrong|mistaken)\b"
    r"|^no \| (?!thank|that is\b)\w|^instead\b"
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

_DONE: Final = (
    r"(?:done|finished|completed|fixed|merged|shipped|deployed|solved|resolved|implemented)(?!-)"
)
_COMPLETE: Final = (
    rf"^(?:\w+ )?{_DONE}(?: (?:and|it|the|to)\b|$)|\b(?:is|are|am|been|all) (?:\w+ )?{_DONE}\b"
    r"|(?:^\w+|\b(?:is|are)) complete$"
    r"|\b(?:all|tests?|ci|suite|build)\b.* (?:pass(?:e[sd]|ing)?|green)\b"
    r"|\bthat (?:is (?:all|everything)\b|settles it\b|did the trick\b)"
    r"|\beverything (?:works|passes)\b|\bworks now\b"
)
_OPEN: Final = (
    r"\b(?:not|never|almost|nearly|half|partly|will|would|should|could|must|might|may|cannot"
    r"|make|step|part|tab|except|let|how|done by|merged with)\b"
)
_LATER: Final = r"\b(?:if|unless|once|until|when|after|before|while)\b"
_OBJECTION: Final = r"\b(?:but|however|still|remain)\b"
_START: Final = r"^(?:[\w ]{1,20} \| )?"
"""A sentence may begin with a short clause: "ok,", "Great, thanks,"."""
_ONWARD: Final = r"(?! (?:see|check|try|run|\w+ (?:at )?(?:it|that|this|them))\b)"
_OTHER: Final = r"(?:new|next|different) (?:topic|task|subject|question)\b"
_STRONG: Final = (
    rf"(?:now (?:\| )?(?:let us\b{_ONWARD}|on to\b)|next(?: \|| up\b)|{_OTHER}|moving on\b"
    r"|on a different\b|(?:completely )?unrelated\b|switching gears\b|changing the subject\b"
    r"|let us (?:move on|switch|change the|put \w+ aside)\b)"
)
_ANNOUNCED: Final = r"\bhere is a new task\b|\bsomething unrelated\b"
_WEAK: Final = (
    rf"(?:(?:now )?let us\b{_ONWARD}|now\b(?! let us\b)|next(?! (?:time|week|to)\b)|then|another"
    r"|(?:can|could) you (?:now|help)|(?:i|we) (?:would like|want|need) (?:to|you|an?|some)"
    r"|time to|implement|write|create|add|build|set up|refactor|design|help me)\b(?!\.)"
)
_ONGOING: Final = r"\b(?:it|that|this|also|again|same|too|still|those|them|there|its|undo|revert)\b"
"""Speaks of what was there before."""
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
        directive=is_user and _finds(_DIRECTIVE, told, but=_NO_DIRECTIVE),
        error=_is_log(content) or _finds(_ERROR, whole, but=_NO_ERROR),
        correction=_finds(_CORRECTION, told),
        fix=_finds(_FIX, told),
        references=len(re.findall(_REFERENCE, whole)),
        casual=_is_casual(content, lines),
        complete=_completes(lines),
        opening=_opening_of(lines) if is_user else "",
        goes_on=is_user and re.search(_ONGOING, whole) is not None,
    )


def _ends(text: str) -> str:
    """Return as much of a text as is read: of a long one its beginning and its end."""
    return text if len(text) <= HEAD + TAIL else f"{text[:HEAD]}\n{text[-TAIL:]}"


def _finds(pattern: str, text: str, but: str = "") -> bool:
    """Tell whether a text has a pattern, after what only looks like it is taken out."""
    if re.search(pattern, text, re.MULTILINE) is None:
        return False
    return not but or _finds(pattern, re.sub(but, "-", text, flags=re.MULTILINE))


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
    words = " ".join(lines).replace("|", " ").replace("?", " ").split()
    if not text.isascii() and re.search(r"\w", text) is None:
        return True
    return any(word in _SOCIAL for word in words) and all(
        word in _SOCIAL or word in _FILLERS for word in words
    )


def _completes(lines: Sequence[str]) -> bool:
    """Tell whether a text states that a task is complete, and does not take it back."""
    stated = False
    for line in lines:
        if line.endswith("?"):
            continue
        for clause in map(str.strip, line.split("|")):
            if stated and re.search(_OBJECTION, clause):
                return False
            if re.search(_LATER, clause):
                break
            stated = stated or (
                re.search(_COMPLETE, clause) is not None and not re.search(_OPEN, clause)
            )
    return stated


def _opening_of(lines: Sequence[str]) -> Opening:
    """Tell how clearly the beginning of a text turns to something new."""
    weak: Opening = ""
    passed = 0
    for line in lines:
        if passed > OPENING:
            break
        passed += len(line)
        if re.match(_START + _STRONG, line) or re.search(_ANNOUNCED, line):
            return "strong"
        if re.match(_START + _WEAK, line) and not re.search(_ONGOING, line):
            weak = "weak"
    return weak
