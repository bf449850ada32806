"""The phrases by which people state decisions, preferences, constraints, goals and facts.

Data only, as text, so that a change shows as a change of words. A line of `CUES` is a type, a
confidence, who must be speaking or spoken of, and phrases apart by `|`. The last word of a phrase
may be a condition on what follows: `+set` (the next word is in that set), `-set` (it is not) or
`~set` (one of the next three is). A word `*set` stands for each of that set; `_` parts words.

Who, read leftwards from the phrase over auxiliaries and adverbs:

* `ours`: "we", "I", "the team" and the like; `we`: the same without "I"; `i`: "I" only;
* `start`: nobody, the phrase opens its clause, as in a command or a note;
* `thing`: what the clause opens with is named ("the server", "our tests", "Jenkins");
* `anyone`: any subject but "I", "it", "there" and other words that name nothing;
* `name`: a name, with which the clause opens ("Sarah leads", "Anna from Oslo is our lead");
* `owned`: "our", "the" and the like stands up to three words before;
* `it`: "it" only, without saying what that is;
* `code`: it does not matter, if the sentence names code, a path or an option;
* `denied`: nobody, it follows a "no" as in "no, use tabs";
* `free`: it does not matter.
"""

from typing import Final

CUES: Final = """
decision 0.9 ours: decided -void|ended up +ing|made the decision to|agreed with +det|*agreed to
decision 0.9 ours: *agreed on|agreed that|settled for|went with -vague|gone with -vague
decision 0.9 ours: opted for|opted to|opted against|ruled out
decision 0.85 ours: *chose -vague|*switched to -vague|*switched from|going with -vague
decision 0.85 we: *took -vague|*moved to -det|*moved away|take +named|will go with|*stop +build
decision 0.85 we: *stop use|*stop support|keep using|signed off on|voted to|voted for
decision 0.85 start: let us go with|let us use -vague|let us keep -onward|let us take -vague
decision 0.85 start: let us do +det|let us leave +det
decision 0.85 free: it was *agreed that|it was *agreed to|decision *was to|decision *was that

preference 0.8 ours: *prefer|prefer it when|prefer it if|would rather|like my|like our
preference 0.75 ours: always want -vague|never want -vague|do not like -vague|*hate -vague
preference 0.7 thing: *prefer
preference 0.65 we: like to +doing|tend to +doing
preference 0.8 start: always +doing|please always +doing|prefer -vague|avoid -vague
preference 0.95 free: from now on
preference 0.85 start: from now onwards|going forward|from today on|*future please

constraint 0.8 anyone: must -guess|must be +state|must not|must never|must only
constraint 0.75 anyone: may not +duty|cannot exceed|cannot use
constraint 0.75 we: cannot -trouble|*have_to +duty|are required to|are obliged to
constraint 0.6 i: cannot +habit|must not|can only +habit
constraint 0.75 thing: cannot -trouble|*have_to -repair|may not -guess|*are required|required to
constraint 0.75 thing: *are restricted to|only supports|shall
constraint 0.8 free: not allowed|not permitted|*are *forbidden|*are limited to|*are mandatory
constraint 0.8 free: limited to a maximum|hard limit is|can only +rule|may only
constraint 0.75 free: is *vital that|important that|deadline is|deadline for
constraint 0.75 free: only +permitting|nobody +permitting
constraint 0.85 start: never +doing|do not +doing|do not ever +doing|under no circumstances
constraint 0.7 start: never +command
constraint 0.7 it: must -guess|must never|must only|cannot exceed

goal 0.8 ours: aim to|aim for|aiming to|aiming for -vague|aiming at -vague|intend to
goal 0.7 ours: *want to +build|are going to +build
goal 0.65 ours: *want to +dated|going to +dated
goal 0.8 owned: *aim is|*aim are|*aim of +being|*aim for +being|*aim this +being|*aim with +being
goal 0.75 free: what we want is|what we are after is|what i am after is|what we need is

fact 0.65 thing: runs|run|has +number|have +number|*are mostly
fact 0.75 i: am a ~role|am an ~role|live in|work at|work for|work as|work from|based in
fact 0.75 i: work on ~team|work in ~team|am on ~team
fact 0.75 start: my timezone is|my time zone is|my working hours are|my office is
fact 0.75 i: allergic to|born in|born on|study at|speak +named
fact 0.7 thing: *stored in|*stored on|*stored at|*stored with|*stored to|*kept for|*kept after
fact 0.7 thing: points to|depends on|uses -vague|takes +number|costs +number|includes +number
entity 0.85 name: is our|is my|is the ~role|is a ~role|is an ~role
entity 0.75 name: works on|works in|works at|works for|works with|works as|*leads|runs ~team
entity 0.75 free: is *own_by by|are *own_by by
entity 0.7 start: my *kin +named|our *kin +named
procedure 0.75 start: here is how|this is how|here are the steps
procedure 0.75 free: works like this :
procedure 0.75 owned: *steps to +being|*steps for +being|*steps of +being
procedure 0.65 we: always *imperative
goal 0.6 start: *request +lasting
decision 0.6 start: *let *request +lasting|*let only +lasting|only *request +lasting
decision 0.6 start: instead of +lasting
decision 0.75 we: should *request +lasting
decision 0.7 start: use +instead|make it +instead
decision 0.7 denied: use -vague
constraint 0.65 start: make sure +lasting|ensure +lasting|be sure to +lasting|mention that +lasting
constraint 0.6 anyone: should *have +lasting|should *support
constraint 0.6 it: should be +lasting|should not +lasting|should support|should *request +lasting
constraint 0.6 free: there should be +lasting|they should *request +lasting|no need to +lasting
constraint 0.6 free: should keep in mind that|is not needed
constraint 0.6 code: should *request|should be|should not|should only|not needed|instead of
constraint 0.65 free: , never +command|, always +command
fact 0.6 thing: will be +state
goal 0.6 we: need a +lasting|need to *request +lasting|want +lasting
fact 0.6 code: causing|assumes|will not +lasting|as a result|only works
fact 0.65 i: adopted|joined|signed up|graduated|volunteer|volunteered|enrolled|own a|bought a
fact 0.65 i: started a|started an|started my|got a new|got my|won a|won the|won my|have a ~kin
fact 0.65 i: have +number|got engaged|got married|moved to|grew up|have been +ing
fact 0.65 i: have always|collect|play the|teach
preference 0.65 i: love to +doing|enjoy +ing|love +ing|like +ing|am into|am a fan of|am a big fan
goal 0.65 i: am planning to|am thinking of +ing|plan to|am saving|dream of
fact 0.7 i: live near|vegetarian|am a vegetarian|am a vegan|am vegan|grew up in
fact 0.7 we: use +named|are using +named|run on
"""

REPORTS: Final = """
fact 0.7 ours: *change +became|*release +exact
fact 0.7 start: *change +became|*release +exact
fact 0.7 code: because|caused by|due to
fact 0.7 code: issue is|issue was|problem is|problem was|cause is|cause was|reason is|reason was
fact 0.7 code: issue here is|root cause|culprit is|culprit was
"""
"""Phrases by which people, and assistants too, tell of a change, or of a cause that they found."""
SETS: Final = {
    "vague": """the_ball where when my friends family the_kids the_family it them him her you me
        us this that these those one up out off on to so what which how about with and but
        something anything nothing someone both neither either yet""",
    "void": "nothing anything yet what whether if how when and but so",
    "det": "the a an all our one two three",
    "guess": """talk go leave hurry wait meet be have say admit confess see come try watch read
        feel love enjoy really seem look mean miss know taste sound like make take bring
        hurt suck also just surely""",
    "onward": """it going each up me us you the_good one everyone all our on in this that them
        him her each_other""",
    "state": "below above under at between written kept built sent unique less more no made valid",
    "duty": """support comply use store run stay respect retain handle encrypt pass meet delete
        work ensure follow guarantee provide remain avoid be serve limit offer deliver""",
    "habit": "eat drink fly travel attend work drive accept take meet use",
    "trouble": """seem believe remember find see tell say wait reproduce figure imagine thank
        help even open connect access get log understand make stand explain decide agree go
        recall complain be start load read resolve parse keep do come stop have promise
        quite think just really""",
    "repair": """do get go be_fixed be_done be_picked be_fed be_careful be_there be_patient
        be_checked be_changed be_updated be_looked be_merged be_rewritten be_cleaned think
        talk say leave ask see find wait look come stop try know learn take make change
        figure have""",
    "doing": """answer write use keep include prefer respond format cite quote document name
        hardcode log validate sort round address show explain reply speak translate
        summarise summarize share store expose mention touch force modify rename break skip
        mock print swallow catch import return rely depend assume trust nest squash amend
        sign ship schedule book order invite contact charge bill spell capitalise capitalize
        indent pin cache backup hash encrypt truncate hard-code""",
    "idle": """give get let bring mix heat go stop start tell wait make take follow turn raise
        roll back plug call open leave""",
    "rule": """be use access have run see edit read write accept deploy send take support""",
    "build": """launch ship release reduce increase improve reach migrate replace build publish
        support cut grow automate deliver achieve open found establish write rewrite
        simplify remove deploy double halve hire win raise lower scale learn become create
        develop expand offer sell close finish complete introduce translate index certify
        eliminate submit""",
    "discover": """understand understood found figured solved cracked reproduced nailed pinned
        traced located""",
    "clause": "the that our we it there i my this these a all",
    "own": "the a an my our all both chapter part phase section 's",
    "pursue": "pursue plan want build use support work need",
    "role": """boss manager lead leader owner director engineer developer designer dentist
        doctor lawyer accountant contact colleague coworker teammate partner wife husband son
        daughter brother sister mother father mom dad mum friend roommate neighbour neighbor
        supervisor advisor professor teacher coach therapist landlord client customer vendor
        supplier provider maintainer reviewer architect analyst admin administrator assistant
        intern cto ceo cfo coo head chief founder cofounder secretary consultant contractor
        sponsor stakeholder tester scientist researcher mentor mentee name codename nickname
        girlfriend boyfriend fiance fiancee cousin aunt uncle dog cat nurse midwife student
        freelancer pilot chef baker writer journalist translator programmer electrician plumber
        physicist biologist pharmacist photographer musician officer carpenter person""",
    "kin": """wife husband son daughter brother sister mother father mom dad mum friend cousin
        aunt uncle colleague boss manager dog cat girlfriend boyfriend""",
    "team": "team department group project office division unit squad",
    "aim": """goal goals objective objectives aim target ambition mission purpose intention
        vision""",
    "own_by": "owned maintained run managed led",
    "steps": "way process procedure workflow steps recipe",
    "change": """changed renamed bumped upgraded raised lowered increased reduced set configured
        updated downgraded moved switched pointed""",
    "release": "deployed released published shipped tagged",
    "request": """add make create update change move use split merge put store call support
        include replace remove drop show hide limit allow build simplify improve document
        initialize initialise record set implement extend avoid skip switch""",
    "are": "is are",
    "agreed": "agreed settled decided",
    "chose": "chose chosen picked selected rejected",
    "switched": "switched switching",
    "moved": "moved moving",
    "took": """go_with stay_with will_use will_replace will_store will_drop dropping dropped
        replacing adopting adopted approved confirmed migrating_to migrated_to""",
    "stop": "will_not no_longer will_no_longer are_not_going_to",
    "prefer": "prefer prefers would_prefer",
    "hate": "dislike hate cannot_stand",
    "future": "in_future in_the_future",
    "have_to": "have_to has_to need_to needs_to",
    "forbidden": "forbidden prohibited",
    "vital": "vital essential crucial imperative",
    "want": "want would_like plan planning hope hoping trying",
    "stored": """is_stored are_stored is_hosted is_written are_written is_built are_built
        is_deployed are_deployed is_based lives live runs run listens listen expires starts ends
        begins""",
    "kept": "is_kept are_kept are_retained is_deleted are_deleted",
    "leads": """joined leads manages heads maintains owns supervises coordinates handles took_over
        takes_over takes_the_lead reports_to moved_to signs_off is_called stands_for is_short_for
        is_responsible_for is_in_charge is_the_person is_the_one_who is_what_we_call""",
    "let": "let_us lets",
    "have": "be have not just",
    "support": "provide support only never always",
    "be": "is are been got was went",
    "was": "is was",
    "plan": "plan plans direction strategy approach mind",
    "drop": "scrap abandon drop pivot",
    "works": """works runs loads starts opens builds compiles plays connects boots passes pass
        working green""",
    "fixed": "fixed resolved solved",
    "fails": "fails crashes hangs happens crash",
    "serious": "serious critical nasty",
    "problem": "problem issue bug error deadlock regression vulnerability",
    "status": "500 502 503 504",
    "broken": "down broken gone blocked corrupted leaking crashing hacked",
    "shipped": "launched deployed merged released published shipped submitted delivered",
    "finished": "done finished complete completed live migrated",
    "data": "data files uploads records backups database messages orders",
}
"""Sets of words by name; some more that `phrases` knows are told by form (named, number, dated)."""
LABELS: Final = {
    label: (kind, confidence)
    for kind, confidence, labels in (
        ("decision", 0.9, ("decision", "final decision", "decided", "our decision")),
        ("goal", 0.8, ("goal", "target", "objective", "aim", "our goal", "main goal")),
        ("preference", 0.8, ("preference", "my preference")),
        ("constraint", 0.8, ("constraint", "requirement", "rule", "deadline", "limit")),
        ("procedure", 0.8, ("procedure",)),
        ("fact", 0.75, ("fact",)),
    )
    for label in labels
}
"""What a note says when it begins with one of these and a colon."""
WISHES: Final = """
remember that|remember :|please remember that|remember ,|note for later :|note for later ,
note to self :|note to self ,|keep in mind that|keep in mind :|bear in mind that
do not forget that|make a make a note :|for the record ,|for the record :
i want you to remember that|take note :|memorise :|memorize :
please keep in mind that|note :|please remember :|remember my|remember our|please remember my
please remember our|for later :|remember this :|important to remember :|you should remember that
"""
"""How a wish to remember begins."""
NOTES: Final = """
fyi|for your information|for reference|for context|just so you know|note that|please note that
"""
"""How a statement begins that somebody is to know."""
ASIDES: Final = "by the way|btw|fyi|for your information"
"""What may stand before a statement, or behind it, and says nothing."""
CORRECTIONS: Final = "no ,|nope ,|wait ,|sorry ,|correction :|i meant"
"""How a message begins that takes back what was said before it."""
IMPERATIVES: Final = frozenset(
    """run open use copy delete set add remove create start stop restart rerun check click press
    select choose go call send install update upgrade push pull merge tag build deploy
    export import upload download write edit change replace clear clean drop move rename
    rotate revoke reset switch turn enable disable ask tell wait make take put log sign
    enter type execute apply commit rebase close archive issue file verify confirm test bump
    publish release roll restore back scale flush kill increase reduce lower raise follow
    pass hold fill branch print connect unmount rebuild recreate invalidate bring get give
    keep contact ping request record fix book collect weigh mix bake heat pour wash mark
    assign notify email page unplug plug reboot reload refresh regenerate repeat retry
    submit review lock unlock mount fetch anonymise anonymize""".split()
)
"""Verbs that begin a step of a procedure."""
DONE: Final = frozenset(
    """committed created updated added fixed implemented removed replaced refactored moved rewrote
    changed merged renamed simplified improved extended deployed released published pushed wrote
    written configured resolved completed rewritten split switched adjusted documented
    deleted dropped restored""".split()
)
"""Verbs by which a report says what was done."""
