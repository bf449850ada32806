"""Questions in many scripts and spellings, with traps: what must come first, and what must not."""

from datetime import UTC, datetime
from typing import Final, NamedTuple

import pytest

from pmem.memory.requests import AddAllRequest, AddRequest
from pmem.operations import table
from pmem.project.workspace import Workspace
from pmem.search.hits import SearchHit
from pmem.search.picking import SearchRequest
from pmem.search.search import SearchResult
from pmem.values.records import Conversation, Message, Role
from tests.asking import ask
from tests.conftest import NOW
from tests.storage.in_memory import InMemory

MEMORIES: Final[dict[str, str]] = {
    # Chinese
    "zh cat": "我家养了一只白色的猫,名字叫雪球",
    "zh dog": "邻居的狗每天早上都会叫",
    "zh coffee": "开会前请给王经理准备一杯黑咖啡",
    "zh curry": "食堂周五供应咖喱饭",
    "zh tea": "客户李女士喜欢喝龙井茶",
    "zh database": "订单服务使用分布式数据库,备份在上海机房",
    "zh data": "数据团队每周一开例会",
    "zh deploy": "部署脚本放在运维仓库里,用Python写成",
    "zh traditional": "臺北辦公室的會議室在三樓",
    # Japanese
    "ja cat": "猫を二匹飼っていて、名前はタマとミケです",
    "ja book": "図書館の本を来週までに返す",
    "ja meeting": "毎週水曜日の十時から定例会議があります",
    "ja coffee": "コーヒーは苦手なので紅茶を出す",
    "ja printer": "プリンターのトナーは倉庫にあります",
    "ja db": "データベースはPostgreSQLに移行した",
    # Korean
    "ko book": "민수는 도서관에서 책을 빌렸다",
    "ko dog": "우리 집 강아지는 산책을 좋아한다",
    "ko server": "서버 점검은 매주 일요일 새벽에 진행한다",
    "ko coffee": "지영 씨는 아이스 커피만 마신다",
    # Accents
    "fr café": "Le café près de la gare ouvre à sept heures",
    "fr school": "L'école des élèves ferme à Noël",
    "es year": "El año fiscal de la compañía termina en junio",
    "de street": "Die Baustelle in der Straße von Köln dauert bis Mai",
    "de bear": "Jürgen übt täglich Klavier",
    "pl lodz": "The supplier in Łódź ships every Tuesday",
    "pt sao": "Joana moved from São Paulo to Lisbon",
    "plain resume": "Send the resume of Zoe to the recruiter",
    "vi pho": "Quán phở Hà Nội mở cửa lúc sáu giờ sáng",
    # Cyrillic and Greek
    "ru server": "Сервер базы данных перезагружается каждую ночь",
    "ru tree": "Ёлка стоит в зелёной комнате",
    "uk key": "Ключ від офісу лежить у шухляді",
    "el sea": "Το καλοκαίρι πηγαίνουμε στη θάλασσα",
    "el office": "Το γραφείο είναι στην Αθήνα",
    # Other scripts
    "he office": "המשרד נמצא בתל אביב",
    "ar meeting": "اجتماع الفريق يوم الأحد",
    "hi tea": "राहुल को अदरक वाली चाय पसंद है",
    "th food": "ร้านอาหารไทยอยู่ใกล้สถานีรถไฟ",
    # Mixed
    "mixed react": "前端使用React和TypeScript开发",
    "mixed vue": "旧的管理后台使用Vue开发",
    "mixed k8s": "クラスターはKubernetes v1.29で動いている",
    # Identifiers
    "id camel": "getUserName returns the display name of the account",
    "id other camel": "setUserEmail checks the address before it saves",
    "id snake": "The option max_retry_count is read once at the start",
    "id other snake": "The option max_pool_size limits the connections",
    "id path": "Tokens are parsed in src/auth/token_parser.py",
    "id other path": "Sessions are kept in src/auth/session_store.py",
    "id dotted": "Logging is set up by app.core.logging.configure",
    "id version": "We pin urllib3 to 2.0.7 because of the proxy bug",
    "id other version": "We pin requests to 2.31.0 for the certificates",
    "id error": "E0425 means that a name cannot be found in this scope",
    "id other error": "E0308 means that the types do not match",
    "id errno": "ECONNRESET appears when the proxy restarts",
    "id http": "A 503 from the gateway means that the pool is empty",
    "id class": "HTTPServerFactory builds one server for each port",
    "id cpp": "The simulation core is written in C++",
    "id csharp": "The desktop client is written in C#",
    "id url": "The dashboard lives at https://grafana.example.com/d/latency",
    "id package": "The scope @acme/ui-kit holds our buttons",
    "id flag": "Run the tests with --no-header to keep the log short",
    "id ticket": "PROJ-1234 tracks the memory leak of the importer",
    "id other ticket": "PROJ-1243 tracks the slow start of the importer",
    # Phrases
    "phrase": "A stale lock file is deleted at the start",
    "phrase apart": "Lock the cabinet, then send the file to the archive and lock the file room",
    # Forms of words
    "went": "Maria went to the dentist",
    "children": "The children sleep in the blue tent",
    "mice": "We found mice in the cellar",
    "bought": "Tom bought a kayak",
    "thought": "The team thought about leaving the monolith",
    "better": "Invoices are printed on recycled paper",
    "studies": "Lena studies marine biology",
    "running": "The nightly job was running out of disk space",
    # Numbers and dates
    "number": "The warehouse holds 1,500 pallets",
    "other number": "The warehouse in the north holds 150 pallets",
    "three": "Three engineers are on call",
    "iso": "The contract with Initech ends on 2025-03-31",
    "other iso": "The contract with Globex ends on 2025-04-30",
}


def said(number: int, speaker: str, content: str, at: datetime) -> Message:
    return Message(
        id=f"mjwaid1q-m{number:07d}",
        role=Role.USER,
        speaker=speaker,
        content=content,
        created_at=at,
    )


def on(year: int, month: int, day: int) -> datetime:
    return datetime(year, month, day, 12, tzinfo=UTC)


TALKS: Final = (
    (
        ("Nina", "I adopted a hamster last Friday", on(2023, 5, 10)),
        ("Oleg", "Wonderful! What is it called?", on(2023, 5, 10)),
        ("Nina", "Biscuit, because of the colour.", on(2023, 5, 10)),
    ),
    (
        ("Nina", "The concert by the lake was loud", on(2023, 8, 2)),
        ("Oleg", "I broke my wrist on the ice", on(2024, 1, 15)),
        ("Nina", "I broke my favourite cup", on(2024, 1, 15)),
    ),
    (
        ("小明", "我昨天买了一辆自行车", on(2024, 6, 3)),
        ("小红", "什么颜色的?", on(2024, 6, 3)),
        ("小明", "蓝色的,很轻", on(2024, 6, 3)),
    ),
    (
        ("Zoë", "The naïve approach failed in production", on(2022, 2, 1)),
        ("Oleg", "The concert in the church was quiet", on(2022, 12, 24)),
    ),
)


class Case(NamedTuple):
    """A question: the start of what must be found, among how many, and what must not be first."""

    query: str
    wanted: str
    within: int = 1
    trap: str = ""


def known(key: str) -> str:
    return MEMORIES.get(key, key)


CASES: Final = (
    # Chinese: words inside longer words, single characters, words that share a character
    Case("猫", "zh cat", 3, "zh dog"),
    Case("猫叫什么名字", "zh cat", 1, "zh dog"),
    Case("狗", "zh dog"),
    Case("咖啡", "zh coffee", 1, "zh curry"),
    Case("咖喱", "zh curry", 1, "zh coffee"),
    Case("李女士喜欢什么茶?", "zh tea"),
    Case("茶", "zh tea"),
    Case("数据库备份在哪里", "zh database", 1, "zh data"),
    Case("数据团队什么时候开会", "zh data", 1, "zh database"),
    Case("部署脚本", "zh deploy"),
    Case("會議室在哪裡", "zh traditional"),
    # Japanese: a noun with other particles, katakana that shares parts, half-width katakana
    Case("猫の名前は何ですか", "ja cat", 1, "zh cat"),
    Case("本はいつ返す?", "ja book"),
    Case("会議は何曜日", "ja meeting"),
    Case("コーヒー", "ja coffee"),
    Case("プリンター", "ja printer"),
    Case("ﾌﾟﾘﾝﾀｰのﾄﾅｰ", "ja printer"),
    Case("データベースの移行", "ja db", 1, "zh database"),
    # Korean: particles differ between question and text
    Case("책", "ko book", 3),
    Case("책은 어디서 빌렸어?", "ko book", 1, "ko dog"),
    Case("강아지가 좋아하는 것", "ko dog"),
    Case("서버 점검 언제", "ko server"),
    Case("커피", "ko coffee"),
    # Accents: with and without, in the question and in the text
    Case("cafe gare", "fr café"),
    Case("CAFÉ", "fr café", 1, "ja coffee"),
    Case("ecole eleves", "fr school"),
    Case("e\u0301le\u0300ves", "fr school"),
    Case("ano fiscal compania", "es year"),
    Case("strasse koln", "de street"),
    Case("STRASSE", "de street"),
    Case("jurgen klavier", "de bear"),
    Case("Lodz supplier", "pl lodz"),
    Case("sao paulo", "pt sao"),
    Case("résumé zoë", "plain resume"),
    Case("pho ha noi", "vi pho"),
    Case("naive approach", "The naïve approach"),
    # Cyrillic and Greek: capitals, and letters with marks
    Case("СЕРВЕР данных", "ru server"),
    Case("елка", "ru tree"),
    Case("ключ офісу", "uk key"),
    Case("θαλασσα", "el sea", 1, "el office"),
    Case("ΑΘΗΝΑ γραφειο", "el office"),
    # Other scripts
    Case("תל אביב", "he office"),
    Case("اجتماع", "ar meeting"),
    Case("चाय", "hi tea"),
    Case("สถานีรถไฟ", "th food"),
    # Mixed scripts
    Case("React", "mixed react"),
    Case("用什么开发前端", "mixed react", 1, "mixed vue"),
    Case("Vue后台", "mixed vue"),
    Case("kubernetes 1.29", "mixed k8s"),
    Case("ＲＥＡＣＴ", "mixed react"),
    # Identifiers: whole, in parts, in other spellings
    Case("getUserName", "id camel", 1, "id other camel"),
    Case("user name", "id camel"),
    Case("get_user_name", "id camel"),
    Case("max_retry_count", "id snake", 1, "id other snake"),
    Case("retry count", "id snake"),
    Case("maxRetryCount", "id snake", 1, "id other snake"),
    Case("src/auth/token_parser.py", "id path", 1, "id other path"),
    Case("token_parser.py", "id path", 1, "id other path"),
    Case("token parser", "id path"),
    Case("session_store", "id other path", 1, "id path"),
    Case("app.core.logging", "id dotted"),
    Case("logging.configure", "id dotted"),
    Case("2.0.7", "id version", 1, "id other version"),
    Case("v2.31.0", "id other version", 1, "id version"),
    Case("urllib3 2.0", "id version", 1, "id other version"),
    Case("2.0", "id version", 1, "id other version"),
    Case("E0425", "id error", 1, "id other error"),
    Case("error e0308", "id other error", 1, "id error"),
    Case("econnreset", "id errno"),
    Case("503", "id http"),
    Case("http server factory", "id class"),
    Case("HTTPServer", "id class"),
    Case("C++", "id cpp", 1, "id csharp"),
    Case("c#", "id csharp", 1, "id cpp"),
    Case("grafana.example.com", "id url"),
    Case("ui-kit", "id package"),
    Case("--no-header", "id flag"),
    Case("PROJ-1243", "id other ticket", 1, "id ticket"),
    Case("proj-1234", "id ticket", 1, "id other ticket"),
    # Phrases: the words together against the words apart
    Case('"lock file"', "phrase", 1, "phrase apart"),
    Case('where is the "file room"', "phrase apart", 1, "phrase"),
    Case("«lock file» stale", "phrase", 1, "phrase apart"),
    # Forms of words
    Case("where does Maria go?", "went"),
    Case("child", "children"),
    Case("mouse", "mice"),
    Case("what did Tom buy?", "bought"),
    Case("think about the monolith", "thought"),
    Case("printing invoice", "better"),
    Case("Lena's study", "studies"),
    Case("runs out of disk", "running"),
    # Numbers and dates
    Case("1500 pallets", "number", 1, "other number"),
    Case("150 pallets", "other number", 1, "number"),
    Case("3 engineers", "three"),
    Case("2025-03-31", "iso", 1, "other iso"),
    Case("contract ends 2025-04-30", "other iso", 1, "iso"),
    Case("contract ends in March 2025", "iso", 1, "other iso"),
    Case("30 April 2025", "other iso", 1, "iso"),
    Case("concert in August 2023", "The concert by the lake", 1, "The concert in the church"),
    Case("concert in December 2022", "The concert in the church", 1, "The concert by the lake"),
    Case("what happened on 2023-05-05?", "I adopted a hamster"),
    # Speakers and neighbours
    Case("What did Oleg break?", "I broke my wrist", 1, "I broke my favourite cup"),
    Case("What did Nina break?", "I broke my favourite cup", 1, "I broke my wrist"),
    Case("what is the hamster called", "Biscuit", 4),
    Case("小明买了什么", "我昨天买了一辆自行车"),
    Case("自行车是什么颜色", "蓝色的", 3),
    Case("what did Zoe say of production", "The naïve approach", 2),
)


@pytest.fixture(scope="module")
def store() -> Workspace:
    """Return everything above in one store."""
    workspace = Workspace("nowhere", actor="tester", now=NOW, backend=InMemory())
    ask(
        workspace,
        table.ADD_ALL,
        AddAllRequest(
            memories=tuple(AddRequest(content=text, force=True) for text in MEMORIES.values())
        ),
    )
    with workspace.transaction():
        number = 0
        for place, talk in enumerate(TALKS):
            messages = []
            for speaker, text, at in talk:
                number += 1
                messages.append(said(number, speaker, text, at))
            workspace.conversations.put(
                Conversation(
                    id=f"mjwaid1q-c{place:07d}",
                    started_at=talk[0][2],
                    updated_at=talk[-1][2],
                    turns=len(messages),
                    recent_messages=tuple(messages),
                )
            )
    return workspace


def find(workspace: Workspace, query: str, **fields: object) -> SearchResult:
    return ask(workspace, table.SEARCH, SearchRequest(query=query, **fields))  # type: ignore[arg-type]


def texts(hits: tuple[SearchHit, ...]) -> list[str]:
    return [hit.text for hit in hits]


@pytest.mark.some(30)
@pytest.mark.parametrize("case", CASES, ids=[case.query for case in CASES])
def test_a_question_finds_its_memory_and_no_trap(store: Workspace, case: Case) -> None:
    found = texts(find(store, case.query).hits)
    assert any(text.startswith(known(case.wanted)) for text in found[: case.within]), found[:5]
    if case.trap:
        assert not found[0].startswith(known(case.trap))


def test_the_set_is_as_large_as_it_should_be() -> None:
    assert len(MEMORIES) + sum(map(len, TALKS)) >= 60
    assert len(CASES) >= 40
    assert len({case.query for case in CASES}) == len(CASES)
    assert sum(bool(case.trap) for case in CASES) >= 30
    assert all(
        known(case.wanted) in {*MEMORIES.values()} or case.wanted in _said() for case in CASES
    )


def _said() -> list[str]:
    openings = {case.wanted for case in CASES}
    return [
        opening for opening in openings for talk in TALKS for turn in talk if opening in turn[1]
    ]
