"""What the words of a stretch of conversation are worth to a later question.

A word's worth is e to the sum of the weights of what holds of it: a log-linear model of how many
of the answers asked for later have the word. The weights were fitted by Poisson regression on
conversations with questions, each conversation judged by the weights of the others, and rounded.
What those conversations hardly hold (identifiers, errors, people beside assistants, technical
decisions) has weights set by hand.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from pmem.core.summaries.clauses import Piece
from pmem.core.text.sentences import read
from pmem.core.text.terms import terms, time_vocabulary

_VERBS: Final = """
accept achieve act add admire agree allow amaze answer appear appreciate arrive ask assume avoid
believe belong bet blow bother bring call capture care carry catch cause celebrate challenge
change chat check choose come complete connect consider continue count cover create cross cut deal
decide depend deserve determine develop discuss drop encourage end enjoy enter exist expect
experience explain explore express face fail fall feel figure fill find finish fit fix focus follow
forget form gain get give go grab grow guess handle hang happen hate hear help hold hope imagine
improve include inspire intend join keep know lead learn leave lie listen live look lose love make
manage matter mean meet mention mind miss move need notice offer open pass pay pick plan point
prefer prepare present pretend produce promise prove provide pull push put reach read realize
receive recommend relate relax release remain remember remind require respond rest return run save
say see seem send set settle share show sit skip sleep solve sort sound speak spend stand start
stay step stick stop struggle suggest support suppose surprise surround take talk teach tell thank
think throw touch treat trust try turn understand use visit wait walk want watch welcome win wish
wonder work worry worth write
"""

_QUALITIES: Final = """
able absolutely actual adorable afraid alive alone amazing anxious apart available awesome awful
bad basic beautiful big bold brave bright brilliant busy calm certain clear clever close cold
comfortable common confident convenient cool correct crazy creative curious cute dear deep
definitely delicious delight different difficult direct downright eager easy effective else
emotional enough entire especially essential exact excellent excited exciting extra fabulous fair
fantastic fascinating fast favorite final fine flexible fond fortunate free fresh friendly full fun
funny general gentle genuine glad glorious good gorgeous grateful great handy happy hard
heartwarming heavy helpful high honest honestly hopeful huge ideal immediate important impressive
incredible inspiring intense interesting joyful key kind kindly large late likely literally little
long lovely low lucky luckily magical main major meaningful mere mighty minor mutual natural neat
necessary nervous new nice normal obvious odd old only open original overall particular passionate
peaceful perfect personal pleasant pleased plenty positive possible powerful precious present
pretty previous proper proud pure quick quiet rare ready real recent regular relevant remarkable
resilient rewarding rich right rough sad safe scary sensible separate serious several sharp short
significant similar simple sincere single slight slow small smart smooth soft solid sorry special
specific strange strong stunning successful sudden super supportive sure sweet swamped tasty
terrible therapeutic thankful thrilled tight tiny tired top total tough tremendous true truly
typical unbelievable unique unusual upset useful usual valuable various vibrant warm weak weird
whole wide wild willing wonderful wonderfully wrong yummy
"""

_THINGS: Final = """
accomplishment advice amount appreciation area aspect attention awe bit blast boost bond case
chance chapter chill choice comfort community compassion connection couple courage creation day
deal dedication difference difficulty dream drive effort emotion energy enjoyment enthusiasm
example excitement experience expression eye fact fan feeling few folk friend future goal grace
gratitude group growth guy half hand happiness hat heart home hour idea image impact
inspiration interest item job journey joy kind level life light line list look luck matter meaning
memory middle mind minute moment month mood more motivation name nature need number opinion
opportunity option other pair part passion past path peace people perspective photo photography
piece pic picture place plan pleasure plus point power pride problem process progress purpose
question rain reason relief rest result room scene sense shape side sight sign situation smile
soul sort source spirit spot start state step story strength stress stuff style success support
surprise talk taste thanks thought thrill time tip top topic trouble truth type vibe view way
week while wisdom wonder word work world year far even first second third ago last ton involve
"""

_TALK: Final = """
absolutely ah aha aint alright amen anytime anyway anyways apparently aw awe aww awww besides
btw bye cheers chill clearly congrats congratulations couldve cuz damn dang delish dude eh em
especially essentially exactly example fave feel finally fingers forever frankly fyi gah gee
generally gosh gotcha greetings guess guys ha haha heck hehe hmm hmmm honestly hopefully huh ikr
imho imo indeed ish kinda later lately likewise lol lotta luckily man mate maybe meantime meanwhile
mm mmm nah naturally nearly needless nevermind nope obviously oof ooh oops omg pal plz please
plus possibly probably regarding right seriously shoot shortly simply sorta sorry soon sounds
speaking surely sup tbh technically thank thankfully thanks thanx thing thx til tho tight totally
true truly tbf ugh uh um unfortunately usually welcome well whatcha whew whoa woah woo woohoo
wouldve wow xd xoxo ya yay yall yea yeh yo yup yum goodbye buddy can't won't shan't e.g i.e
"""


@lru_cache(maxsize=1)
def everyday_terms() -> frozenset[str]:
    """Return the everyday words as the terms of `pmem.core.text.terms`."""
    return frozenset(terms(" ".join((_VERBS, _QUALITIES, _THINGS, _TALK))))


WEIGHTS: Final[dict[str, float]] = {
    # of the word
    "everyday": -0.95,
    "name": 0.8,
    "number": 0.5,
    "identifier": 0.3,
    "time": 0.7,
    "long": 0.3,
    "short": 0.25,
    # of its place in the stretch
    "twice": 0.65,
    "often": 1.0,
    "widespread": 0.65,
    # of the piece it stands in
    "sparse": -0.5,
    "answer": 0.4,
    "question": -0.6,
    "proposal": -0.4,
    "outcome": 0.35,
    "vague": -0.2,
    "remark": -0.35,
    "self": 0.2,
    "person": 0.3,
}
"""Weights by what holds; see `_word`, `_recurring` and `_of_piece` for what each means."""
_WORD: Final = re.compile(r"[^\W_][\w'’.:/@%+#&-]*")
_OUTCOMES: Final = """
decide decision agree choose pick settle conclude conclusion switch adopt reject approve drop plan
schedule deadline deploy release merge rollback revert migrate upgrade downgrade fix solve resolve
resolution workaround cause because root fail failure error exception timeout crash bug broken
breaking instead must should rule policy budget cost price result outcome finish win lose buy sell
hire join quit move born marry die name call favorite started finished
决定 决議 決定 结论 選択 选择 修复 修正 原因 错误 失败 失敗 結果 결정 선택 원인 오류
"""
_PROPOSES: Final = frozenset(
    """propose proposed proposes proposal proposing suggest suggests suggested suggestion maybe
    perhaps could might shall should let consider considering""".split()
)
_SELF: Final = frozenset("i me my mine we us our ours".split())
_VAGUE: Final = frozenset("it that this there these those they".split())
SPARSE: Final = 0.2
WIDE: Final = 4
REMEMBERED: Final = 40
"""Characters of the longest word whose analysis is kept."""


class TermUse(NamedTuple):
    """One occurrence of a term, and the weight of the word itself.

    `is_common` says that it is an everyday word or a speaker's name.
    """

    term: str
    weight: float
    is_common: bool
    is_name: bool = False


def worths(found: Sequence[Piece], names: Iterable[str]) -> list[dict[str, float]]:
    """Return for each piece its terms and what each of them is worth there.

    A piece of nothing but everyday words and speakers' names is worth nothing.
    """
    speakers = {term for name in names for term in terms(name)}
    said = [_words(piece.text, speakers) for piece in found]
    recurring = _recurring(found, said)
    asking = {piece.message for piece in found if _asks(piece)}
    values: list[dict[str, float]] = []
    for piece, words in zip(found, said, strict=True):
        whole = _of_piece(piece, words, asking)
        best: dict[str, float] = {}
        for word in words:
            worth = math.exp(word.weight + recurring[word.term] + whole)
            best[word.term] = max(worth, best.get(word.term, 0.0))
        values.append({} if all(word.is_common for word in words) else best)
    return values


def _asks(piece: Piece) -> bool:
    return piece.end in ("?", "？")


def _weight(held: Mapping[str, bool]) -> float:
    return sum(WEIGHTS[name] for name, holds in held.items() if holds)


def _words(text: str, speakers: set[str]) -> list[TermUse]:
    """Take a piece apart; the capital of its first word makes no name of it."""
    found: list[TermUse] = []
    for match in _WORD.finditer(text):
        surface = match.group()
        analyse = _word if len(surface) <= REMEMBERED else _word.__wrapped__
        for word in analyse(surface):
            if word.term in speakers:
                found.append(TermUse(word.term, 0.0, is_common=True))
            elif word.is_name and match.start() == 0:
                found.append(word._replace(weight=word.weight - WEIGHTS["name"]))
            else:
                found.append(word)
    return found


@lru_cache(maxsize=20_000)
def _word(surface: str) -> tuple[TermUse, ...]:
    """Return the terms of a word as it is written, each with its weight."""
    surface = surface.rstrip(".:/-'’&")
    identifier = is_identifier(surface)
    is_name = surface[:1].isupper() and surface[:2] not in ("I'", "I’")
    found = []
    for term in terms(surface):
        held = {
            "everyday": term in everyday_terms(),
            "name": is_name,
            "number": term.isdigit(),
            "identifier": identifier and not term.isdigit(),
            "time": term in time_vocabulary(),
            "long": len(surface) >= 7,
            "short": len(surface) <= 3,
        }
        found.append(TermUse(term, _weight(held), held["everyday"], is_name))
    return tuple(found)


def _recurring(found: Sequence[Piece], said: Sequence[Sequence[TermUse]]) -> dict[str, float]:
    """Return by term the weight of how it recurs: twice, more often, in several messages."""
    counted = Counter(word.term for words in said for word in words)
    places: defaultdict[str, set[int]] = defaultdict(set)
    for piece, words in zip(found, said, strict=True):
        for word in words:
            places[word.term].add(piece.message)
    return {
        term: _weight(
            {"twice": count == 2, "often": count > 2, "widespread": len(places[term]) >= WIDE}
        )
        for term, count in counted.items()
    }


def _of_piece(piece: Piece, said: Sequence[TermUse], asking: set[int]) -> float:
    """Return the weight of what holds for all the words of a piece."""
    plain = read(piece.text).words
    telling = {word.term for word in said if not word.is_common}
    asked = _asks(piece)
    return _weight(
        {
            "sparse": len(telling) < SPARSE * (1 + len(piece.text.split())),
            "question": asked,
            "proposal": not _PROPOSES.isdisjoint(plain),
            "answer": not asked and piece.message - 1 in asking,
            "outcome": not _outcome_terms().isdisjoint(word.term for word in said),
            "vague": bool(plain) and plain[0] in _VAGUE,
            "remark": piece.kind == "remark",
            "self": not _SELF.isdisjoint(plain),
            "person": piece.by_person,
        }
    )


def is_identifier(surface: str) -> bool:
    """Tell a name from programs, files or protocols from a word: by what is inside it."""
    if surface.isalpha():
        return surface[1:] != surface[1:].lower() and not surface.isupper()
    return any(mark in surface for mark in "_./:@#") or any(map(str.isdigit, surface))


@lru_cache(maxsize=1)
def _outcome_terms() -> frozenset[str]:
    return frozenset(terms(_OUTCOMES))
