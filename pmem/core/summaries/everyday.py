"""Everyday words of English, which say little about any topic.

Data only, one group a line. Stop words are not repeated here; see `pmem.core.text.words`. A form
that the stemmer brings to the same base is not repeated either.
"""

from functools import lru_cache
from typing import Final

from pmem.core.text.terms import terms

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
