"""What kind of message a text is: a rule, an error, a correction, small talk, an ending.

Kinds are read from English words, clause by clause, so that "no errors" is no error and
"done?" is no ending. In code and in a tool's output only what looks like a log counts, as an
error. Every pattern is compiled when it is first needed.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple

from pmem.core.pruning.endings import Opening, completes, opening_of
from pmem.core.pruning.reading import PlainSentence, Reading, asks, clauses, ends, read, words_of
from pmem.values.records import Message, Role


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


_ERROR_WORDS: Final = frozenset(
    """error errors exception exceptions traceback fail fails failed failing failure failures
    fatal panic panicked crash crashes crashed crashing segfault broken working work""".split()
)
_ERROR: Final = (
    r"(?:errors?|exceptions?)\b|\b(?:traceback|fail(?:s|ed|ing|ures?)?|fatal|panic(?:ked)?"
    r"|crash(?:e[sd]|ing)?|segfault\w*|(?:is|are|'s) broken"
    r"|(?:does not|doesn't|don't|not|isn't|stopped) work(?:ing)?)\b"
)
_NO_ERROR: Final = (
    r"\b(?:no|0|zero|without|any|not an?|isn't an?|never|don't|doesn't|didn't|won't|can't"
    r"|cannot|not|avoids?|prevents?|on|handles?|handling|catch(?:es)?) "
    r"(?:an? |any |the |more |new |further )?(?:\w+ )?"
    r"(?:errors?|\w+errors?|exceptions?|fail(?:s|ed|ing|ures?)?|crash(?:e[sd]|ing)?)\b"
    r"|\berror[- ](?:free|handl\w+|boundar\w+|prone|pages?|types?|class(?:es)?|rates?|budgets?"
    r"|margins?|toleran\w+|reporting|logging|messages?|texts?|codes?)\b"
    r"|\bexceptions? (?:handl\w+|to the rule|class(?:es)?|types?)\b|\bwith the exception\b"
    r"|\b(?:trial and|standard|margin of) error\b|\bfail[- ]?(?:safe|fast|over)\b"
    r"|\b(?:errors?|exceptions?|failures?|crash(?:es)?) (?:is |are |was |has been |went |now )*"
    r"(?:gone|fixed|resolved|solved|away)\b"
)
_SUPPOSED: Final = frozenset("if should shouldn't would could might must unless case".split())
_ASKED: Final = (
    r"(?:(?:and|but|so|ok|okay) )?(?:did|does|do|will|can|could|would|is|are|any)\b.*\?$"
)
_LOG: Final = (
    r"^(?:\S+: )?(?:traceback \(|(?:fatal|panic|error|[\w.]*(?:error|exception))(?: \[|\[|:))"
    r"|\b[1-9]\d* (?:failed|failures?|errors?)\b|\bexit(?:ed)?(?: with)?(?: code| status)? [1-9]"
    r"|: command not found\b|\bno such file or directory\b|\bpermission denied\b"
    r"|\bsegmentation fault\b|^npm err!"
)
_LOG_SIGNS: Final = ("error", "exception", "fail", "exit", "fatal", "panic", "traceback")
_LOG_SAYINGS: Final = ("not found", "no such file", "denied", "segmentation", "npm err!")

_DIRECTIVE_WORDS: Final = frozenset(
    """must mustn't always never should shouldn't don't do make ensure required requirement only
    avoid keep use has have need needs please limit prefer stick forbidden remember constraint no
    """.split()
)
_DIRECTIVE: Final = (
    r"\b(?:must(?:n't)?|(?:we|you|please) (?:always|never)|should(?:n't)?"
    r"|please (?!help\b)[a-z]+|make sure|ensure|(?:is|are) (?:required|forbidden|not allowed)"
    r"|constraints?|requirement|(?:has|have) to|needs? to|use only|only (?:use|allow|touch|change"
    r"|write|return|when|for|with|on|in)|no (?:more|longer|fewer|less) than)\b"
)
_DIRECTIVE_START: Final = (
    r"(?:(?:but|and|so|then|also|instead|ok|okay|please) )?"
    r"(?:use|keep(?! \w+ing| on\b| it\b| me\b| up\b)|avoid|prefer|stick to|limit|remember to"
    r"|always|never|don't|do not)\b"
)
_NO_DIRECTIVE: Final = (
    r"\bnever (?:mind|been|saw|tried|had|knew)\b"
    r"|\b(?:don't|do not) (?:know|think|worry|understand|see|care|remember|mind|believe|feel|be)\b"
    r"|\b(?:i|we|they|you|people|users?) (?:don't|do not|still have to|have to|need to)\b"
    r"|\b(?:i'll|we'll|i will|they|to) (?:make sure|have to|need to)\b|\byou never know\b"
    r"|\bmust (?:have|feel)\b|\bmust be (?:something|some|why|because|so|really|very|nice|hard"
    r"|tough|great|awesome|exciting|challenging|amazing|fun|kidding|joking|wrong|broken|missing"
    r"|a (?:bug|mistake|typo|problem|glitch))\b"
    r"|\bshould (?:work|have|be (?:fine|ok|okay|done|ready|enough|good|there))\b|\bas needed\b"
)
_POLITE: Final = (
    r"\bplease \w|\b(?:can|could|would|will) you\b.*"
    r"\b(?:make sure|ensure|keep|avoid|always|never|only)\b"
)

_CORRECTION_WORDS: Final = frozenset(
    """actually correction scratch misspoke meant mean clarify clear mistake bad wrong corrected
    incorrect mistaken right correct instead no not misread misunderstood back""".split()
)
_CORRECTION: Final = (
    r"^(?:no |wait |sorry |oh |but |and |well ){0,3}"
    r"(?:actually(?! (?:quite|very|really|works?|nice|good|like|love|i like|i love)\b)"
    r"|correction\b|scratch that\b|i misspoke\b|i meant?\b|what i meant?\b|to clarify\b"
    r"|to be clear\b|let me (?:clarify|correct)\b|my (?:mistake|bad)\b|i stand corrected\b)"
    r"|\b(?:that's|that is|this is|you're|you are|it's|it is|that was|got (?:it|that|this)) "
    r"(?:not right|not correct|incorrect|wrong|mistaken|a mistake)\b"
    r"|\b(?:i was wrong|i made a mistake|i misread|(?:i|you) misunderstood|i take that back)\b"
    r"|\b(?:use|do|make|take|put|go|try|set|call|pick|keep|return|write)\b.{0,60}\binstead\b"
)
_CORRECTING: Final = (
    r"^(?:no, (?!thank|problem|worries|not\b|that's (?:all|it|fine)|it's fine|it is fine)\w"
    r"|instead\b)|\b(?:is|use|meant|at|to|be) \S+(?: \S+)?, not \S"
)
_FIX_WORDS: Final = frozenset(
    """fixed fix problem issue cause culprit bug caused turns turned solved resolved works
    working because reason retry retried""".split()
)
_FIX: Final = (
    r"(?<!not )(?<!n't )(?<!be )\b(?:fixed|solved|resolved)\b|\bthe fix (?:is|was)\b"
    r"|\bthe (?:problem|issue|cause|root cause|culprit|bug|reason) (?:is|was)\b"
    r"|\bcaused by\b|\bturn(?:s|ed) out\b|\b(?:works|working) now\b|\bnow works\b|\bit works\b"
    r"|\bthat was because\b|\bretr(?:y|ied) with\b"
)

_REFERENCE_WORDS: Final = frozenset(
    """earlier previously above previous last first before remember back said mentioned discussed
    agreed noted talked spoke told decided wrote described""".split()
)
_REFERENCE: Final = (
    r"\b(?:(?:as|like) (?:i|you|we) (?:said|mentioned|discussed|agreed|noted|wrote|decided)"
    r"|(?:you|we|i) (?:said|mentioned|discussed|agreed|decided|talked about|spoke about)"
    r"|as (?:mentioned|discussed|noted|agreed|described|said)"
    r"|earlier(?! (?:than|versions?|releases?))|previously"
    r"|(?:mentioned|described|shown|listed|given|posted|see|code|list|message|example) above"
    r"|above[- ]mentioned|(?:your|my|the|that) (?:previous|last|earlier|first) "
    r"(?:message|answer|question|point|suggestion|reply|comment|note|response)"
    r"|(?:like|as) before(?! \w+ing)|remember when|(?:going )?back to (?:what|your|my)|last time)"
    r"(?: earlier| before| above| previously)?\b"
)

_SOCIAL: Final = frozenset(
    """hi hello hey hiya howdy thanks thank thx ty cheers bye goodbye cya great awesome cool nice
    perfect lovely wonderful excellent amazing brilliant sweet neat welcome lol haha hahaha ok okay
    yay wow congrats congratulations sorry good morning evening night afternoon weekend danke
    merci gracias grazie obrigado arigato 谢谢 谢谢你 好的 你好 ありがとう こんにちは 감사합니다
    안녕하세요""".split()
)
_FILLERS: Final = frozenset(
    """you so much very a lot many for the your that that's it it's is was really have day one too
    i i'm we all again everyone there team guys to and well work job help helping oh ah mate man
    friend today tomorrow later soon me my see""".split()
)
_SMALL_TALK: Final = (
    r"\b(?:how are you|how's it going|how is it going|what's up|see you|talk (?:to you )?later"
    r"|have a (?:nice|good|great) \w+|no problem|no worries|sounds good|my pleasure"
    r"|you're welcome|(?:nice|good|great) (?:work|job)|well done|take care)\b"
)
_SHORT: Final = 100


def kinds_of(message: Message) -> Kinds:
    """Read what importance and task boundaries need; a message of the system has no kind."""
    found = _read_kinds(message.role, ends(message.content))
    failed = message.role is not Role.SYSTEM and _failed(message.tool_result)
    return found._replace(error=True) if failed else found


@lru_cache(maxsize=4096)
def _read_kinds(role: Role, content: str) -> Kinds:
    """Read a message's content, once for all the times that a decision looks at it."""
    if role is Role.SYSTEM:
        return Kinds()
    seen = read(content)
    if role is Role.TOOL:
        return Kinds(error=_is_log(seen.prose + "\n" + seen.code))
    return Kinds(
        directive=role is Role.USER and _directive(seen),
        error=_error(seen),
        correction=_correction(seen),
        fix=_fix(seen),
        references=_references(seen),
        casual=_casual(seen),
        complete=completes(seen),
        opening=opening_of(seen) if role is Role.USER else "",
    )


def _directive(seen: Reading) -> bool:
    return any(_directs(s) for s in seen.sentences if not s.words.isdisjoint(_DIRECTIVE_WORDS))


def _directs(sentence: PlainSentence) -> bool:
    if asks(sentence):
        return re.search(_POLITE, sentence.text) is not None
    ruling = re.search(_DIRECTIVE, sentence.text) is not None
    return any(_rules(clause, ruling) for clause in clauses(sentence))


def _rules(clause: str, ruling: bool) -> bool:
    """Tell whether a clause directs; `ruling` says that its sentence has a word that may."""
    if not ruling and re.match(_DIRECTIVE_START, clause) is None:
        return False
    rest = re.sub(_NO_DIRECTIVE, "-", clause)
    return bool(re.search(_DIRECTIVE, rest) or re.match(_DIRECTIVE_START, rest))


def _error(seen: Reading) -> bool:
    if seen.code and _is_log(seen.code):
        return True
    return any(_reports(sentence) for sentence in seen.sentences)


def _reports(sentence: PlainSentence) -> bool:
    named = "error" in sentence.text or "exception" in sentence.text
    if not named and sentence.words.isdisjoint(_ERROR_WORDS):
        return False
    if re.match(_ASKED, sentence.text):
        return False
    return any(
        re.search(_ERROR, clause)
        and re.search(_ERROR, re.sub(_NO_ERROR, "-", clause))
        and _SUPPOSED.isdisjoint(words_of(clause))
        for clause in clauses(sentence)
    )


def _is_log(text: str) -> bool:
    signs = any(sign in text for sign in _LOG_SIGNS) or any(sign in text for sign in _LOG_SAYINGS)
    return signs and re.search(_LOG, text, re.M) is not None


def _failed(result: Any) -> bool:
    """Tell whether a tool's result says itself that it failed."""
    if isinstance(result, str):
        return _is_log(read(result).prose)
    if not isinstance(result, Mapping):
        return False
    codes = (result.get("exit_code"), result.get("returncode"))
    return bool(
        result.get("error")
        or result.get("is_error")
        or result.get("status") in ("error", "failed")
        or any(isinstance(code, int) and code != 0 for code in codes)
    )


def _correction(seen: Reading) -> bool:
    return any(
        _corrects(sentence)
        for sentence in seen.sentences
        if not sentence.words.isdisjoint(_CORRECTION_WORDS) and not asks(sentence)
    )


def _corrects(sentence: PlainSentence) -> bool:
    if re.search(_CORRECTING, sentence.text):
        return True
    return any(re.search(_CORRECTION, clause) for clause in clauses(sentence))


def _fix(seen: Reading) -> bool:
    return any(
        re.search(_FIX, sentence.text)
        for sentence in seen.sentences
        if not sentence.words.isdisjoint(_FIX_WORDS) and not asks(sentence)
    )


def _references(seen: Reading) -> int:
    return sum(
        len(re.findall(_REFERENCE, sentence.text))
        for sentence in seen.sentences
        if not sentence.words.isdisjoint(_REFERENCE_WORDS)
    )


def _casual(seen: Reading) -> bool:
    if len(seen.prose) > _SHORT or seen.code:
        return False
    if not any(sentence.words for sentence in seen.sentences):
        return _has_emoji(seen.prose)
    rest, phrases = re.subn(_SMALL_TALK, " ", seen.prose)
    words = [word for word in words_of(rest) if not _has_emoji(word)]
    social = phrases > 0 or any(word in _SOCIAL for word in words) or not words
    return social and all(word in _SOCIAL or word in _FILLERS for word in words)


def _has_emoji(text: str) -> bool:
    return not text.isascii() and any(
        0x2600 <= ord(char) < 0x2C00 or ord(char) >= 0x1F000 for char in text
    )
