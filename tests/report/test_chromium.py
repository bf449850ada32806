"""A real browser draws the page: it asks for nothing, complains of nothing, and everybody can use
it. `make browser` gets what this needs; without that, these tests are skipped."""

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import pytest

from pmem import Project
from pmem.memory.reading import ListRequest
from pmem.operations import table
from pmem.project.workspace import Workspace
from pmem.report.collecting import ReportRequest
from pmem.report.document import ReportDocument
from pmem.report.page import write_report, write_site
from tests.asking import ask
from tests.http.serving import Listening, listening
from tests.once import Once
from tests.report.stores import NOW, LivedIn, fill_with_many
from tests.report.test_page import HOSTILE, document_saying

AXE: Final = Path(sys.prefix, "axe", "package", "axe.min.js")
BROWSER: Final = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
MUST: Final = bool(os.environ.get("PMEM_BROWSER"))
"""Whether what is missing is an error."""
SHOTS: Final = os.environ.get("PMEM_SHOTS")
"""Where pictures of the page are put, if somebody wants to look at them."""
WIDTHS: Final = (60, 320, 900, 1600)
MANY: Final = 10_000
_FIRST_PAINT: Final = 1_500
_FILTER: Final = 500
"""Milliseconds that a slow machine may take."""

try:
    PLAYWRIGHT: Any = import_module("playwright.sync_api")
except ImportError:
    PLAYWRIGHT = None

pytestmark = [
    pytest.mark.outside,
    pytest.mark.skipif(
        not MUST and not (PLAYWRIGHT and BROWSER and AXE.is_file()),
        reason="there is no Chromium, Playwright or axe-core: `make browser` gets them",
    ),
]


class Page:
    """A page in the browser, and what it did.

    Args:
        page: Playwright's.
    """

    def __init__(self, page: Any) -> None:
        self.page = page
        self.complaints: list[str] = []
        self.requests: list[str] = []
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("dialog", lambda dialog: self.complaints.append(dialog.message))

    def open(self, path: str) -> None:
        """Load a file, and wait until it is drawn."""
        self.page.goto(Path(path).absolute().as_uri())
        self.page.wait_for_function("performance.getEntriesByName('pmem-drawn').length > 0")

    def open_everything(self) -> None:
        """Open the first rows and all figures, and scroll to the end."""
        for name in (".lane", ".row"):
            if self.page.locator(name).count():
                self.page.locator(name).first.click()
        self.page.evaluate("document.querySelectorAll('details').forEach((one) => one.open = true)")
        self.page.evaluate("scrollTo(0, document.body.scrollHeight)")
        self.page.wait_for_timeout(200)

    @property
    def overflow(self) -> int:
        """Pixels that one would have to scroll to the side."""
        return int(self.page.evaluate("document.documentElement.scrollWidth - innerWidth"))

    def violations(self) -> list[str]:
        """Return what axe-core finds."""
        self.page.add_script_tag(path=str(AXE))
        found = self.page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        return [f"{one['id']}: {one['nodes'][0]['html']}" for one in found["violations"]]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Return a browser that stays open for all tests here."""
    with PLAYWRIGHT.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield opened
        opened.close()


@contextmanager
def opened(
    browser: Any, width: int = 1280, scheme: str = "light", **options: Any
) -> Iterator[Page]:
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, **options
    )
    try:
        yield Page(context.new_page())
    finally:
        context.close()


@pytest.fixture
def lived_in(root: str, once: Once) -> str:
    """Return a memory of half a year."""
    once(lambda: LivedIn(root))
    return root


@contextmanager
def drawn(browser: Any, root: str, *given: Any, **options: Any) -> Iterator[Page]:
    """Open the report of a memory."""
    write_report(reported(root), "report.html")
    with opened(browser, *given, **options) as page:
        page.open("report.html")
        yield page


def reported(root: str) -> ReportDocument:
    return ask(Workspace(root, now=NOW), table.REPORT, ReportRequest())


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_a_page_asks_for_nothing_and_fits_its_window(
    browser: Any, lived_in: str, width: int, scheme: str
) -> None:
    with drawn(browser, lived_in, width, scheme) as page:
        page.open_everything()
        assert page.complaints == []
        assert [url for url in page.requests if not url.startswith("file:")] == []
        assert len(page.requests) == 1
        assert width < 320 or page.overflow == 0
        if SHOTS:
            page.page.evaluate("scrollTo(0, 0)")
            page.page.screenshot(path=f"{SHOTS}/report-{scheme}-{width}.png", full_page=True)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 1280])
def test_axe_finds_nothing(browser: Any, lived_in: str, width: int, scheme: str) -> None:
    write_site(reported(lived_in), "site")
    subject = sorted(os.listdir("site/subjects"))[0]
    with opened(browser, width, scheme, bypass_csp=True, reduced_motion="reduce") as page:
        page.open("site/index.html")
        page.open_everything()
        assert page.violations() == []
        page.page.goto(Path("site/subjects", subject).absolute().as_uri())
        assert page.violations() == []


def test_an_empty_memory_has_a_page_that_says_how_to_begin(browser: Any, root: str) -> None:
    with drawn(browser, root, bypass_csp=True) as page:
        assert "Nothing is remembered yet" in page.page.inner_text("main")
        assert (page.complaints, page.violations()) == ([], [])


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_record_runs_nothing_and_is_shown_as_it_is(browser: Any, text: str) -> None:
    write_site(document_saying(text), "site")
    with opened(browser) as page:
        page.open("site/index.html")
        page.open_everything()
        elements = page.page.evaluate(
            "document.querySelectorAll('main script, main iframe, main img, main b').length"
        )
        assert elements == page.page.locator("main .ranks b").count()
        assert page.complaints == []
        assert text.partition("\u2028")[0] in page.page.text_content("h1")
        assert len(page.requests) == 1


def test_names_that_people_gave_are_shown_as_they_gave_them(browser: Any, root: str) -> None:
    names = ("constructor", "system", "my_tag")
    project = Project(root, actor="ann_b", now=NOW)
    project.add("The queue is RabbitMQ.", tags=names, subject="constructor")
    with drawn(browser, root) as page:
        page.open_everything()
        shown = page.page.locator("main select option").all_text_contents()
        assert {f"{name} (1)" for name in (*names, "ann_b")} <= set(shown)
        assert page.page.locator("main >> text=A page of its own").count() == 0


def test_every_part_is_reached_with_the_keyboard_alone(browser: Any, lived_in: str) -> None:
    with drawn(browser, lived_in) as page:
        keys = page.page.keyboard
        keys.press("/")
        keys.type("runners")
        page.page.wait_for_timeout(100)
        assert page.page.inner_text(".found") == "1 memory of 23, 1 subject"
        for _ in range(5):
            keys.press("Tab")
        keys.press("Enter")
        assert page.page.evaluate("document.activeElement.getAttribute('aria-expanded')") == "true"
        assert page.page.locator(".open .story del").count() > 0
        keys.press("/")
        keys.press("Escape")
        page.page.wait_for_timeout(100)
        assert page.page.inner_text(".found").startswith("21 memories of 23")


def test_the_slider_shows_what_a_larger_budget_would_hold(browser: Any, lived_in: str) -> None:
    with drawn(browser, lived_in) as page:
        page.page.focus("#budget")
        page.page.keyboard.press("Home")
        small = page.page.inner_text(".fates h3 >> nth=0")
        page.page.keyboard.press("End")
        large = page.page.inner_text(".fates h3 >> nth=0")
        assert page.page.inner_text("output") == "6,400 tokens"
        assert int(small[4:-1]) < int(large[4:-1])


def test_ten_thousand_memories_are_drawn_and_filtered_without_lag(browser: Any, root: str) -> None:
    fill_with_many(root, MANY)
    with drawn(browser, root) as page:
        times = page.page.evaluate(
            "({paint: performance.getEntriesByName('first-contentful-paint')[0].startTime,"
            " drawn: performance.getEntriesByName('pmem-drawn')[0].startTime})"
        )
        filtered = page.page.evaluate(
            """async () => {
              const box = document.getElementById('search'), took = [];
              for (const words of ['b', 'billing', 'billing retries', 'nothing like it', '']) {
                const start = performance.now();
                box.value = words;
                box.dispatchEvent(new Event('input'));
                await new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r)));
                took.push(performance.now() - start);
              }
              return took;
            }"""
        )
        figures = {**times, "filter": max(filtered)}
        print({name: round(value) for name, value in figures.items()})
        assert times["paint"] < _FIRST_PAINT
        assert max(filtered) < _FILTER
        assert page.page.evaluate("document.querySelectorAll('*').length") < 5_000
        assert page.complaints == []


@contextmanager
def live(
    browser: Any, root: str, width: int = 1280, scheme: str = "light", **options: Any
) -> Iterator[tuple[Page, Listening]]:
    """Serve a memory, and open its page as its owner does."""
    with listening(root, now=NOW) as server, opened(browser, width, scheme, **options) as page:
        page.page.goto(f"{server.address}/#token={server.served.secrets['person']}")
        page.page.wait_for_selector("#timelines")
        yield page, server


def test_the_live_page_shows_nothing_without_a_token(browser: Any, lived_in: str) -> None:
    with listening(lived_in, now=NOW) as server, opened(browser) as page:
        page.page.goto(server.address)
        page.page.fill("input[type=password]", "wrong")
        page.page.keyboard.press("Enter")
        page.page.wait_for_selector("[role=alert]")
        assert "a token is missing, or it does not count" in page.page.inner_text("[role=alert]")
        assert "Jobs run on" not in page.page.content()
        page.page.fill("input[type=password]", server.served.secrets["person"])
        page.page.keyboard.press("Enter")
        page.page.wait_for_selector("#timelines")
        assert "Jobs run on" in page.page.content()
        page.page.reload()
        page.page.wait_for_selector("#timelines")


def test_an_address_with_a_token_opens_the_page_that_stands_there_already(
    browser: Any, lived_in: str
) -> None:
    with listening(lived_in, now=NOW) as server, opened(browser) as page:
        page.page.goto(server.address)
        page.page.wait_for_selector("input[type=password]")
        page.page.goto(f"{server.address}/#token={server.served.secrets['person']}")
        page.page.wait_for_selector("#timelines")
        assert page.page.url == f"{server.address}/"


def test_the_live_page_keeps_the_token_out_of_its_address_and_asks_its_server_alone(
    browser: Any, lived_in: str
) -> None:
    with live(browser, lived_in) as (page, server):
        assert page.page.url == f"{server.address}/"
        page.open_everything()
        page.page.locator(".row").first.click()
        page.page.get_by_role("button", name="Pin", exact=True).first.click()
        page.page.wait_for_selector("#told >> text=pinned")
        token = server.served.secrets["person"]
        assert not [url for url in page.requests[1:] if token in url]
        assert {url.partition("#")[0].removeprefix(server.address) for url in page.requests} == {
            "/", "/api/events", "/pmem/1/report", "/pmem/1/inbox", "/pmem/1/pin",
        }  # fmt: skip
        assert page.complaints == []


def test_its_owner_edits_pins_and_removes_and_takes_each_back(browser: Any, lived_in: str) -> None:
    with live(browser, lived_in) as (page, server):

        def said() -> set[str]:
            return contents(server.served.opened())

        def press(name: str) -> None:
            page.page.get_by_role("button", name=name, exact=True).first.click()

        before = said()
        page.page.locator("#memories .row").first.click()
        text = page.page.inner_text("#memories .open .words, #memories .row .clip >> nth=0")
        press("Edit")
        page.page.fill("textarea", "Jobs run on cron")
        press("Save")
        page.page.wait_for_selector("#told >> text=edited")
        assert said() - before == {"Jobs run on cron"}
        assert page.page.locator("#memories .open").count() == 1, text
        press("Undo")
        page.page.wait_for_selector("#told >> text=undone")
        assert said() == before
        press("Remove")
        page.page.wait_for_selector("#told >> text=removed")
        assert len(said()) == len(before) - 1
        assert page.page.locator("#week >> text=Restore").count()
        press("Undo")
        page.page.wait_for_selector("#told >> text=undone")
        assert said() == before
        assert page.complaints == []


def test_what_is_edited_is_what_the_record_says_and_not_what_the_page_shows_of_it(
    browser: Any, root: str
) -> None:
    long = "The handbook says: " + "look twice before you leap. " * 130
    Project(root, actor="kim", now=NOW).add(long)
    with live(browser, root) as (page, _):
        page.page.locator("#memories .row").first.click()
        page.page.get_by_role("button", name="Edit", exact=True).first.click()
        page.page.wait_for_selector("textarea")
        assert page.page.input_value("textarea") == long.strip()


def test_what_needs_somebody_is_settled_by_a_click(browser: Any, root: str) -> None:
    project = Project(root, actor="kim", now=NOW)
    project.add("We use MySQL", subject="database")
    project.add("We use PostgreSQL", subject="database", force=True)
    with live(browser, root) as (page, server):
        page.page.locator("#needs").get_by_role("button", name="keep only the newer one").click()
        page.page.wait_for_selector("#told >> text=done")
        assert contents(server.served.opened()) == {"We use PostgreSQL"}
        page.page.wait_for_selector("#needs >> text=All settled")
        page.page.get_by_role("button", name="Undo", exact=True).click()
        page.page.wait_for_selector("#needs >> text=keep only the newer one")


def test_a_fact_is_promoted_by_a_click(browser: Any, root: str) -> None:
    project = Project(root, actor="kim", now=NOW)
    project.start_conversation()
    project.add_message("user", "I prefer tabs over spaces in Python code.")
    with live(browser, root) as (page, server):
        page.page.locator("#needs").get_by_role("button", name="promote it to a memory").click()
        page.page.wait_for_selector("#told >> text=done")
        assert len(contents(server.served.opened())) == 1


def test_a_change_by_somebody_else_is_drawn_but_never_while_its_reader_writes(
    browser: Any, lived_in: str
) -> None:
    with live(browser, lived_in) as (page, _):
        page.page.fill("#search", "e")
        page.page.wait_for_timeout(100)
        page.page.locator("#memories .row").first.click()
        page.page.get_by_role("button", name="Edit", exact=True).first.click()
        page.page.fill("textarea", "half of a thought")
        Project(lived_in, actor="ana", now=NOW).add("The kettle is broken.")
        page.page.wait_for_timeout(1_500)
        page.page.locator("#timelines .lane").first.click()
        page.page.locator("#timelines").get_by_role("button", name="Pin").first.click()
        page.page.wait_for_selector("#told >> text=pinned")
        assert page.page.input_value("textarea") == "half of a thought"
        page.page.get_by_role("button", name="Cancel", exact=True).click()
        page.page.wait_for_selector("#memories >> text=The kettle is broken.")
        assert page.page.input_value("#search") == "e"
        assert page.page.locator("#memories .open").count() == 1
        assert page.complaints == []


def test_a_hostile_record_runs_nothing_on_the_live_page(browser: Any, root: str) -> None:
    project = Project(root, actor="kim", now=NOW)
    project.start_conversation()
    for text in filter(str.strip, HOSTILE):
        project.add(text, subject="hostile", force=True)
        project.add_message("user", f"I prefer {text} over spaces in Python code.")
    with live(browser, root) as (page, _):
        page.open_everything()
        assert page.page.locator("main :is(script, iframe, img)").count() == 0
        assert "\u202e" not in page.page.inner_text("main")
        assert page.complaints == []


def test_a_task_of_ones_own_has_a_receipt_with_a_slider_and_outlives_a_change(
    browser: Any, lived_in: str
) -> None:
    with live(browser, lived_in) as (page, _):
        page.page.fill("[aria-label='A task of your own']", "which database")
        page.page.keyboard.press("Enter")
        page.page.wait_for_selector(".tasks >> text=which database")
        assert "answers the task" in page.page.inner_text(".fates")
        page.page.focus("#budget")
        page.page.keyboard.press("End")
        assert page.page.inner_text("output") == "6,400 tokens"
        Project(lived_in, actor="ana", now=NOW).add("The kettle is broken.")
        page.page.wait_for_selector("#memories >> text=The kettle is broken.")
        assert page.page.is_checked("label:has-text('which database') input")
        assert page.page.inner_text("output") == "6,400 tokens"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 1280])
def test_axe_finds_nothing_on_the_live_page(
    browser: Any, lived_in: str, width: int, scheme: str
) -> None:
    with live(browser, lived_in, width, scheme, bypass_csp=True, reduced_motion="reduce") as (
        page,
        _,
    ):
        page.open_everything()
        page.page.get_by_role("button", name="Pin", exact=True).first.click()
        page.page.wait_for_selector("#told")
        page.page.get_by_role("button", name="Edit", exact=True).first.click()
        page.page.wait_for_selector("textarea")
        assert page.violations() == []
        assert page.overflow == 0
        if SHOTS:
            page.page.screenshot(path=f"{SHOTS}/live-seen-{scheme}-{width}.png")
            page.page.evaluate("scrollTo(0, 0)")
            page.page.screenshot(path=f"{SHOTS}/live-{scheme}-{width}.png", full_page=True)


def contents(workspace: Workspace) -> set[str]:
    return {each.content for each in ask(workspace, table.LIST, ListRequest()).items}
