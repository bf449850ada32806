"""Word tables for telling whether two memories say the same. Data only.

Written by hand from English as projects use it. A word of `SAME` stands for the first word of its
group; the groups are stricter than the related words of search, since a wrong merge loses a fact.
"""

from typing import Final

SAME: Final = """
postgresql postgres psql pg|kubernetes k8s kube|javascript js|typescript ts|mongodb mongo
elasticsearch elastic|database db dbs datastore|repository repo codebase
config configuration conf configure|auth authentication authenticate|doc documentation document
production prod|staging stage|development dev|environment env|admin administrator|app application
directory dir folder|param parameter argument|dependency dep|lib library|info information
spec specification|msg message|max maximum|min minimum|image picture photo img
pick choose select choice|store save|short brief concise terse|big large huge|small tiny little
answer reply respond response|difficult hard|easy simple|fix repair|begin commence
finish complete|remove delete erase|show display|buy purchase|own owner|cause reason culprit
aim goal objective intend intention plan|want wish|prefer like love|need require requirement
quick quickly fast|direct directly straight|roughly about approximately circa around ca
deploy deployment|indent indentation|monitor monitoring|migrate migration|install installation
generate generation|validate validation|encrypt encryption|compress compression
maintain maintainer maintenance|review reviewer|manage manager management|test testing
log logging|cache caching caches|track tracker tracking|schedule scheduler|limit limitation
integrate integration|translate translation|implement implementation|register registration
subscribe subscription|notify notification|cancel cancellation|expire expiry expiration
approve approval|delay postpone defer|forbid prohibit ban disallow|allow permit
biggest largest|smallest tiniest|newest latest|employee staff|movie film|doctor physician
kid child children|bug defect|outage downtime|summary summarize summarise|convert conversion
verify verification|verwenden benutzen nutzen verwendet benutzt nutzt|email mail e-mail
markdown md|euro eur|dollar usd|password passwd pwd|agree agreed|control controlled controlling
override overridden overrode|backoff|frontend|backend|intolerant intolerance
"""
"""Groups of words that mean the same here, and what an abbreviation stands for."""
ANTONYMS: Final = """
enable disable|allow forbid|activate deactivate|active inactive|increase decrease|raise lower
max min|sync async|synchronous asynchronous|synchronously asynchronously
public private|need optional|mandatory optional|start stop|begin end|accept reject|accept refuse
include exclude|keep remove|keep drop|keep discard|succeed fail|pass fail|work fail
acquire release|open close|before after|above below|high low|higher lower|highest lowest
more less|more fewer|most least|many few|left right|top bottom|up down|on off|local remote
internal external|newest oldest|new old|newer older|fast slow|faster slower|quick slow|big small
bigger smaller|longer shorter|long short|same different|manual automatic|manually automatically
everyone nobody|always never|push pull|upload download|import export|input output|source target
lock unlock|add remove|show hide|true false|yes no|online offline|static dynamic|strict lenient
prefer dislike|prefer hate|valid invalid|early late|earlier later|earliest latest
encrypt decrypt|login logout|install uninstall|connect disconnect|buy sell|inside outside
within outside|positive negative|safe unsafe|stable unstable|available unavailable
reversible irreversible|mutable immutable|encrypted unencrypted|signed unsigned|known unknown
supported unsupported|used unused|possible impossible|visible invisible|visible hidden
correct incorrect|complete incomplete|consistent inconsistent|compatible incompatible
sorted unsorted|limited unlimited|cached uncached|tested untested|important unimportant
necessary unnecessary|secure insecure|better worse|best worst|full empty|attach detach
grant revoke|approve deny|approve reject|merge split|expand collapse|freeze unfreeze
ready unready|healthy unhealthy|blocked unblocked|agree disagree|like dislike|trust distrust
success failure|win lose|join leave|strong weak|hot cold|wide narrow|deep shallow|light dark
upper lower|append prepend|insert delete|register unregister|load unload|pin unpin
archive unarchive|eager lazy|forward backward|upgrade downgrade|gain loss|past future
major minor|primary secondary|inclusive exclusive|explicit implicit|explicitly implicitly
single multiple|global local|permanent temporary|directly indirectly|direct indirect
legal illegal|regular irregular|sensitive insensitive|dependent independent
"""
"""Opposites; a word with several opposites stands for itself, the others for its reverse."""
SIGNS: Final = """
not: not no never none nothing neither nor nobody nowhere hardly scarcely barely without
not: avoid refuse refrain prevent nicht kein keine keinen keiner nie niemals ohne non lack
except: except excluding besides außer apart
unless: unless
instead: instead rather statt anstatt
until: until till
still: still yet already anymore
if: if whether
because: because weil
while: while whereas
although: although though despite however but
must: must shall muss müssen have-to
should: should ought soll sollte sollten
may: may darf dürfen
might: might perhaps maybe possibly vielleicht
can: can able kann können
could: could
would: would
will: will gonna wird werden
was: past-tense did had wurde wurden war waren hatte
used-to: used-to
all: all alle
every: every
each: each
any: any anyone anybody anything
some: some several somebody someone something einige
only: only just solely exclusively merely nur
most: most mostly mainly primarily usually generally typically normally often frequently
many: many lots
few: few rarely seldom
sometimes: sometimes occasionally
always: always everyone everybody everything immer
both: both
either: either
other: other another else
also: too
even: even
almost: almost nearly
enough: enough
<: less-than
>: more-than
<=: at-most
>=: at-least
than: than
same: same
again: again
?: ?
i: i my me mine myself ich mein
you: you your yours
he: he him his himself er
she: she her hers herself
they: they their them theirs
"""
"""Words that change what a statement claims; what they are called in a comparison comes first."""
EMPTY: Final = """
a an 's the this that these those there here it its itself der die das den dem des ein eine einen
we our us ours wir unser unsere yourself please note also well very really quite simply now
currently today then thus therefore so hence just do does doing have has having usage useful
basically actually certainly definitely clearly obviously kindly be being which who whom whose
what where bitte auch sind ist wird's as such like-so made making
"""
"""Words that say nothing by themselves."""
ALIKE: Final = """
store keep hold live reside put locate set sit define
run listen work execute perform carry happen occur
settle pick adopt choose
"""
"""Verbs of `SOFT` that say the same."""
USE: Final = frozenset(
    "use uses used using utilize utilise utilizes utilized employ employs".split()
)

CHANGED: Final[dict[str, tuple[str, ...]]] = dict.fromkeys(
    """raise lower increase decrease reduce bump change move switch migrate rename
    upgrade extend shorten delay""".split(),
    ("to",),
) | {"replace": ("by", "with")}
"""Verbs that tell of a change, and what stands before the new value."""
DROPPED: Final = frozenset("drop remove abandon retire decommission deprecate ditch".split())
"""Verbs by which something comes out of use."""
BE: Final = frozenset("is are be am was were been being gets got ist sind wird wurde".split())
PREPOSITIONS: Final = frozenset(
    """of in on at by for with from to into onto over under via through about against between
    during within across along behind beside beyond near per toward towards upon than as off out
    before after above below since until without instead inside outside von zu bei mit für auf aus
    nach vor durch gegen als""".split()
)
SHIPPED: Final = frozenset("ship launch deploy release".split())
"""Verbs of what is made known: who ships v1 lets v1 ship."""
SOFT: Final = frozenset(
    """get run live store keep write make handle manage host serve take happen occur sit
    reside go hold
    set locate put perform carry execute switch settle pick adopt choose work exist listen
    define""".split()
)
"""Verbs that often stand for "is" or "uses"; they are no evidence alone."""
WHOLE: Final = frozenset(
    """windows kubernetes jenkins memcached https news redis series species always meeting morning
    evening setting settings billing warning something anything everything hundred embed""".split()
)
"""Words that are no inflected forms, however they end."""
NUMBERS: Final = """
zero:0 one:1 two:2 three:3 four:4 five:5 six:6 seven:7 eight:8 nine:9 ten:10 eleven:11 twelve:12
fifteen:15 twenty:20 thirty:30 forty:40 fifty:50 sixty:60 ninety:90 hundred:hundred
thousand:thousand million:million billion:billion dozen:dozen half:half quarter:quarter third:3rd
first:first second:2nd fourth:4th fifth:5th last:last once:once twice:twice double:double
triple:triple single:single am:am pm:pm noon:noon midnight:midnight hourly:hourly daily:daily
nightly:nightly weekly:weekly monthly:monthly yearly:yearly annually:yearly quarterly:quarterly
may-month:may weekend:weekend weekends:weekend yesterday:yesterday tomorrow:tomorrow tonight:tonight
spring:spring summer:summer autumn:autumn winter:winter percent:% eins:1 zwei:2 drei:3 vier:4
fünf:5 zehn:10 montag:monday dienstag:tuesday mittwoch:wednesday donnerstag:thursday
freitag:friday samstag:saturday sonntag:sunday prozent:% monatlich:monthly täglich:daily
"""
"""Numbers and times in words, and what they are in a comparison; beside days and months."""
UNITS: Final = """
second:s sec:s s:s minute:minute min:minute hour:hour hr:hour h:hour day:day d:day week:week
month:month year:year ms:ms millisecond:ms us:us ns:ns byte:byte b:byte bit:bit kb:kb mb:mb gb:gb
tb:tb kib:kib mib:mib gib:gib kilobyte:kb megabyte:mb gigabyte:gb px:px pixel:px k:k m:m g:g
euro:€ eur:€ dollar:$ usd:$ km:km kg:kg cm:cm mm:mm percent:% hz:hz khz:khz mhz:mhz ghz:ghz
sekunden:s minuten:minute stunden:hour tage:day wochen:week monate:month am:am pm:pm
"""
"""What may follow a number, and what it is in a comparison."""
PHRASES: Final = """
has to=must|have to=must|had to=must past-tense|need to=must|needs to=must|are required to=must
is required to=must|is allowed to=may|are allowed to=may|going to=will|used to use=used-to
used to be=used-to|is set to=is|are set to=are|its own=its|their own=their|our own=our
no longer=not still|no one=nobody|not only=also|did not=past-tense not
no more than=at-most|not more than=at-most|at most=at-most|up to=at-most|at least=at-least
no less than=at-least|or newer=at-least|and newer=at-least|or later=at-least|or higher=at-least
or above=at-least|and above=at-least|and up=at-least|less than=less-than|fewer than=less-than
shorter than=less-than|smaller than=less-than|lower than=less-than|more than=more-than
greater than=more-than|larger than=more-than|bigger than=more-than|longer than=more-than
higher than=more-than|instead of=instead|rather than=instead|as well as=and|such as=like
due to=because|is due to=is caused by|was due to=was caused by|because of=because|led to=caused
leads to=cause|every day=daily|each day=daily|per day=daily|a day=daily|every night=nightly
each night=nightly|every week=weekly|each week=weekly|per week=weekly|a week=weekly
every month=monthly|each month=monthly|per month=monthly|every hour=hourly|every year=yearly
every morning=daily morning|each morning=daily morning|per second=per s
pull request=pr|pull requests=pr|merge request=pr|set up=setup|log in=login|sign in=login
time out=timeout|full text=fulltext|staging environment=staging
production environment=production|mobile application=mobile app|in charge of=own
responsible for=own|belongs to=is owned by|belong to=are owned by|look after=maintain
looks after=maintain|take care of=maintain|takes care of=maintain|get rid of=remove
by running=run|so that=to|in order to=to|as soon as=when|prior to=before|is on=is enabled
is off=is disabled|is done=is|are done=are|turned on=enabled|turned off=disabled|turn on=enable
turn off=disable|switched on=enabled|switched off=disabled|has moved=moved|have moved=moved
has switched=switched|have switched=switched|went with=picked|go with=pick|settled on=picked
agreed on=picked|decided against=rejected|decided not to=not|agreed not to=not
stopped using=not still use|the team chose=we chose|the team picked=we picked
is based in=is in|are based in=are in|is located=is|are located=are|takes place=|take place=
is called by=is called by|are called by=are called by|is named by=is named by
is called=is name|is named=is name|are called=are named|does not like=dislike|do not like=dislike
not allowed=forbid|is not allowed=is forbid|are not allowed=are forbid
would like=want|wants to=want|want to=want|plan to=aim|plans to=aim|aims to=aim|aim to=aim
the plan is to=aim|the goal is to=aim|our goal is to=aim|a lot of=many|lots of=many
a few=few-of|a little=little-of|one of=one-of|out of=from|on top of=over|in front of=before
even if=even if|as long as=while|by default=default
"""
"""Turns of phrase and what they are read as."""
BEFORE_NUMBERS: Final = {
    "about": "roughly", "around": "roughly", "under": "less-than", "below": "less-than",
    "over": "more-than", "above": "more-than",
}  # fmt: skip
"""What some words mean before a number."""
LEADS: Final = """
please note that|note that|please note|please remember that|please remember|remember that|remember
keep in mind that|be aware that|it is important to remember that|it is important to note that
as a reminder|we decided to|we have decided to|we decided that|the team decided to
the team decided that|we agreed to|we have agreed to|we agreed that|decided to|agreed to
from now on|in this project|let us|lets|make sure to|make sure that|ensure that|do not forget to
the user said that|the user mentioned that|by the way|please|basically|actually
"""
"""What may come before a statement without being part of it."""
LABELS: Final = frozenset(
    """fyi note decision decided fact rule convention important info todo reminder agreed btw
    correction update also so and ok okay well yes attention""".split()
)
"""What may come before a statement with a comma or a colon behind it."""
SCOPES: Final = (
    frozenset("staging production development test local preview sandbox qa uat".split()),
    frozenset("windows linux macos mac ubuntu debian android ios unix".split()),
    frozenset("safari firefox chrome edge opera browser".split()),
    frozenset("frontend backend server client proxy app web mobile desktop".split()),
    frozenset("unit integration e2e system acceptance smoke".split()),
    frozenset("wife husband sister brother mother father son daughter cat dog friend boss".split()),
)
"""Where something holds, not what holds: a change of these is another matter, not an update."""
CHINESE: Final = (("我们", ""), ("使用", "用"), ("的", ""), ("了", ""), ("请", ""), ("这个", ""))
CHINESE_NOT: Final = "不没沒无無非未勿别莫"
CHINESE_NUMBERS: Final = "〇一二三四五六七八九十百千万两"
ASIAN_NOT: Final = ("ない", "ません", "なかった", "ず", "않", "안", "못", "없", "아니")
