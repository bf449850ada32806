"""Word tables for telling whether two memories say the same. Data only.

Written by hand from English as projects use it. A word of `SAME` stands for the first word of its
group; the groups are stricter than the related words of search, since a wrong merge loses a fact.
"""

from typing import Final

SAME: Final = """
postgresql postgres psql pg|kubernetes k8s kube|javascript js|typescript ts|mongodb mongo
elasticsearch elastic|database db dbs datastore|repository repo codebase
config configuration conf configure
auth authentication authenticate|doc documentation document|production prod|staging stage
development dev|environment env|admin administrator|app application|directory dir folder
pr pullrequest|ci continuousintegration|param parameter argument|dependency dep|lib library
info information|spec specification|msg message|max maximum|min minimum|image picture photo img
favorite favourite fave|color colour|organization organisation|behavior behaviour|center centre
license licence|catalog catalogue|dialog dialogue|gray grey
pick choose select choice|store save|short brief concise terse|big large huge|small tiny little
answer reply respond response|difficult hard|easy simple|fix repair|begin commence
finish complete|remove delete erase|create|show display|buy purchase|own owner
cause reason culprit|aim goal objective intend intention plan|want wish|prefer like love
need require requirement|quick quickly fast|direct directly straight|roughly about approximately
circa around ca|error|deploy deployment|release|indent indentation|monitor monitoring
migrate migration|install installation|generate generation|validate validation
encrypt encryption|compress compression|maintain maintainer maintenance|review reviewer
manage manager management|test testing|build|log logging|cache caching|track tracker tracking
schedule scheduler|limit limitation|integrate integration|translate translation
implement implementation|register registration|subscribe subscription|notify notification
cancel cancellation
expire expiry expiration|approve approval|delay postpone defer|forbid prohibit ban disallow
allow permit|invoke|ensure|format|answerable|biggest largest|smallest tiniest|newest latest
employee staff|boss|phone telephone|movie film|doctor physician|kid child children|job
bug defect|outage downtime|latency|speed|summary summarize summarise|serialize serialise
optimize optimise|initialize initialise|analyze analyse|normalize normalise|authorize authorise
authorization authorisation|synchronize synchronise|weekly|convert conversion|verify verification
verwenden benutzen nutzen verwendet benutzt nutzt|backoff back-off|email mail e-mail
markdown md|workspace|password passwd pwd|euro eur|dollar usd|timestamp|webapp|frontend front-end
backend back-end
"""
"""Groups of words that mean the same here, and what an abbreviation stands for."""

ANTONYMS: Final = """
enable disable|enabled disabled|allow forbid|activate deactivate|active inactive|increase decrease
raise lower|max min|first last|sync async|synchronous asynchronous|synchronously asynchronously
public private|need optional|mandatory optional|start stop|begin end|accept reject|accept refuse
include exclude|keep remove|keep drop|keep discard|succeed fail|pass fail|work fail|acquire
release|open close|before after|above below|high low|higher lower|highest lowest|more less|more
fewer|most least|many few|left right|top bottom|up down|on off|local remote|internal external
newest oldest|new old|newer older|fast slow|faster slower|quick slow|big small|bigger smaller
longer shorter|long short|same different|manual automatic|manually automatically
everyone nobody|always never|push pull|upload download|import export|input output|source target
lock unlock|add remove|show hide|true false|yes no|online offline|static dynamic|strict lenient
prefer dislike|prefer hate|valid invalid|early late|earlier later|earliest latest
ascending descending|asc desc|horizontal vertical|encrypt decrypt|login logout|install uninstall
mount unmount|connect disconnect|buy sell|inside outside|within outside|positive negative
safe unsafe|stable unstable|available unavailable|reversible irreversible|mutable immutable
encrypted unencrypted|signed unsigned|known unknown|supported unsupported|used unused
possible impossible|visible invisible|visible hidden|correct incorrect|complete incomplete
consistent inconsistent|compatible incompatible|sorted unsorted|limited unlimited|cached uncached
tested untested|important unimportant|necessary unnecessary|secure insecure|expensive cheap
better worse|best worst|full empty|attach detach|grant revoke|approve deny|approve reject|merge
split|expand collapse|freeze unfreeze|deprecated current|ready unready|healthy unhealthy|blocked
unblocked|happy unhappy|agree disagree|like dislike|trust distrust|success failure|win lose
join leave|strong weak|hot cold|wide narrow|deep shallow|thick thin|light dark|upper lower
beginning ending|opt-in opt-out|whitelist blacklist|allowlist denylist|append prepend|insert delete
subscribe unsubscribe|register unregister|load unload|wrap unwrap|pin unpin|mute unmute|archive
unarchive|load-bearing decorative|eager lazy|eagerly lazily|forward backward|forwards backwards
ascend descend|increment decrement|upgrade downgrade|gain loss|profit loss|buyer seller
past future|odd even|major minor|primary secondary|minimize maximize|minimise maximise|inclusive
exclusive|explicit implicit|explicitly implicitly|implicit explicit|single multiple|singular plural
global local|permanent temporary|permanently temporarily|directly indirectly|direct indirect
legal illegal|formal informal|regular irregular|sensitive insensitive|dependent independent
"""
"""Opposites; a word with several opposites stands for itself, the others for its reverse."""

SIGNS: Final = """
not: not no never none nothing neither nor nobody nowhere hardly scarcely barely without
not: avoid refuse refrain prevent nicht kein keine keinen keiner nie niemals ohne non lack
except: except excluding besides außer apart
unless: unless
instead: instead rather statt anstatt
until: until till
still: still yet already
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
currently today then thus therefore so hence just do does doing done have has having usage useful
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

FORMS: Final = "overridden:override overrode:override lowered:lower"
"""Irregular forms that the tokeniser does not know."""

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

SOFT: Final = frozenset(
    """get run live store keep write make handle manage host serve take happen occur sit
    reside go hold
    set locate put perform carry execute switch settle pick adopt choose work exist listen
    define""".split()
)
"""Verbs that often stand for "is" or "uses"; they are no evidence alone."""

VERBS: Final = """
accept access add adjust agree aim allow analyze answer append apply approve archive arrive ask
assign attach avoid back balance base bind block break bring build bundle bump buy cache calculate
call cancel capture carry cause change charge check choose clean clear click clone close code
collect combine come commit compare compile compress compute configure confirm connect consider
consume contain continue control convert copy cost count cover crash create cut debug decide
declare decrease default define delay delete deliver depend deploy deprecate describe design
detect develop disable discuss display distribute document download draw drop duplicate edit embed
emit enable encode encrypt end enforce ensure enter escape estimate evaluate exclude execute exist
expect expire explain export expose extend extract fail fall fetch fill filter find finish fit fix
flag flush follow force forget fork format forward freeze generate get give go grow guard handle
happen hash have help hide hire hold host ignore implement import improve include increase indent
index inform inherit inject insert inspect install integrate invalidate invite invoke join keep
kill know label last launch lead learn leave let like limit link lint list listen live load lock
log look lose love maintain make manage map mark mask match measure meet merge migrate mirror mock
modify monitor mount move name need notify obtain offer open optimize order organize override own
pack pair parse pass paste patch pause pay perform persist pick pin place plan play poll pool pop
post prefer prefix prepare preserve prevent print process produce profile promise promote propose
protect provide prune publish pull purge push put query queue raise reach read rebase rebuild
receive recommend record recover redirect reduce refactor refer refresh refuse register reject
release reload rely remain remember remind remove rename render reopen repair repeat replace
replicate reply report request require reset resolve respond restart restore restrict retain retry
return reuse review revert revoke rewrite roll rotate round route run sample save scale scan
schedule score search seed select sell send separate serialize serve set share ship show shut sign
simplify skip sleep sort specify spell spend split squash stage stand start state stay stop store
stream strip structure submit subscribe succeed suggest summarize support suppose switch sync tag
take talk target tell terminate test think throttle throw time toggle touch track train transfer
transform translate treat trigger trim trust try tune turn type understand undo unlock update
upgrade upload use validate verify version view visit vote wait walk want warn watch wear work wrap
write zip trace crawl allocate shorten lengthen stabilize paginate sanitize evict batch vendor
benchmark profile nest hack quote compact cascade crop dispatch drain dump elect enrich ingest
invoice lease onboard overflow patch probe proxy publish rank resize route sandbox seal shard slice
snapshot solve spawn stash stub style tail tenant tether tokenize truncate unify warm whitelist
manage schedule serve stop begin grant deny postpone persist scrape observe hardcode instantiate
memoize timebox mention prohibit permit begin mount reside
"""
"""Base forms; they decide what an ending in -ed, -es or -ing is cut to, and what is a request."""

WHOLE: Final = frozenset(
    """windows kubernetes jenkins ios aws dns js css https news redis always does gas bus plus
    meeting morning evening staging billing setting settings building string thing king ring
    warning engineering during something anything nothing everything spring hundred embed united
    thus analysis basis access process address status this series species canvas pandas keras
    postgres sass less loss press pass class business wireless stateless serverless alias bias
    atlas texas paris james thomas lucas jonas nicolas marcus chris alexis dennis boris doris
    being ceiling sibling pricing wedding alfred fred ted mohammed ahmed red bed sted need feed seed
    speed exceed proceed indeed bleed breed weed led fed shed wed sled bled nested ms os us as is
    was has sas saas paas iaas kubeless express nginx rails ops devops sales analytics metrics
    physics mathematics economics graphics statistics ethics tls tts sms gps cors rss dos ios's
    timeless helpless maps docs nas cos corpus focus bonus census virus campus radius nexus litmus
    """.split()
)
"""Words that are no inflected forms, however they end."""

PAST: Final = frozenset(
    """chose went left came found built kept held took gave made wrote ran saw said began broke
    brought bought caught drew drove fell felt forgot got grew heard knew led lost met paid rose
    sent shipped sold spoke spent stood stopped stole taught told thought threw understood won
    agreed dropped moved picked rejected switched became rewrote rebuilt""".split()
)

NUMBERS: Final = """
zero:0 one:1 two:2 three:3 four:4 five:5 six:6 seven:7 eight:8 nine:9 ten:10 eleven:11 twelve:12
thirteen:13 fourteen:14 fifteen:15 sixteen:16 seventeen:17 eighteen:18 nineteen:19 twenty:20
thirty:30 forty:40 fifty:50 sixty:60 seventy:70 eighty:80 ninety:90 hundred:hundred
thousand:thousand million:million billion:billion dozen:dozen half:half quarter:quarter
third:3rd first:first second:2nd fourth:4th fifth:5th sixth:6th seventh:7th eighth:8th ninth:9th
tenth:10th once:once twice:twice thrice:thrice double:double triple:triple quadruple:quadruple
single:single halves:half am:am pm:pm noon:noon midnight:midnight
hourly:hourly daily:daily nightly:nightly weekly:weekly monthly:monthly yearly:yearly
annually:yearly annual:yearly biweekly:biweekly fortnightly:biweekly quarterly:quarterly
monday:monday tuesday:tuesday wednesday:wednesday thursday:thursday friday:friday
saturday:saturday sunday:sunday mondays:monday tuesdays:tuesday wednesdays:wednesday
thursdays:thursday fridays:friday saturdays:saturday sundays:sunday january:january
february:february march:march april:april may-month:may june:june july:july august:august
september:september october:october november:november december:december weekend:weekend
weekends:weekend yesterday:yesterday tomorrow:tomorrow tonight:tonight spring:spring summer:summer
autumn:autumn winter:winter q1:q1 q2:q2 q3:q3 q4:q4 eins:1 zwei:2 drei:3 vier:4 fünf:5 zehn:10
montag:monday dienstag:tuesday mittwoch:wednesday donnerstag:thursday freitag:friday
samstag:saturday sonntag:sunday percent:% prozent:% monatlich:monthly täglich:daily
"""
"""Numbers, times and dates in words, and what they are in a comparison."""

UNITS: Final = """
second:s seconds:s sec:s secs:s s:s minute:minute minutes:minute min:minute mins:minute hour:hour
hours:hour hr:hour hrs:hour h:hour day:day days:day d:day week:week weeks:week month:month
months:month year:year years:year ms:ms millisecond:ms milliseconds:ms us:us ns:ns
byte:byte bytes:byte b:byte bit:bit bits:bit kb:kb mb:mb gb:gb tb:tb pb:pb kib:kib mib:mib gib:gib
kilobyte:kb kilobytes:kb megabyte:mb megabytes:mb gigabyte:gb gigabytes:gb px:px pixel:px pixels:px
k:k m:m g:g euro:€ euros:€ eur:€ dollar:$ dollars:$ usd:$ km:km kg:kg cm:cm mm:mm percent:% hz:hz
khz:khz mhz:mhz ghz:ghz sekunden:s minuten:minute stunden:hour tage:day wochen:week monate:month
am:am pm:pm
"""
"""What may follow a number, and what it is in a comparison."""

PHRASES: Final = """
has to=must|have to=must|had to=must past-tense|is set to=is|are set to=are|its own=its
their own=their
our own=our|need to=must|needs to=must|are required to=must
is required to=must|is allowed to=may|are allowed to=may|going to=will|used to use=used-to
used to be=used-to|no longer=not still|not any longer=not still|no one=nobody|no more than=at-most
not more than=at-most|at most=at-most|up to=at-most|at least=at-least|no less than=at-least
no fewer than=at-least|or newer=at-least|and newer=at-least|or later=at-least|and later=at-least
or higher=at-least|and above=at-least|or above=at-least|and up=at-least|less than=less-than
fewer than=less-than|shorter than=less-than|smaller than=less-than|lower than=less-than
more than=more-than|greater than=more-than|larger than=more-than|bigger than=more-than
longer than=more-than|higher than=more-than|instead of=instead|rather than=instead
every day=daily|each day=daily|per day=daily|a day=daily|every night=nightly|each night=nightly
every week=weekly|each week=weekly|per week=weekly|a week=weekly|every month=monthly
each month=monthly|per month=monthly|every year=yearly|each year=yearly|per year=yearly
every hour=hourly|each hour=hourly|per hour=hourly|every morning=daily morning
each morning=daily morning|pull request=pr|pull requests=pr|merge request=pr|set up=setup
in charge of=own|responsible for=own|belongs to=is owned by|belong to=are owned by
is due to=is caused by|was due to=was caused by
due to=because|because of=because|owing to=because|led to=caused
leads to=cause|lead to=cause|turned on=enabled|turned off=disabled|turn on=enable
turn off=disable|switched off=disabled|switched on=enabled|is on=is enabled|is off=is disabled
is on monday=is at monday|is on tuesday=is at tuesday|is on wednesday=is at wednesday
is on thursday=is at thursday|is on friday=is at friday|is on saturday=is at saturday
is on sunday=is at sunday|has moved=moved|have moved=moved|has switched=switched
have switched=switched
as well as=and|such as=like|e.g.=like|look after=maintain|looks after=maintain|take care of=maintain
takes care of=maintain|get rid of=remove|gets rid of=remove|makes use of=use|make use of=use
with the help of=with|by means of=with|anymore=still|by using=with|by running=run|in order to=to
so that=to
as soon as=when|once the=when the|prior to=before|went with=picked|go with=pick
settled on=picked|opted for=picked|decided against=rejected|decided not to=not
agreed not to=not|stopped using=not still use|opt for=pick|agreed on=picked
takes place=|staging environment=staging|production environment=production|max.=max
is based in=is in|are based in=are in|is based on=is based on|take place=
taking place=|is located=is|are located=are|cannot=can not|the team chose=we chose
the team picked=we picked|the team uses=we use
does not like=dislike|do not like=dislike|not allowed=forbid|is not allowed=is forbid
are not allowed=are forbid
data base=database|time out=timeout|log in=login|sign in=login|log out=logout|sign out=logout
back off=backoff|front end=frontend|back end=backend|full text=fulltext|code base=repository
web site=website|file name=filename|user name=username|work flow=workflow|check list=checklist
mobile application=mobile app|is called=is named|are called=are named|goes by=is named
would like=want|wants to=want|want to=want|plan to=aim|plans to=aim|aims to=aim|aim to=aim
the plan is to=aim|the goal is to=aim|our goal is to=aim|our aim is to=aim|our plan is to=aim
intend to=aim|intends to=aim|with respect to=about|with regard to=about|regarding=about
concerning=about|in front of=before|on top of=over|out of=from|only after=only after
as long as=while|even if=even if|as of=since|starting from=since|a lot of=many|lots of=many
a few=few-of|a little=little-of|of course=|in general=generally|by default=default
in default=default|not only=also|did not=past-tense not
one of=one-of|close to=almost|at once=immediately|right away=immediately
per second=per s|per minute=per minute|per request=per request
"""
"""Turns of phrase and what they are read as."""

LEADS: Final = """
please note that|note that|please note|please remember that|please remember|remember that|remember
keep in mind that|be aware that|it is important to remember that|it is important to note that
it's important to remember that|it's important to note that|it is worth noting that
it 's important to remember that|it 's important to note that
it 's worth noting that|fyi
for your information|as a reminder|reminder|just a reminder|note|decision|fact|rule|convention
important|info|todo|we decided to|we have decided to|it was decided to
we decided that|we have decided that|the team decided to|the team decided that|we agreed to
we have agreed to|we agreed that|we have agreed that|the team agreed to
the team agreed that|decided to|agreed to|from now on|in this project|for this project|basically
as discussed|as agreed|let us|let 's|lets|going forward|make sure to
make sure that|be sure to|ensure that|always remember to|do not forget to
do not forget that|the thing is|the fact is|it turns out that
in our project|in the project|for the record|heads up|the user said that|the user mentioned that
the user says that|user said that|user mentioned that|user says that|decided|agreed|btw
by the way|actually|correction|update|also|so|and|ok|okay|well|yes|attention|warning that
"""
"""What may come before a statement without being part of it."""

SCOPES: Final = (
    frozenset("staging production development test testing local preview sandbox qa uat".split()),
    frozenset("windows linux macos mac ubuntu debian android ios unix".split()),
    frozenset("safari firefox chrome edge opera browser".split()),
    frozenset("frontend backend server client proxy app web mobile desktop".split()),
    frozenset("unit integration e2e system acceptance smoke".split()),
    frozenset("wife husband sister brother mother father son daughter cat dog friend boss".split()),
)
"""Where something holds, not what holds: a change of these is another matter, not an update."""

COMMON: Final = frozenset(
    """user team project test file service server code data time new work name job day way thing
    system value case part list""".split()
)
"""Words that say little about what a memory is on."""

CHINESE: Final = (("我们", ""), ("使用", "用"), ("的", ""), ("了", ""), ("请", ""), ("这个", ""))
CHINESE_NOT: Final = "不没沒无無非未勿别莫"
CHINESE_NUMBERS: Final = "〇一二三四五六七八九十百千万两"
ASIAN_NOT: Final = ("ない", "ません", "なかった", "ず", "않", "안", "못", "없", "아니")
