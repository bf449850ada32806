"""Words of English, once for all who read: stop words, irregular forms, numbers, contractions.

Tables, and how a contraction is spelled out. Most are written as plain text, one group a line or a
word a space, so that a change shows in a diff as a change of words.
"""

from typing import Final

STOP_WORDS: frozenset[str] = frozenset(
    """
    a about above after again against all almost already also although always am among an and
    another any anybody anyone anything are around as at away back be became because become been
    before being below between both but by came can cannot could did do does doing done down
    during each either else ever every everybody everyone everything few for from further
    had has have having he hence her here hers herself him himself his how however i if in
    instead into is it its itself just let lets like lot lots many maybe me might mine more
    most much must my myself neither no nobody none nor not nothing now of off often oh ok okay
    on once one only onto or other others ought our ours ourselves out over own per perhaps
    quite rather really same shall she should since so some somebody someone something
    sometimes still such than that the their theirs them themselves then there these they
    thing things this those though through thus to together too toward towards under
    until up upon us very via was we well were what whatever when whenever where wherever
    whether which whichever while who whoever whom whose why will with within without would
    wow yeah yep yes yet you your yours yourself yourselves hey hi hello
    ain aren couldn didn doesn don hadn hasn haven isn mustn needn shouldn wasn weren wouldn won
    arent cant couldnt didnt doesnt dont hadnt hasnt havent isnt shouldnt wasnt werent wouldnt
    wont im ive youre youve theyre theyve gonna wanna gotta
    """.split()
)

# base form first, then the forms that the stemmer does not bring back to it, the past before others
_IRREGULAR_VERBS = """
arise arose arisen|awake awoke awoken|bear bore borne born|beat beaten|begin began begun
bend bent|bet|bind bound|bite bit bitten|bleed bled|blow blew blown|break broke broken
breed bred|bring brought|build built|burn burnt|buy bought|catch caught|choose chose chosen
cling clung|creep crept|deal dealt|dig dug|draw drew drawn|dream dreamt|drink drank drunk
drive drove driven|eat ate eaten|fall fell fallen|feed fed|feel felt|fight fought|find found
flee fled|fly flew flown|forbid forbade forbidden|forget forgot forgotten
forgive forgave forgiven|freeze froze frozen|get got gotten|give gave given|go went gone goes
grind ground|grow grew grown|hang hung|hear heard|hide hid hidden|hold held|keep kept
kneel knelt|know knew known|lay laid|lead led|lean leant|leap leapt|learn learnt|leave left
lend lent|light lit|lose lost|make made|mean meant|meet met|mistake mistook mistaken
pay paid|prove proven|quit quitted|ride rode ridden|ring rang rung|rise rose risen|run ran
say said|see saw seen|seek sought|sell sold|send sent|sew sewn|shake shook shaken
shine shone|shoot shot|show shown|shrink shrank shrunk|sing sang sung|sink sank sunk
sit sat|sleep slept|slide slid|smell smelt|sow sown|speak spoke spoken|speed sped
spell spelt|spend spent|spill spilt|spin spun|spit spat|spoil spoilt|spring sprang sprung
stand stood|steal stole stolen|stick stuck|sting stung|stink stank stunk|stride strode
strike struck|strive strove striven|swear swore sworn|sweep swept|swell swollen
swim swam swum|swing swung|take took taken|teach taught|tear tore torn|tell told
think thought|throw threw thrown|understand understood|undergo underwent undergone
wake woke woken|wear wore worn|weave wove woven|weep wept|win won|wind wound
withdraw withdrew withdrawn|write wrote written|overcome overcame|undertake undertook undertaken
rebuild rebuilt|rewrite rewrote rewritten|remake remade|redo redid redone|undo undid undone
"""
_IRREGULAR_WORDS = """
child children kid kids|man men|woman women|person people|foot feet|tooth teeth|mouse mice
goose geese|wife wives|life lives|knife knives|half halves|shelf shelves|leaf leaves
wolf wolves|thief thieves|calf calves|loaf loaves|scarf scarves|self selves|ox oxen
datum data|criterion criteria|phenomenon phenomena|analysis analyses|crisis crises
thesis theses|hypothesis hypotheses|index indices|matrix matrices|vertex vertices
appendix appendices|axis axes|medium media|fungus fungi|cactus cacti|alumnus alumni
good better best|bad worse worst|far farther further farthest furthest|little less least
mother mom moms mum mums mommy mama|father dad dads daddy papa|grandmother grandma granny
grandfather grandpa|television tv|photograph photo photos pic pics|bicycle bike bikes
refrigerator fridge|telephone phone phones|mathematics math maths|application app apps
repository repo repos|configuration config configs|database db dbs|documentation docs
authentication auth|environment env envs|directory dir dirs|favorite fave favourite
color colour colours colors|center centre centres|theater theatre|organize organise
organization organisation|realize realise|recognize recognise|neighbor neighbour
neighborhood neighbourhood|behavior behaviour|honor honour|labor labour|gray grey
traveling travelling|canceled cancelled|catalog catalogue|dialog dialogue|program programme
jewelry jewellery|analyze analyse|optimize optimise|initialize initialise|license licence
"""


def _groups(table: str) -> list[list[str]]:
    return [group.split() for group in table.strip().replace("\n", "|").split("|")]


_VERB_GROUPS = _groups(_IRREGULAR_VERBS)
_ALL_GROUPS = _VERB_GROUPS + _groups(_IRREGULAR_WORDS)

IRREGULAR_FORMS: dict[str, str] = {form: group[0] for group in _ALL_GROUPS for form in group[1:]}
BASE_VERBS: frozenset[str] = frozenset(group[0] for group in _VERB_GROUPS)
"""Irregular verbs as they are in an order: "keep", "build"."""
IRREGULAR_PASTS: frozenset[str] = frozenset(group[1] for group in _VERB_GROUPS if len(group) > 1)
"""Forms that tell of the past without an auxiliary: "chose", "built"."""
IRREGULAR_VERB_FORMS: frozenset[str] = frozenset(form for each in _VERB_GROUPS for form in each[1:])
"""These and the participles: "chosen"."""
NUMBER_WORDS: dict[str, str] = {
    word: str(value)
    for value, word in enumerate(
        "two three four five six seven eight nine ten eleven twelve".split(), start=2
    )
}

MONTHS: tuple[str, ...] = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip

WEEKDAYS: tuple[str, ...] = (
    "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
)  # fmt: skip

_AUXILIARIES = "are could did do does had has have is must need should was were would".split()
_NEGATED = {"ca": "can", "wo": "will", "sha": "shall"}
_SHORTENED = {"'re": "are", "'ve": "have", "'ll": "will", "'d": "would", "'m": "am"}
_WITH_IS = frozenset(
    "it that he she there what who here where how everything this why when".split()
)
_CONTRACTED: dict[str, tuple[str, ...]] = {
    **{f"{verb}nt": (verb, "not") for verb in _AUXILIARIES},
    **{"cannot": ("can", "not"), "cant": ("can", "not"), "wont": ("will", "not")},
    **{"let's": ("let", "us"), "im": ("i", "am"), "ive": ("i", "have"), "weve": ("we", "have")},
    **{"youre": ("you", "are"), "theyre": ("they", "are"), "thats": ("that", "is")},
    **{"gonna": ("going", "to"), "wanna": ("want", "to")},
}


def spelled_out(word: str) -> tuple[str, ...]:
    """Return a word as the words that it stands for: "won't" is "will not", "we've" "we have".

    A genitive is no contraction: "Anna's" stays one word.
    """
    word = word.replace("’", "'") if "’" in word else word
    found = _CONTRACTED.get(word)
    if found is not None or "'" not in word:
        return found or (word,)
    base = word.removesuffix("n't")
    if base != word and base:
        return _NEGATED.get(base, base), "not"
    base, mark, end = word.rpartition("'")
    if base and mark + end in _SHORTENED:
        return base, _SHORTENED[mark + end]
    return (base, "is") if end == "s" and base in _WITH_IS else (word,)


GIVEN_NAMES: Final = tuple(
    """
Aaron Abdul Adam Adrian Agnes Ahmed Aisha Akira Alan Albert Aleksandr Alejandro Alessandro Alex
Alexander Alexandra Ali Alice Alicia Alina Amanda Amelia Amina Amir Amy Ana Anastasia Anders
Andre Andrea Andreas Andrew Andrzej Angela Anita Anke Anna Anne Anthony Antoine Antonio Anya
Arjun Arthur Astrid Ayesha Barbara Beatriz Ben Benjamin Bernd Birgit Bjorn Bob Boris Brian Bruno
Camila Camille Carla Carlos Carmen Caroline Catherine Cecilia Charles Charlotte Chiara Chris
Christian Christina Christine Christopher Claire Clara Claudia Cristina Daniel Daniela Danielle
David Deborah Deepak Dennis Diana Diego Dieter Dimitri Dmitri Dominik Dora Dorothy Edward Elena
Eleni Elias Elif Elisabeth Elizabeth Ella Emilia Emily Emma Enrique Erik Ernesto Esra Esther
Ethan Eva Evelyn Fatima Federico Felix Fernando Fiona Florian Francesca Francesco Francisco
Francois Frank Franziska Frieda Gabriela Gabriele George Georgios Gerhard Giovanni Giulia
Giuseppe Gloria Gustavo Hannah Hans Harold Hassan Heike Helen Helena Helga Henrik Henry Hiroshi
Hugo Ibrahim Igor Ines Ingrid Irene Irina Isabel Isabella Ivan Jack Jacob Jakob James Jan Jana
Jane Janet Jasper Javier Jean Jennifer Jens Jessica Joan Joanna Johan Johannes John Jonas
Jonathan Jorge Jose Joseph Joshua Juan Juergen Julia Julian Julie Jutta Karen Karin Karl
Katarina Kate Katharina Katherine Kathleen Katja Keiko Kenji Kevin Klaus Krzysztof Kumar Lars
Laura Lea Leila Lena Leonard Leonardo Leonie Linda Lisa Liu Lorenzo Louise Luca Lucas Lucia
Luigi Luis Luisa Lukas Magdalena Malik Manuel Marcel Marco Marcus Margaret Maria Mariam Marie
Marina Mario Marta Martha Martin Martina Mary Mateo Matthew Matthias Maya Megan Mehmet Mei
Melanie Mia Michael Michelle Miguel Mikhail Milan Mila Ming Mira Miriam Mohamed Mohammed Monica
Monika Mustafa Nadia Nancy Naomi Natalia Natasha Nicholas Nicola Nicolas Nicole Nikolai Nina
Noah Noor Nora Olaf Olga Oliver Olivia Omar Oscar Otto Pablo Pamela Patricia Patrick Paul Paula
Pauline Pavel Pedro Peter Petra Philip Pierre Piotr Priya Rachel Rafael Rahul Rajesh Ralf Ramon
Raquel Raul Rebecca Renate Ricardo Richard Robert Roberto Rosa Roland Samantha Samir Samuel
Sandra Sara Sarah Sebastian Sergei Sergio Sharon Simone Sofia Sofie Sophia Sophie Stefan
Stefanie Stephanie Stephen Steven Susan Susanne Svetlana Sven Sylvia Takashi Tatiana Teresa
Theresa Thomas Thorsten Tim Timo Tobias Tom Tomasz Ulrich Ursula Valentina Vanessa Vera Veronica
Victor Victoria Viktor Vincent Vladimir Walter Wei Werner William Wolfgang Xavier Yasmin Yosef
Yuki Yuri Yusuf Yvonne Zeynep Zoe
""".split()
)
