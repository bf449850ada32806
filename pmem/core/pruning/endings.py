"""Where tasks end and begin: what states that one is complete, what turns to something new."""

import re
from typing import Final, Literal

from pmem.core.pruning.reading import PlainSentence, Reading, asks, clauses, read, words_of

OPENING: Final = 400
"""How far into a message a new task may be announced, in characters."""

Opening = Literal["", "weak", "strong"]
"""How clearly a message turns to something new; a weak sign counts after a finished task."""

_COMPLETE_WORDS: Final = frozenset(
    """done finished complete completed fixed solved resolved merged implemented shipped deployed
    pass passes passed passing green works working trick did wrapped wraps settles covers that's
    """.split()
)
_COMPLETE_START: Final = (
    r"(?:ok |okay |great |and |yes |all |now |nice |just )?(?:done|finished|fixed|merged|shipped"
    r"|deployed|completed|solved|resolved|implemented)"
    r"(?: (?:and|it|that|this|the|in \d|now|all|to (?:main|master)|with (?:the|that|this))\b|$)"
    r"|all (?:green|passing)\b|that's (?:all(?: for (?:now|today|this(?: one)?))?|everything|it)$"
)
_COMPLETE: Final = (
    r"\b(?:(?:is|are|'s|'re|i'm|am|been|now|all|got|task|job|work) "
    r"(?:it |that |this |now |all |fully |finally |already |successfully ){0,3}"
    r"(?:done(?! (?:by|via|through|using|in the|in a|deal))|finished|completed?(?! (?!and|now|with"
    r"|in|too|after|as)\w)|fixed(?! (?:width|size|price|point|position|length|rate|cost|set"
    r"|number|at))|(?:solved|resolved|implemented)(?! (?:by|via|at|to|from|in|as))"
    r"|merged(?! (?:with|by|from|into (?!main|master|trunk|the main)))|shipped|deployed"
    r"(?! (?:by|via|to a|on a)))\b(?!-)"
    r"|(?<!auto )complete$"
    r"|(?:all|every)(?: \d+| of the| the| our| unit)* (?:tests?|checks?|specs?) "
    r"(?:are |is |now |have )*(?:pass(?:e[sd]|ing)?|green)\b"
    r"|tests (?:are |all |now )*(?:pass(?:ing)?|green)\b"
    r"|(?:ci|build|suite|pipeline) (?:\w+ ){0,4}green\b"
    r"|that (?:settles it|covers (?:it|everything)|wraps (?:it|this|that) up)\b"
    r"|everything (?:now )?(?:works|passes|is green|is working)\b"
    r"|(?:works|working) (?:now|perfectly|as expected)\b|now works\b"
    r"|that did (?:it|the trick)\b|problem solved\b|wrapped up\b)"
    r"|(?:ing|ion|ment|work) (?:completed|finished|done)$"
)
_CONDITIONS: Final = frozenset("if unless once until till soon assuming".split())
_LATER: Final = frozenset("when whenever after before while".split())
_OPEN_WORDS: Final = frozenset(
    """not never almost nearly half partly partially mostly will would should can could must might
    may need needs needed want make get getting let's yet step phase part todo nothing none what
    what's first auto tab until cannot except
    isn't aren't don't doesn't didn't won't can't haven't hasn't
    wasn't weren't couldn't wouldn't shouldn't i'll we'll it'll you'll that'll""".split()
)
_OPEN: Final = (
    r"\b(?:ha(?:ve|s) to|going to|to be|to do|far from|last (?:week|month|year)|to complete)\b"
    r"|(?<!10)\d ?%"
)
_OBJECTIONS: Final = frozenset(
    "but however except although still remain remains remaining apart".split()
)

_GREETINGS: Final = frozenset(
    """ok okay great perfect thanks thank cool good nice alright all right so and well awesome
    excellent done yes yep anyway hey hi hello agreed confirmed sweet""".split()
)
_GREETING: Final = (
    r"(?:(?:ok|okay|great|perfect|thanks|thank you|cool|good|nice|alright|all right|right|so|and"
    r"|well|awesome|excellent|done|yes|yep|anyway|hey|hi|hello|agreed|confirmed|sweet)\b"
    r"[,.! ]{0,3}){0,4}"
)
_TASK_WORDS: Final = frozenset({"task", "topic", "subject", "something"})
_STRONG_STARTS: Final = frozenset(
    """and now next a new different separate on onto moving let's let can could i i'd we switching
    changing change completely unrelated""".split()
)
_WEAK_STARTS: Final = frozenset(
    """now let's let next then can could shall i i'd i'm please time another one back we
    the today implement write create add build set refactor design help""".split()
)
_ONWARD: Final = (
    r"(?! (?:see|check|try|run|verify|hope|say|wait|just|also|keep|continue|\w+ (?:it|that|this"
    r"|again|them)|\w+ at (?:it|that|this))\b)"
)
_STRONG: Final = (
    r"(?:(?:and )?now,? (?:let's|let us)\b" + _ONWARD + r"|now,? (?:on to|onto|for something|to "
    r"something)\b|next(?:,|:| up\b| task\b| topic\b| item\b)|(?:a )?(?:new|different|separate) "
    r"(?:topic|task|subject|question)\b"
    r"|(?:on|onto) (?:to )?(?:a|the) (?:new|next|different|another)\b"
    r"|moving on\b|(?:let's|let us|can we|could we|i want to|i'd like to|we can) "
    r"(?:now )?(?:move on|switch (?:to|over|topics?|gears)|change (?:the )?(?:topic|subject)"
    r"|turn to|do something (?:else|different)|go on to|put (?:that|this|it) aside"
    r"|park (?:that|this)|talk about(?! (?:it|that|this|how|why|what))"
    r"|(?:start|begin|work|get started) (?:on|with) (?:the|our|a) (?:new|next))\b"
    r"|switching (?:to|topics?|gears|over)\b|changing (?:the )?(?:topic|subject)s?\b"
    r"|change of (?:topic|subject)\b|(?:completely )?unrelated\b(?! to)|onto the next\b)"
)
_ANNOUNCED: Final = (
    r"\b(?:start|begin|have|got|here is|here's|with|to) (?:on )?(?:a |an |the )?"
    r"(?:new|next|different|separate) (?:topic|task|subject)\b"
    r"|\bsomething (?:unrelated|else entirely|(?:completely )?different)\b"
)
_WEAK: Final = (
    r"(?:now(?! (?:let's|let us)\b)|(?:now )?(?:let's|let us)\b"
    + _ONWARD
    + r"|next(?! (?:time|week|month|year|to)\b)(?!\.)|then"
    r"|(?:can|could) you (?:now|help)|i(?:'d| would) like (?:to|you)"
    r"|i (?:want|need) (?:to|you|a|an|some|help)|i'm (?:now )?(?:working|looking|starting)"
    r"|please (?:now|help|write|create|add|build|implement)|time (?:to|for)"
    r"|another|one more (?:task|feature|question)|back to|the next"
    r"|we (?:need (?:to|a|an|some)|should|have to)"
    r"|today|implement|write|create|add|build|set up|refactor|design|help me)\b"
)
_ONGOING: Final = frozenset(
    "it that this also again same too still those them there its undo revert".split()
)


def goes_on(text: str) -> bool:
    """Tell whether a text speaks of what was there before: "it", "again", "still"."""
    return any(not s.words.isdisjoint(_ONGOING) for s in read(text).sentences)


def completes(seen: Reading) -> bool:
    """Tell whether a text states that a task is complete, and does not take it back."""
    complete = False
    for sentence in seen.sentences:
        if complete and not sentence.words.isdisjoint(_OBJECTIONS):
            return False
        if not sentence.words.isdisjoint(_COMPLETE_WORDS):
            stated = _states(sentence)
            if stated is False:
                return False
            complete = complete or bool(stated)
    return complete


def _states(sentence: PlainSentence) -> bool | None:
    """Tell whether a sentence states completion; None for neither, False for taken back."""
    if asks(sentence) or not sentence.words.isdisjoint(_CONDITIONS):
        return None
    stated: bool | None = None
    for clause in clauses(_without_quotes(sentence)):
        words = frozenset(words_of(clause))
        if stated and not words.isdisjoint(_OBJECTIONS):
            return False
        if not words.isdisjoint(_LATER):
            break
        if not words.isdisjoint(_COMPLETE_WORDS) and words.isdisjoint(_OPEN_WORDS):
            stated = stated or _is_ending(clause) or None
    return stated


def _without_quotes(sentence: PlainSentence) -> PlainSentence:
    if '"' not in sentence.text:
        return sentence
    return sentence._replace(text=re.sub(r'"[^"]*"', "quote", sentence.text))


def _is_ending(clause: str) -> bool:
    if re.search(_OPEN, clause):
        return False
    return bool(re.match(_COMPLETE_START, clause) or re.search(_COMPLETE, clause))


def opening_of(seen: Reading) -> Opening:
    """Tell how clearly the beginning of a text turns to something new."""
    weak: Opening = ""
    passed = 0
    for sentence in seen.sentences:
        if passed > OPENING:
            break
        passed += len(sentence.text)
        said = _without_greeting(sentence.text)
        first = said.partition(" ")[0].rstrip(",.:;!")
        named = not sentence.words.isdisjoint(_TASK_WORDS)
        if first in _STRONG_STARTS and re.match(_STRONG, said):
            return "strong"
        if named and re.search(_ANNOUNCED, said):
            return "strong"
        if first in _WEAK_STARTS and re.match(_WEAK, said) and sentence.words.isdisjoint(_ONGOING):
            weak = "weak"
    return weak


def _without_greeting(sentence: str) -> str:
    first = sentence.partition(" ")[0].rstrip(",.!")
    if first not in _GREETINGS:
        return sentence
    found = re.match(_GREETING, sentence)
    return sentence[found.end() :] if found else sentence
