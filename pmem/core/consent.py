"""What needs a person's consent before it is remembered: rules for names and for texts.

English, and made for precision: what a project is about (a health check, an address in memory, a
programming language, a state that lives in a cache) is none of a person's. A text counts where it
says something *of a person*: in the first person, of "the user", of somebody by a common given
name, or by any name where the memory is filed under people. Every pattern has bounded parts, so the
time is linear in the text.
"""

import re
from collections.abc import Collection, Iterable
from functools import lru_cache
from typing import Final

from pmem.core.text.terms import fold
from pmem.core.text.words import GIVEN_NAMES, NUMBER_WORDS, STOP_WORDS
from pmem.core.trust import TOLD
from pmem.values.patterns import lazily
from pmem.values.records import Episode, EventKind, Memory

_TOWNS: Final = tuple(
    """
Aachen Aberdeen Accra Adelaide Algiers Amman Amsterdam Ankara Antwerp Athens Atlanta Auckland
Augsburg Austin Baghdad Baltimore Bangalore Bangkok Barcelona Basel Beijing Beirut Belfast Belgrade
Bengaluru Bergen Berlin Bern Bielefeld Bilbao Birmingham Bochum Bogota Bologna Bonn Bordeaux Boston
Brasilia Bratislava Bremen Brighton Brisbane Bristol Brno Brussels Bucharest Budapest Cairo Calgary
Cambridge Canberra Cardiff Caracas Casablanca Charlotte Chennai Chicago Cologne Copenhagen Cork
Dakar Dallas Damascus Delhi Denver Detroit Dhaka Dortmund Dresden Dubai Dublin Duisburg Durban
Edinburgh Eindhoven Essen Florence Frankfurt Freiburg Fukuoka Gdansk Genoa Ghent Glasgow Gothenburg
Graz Grenoble Groningen Hamburg Hanoi Hanover Havana Helsinki Houston Hyderabad Innsbruck Istanbul
Jakarta Jerusalem Johannesburg Kampala Karachi Karlsruhe Kathmandu Khartoum Kiel Kigali Kinshasa
Kolkata Krakow Kyiv Kyoto Lagos Lahore Lausanne Leeds Leicester Leipzig Lille Lima Linz Lisbon
Liverpool Ljubljana London Luanda Lucerne Luxembourg Lviv Lyon Madrid Malaga Malmo Manchester Manila
Mannheim Marseille Melbourne Memphis Miami Milan Minneapolis Minsk Montevideo Montpellier Montreal
Moscow Mumbai Munich Nagoya Nairobi Nantes Naples Nashville Nice Nuremberg Odessa Osaka Oslo Ottawa
Oxford Palermo Paris Perth Philadelphia Pittsburgh Porto Potsdam Poznan Prague Pretoria Pune Quito
Reykjavik Riga Rome Rotterdam Salzburg Santiago Sarajevo Seattle Seoul Seville Shanghai Sheffield
Shenzhen Singapore Skopje Sofia Stockholm Strasbourg Stuttgart Sydney Taipei Tallinn Tampere Tbilisi
Tehran Tokyo Toronto Toulouse Tripoli Tunis Turin Turku Uppsala Utrecht Valencia Vancouver Venice
Verona Vienna Vilnius Warsaw Wellington Winnipeg Wroclaw Yerevan York Zagreb Zurich
""".split()
)
"""One word each, without marks above letters."""


PEOPLE: Final = frozenset(("person", "profile", "relationships"))
"""Categories in which a name is a person's."""

_TELLING: Final = (EventKind.ADD, EventKind.RESTORE)
"""What makes a memory, or an episode, say all that it says."""

_LABELS: Final = {
    "preferred_name": "preferred name/nickname/first name/last name/full name/real name"
    "/legal name/surname",
    "pronouns": "pronoun/preferred pronouns",
    "city": "home city/hometown/home town/home address/residence/place of residence",
    "language": "native language/first language/mother tongue/preferred language/spoken languages",
    "contact": "contact details/contact information/phone number/email address/home phone",
    "health": "medical/medical history/allergies/allergy/diagnosis/medication/disability",
    "birthday": "date of birth/birth date/birthdate",
    "beliefs": "religion/faith/political views/sexual orientation",
}
"""Other names of a field, as a category, a subject or a tag."""

_HOMONYMS: Final = frozenset(("language", "health", "contact", "city"))
"""Names of fields that name parts of programs as well: a subject or a tag says too little."""

_TONGUES: Final = (
    "english|german|french|spanish|portuguese|italian|dutch|polish|czech|slovak|hungarian"
    "|romanian|bulgarian|greek|turkish|russian|ukrainian|arabic|hebrew|persian|farsi|hindi|urdu"
    "|bengali|tamil|telugu|punjabi|chinese|mandarin|cantonese|japanese|korean|vietnamese|thai"
    "|indonesian|malay|tagalog|swedish|norwegian|danish|finnish|estonian|latvian|lithuanian"
    "|catalan|basque|welsh|irish|swahili|croatian|serbian|slovenian"
)
_ILLNESSES: Final = (
    "diabetes|asthma|adhd|add|autism|cancer|depression|anxiety|epilepsy|migraines?|arthritis"
    "|hypertension|high blood pressure|hiv|aids|covid|dyslexia|insomnia|ptsd|ocd|anaemia|anemia"
    "|allerg(?:y|ies)|eczema|celiac disease|coeliac disease|heart disease|tinnitus"
)
_CONDITIONS: Final = (
    "allergic|diabetic|asthmatic|pregnant|autistic|epileptic|dyslexic|blind|deaf|disabled"
    "|colou?r[- ]?blind|hiv[- ]positive|lactose[- ]intolerant|gluten[- ]intolerant|coeliac|celiac"
    "|bipolar|on antidepressants|in therapy"
)
_CREEDS: Final = (
    "christian|catholic|protestant|muslim|jewish|hindu|buddhist|sikh|atheist|agnostic|orthodox"
    "|gay|lesbian|bisexual|transgender|conservative|liberal|socialist|communist"
)
_PARTIES: Final = (
    "greens?|labour|tory|tories|conservatives?|liberals?|democrats?|democratic|republicans?"
    "|socialists?|communists?|social democrats?|libertarians?|pirates?"
)
_NAME: Final = (
    r"(?!(?-i:Service|Table|Store|Story|Agent|Model|Module|Group|Pool|Interface|Guide|Manual"
    r"|Data|Docs|Page|Profile|Account|Settings|Schema|Handler|Controller|Manager|Input|Records)\b)"
    r"(?-i:[A-ZÀ-ÞŁŚŻĐ][a-zß-ÿł'-]{1,30})"
)
"""A word that may be a name: a capital letter and small ones, and no part of a program."""
_CAPITAL: Final = r"(?-i:[A-ZÀ-ÞŁŚŻĐ])"
_USER: Final = rf"(?:the |our |this )?user(?:,? {_NAME}(?: {_NAME})?,?)?"
_PERSON: Final = rf"(?:i|{_USER}|he|she)"
_IS: Final = r"(?:'m| am| is|'s)"
_MY: Final = rf"\b(?:my|{_USER}'s|his|her)"
_NO_NAME: Final = (
    r"(?!(?:back|when|whenever|if|later|at|on|by|for|tomorrow|today|tonight|again|once|after"
    r"|before|in|to|from|with|and|or|old|crazy|anytime|any|every|asap|maybe|not|the|a|an)\b)"
)
_NO_PLACE: Final = (
    r"(?!(?:the|a|an|my|your|our|this|that|it|fear|hope|peace|vim|emacs|tmux|jira|slack|git"
    r"|interesting|constant|here|there|production|code)\b)"
)
_NO_TOWN: Final = r"(?!(?:QA|IT|HR|Marketing|Sales|Support|DevOps|Ops|Finance|Legal|Security)\b)"
_NO_NOUNS: Final = (
    *STOP_WORDS, *NUMBER_WORDS, r"\w+ly",
    *"""alone earlier early full half last late later mid months next several soon straight today
    tomorrow tonight weeks years yesterday""".split(),
)  # fmt: skip
_NO_HOME: Final = rf"(?!'s |-(?-i:[a-z])| (?!(?:{'|'.join(sorted(_NO_NOUNS))})\b)(?-i:[a-z]))"
"""A town's name is no home before a noun: "Oxford commas", "the Berlin office"."""
_HERS: Final = rf"(?:{_MY}|\bshe's)"
"""Whose something is; who has a name is read as `she`."""
_US: Final = r"(?:we|and others)"
_TOWN: Final = rf"(?-i:{'|'.join(_TOWNS)})\b{_NO_HOME}"
_VERBS: Final = (
    r"(?=(?: currently| now| still| also| mostly| only| has| just| recently| always| and others)*"
    r" (?:is|was|has|had|lives|resides|moved|relocated|are|comes|goes|prefers|likes|wants|uses"
    r"|speaks|suffers|got|votes|voted)\b|'s )"
)
_NOT_OF_PEOPLE: Final = (
    r"(?!(?: currently| now| still| also| has| just| recently)* (?:"
    r"(?:lives|resides|is (?:currently |now |still )?(?:based|located|living)) (?:in|at|near|on)"
    rf" (?!{_NO_TOWN}{_CAPITAL}(?-i:[a-zß-ÿł]))"
    rf"|(?:prefers|likes|wants) to be (?:called|addressed as|named) (?!{_CAPITAL})"
    rf"|(?:moved|relocated) to (?!{_TOWN})))"
)
"""Alice and Bob are accounts of tests, too: they live in a file, and move to a team."""
_NAMED: Final = (
    rf"\b(?:(?:the |our |this )?user,? )?(?-i:{'|'.join(GIVEN_NAMES)})\b(?: {_NAME})?,?"
    rf"{_NOT_OF_PEOPLE}"
)
_SOMEBODY: Final = lazily(_NAMED + _VERBS, re.IGNORECASE)
_ANYBODY: Final = rf"^\W{{0,3}}(?-i:[A-ZÀ-ÞŁŚŻĐ])[\w-]{{0,40}}(?: {_NAME})?"
_FIRST_WORD: Final = lazily(_ANYBODY + _VERBS, re.IGNORECASE)
"""Who a text speaks of: by a given name, or by any where the memory is filed under people."""
_TONGUE: Final = lazily(rf"\b(?:{_TONGUES})\b", re.IGNORECASE)
_MAILBOX: Final = lazily(r"(?<![\w.+-])([\w.+-]{1,64})@[\w-]{1,63}\.[a-zA-Z]{2,24}\b")
_PHONE: Final = lazily(r"(?<![\w.+])\+\d[\d ()./-]{6,22}\d")
_PHONE_DIGITS: Final = range(8, 16)
_UNSEEN: Final = str.maketrans(
    {"’": "'"} | dict.fromkeys('*`"“”\u00ad\u200b\u200c\u200d\u2060\ufeff')
)
"""Marks and characters without width that stand between words; quotation marks become straight."""
_ROLES: Final = frozenset(
    "admin alerts billing bot bugs build ci contact dev feedback git hello help hostmaster info"
    " legal list mail mailer-daemon no-reply noreply office oncall ops postmaster press privacy"
    " root sales security service status support team webmaster".split()
)
"""Mailboxes of nobody in particular."""

_PATTERNS: Final = {
    "preferred_name": (
        rf"\b(?:please|just|can|could|to|everyone|friends|people) calls? me {_NO_NAME}\w",
        rf"^\W{{0,3}}call me {_NO_NAME}\w",
        rf"\bcall me {_NO_NAME}{_CAPITAL}",
        rf"{_MY} (?:preferred |first |last |full |real |legal |middle |given |nick)?name"
        r"(?: is|'s|:) (?!not\b|also\b|irrelevant\b|unknown\b)\w",
        r"\bpreferred name (?:is|:) ?\w",
        rf"\b{_PERSON} (?:go|goes|went) by (?:the name )?{_CAPITAL}",
        rf"\b{_PERSON} (?:prefers?|wants?|likes?|asked|asks?) to be (?:called|addressed as|named) ",
        rf"\b(?:the )?user is (?:called|named) {_CAPITAL}",
        rf"\b(?:call|address) (?:the|our|this) (?:user|customer|client) (?:as )?{_CAPITAL}",
    ),
    "pronouns": (
        rf"{_HERS} (?:preferred )?pronouns (?:are|is|:)",
        r"\bpronouns(?: are|:) ?\w{1,5}/\w",
        rf"\b{_PERSON} (?:uses?|prefers?|goes? by) (?:she|he|they|ze|xe|it)/\w",
        rf"\b{_PERSON} (?:uses?|prefers?|goes? by) (?:the )?\w{{1,10}} pronouns\b",
    ),
    "city": (
        rf"\bi (?:currently |now |still |also )?(?:live|reside) (?:in|at|near|on) {_NO_PLACE}\w",
        rf"\bi(?:'m| am) (?:currently |now |still )?(?:based|living|residing) (?:in|at|near)"
        rf" {_NO_PLACE}\w",
        rf"\bi(?:'m| am| come) (?:originally )?from {_NO_TOWN}{_CAPITAL}",
        rf"\b(?:{_USER}|he|she|customer|client) (?:currently |now |still )?"
        rf"(?:lives|resides|is based|is located|is living) (?:in|at|near|on) {_NO_PLACE}\w",
        rf"{_MY} (?:home |postal |current |new )?"
        r"(?:address|city|home ?town|post ?code|zip code|residence)(?: is|:) \w",
        rf"\b(?:{_USER}|he|she) (?:has |just |recently )?moved to {_CAPITAL}\w{{1,30}}"
        r" (?:last|this|in (?:19|20)\d\d|from|with (?:my|his|her)|and (?:now )?lives? there)\b",
        rf"(?:\b(?:{_PERSON}|{_US})(?: has| have| just| recently|'ve){{0,2}} (?:moved|relocated) to"
        rf"|\b(?:{_PERSON}{_IS}|{_US}(?: are|'re)) moving to|\b{_US} live in) {_TOWN}",
        rf"\b{_PERSON} (?:has |have |just |recently )?relocated to {_CAPITAL}(?-i:[a-zß-ÿł])",
        rf"^\W{{0,3}}{_USER},? (?:currently |now )?(?:based|living|located) in {_NO_PLACE}"
        rf"{_CAPITAL}",
        rf"{_MY} (?:home|house|flat|apartment) is (?:in|near) {_CAPITAL}",
        rf"(?:^\W{{0,3}}(?:the |our |this )?(?:user|customer)|\bshe) (?:is|comes) (?:originally )?"
        rf"from {_NO_TOWN}{_CAPITAL}"
        r"(?-i:[a-zß-ÿł])",
    ),
    "language": (
        rf"{_MY} (?:native |first |mother |preferred )?(?:language|tongue)(?: is|:)"
        rf" (?:{_TONGUES})\b",
        rf"\b(?:native language|mother tongue)(?: is|:) (?:{_TONGUES})\b",
        rf"\b{_PERSON} (?:also |mostly |only )?speaks? (?:fluent |some |a little )?"
        rf"(?:{_TONGUES})\b",
        rf"\b{_PERSON}{_IS} (?:a )?(?:native|fluent) (?:in |speaker of )?(?:{_TONGUES})\b",
        rf"\b{_PERSON} (?:prefers?|wants?) (?:answers |replies |to (?:write|read|talk|speak) )?"
        rf"(?:in )?(?:{_TONGUES})\b",
    ),
    "contact": (
        rf"{_MY} (?:work |private |home |mobile |cell |tele)?(?:phone|mobile|number|cell)"
        r"(?: number)?(?: is|:) \+?[(\d]",
        r"\b(?:call|reach|text|ring) me (?:at|on|under) \+?[(\d]",
        rf"{_MY} (?:telegram|signal|whatsapp|skype|discord|instagram) (?:handle |name |account )?"
        r"(?:is|:) \S",
    ),
    "health": (
        rf"\b{_PERSON}{_IS} (?:also |very |severely |slightly )?(?:{_CONDITIONS})\b"
        r"(?! to (?:that|this|the)\b| (?:after|by|when|if|until|automatically)\b)",
        rf"^\W{{0,3}}{_USER},? (?:also |very |severely )?(?:allergic to|diabetic|asthmatic|pregnant"
        r"|autistic|epileptic|dyslexic|(?:lactose|gluten)[- ]intolerant|on antidepressants)\b",
        rf"\b{_PERSON} (?:have|has|had|suffers? from|lives? with) "
        rf"(?:an? |severe |mild |chronic |type [12] |food |peanut |nut )?"
        rf"(?:{_ILLNESSES})\b(?! of\b)",
        rf"\b{_PERSON} (?:was|were|got|has been|have been) diagnosed with ",
        r"^\W{0,3}(?:lactose|gluten)[- ]intolerant\b(?! [a-z]+s\b)",
        rf"{_MY} (?:doctor|therapist|psychiatrist|medication|diagnosis|blood type|disability"
        r"|pregnancy|illness)\b",
    ),
    "birthday": (
        rf"{_HERS} (?:birthday|birth ?date|date of birth|age)(?: is|:) \w",
        rf"\b{_PERSON} (?:was|were) born (?:on|in) ",
        rf"\b{_PERSON}{_IS} \d{{1,3}} years old\b",
    ),
    "beliefs": (
        rf"\b{_PERSON}{_IS} (?:an? )?(?:practising |practicing |devout )?(?:{_CREEDS})\b",
        rf"\b{_PERSON} (?:always |usually )?(?:votes?|voted) (?:for (?:the )?)?(?:{_PARTIES})"
        r"(?: in | party|\W{0,3}$|[.,;])",
        rf"\b{_PERSON}{_IS} (?:an? )?(?:\w{{1,20}} )?member of (?:the |an? )?(?:\w{{1,20}} ){{0,2}}"
        r"(?:(?-i:Party)|church|mosque|synagogue)\b",
        rf"{_MY} (?:religion|faith|sexual orientation|political views?)\b",
    ),
}
_HINTS: Final = {
    "preferred_name": ("call", "name", " by ", "addressed"),
    "pronouns": ("pronouns", "she/", "he/", "they/", "ze/", "xe/", "it/"),
    "city": ("live", "living", "resid", "based", "located", "from", "address", "city", "town",
             "post", "zip", "moved", "moving", "relocat", "home", "house", "flat", "apartment"),
    "language": tuple(_TONGUES.split("|")),
    "contact": ("phone", "mobile", "number", "cell", " me ", "telegram", "signal", "whatsapp",
                "skype", "discord", "instagram"),
    "birthday": ("birth", "born", "age", "years old"),
}  # fmt: skip
"""Without one of these in a text no pattern of the field can fit: most texts need none of them."""
_OF_PEOPLE: Final = {
    "preferred_name": (rf"\b(?:goes by|prefers to be called|likes to be called) {_CAPITAL}",),
    "pronouns": (r"'s pronouns (?:are|:)", r"\b(?:uses|goes by) (?:she|he|they|ze|xe)/\w"),
    "language": (rf"\bspeaks (?:{_TONGUES})\b",),
    "health": (rf"\b(?:is|are) (?:{_CONDITIONS})\b", rf"\b(?:has|suffers from) (?:{_ILLNESSES})\b",
               r"\bwas diagnosed with "),
    "birthday": (r"\bbirthday is ", r"\bwas born (?:on|in) ", r"\bis \d{1,3} years old\b"),
    "beliefs": (rf"\bis (?:an? )?(?:{_CREEDS})\b",),
}  # fmt: skip
"""What counts without a name, too, where the memory is filed under people."""


def sensitive(
    text: str,
    fields: Collection[str],
    *,
    category: str = "",
    subject: str | None = None,
    tags: Iterable[str] = (),
) -> str | None:
    """Return the field that needs consent before this is remembered, or None."""
    named = [_label(name) for name in (subject, *tags) if name]
    folded = _join_lines(text)
    said = _SOMEBODY.sub("she", folded)
    of_people = _label(category) in PEOPLE
    if of_people:
        said = _FIRST_WORD.sub("she", said)
    for field in fields:
        if _is_named(field, _label(category), named, folded) or _says(field, said, of_people):
            return field
    return None


def benign(fields: Collection[str], names: Iterable[str]) -> str | None:
    """Return the field of which an agent needs two signals, or None; names alone tell."""
    named = {_label(name) for name in names}
    return next((field for field in fields if _label(field) in named), None)


def field_of(record: Memory | Episode, fields: Collection[str]) -> str | None:
    """Return the sensitive field that a record is about, or None."""
    if isinstance(record, Episode):
        texts = (record.title, record.summary, record.context, record.outcome or "")
        return sensitive("\n".join(texts), fields, tags=record.tags)
    text, name = record.content, record.subject
    if name and name == record.scope.user and text.startswith((f"{name} ", f"{name}'s ")):
        text = f"The user{text[len(name) :]}"
    return sensitive(text, fields, category=record.category, subject=name, tags=record.tags)


def unagreed(
    record: Memory | Episode, old: Memory | Episode | None, fields: Collection[str]
) -> str | None:
    """Return the sensitive field of which a record's new events tell anew, or None.

    An event that says that somebody agreed proves nothing: only people approve, and they are not
    asked.
    """
    events = record.history[len(old.history) if old is not None else 0 :]
    told = any(
        event.event in _TELLING
        or (event.event is not EventKind.MERGE and TOLD & event.before.keys())
        for event in events  # a merge says what other records have said before
    )
    return field_of(record, fields) if told else None


def _is_named(field: str, category: str, others: Collection[str], text: str) -> bool:
    """Tell whether a category, a subject or a tag is a name of a field."""
    own = _label(field)
    names = _LABELS[field].split("/") if field in _LABELS else []
    if category == own or category in names or any(name in names for name in others):
        return True
    if own not in others:
        return False
    return field not in _HOMONYMS or (field == "language" and bool(_TONGUE.search(text)))


def _says(field: str, text: str, of_people: bool) -> bool:
    if field == "contact" and (_has_mailbox(text) or _has_phone(text)):
        return True
    if field not in _PATTERNS:
        return False
    lower = text.lower()
    if field in _HINTS and not any(hint in lower for hint in _HINTS[field]):
        return False
    return any(pattern.search(text) for pattern in _consent_patterns(field, of_people))


def _has_mailbox(text: str) -> bool:
    """Tell whether an e-mail address is somebody's own."""
    found = _MAILBOX.finditer(text) if "@" in text else ()
    return any(match[1].casefold() not in _ROLES for match in found)


def _has_phone(text: str) -> bool:
    """Tell whether there is a telephone number in its international form."""
    found = _PHONE.finditer(text) if "+" in text else ()
    return any(sum(map(str.isdigit, match[0])) in _PHONE_DIGITS for match in found)


def _join_lines(text: str) -> str:
    """Return a text in one line, without what stands between words and hides what they say."""
    return " ".join(fold(text).translate(_UNSEEN).split())


def _label(name: str) -> str:
    return " ".join(fold(name).casefold().replace("_", " ").replace("-", " ").split())


@lru_cache(maxsize=32)
def _consent_patterns(field: str, of_people: bool) -> tuple[re.Pattern[str], ...]:
    parts = (*_PATTERNS[field], *(_OF_PEOPLE.get(field, ()) if of_people else ()))
    return tuple(re.compile(part, re.IGNORECASE) for part in parts)
