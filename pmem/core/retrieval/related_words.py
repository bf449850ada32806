"""Related words: what a question calls a thing and what a text may call it.

"pet" finds "dog", "job" finds "career", a pair of Chinese characters finds each of the two. The
tables were written by hand from everyday and technical English; they are searched as text, and
only the groups that matter are analysed, which keeps the first question of a process cheap.
"""

from functools import lru_cache

from pmem.core.text.terms import characters, terms

KINDS = """
pet animal: dog cat puppy kitten hamster rabbit turtle fish bird parrot snake lizard
animal: horse cow sheep goat pig bear deer fox wolf
instrument: guitar piano violin drum flute cello clarinet trumpet saxophone ukulele bass keyboard
sport: football soccer basketball tennis baseball volleyball golf hockey swimming running cycling
sport: skiing snowboarding surfing skating boxing rugby cricket badminton climbing
exercise: yoga gym run jog workout swim cycling hike pilates walk training
hobby activity interest: painting reading hiking cooking gardening photography dancing fishing
hobby activity interest: camping swimming pottery knitting gaming cycling running yoga writing
outdoors nature: hiking camping mountain forest beach lake park trail river
family relative: mother father sister brother son daughter child parent grandmother grandfather
family relative: husband wife aunt uncle cousin niece nephew
child: son daughter toddler baby teenager
parent: mother father
sibling: brother sister
partner spouse: husband wife boyfriend girlfriend fiance
relationship: married single divorced dating engaged boyfriend girlfriend husband wife breakup
job career profession occupation: work teacher engineer doctor nurse lawyer manager developer
job career profession occupation: designer artist writer chef accountant scientist hired
education: school college university degree course class study graduate student
subject: maths physics chemistry biology history geography literature psychology
food dish meal: pizza pasta salad soup bread rice cheese chicken fish vegetable sandwich burger
food dish meal: curry sushi taco steak recipe cook dinner lunch breakfast
dessert sweet: cake cookie pie chocolate brownie pudding candy cupcake
drink beverage: coffee tea wine beer juice water smoothie cocktail milk
fruit: apple banana orange strawberry blueberry grape mango peach
vegetable: carrot tomato potato onion spinach broccoli pepper
clothes clothing outfit: shirt dress shoe jacket coat hat jeans sweater skirt scarf
jewelry: necklace ring bracelet earring watch
art artwork: painting drawing sculpture sketch photography pottery portrait
music: song album band concert singer melody playlist jazz rock guitar
book reading: novel author story read chapter library
film movie: watch cinema actor director trilogy
show series: episode season tv watch
game: chess poker puzzle console card video play
event: party concert festival wedding parade conference exhibition ceremony meeting fair
celebration: party birthday wedding anniversary holiday
holiday: christmas easter halloween thanksgiving vacation
place location: city town country beach park museum restaurant cafe mountain
country: america england france germany italy spain japan china india canada australia mexico
country: brazil sweden norway greece ireland scotland portugal turkey thailand egypt kenya
city: london paris rome berlin tokyo boston chicago seattle york barcelona madrid
vehicle transport: car truck bicycle motorcycle bus train plane boat van
illness disease health: sick cancer flu diabetes asthma allergy hospital doctor surgery
injury: hurt broke sprain fracture ankle accident wound
health fitness: exercise diet weight sleep gym doctor
feeling emotion: happy sad angry excited nervous proud scared anxious lonely grateful relieved
money finance: pay cost price dollar budget salary loan debt savings expensive
home house: apartment room kitchen garden flat rent
room: kitchen bedroom bathroom garage basement office
furniture: table chair sofa couch bed desk lamp shelf
weather: rain snow sun storm wind hot cold
season: spring summer autumn winter
colour: red blue green yellow purple orange pink black white brown
flower plant: rose tulip sunflower lily daisy tree garden
gift present: bought gave necklace card surprise
pastime: hobby
charity volunteer: donate shelter fundraiser homeless community
religion faith: church god pray temple mosque faith
language: english spanish french german italian japanese chinese python rust java javascript
database storage: postgres sqlite mysql redis mongodb table schema sql
editor: vim emacs vscode neovim
framework library: django flask react vue fastapi rails spring
cloud: aws azure gcp kubernetes docker
error failure: exception crash bug traceback panic timeout fault
authentication: login password token oauth session jwt credential
performance: fast slow latency speed throughput memory benchmark cache
test: pytest unittest assertion coverage fixture mock
creature wildlife: bird fish insect butterfly frog squirrel eagle whale dolphin shark penguin
breed: labrador retriever poodle shepherd terrier bulldog husky siamese
craft handmade: knitting sewing pottery woodwork crochet embroidery candle weaving clay quilt
dance: ballet salsa tango hiphop contemporary choreography
martial: karate judo taekwondo boxing kickboxing
athlete player: team match coach training score season
race: marathon run finish medal
reading: book novel magazine newspaper
genre: fantasy mystery romance thriller horror comedy drama science fiction classical jazz rock pop
writing: story poem novel blog journal screenplay article essay script diary letter
performance show: concert play theater musical comedy gig festival
venue: theater stadium arena hall club park gallery
shop store: bakery bookstore market mall supermarket boutique
restaurant: cafe diner bistro menu cuisine
cuisine: italian chinese indian mexican japanese thai french
ingredient: flour sugar butter egg milk salt garlic cheese cream chocolate
allergy: peanut dairy gluten pollen lactose nut fur
diet: vegan vegetarian keto gluten calorie healthy
snack: chips popcorn nuts cookie fruit
meal: breakfast lunch dinner brunch supper
electronics device gadget: phone laptop computer camera tablet headphones console watch
software: app program tool editor
tool: hammer drill saw screwdriver
material: wood metal clay glass plastic paper fabric
body: head shoulder knee back leg arm ankle wrist foot hand neck
symptom: pain fever cough headache nausea fatigue
treatment: therapy medicine surgery medication physiotherapy
therapy: counselor session psychologist
doctor: hospital clinic appointment checkup surgeon
mental: stress anxiety depression therapy mindfulness meditation
relaxation relax destress selfcare: yoga meditation bath read walk music massage spa reading
landmark attraction sight: tower museum castle bridge temple monument cathedral palace
nature scenery landscape: mountain river lake forest ocean beach waterfall sunset sunrise valley
water: lake river sea ocean pool
accommodation: hotel hostel cabin tent airbnb resort
trip travel vacation: flight hotel beach tour cruise camping roadtrip abroad itinerary passport
continent: europe africa asia
state: california texas florida oregon arizona colorado nevada michigan ohio georgia
nationality: american english french german italian spanish swedish irish japanese chinese indian
currency: dollar euro pound yen
government politics: election vote mayor senator council law policy party campaign
crime: theft robbery police arrest
accident emergency: crash fire ambulance injury hurt
disaster: flood earthquake storm hurricane fire
environment: climate recycling pollution conservation sustainability
military: army veteran soldier navy
degree: bachelor master doctorate diploma engineering economics
skill: learn practice language coding
class course: yoga pottery cooking painting dance workshop
exam: score grade pass
teacher: professor instructor tutor coach mentor
colleague: coworker boss team manager
company employer: google amazon microsoft apple startup
promotion: raise manager role
interview: hired offer applicant
business: store shop startup customer client product brand
marketing: advertising brand campaign social
finance: stock bank investment fund
expense: rent bill tuition fee
vehicle: engine repair tire mechanic
repair: engine broken replace
wedding: bride groom ceremony vow ring reception
baby: pregnant newborn birth
friendship: friend buddy pal
name: called named
nickname: called
birthday: cake party candle
decoration: light balloon ornament candle poster
tradition: holiday celebrate family annual
event activity: workshop class tournament marathon fundraiser rally pageant retreat
community: volunteer neighborhood group center
volunteering: shelter charity foodbank homeless animal hospital
cause charity: fundraiser donate awareness campaign
organization group: club nonprofit foundation team association
award: medal trophy prize certificate champion
achievement accomplishment: win award graduate promotion finish publish medal
challenge difficulty: struggle setback obstacle tough problem
fear: afraid scared nervous heights spider
dream goal: someday hope wish aspire future
advice: try keep remember focus
inspiration: nature book experience idea
personality trait: kind patient creative caring brave honest funny shy generous strong
appearance: hair eye tall
hair: blonde curly haircut
tattoo: ink design
pattern design: stripe floral geometric
shape: circle square triangle heart star
metal: gold silver bronze
time: morning evening afternoon night
frequency: daily weekly monthly every
age: old year born birthday
platform: twitch youtube steam switch playstation xbox netflix instagram
video: youtube stream vlog channel
game gaming: tournament multiplayer console nintendo xbox playstation strategy
boardgame: chess catan monopoly scrabble
card: poker magic
superhero: batman spiderman superman marvel
toy: doll lego puzzle teddy
space: star planet moon galaxy telescope
tree: oak pine maple willow
garden: flower plant vegetable seed soil
bug insect: spider ant bee butterfly
photography: camera photo lens shot
camera: lens tripod
painting: canvas watercolor oil brush acrylic
sculpture: clay stone bronze
song: lyrics melody chorus single
orchestra: violin conductor symphony
composer: bach mozart beethoven
album: vinyl record
sound: noise voice
spirituality: meditation prayer faith
protest: march rally
minority: lgbtq transgender gay lesbian
pride: lgbtq parade rainbow
immigration: visa passport citizenship refugee
country: russia poland netherlands switzerland austria denmark finland norway korea vietnam
country: argentina chile peru colombia cuba iceland israel indonesia philippines zealand ukraine
city: madrid vienna amsterdam dublin lisbon prague sydney toronto vancouver miami dallas denver
city: angeles francisco vegas orleans washington philadelphia phoenix portland austin nashville
operating: linux windows macos ubuntu
protocol: http tcp grpc websocket smtp
format: json yaml toml xml csv markdown
build: make cmake gradle webpack cargo compile
ci: pipeline github jenkins workflow
container: docker kubernetes podman image
version: release tag semver
testing: pytest unittest jest fixture mock coverage
linter formatter: ruff flake8 black eslint prettier
convention style: indentation naming format lint
logging: log trace debug
monitoring: prometheus grafana alert metric
security: vulnerability encryption password secret token
network: port socket dns proxy firewall
web: html css javascript browser
api: endpoint rest graphql request response
storage: s3 disk bucket file
query: sql select join index
concurrency: thread lock async race deadlock
number: count total
"""

SYNONYMS = """
job work career employment occupation profession | business company firm startup shop store
buy purchase acquire | begin start launch commence | finish complete end conclude
stop quit cease | help assist support aid | like love enjoy favorite prefer fond
dislike hate avoid | want wish hope plan intend dream goal | goal aim objective ambition target
plan schedule arrange organize | trip travel vacation journey tour holiday visit | visit go travel
live reside stay home | move relocate | talk speak chat discuss conversation
say tell mention state | think believe consider opinion
decide choose pick select decision choice
advice suggest recommend suggestion recommendation tip advise | meet encounter
make create build produce craft | fix repair solve resolve mend
change alter modify update adjust | remove delete drop erase | add insert append include
show display present | find discover locate | get receive obtain | give donate offer
win victory award prize champion trophy | lose defeat loss
competition contest tournament race match championship | learn study
teach train instruct coach mentor | child youngster | friend buddy pal mate | doctor physician
movie film | picture photograph image | song tune track | book novel | paint painting artwork
cook bake | food meal dish | destress relax unwind calm stress
happy glad joyful delighted thrilled excited | sad upset unhappy down
afraid scared fear frightened | angry mad furious annoyed | proud pride
important significant special meaningful
difficult hard tough challenge struggle obstacle setback | problem issue trouble difficulty
easy simple | big large huge | small tiny | new recent | old ancient | beautiful pretty gorgeous
car vehicle automobile | house home apartment | city town | street road | sick ill unwell
medicine drug medication | injury injure hurt wound | exercise workout fitness training | run jog
hike trail trek | sea ocean beach | pet dog cat | marry wedding marriage married
pregnant baby birth born | die death pass | birthday anniversary | party celebration celebrate
gift present | money fund cash | raise fundraise collect | charity volunteer community
adopt adoption | school university college | class course lesson workshop
degree diploma graduate | exam test quiz | team group club | boss manager | idea concept thought
reason cause why | result outcome effect | inspire motivate inspiration motivation encourage
participate join attend | event occasion | often frequent regularly | author writer
musician singer artist band | perform performance concert gig | instrument guitar piano
symbol symbolize represent mean remind | allergy allergic
error bug failure fault defect exception | crash fail hang freeze | deploy release ship publish
configure setting option preference | function method procedure routine | directory folder
file document | repository codebase | login authentication | user account
fast quick speed performance | slow latency | install setup | upgrade update
dependency package library module | database storage | server backend | client frontend
cache memo | test check verify | hobby pastime interest | activity hobby
partake participate engage | attend go visit | reside live | location place spot site
area region neighborhood | country nation homeland | origin background hometown native
hometown native | journey path | walk stroll | drive ride | fly flight plane | arrive reach come
depart leave | return back | ask question inquire | answer reply respond response | request ask
invite invitation | promise commit | agree accept | refuse reject decline rejection | allow permit
forbid prohibit ban | try attempt | practice rehearse training | prepare ready preparation
improve better progress | achieve accomplish reach attain | succeed success successful
fail failure | receive get | own possess have | keep maintain | share tell | describe explain
discuss talk mention | recall remember memory | forget miss | understand realize know | know aware
notice see spot | look watch view | listen hear | feel emotion feeling
react reaction response respond | experience undergo | encounter face
overcome cope handle deal manage | support encourage backing | comfort console reassure
care nurture | protect defend guard | save rescue | hurt harm damage | break broken
destroy ruin wreck | burn fire | hit strike | throw toss | pull drag | carry bring
wear dress outfit | eat food meal taste | drink sip | sleep rest nap | wake awake
clean tidy wash | grow growth | shrink reduce decrease | increase rise raise | open start
close shut | hire recruit employ | fire dismiss layoff | resign quit | retire retirement
earn salary income | spend expense | cost price expensive | cheap affordable inexpensive
sell sale | rent lease | invest investment | save savings | pay payment | debt loan
donate donation charity | publish release | write author compose | read reading | draw sketch
design create | record film | sing song vocal | dance dancing | play game
compete competition contest | score goal point | game match | champion winner | club team
fan admirer supporter | favorite prefer preference | popular famous celebrity
funny humorous amusing comedy | scary frightening horror | exciting thrilling | boring dull
calm peaceful serene tranquil | stress anxiety pressure tense | tired exhausted fatigue
lonely alone isolated | love adore | grateful thankful appreciate gratitude | hopeful optimistic
confident confidence | brave courage courageous | kind generous | smart intelligent clever
strong strength powerful | weak weakness | healthy wellness health | unhealthy junk
beautiful gorgeous stunning | ugly hideous | clean dirty | quiet silent | loud noisy | warm hot
cold chilly | near close nearby | far distant | early beginning | late delay
recent latest lately | past previous former | future upcoming | old age | young youth
child kid youngster youth | teenager teen youth | adult grownup | couple pair
spouse husband wife partner | date relationship | single unmarried | divorce separate breakup
engage propose proposal | wedding bride ceremony | family relative household | mother parent
father parent | sibling brother sister | ancestor heritage culture | culture tradition custom
religion faith belief | church congregation | language speak | nickname name | gender transgender
lgbtq queer gay | rights equality activism | activist activism advocate | campaign movement
protest march rally demonstration | politics political government | vote election | law legal
police officer cop | firefighter fireman | soldier military veteran army | nurse medical
lawyer attorney | engineer engineering | scientist science research | research study investigate
teacher educator | student pupil | counselor therapist counseling therapy | psychology mental
coach trainer | artist painter | chef cook | actor actress | director filmmaker
writer screenwriter | screenplay script | poem poetry poet | story tale | journal diary
blog post | newspaper news article | magazine article | letter mail | email mail message
call phone | video clip | photo camera | computer laptop pc | internet online web
website site page | game gaming gamer | tournament championship | trophy medal | hike mountain
camp tent campfire | swim pool | bike cycling | run marathon | ski snow | surf wave | fish fishing
garden plant gardening | flower bouquet blossom | tree forest wood | animal wildlife | puppy dog
kitten cat | shelter rescue | vet veterinary | food cuisine | recipe ingredient | dessert cake
breakfast morning | restaurant diner | coffee cafe | wine beer alcohol | vegetarian vegan
allergic allergy intolerant | disease illness condition | injury wound | surgery operation
hospital clinic | pain ache | accident crash | car auto | truck van | train railway
airport flight | hotel resort | beach coast shore | island tropical | lake pond | river stream
mountain peak | desert sand | rain rainy storm | snow winter | sun sunny | sunset dusk
night evening | weekend saturday sunday | annual yearly | daily everyday | holiday christmas
birthday party | gift surprise | necklace jewelry pendant | ring jewelry | shirt clothes
shoe sneaker boot | bag backpack purse | furniture couch | kitchen cooking | bedroom room
decorate decoration | renovate renovation remodel | build construction | repair maintenance
tool equipment gear | machine engine | electric electronic | energy power
environment nature ecology | climate weather | recycle reuse | space astronomy
science scientific | math mathematics | history historical | music musical | concert live
album record | guitar strum | piano keyboard | drum percussion | theater stage | movie cinema
series show | episode season | cartoon animation anime | superhero comic | fantasy magic
mystery detective | romance love | comedy funny | drama theater | board tabletop | puzzle jigsaw
card deck | toy plaything | sport athletic | soccer football | basketball hoop | gym fitness
yoga meditation | diet nutrition | weight fat slim | meeting conference | conference convention
workshop seminar | festival fair | parade march | ceremony ritual | speech presentation talk
exhibit exhibition gallery museum | painting canvas | pottery clay ceramic | sculpture statue
craft handmade | knit crochet | photograph portrait | tattoo ink | color hue | red scarlet
symbol emblem | flag banner | logo brand | company employer | office workplace | boss supervisor
colleague coworker | project assignment | task chore duty | deadline due | career path
promotion promoted | degree major | scholarship grant | tuition fee | graduate graduation
internship intern | interview candidate | skill ability talent | lesson learned | advice guidance
mentor guide | rule policy guideline | convention rule style | requirement need must
feature functionality capability | bug defect | ticket issue | commit change | branch merge
review feedback | test testing | debug troubleshoot | log logging | monitor watch | metric measure
benchmark performance | optimize speed | memory ram | disk storage | table schema | query search
index search | key identifier | token credential | password secret | encrypt encryption
permission access | role permission | timeout deadline | retry attempt | request call
endpoint route | port socket | queue message | event message | thread concurrent | lock mutex
variable constant | argument parameter | class object | interface protocol | library dependency
script command | terminal shell console | editor ide | format style | indent tab spaces
document documentation manual | example sample | default preset | environment setting
version release | rollback revert undo | migrate migration | backup restore | container docker
cluster node | cloud hosting | host server | domain dns | certificate ssl tls
"""


_KIND_LINES = tuple(" " + line for line in KINDS.strip().split("\n"))
_SYNONYM_LINES = tuple(" " + group for group in SYNONYMS.replace("|", "\n").strip().split("\n"))


@lru_cache(maxsize=4096)
def related(term: str) -> tuple[str, ...]:
    """Return the terms related to a term of a question, sorted, without the term itself."""
    if not term.isascii():
        return tuple(sorted(set(characters(term))))
    start = " " + (term[:-1] if len(term) > 3 else term)
    found: set[str] = set()
    for line in _KIND_LINES:
        if start in line:
            general, instances = line.split(":")
            if start in general and term in terms(general):
                found.update(terms(instances))
    for line in _SYNONYM_LINES:
        if start in line:
            group = terms(line)
            if term in group:
                found.update(group)
    return tuple(sorted(one for one in found - {term} if not one.isdigit()))
