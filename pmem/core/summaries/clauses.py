"""Messages as clauses that can stand alone in a summary, without filler.

A piece is a clause of a sentence, a line of short code, a remark in brackets, or one line on what
tools did: the files that they wrote, the last command, its error. Pieces are spans of the message,
save that greetings, exclamations, forms of address and intensifiers are left out. What would
change the meaning stays together: a clause under a condition, a negation or a belief keeps the
clause that governs it, and each piece of a question ends as one. Of pasted text, data, quotations
and logs only errors are pieces.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final, Literal, NamedTuple

from pmem.core.lines import shortened
from pmem.core.text.blocks import BlockKind, blocks
from pmem.core.text.commands import edited_files, error_lines, ran_commands, tool_outcome
from pmem.core.text.sentences import split_sentences
from pmem.core.text.speech import TOOLS, Speech, speech_of
from pmem.values.records import Message

LOOKED_AT: Final = 100_000
"""Characters that are looked at, shared out evenly; of a longer message its two ends are."""
LONGEST_PIECE: Final = 300
"""Characters; a longer sentence or line is cut."""
SHORTEST_CLAUSE: Final = 16
"""Characters; a sentence is not split closer to its ends."""
LONGEST_CODE: Final = 3
"""Lines of a block of code that is said, as a command is; longer ones are only shown."""
Kind = Literal["prose", "code", "remark", "tool"]

_ENDS: Final = ".!?…。！？"
_REMARK = re.compile(r"\[[^\[\]\n]{8,600}\](?!\()")
_LABEL = re.compile(r"\[[^\W\d_][\w ]{1,30}: (?:an? )?")
_NICKNAME = re.compile(r"\b[A-Z][a-z]{2,11}\b")
_SPACE = re.compile(r"\s")

_SUBJECT = (
    r"(?=(?:I|we|you|he|she|it|they|this|that|there|my|our|let's|I['’](?:m|ve|d|ll)|(?:it|that"
    r"|there|he|she)['’]s|(?:we|they|you)['’](?:re|ve|ll))\b)"
)
_JOINT = re.compile(
    r",\s(?:so|because)\s(?!(?:far|that|much|many|long|on|of|as|called)\b)"
    r"|;\s|\s[-–—]{1,2}\s|—|；"
    rf"|,\s{_SUBJECT}|,?\s(?:and|so|because|since|while)\s{_SUBJECT}"
)
_GOVERNS = re.compile(
    r"\b(?:if|unless|whether|until|suppose|assuming|when|once|in case|imagine|hop(?:e|ed|ing)"
    r"|wish(?:ed)?|doubt|think|thought|believed?|guess|says?|said|claim(?:s|ed)?|told|not|never|no"
    r"|nobody|none|nothing|neither|nor|without|cannot|maybe|perhaps|might|may|could|would|should"
    r"|pretend|avoid|refused?|against|either|both|between|false|untrue|wrong)\b|n['’]t\b",
    re.IGNORECASE,
)
_GOVERNED = re.compile(
    r"(?:and )?(?:but|or|yet|otherwise|however|which|who|whose|where|if|unless|except|only|no|not"
    r"|never|nor|until|though|although|as|than|without|whether|when|once|assuming|provided)\b",
    re.IGNORECASE,
)
_INTENSIFIER = re.compile(
    r"(?<![\w'’-])(?:really|very|super|actually|basically|literally|honestly|definitely|totally"
    r"|absolutely|truly|obviously|seriously|incredibly|extremely) (?=\w)",
    re.IGNORECASE,
)
_NEEDED = re.compile(r"(?:not|never|no|n['’]t|as|so|how|too)\s\Z", re.IGNORECASE)
_EXCLAMATION: Final = (
    r"wow|whoa|(?:hey|hi|hello)(?: there)?|yo|oh(?: man| my| wow| no)?|aw{1,5}|ah|(?:ha){1,5}|lol"
    r"|omg|yay|yeah|yep|yup|yes|sure(?: thing)?|ok|okay|alright|well|anyway|so|cool|great|nice"
    r"|thank(?:s| you)(?: a lot| so much| very much)?(?: for [\w ]{2,40})?|awesome|sweet|man|dude"
    r"|sounds (?:good|great)|congrats|congratulations|good to (?:see|hear from) you"
    r"|(?:good )?(?:morning|afternoon|evening)|long time no (?:see|talk|chat)|hmm|um|uh|by the way"
    r"|btw|no (?:worries|problem)|please|absolutely|definitely|totally|exactly|of course|indeed"
    r"|right|got it|i see|honestly|actually|you know|guess what|sorry"
)


class Piece(NamedTuple):
    """What can be chosen for a summary.

    Attributes:
        text: What it says, without the mark at its end.
        message: The number of its message.
        sentence: The number of its sentence, counted over all messages.
        joint: What leads to it from the piece before it in the same sentence, else empty.
        end: The mark it ends with; empty where its line has none.
        kind: Where it stands: in a sentence, in code, in brackets, or in what tools did.
        by_person: Whether a person says it, rather than an assistant or a tool.
    """

    text: str
    message: int
    sentence: int
    joint: str
    end: str
    kind: Kind
    by_person: bool = False


def called(messages: Iterable[Message]) -> frozenset[str]:
    """Return what those who speak are called: their names, the parts, and forms cut short."""
    said = list(messages)
    full = {message.speaker for message in said if message.speaker}
    parts = full | {part for name in full for part in name.split()}
    short = {
        word
        for message in said
        for word in _NICKNAME.findall(message.content[:2000])
        if any(part.startswith(word) for part in parts)
    }
    return frozenset(parts | short)


def pieces(messages: Collection[Message], names: Iterable[str]) -> list[Piece]:
    """Take messages apart."""
    opening, closing = _address(tuple(sorted(set(names))))
    said = list(messages)
    run = tool_lines(said)
    found: list[Piece] = []
    number = 0
    for place, (message, content) in enumerate(zip(said, contents(said), strict=True)):
        speech = speech_of(message)
        told: Iterable[tuple[str, Kind]] = ((run.get(place, ""), "tool"),)
        for line, kind in told if speech in TOOLS else _lines(content):
            if not any(map(str.isalnum, line)):
                continue
            number += 1
            if kind == "prose":
                plain = closing.sub("", _without_opening(line, opening), count=1)
                by_person = speech is Speech.PERSON
                found += (
                    piece._replace(by_person=by_person) for piece in _clauses(plain, place, number)
                )
            else:
                found.append(Piece(line, place, number, "", "." if kind == "tool" else "", kind))
    return [_bounded(piece) for piece in found if any(map(str.isalnum, piece.text))]


def _bounded(piece: Piece) -> Piece:
    if len(piece.text) <= LONGEST_PIECE:
        return piece
    end = "" if piece.end == "." else piece.end
    return piece._replace(text=shortened(piece.text, LONGEST_PIECE), end=end)


def contents(messages: Collection[Message]) -> list[str]:
    """Return the messages' texts, of those too long to look at whole the beginning and the end."""
    half = LOOKED_AT // max(1, len(messages)) // 2
    texts = (message.content for message in messages)
    return [text if len(text) <= 2 * half else _both_ends(text, half) for text in texts]


def _both_ends(text: str, half: int) -> str:
    """Return the beginning and the end of a text, without the words that the cuts go through."""
    head, tail = text[:half], text[-half:]
    start = _SPACE.search(tail)
    end = max(head.rfind(" "), head.rfind("\n"))
    return f"{head[:end] if end > 0 else head}\n{tail[start.end() :] if start else ''}"


def _lines(content: str) -> Iterator[tuple[str, Kind]]:
    """Yield sentences, lines of short code, errors of logs, and remarks, each with its kind."""
    for block in blocks(content):
        if block.kind is BlockKind.PROSE:
            yield from _prose(block.text)
        elif block.kind is BlockKind.CODE:
            lines = [line.strip() for line in block.text.splitlines()]
            inner = [line for line in lines if line and not line.startswith(("```", "~~~"))]
            if len(inner) <= LONGEST_CODE:
                yield from ((line, "code") for line in inner)
        elif block.kind is BlockKind.LOG:
            errors = error_lines(block.text)
            yield from ((line, "code") for line in dict.fromkeys((*errors[:1], *errors[-1:])))


def _prose(text: str) -> Iterator[tuple[str, Kind]]:
    end = 0
    for remark in _REMARK.finditer(text):
        yield from ((said, "prose") for said in split_sentences(text[end : remark.start()]))
        yield _LABEL.sub("[", remark.group(), count=1), "remark"
        end = remark.end()
    yield from ((said, "prose") for said in split_sentences(text[end:]))


@lru_cache(maxsize=64)
def _address(names: tuple[str, ...]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Patterns of what opens a sentence before it says something, and of an address at its end."""
    called = "|".join(re.escape(name) for name in names) or r"(?!)"
    opening = rf"(?:(?:{_EXCLAMATION})(?:,? (?:{called}))?|{called})(?:[,!.:~]{{1,3}}|\s[-–—])\s+"
    closing = rf",\s(?:{called})(?=[.!?~]{{0,3}}\Z)"
    return re.compile(opening, re.IGNORECASE), re.compile(closing, re.IGNORECASE)


def _without_opening(line: str, opening: re.Pattern[str]) -> str:
    for _ in range(3):
        match = opening.match(line + " ")
        if match is None:
            break
        line = line[match.end() :]
    return line


def _clauses(sentence: str, message: int, number: int) -> list[Piece]:
    """Split a sentence, but no question: a statement in it is none of its own."""
    said = sentence.rstrip(_ENDS)
    mark = sentence[len(said) :]
    if any(asking in mark for asking in "?？"):
        end = "？" if "？" in mark else "?"
        return [Piece(_plain(sentence.rstrip(_ENDS)), message, number, "", end, "prose")]
    bodies = _glued(_split_clauses(said))
    end = "。" if "。" in mark or "！" in mark else "."
    last = "" if not mark else end
    ends = [end] * (len(bodies) - 1) + [last]
    return [
        Piece(_plain(body), message, number, joint, stop, "prose")
        for (joint, body), stop in zip(bodies, ends, strict=True)
    ]


def _split_clauses(sentence: str) -> list[tuple[str, str]]:
    """Return the clauses, each after what joins it to the one before."""
    found = []
    joint, begin = "", 0
    last = len(sentence) - SHORTEST_CLAUSE
    for match in _JOINT.finditer(sentence):
        if match.start() - begin >= SHORTEST_CLAUSE and match.end() <= last:
            found.append((joint, sentence[begin : match.start()]))
            joint, begin = match.group(), match.end()
    return [*found, (joint, sentence[begin:])]


def _glued(parts: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Put clauses together of which one governs the other."""
    found: list[tuple[str, list[str]]] = []
    governing = False
    for joint, body in parts:
        if found and (governing or _GOVERNED.match(body)):
            found[-1][1].extend((joint, body))
        else:
            found.append((joint, [body]))
            governing = False
        governing = governing or _GOVERNS.search(body) is not None
    return [(joint, "".join(bodies)) for joint, bodies in found]


def _plain(text: str) -> str:
    """Leave out words that only strengthen, save after a negation or a comparison."""

    def kept(match: re.Match[str]) -> str:
        before = text[max(0, match.start() - 8) : match.start()]
        return match.group() if _NEEDED.search(before) else ""

    return _INTENSIFIER.sub(kept, text).strip().rstrip(",:;")


LONGEST: Final = 80
"""Characters shown of a command, and of why it failed."""
MOST_FILES: Final = 4
"""Files named of those that were written."""


def tool_lines(said: Sequence[Message]) -> dict[int, str]:
    """Return for each run of tools' messages what came of it, by the place of its last message.

    Of several commands the last counts. What was only read or searched is not told.
    """
    lines: dict[int, str] = {}
    run: list[Message] = []
    for place, message in enumerate(said):
        if speech_of(message) in TOOLS:
            run.append(message)
            following = said[place + 1 : place + 2]
            if not following or speech_of(following[0]) not in TOOLS:
                lines[place] = _line_of_run(run)
                run = []
    return lines


def _line_of_run(run: Sequence[Message]) -> str:
    written: dict[str, None] = {}
    command = ran = ""
    for message in run:
        if speech_of(message) is Speech.CALL:
            written |= {name.rpartition("/")[2]: None for name in edited_files(message)}
            command = shortened(next(iter(ran_commands(message)), ""), LONGEST)
            ran = f"ran {command}" if command else ran
        elif errors := tool_outcome(message).errors:
            ran = f"{command or 'a tool'} failed: {shortened(errors[0], LONGEST)}"
    parts = [f"wrote {', '.join(list(written)[:MOST_FILES])}"] * bool(written)
    return "; ".join([*parts, *[ran] * bool(ran)]).rstrip(".")
