"""Instruction files: code, lists, tables and records of what files are, as rules with a type."""

import pytest

from pmem.interchange.notes import Note, read_notes

LONG = "Its name is long " + 80 * "x, y " + "z"
SERVER = "```ts\nserve(routes)\n```"


def notes_of(text: str, file: str = "AGENTS.md") -> tuple[Note, ...]:
    return read_notes(file, f"# Guide\n\n## Parts\n\n{text}\n").notes


def told(text: str, file: str = "AGENTS.md") -> list[tuple[str, str]]:
    return [(note.type.value, note.text) for note in notes_of(text, file)]


CODE = {
    SERVER: [("fact", "Parts: `serve(routes)`")],
    f"Inject all parts.\n\n{SERVER}": [("constraint", "Inject all parts. `serve(routes)`")],
    f"One part is a server.\n\n{SERVER}": [("fact", "One part is a server. `serve(routes)`")],
    "```\nbb test   # all tests\nbb lint\n```": [("procedure", "`bb test` (all tests); `bb lint`")],
    "```\nfeat(api): a route\nfix: it\n```": [("fact", "Parts: `feat(api): a route; fix: it`")],
    "```\nshop/\n├── a.ts    # It begins here\n└── web/\n    └── b.ts\n```": [
        ("fact", "Parts: `shop/a.ts`: It begins here; `shop/web/b.ts`")
    ],
    "```ts\n" + "serve(routes)\n" * 16 + "```": [],
    "```powershell\nbb test `\n  --all\n```": [("procedure", "`bb test --all`")],
    "To test it all you run:\n\n`bb test`": [("procedure", "To test it all you run: `bb test`")],
}

LISTS = {
    "1. **One store.** Nobody reads its files.\n2. Templates are copied. Never trust one.": [
        ("constraint", "One store. Nobody reads its files."),
        ("constraint", "Templates are copied. Never trust one."),
    ],
    "A change is done when:\n\n1. The tests pass.\n2. It has a line in the log.": [
        ("constraint", "A change is done when: The tests pass."),
        ("constraint", "A change is done when: It has a line in the log."),
    ],
    "1. **First run**: Run `make all`\n2. **Report**: Tell the others": [
        ("procedure", "1. First run: Run `make all`; 2. Report: Tell the others")
    ],
    "It makes:\n\n1. A function with `t` in it\n2. A struct": [
        ("fact", "It makes: A function with `t` in it; A struct")
    ],
    "- **Add a part** → `parts.nix` — and name it\n- **YubiKey forwarding** → `host.nix`": [
        ("procedure", "Add a part → `parts.nix` — and name it"),
        ("fact", "YubiKey forwarding → `host.nix`"),
    ],
    "- No unused names\n- Single quotes\n- 2-space indent": [
        ("constraint", "No unused names"),
        ("constraint", "Single quotes"),
        ("constraint", "2-space indent"),
    ],
    "- Shop code lives in `shop/`\n- Data is in `data/`\n- Pages are in `web/`": [
        ("fact", "Shop code lives in `shop/`"),
        ("fact", "Data is in `data/`"),
        ("fact", "Pages are in `web/`"),
    ],
    "Before you end, see that:\n\n- [ ] Names are clear\n- [ ] Tests pass": [
        ("constraint", "Before you end, see that: Names are clear; Tests pass")
    ],
    "- `a` -- the first part\n- `b` -- the second": [
        ("fact", "`a` -- the first part; `b` -- the second")
    ],
}

LEADS = {
    "**Stores** (`src/stores/`)\n\n- One file a table\n- Closed at the end": [
        ("fact", "Stores (`src/stores/`): One file a table; Closed at the end")
    ],
    '**Pages** (`web/`)\n\n- One look (says "page" instead of "site")\n- Each page draws a map': [
        ("fact", 'Pages (`web/`): One look (says "page" instead of "site"); Each page draws a map')
    ],
    "**Stores**\n\n- Close every store\n\n**Pages**\n\n- Draw no page twice": [
        ("constraint", "Close every store"),
        ("constraint", "Draw no page twice"),
    ],
    "The command to begin is\n\n```\nbb run now\n```\n\nAnd it needs a key.": [
        ("procedure", "The command to begin is: `bb run now`. And it needs a key.")
    ],
    "- One part with:\n\n```sh\nbb test web\n```\n\n- All parts with:\n\n```sh\nbb test\n```": [
        ("procedure", "One part with: `bb test web`"),
        ("procedure", "All parts with: `bb test`"),
    ],
    "**Location:** `src/web/{Name}/`\n\n- Each part has a test.\n- Never nest parts.": [
        ("fact", "Location: `src/web/{Name}/`"),
        ("constraint", "Each part has a test."),
        ("constraint", "Never nest parts."),
    ],
    "Branch: `main`\n\n1. Pull\n2. Tag it": [
        ("fact", "Branch: `main`"),
        ("procedure", "1. Pull; 2. Tag it"),
    ],
    f"Location: `src/web/`\n\n{SERVER[:-3] + 'serve(routes)' * 60}\n```": [
        ("fact", "Location: `src/web/`")
    ],
    "```sh\nbb run now\n# Pages are on port 80\n```": [
        ("procedure", "`bb run now`; Pages are on port 80")
    ],
    "```sh\nbb up\n# Or one: bb up web\n\n# Take it down\nbb down\n```": [
        ("procedure", "`bb up`; Or one: bb up web; Take it down: `bb down`")
    ],
    "Parts are in C. They fail with:\n\n> no such part\n\nTo mend that, clean all parts.": [
        (
            "constraint",
            "Parts are in C. They fail with: no such part. To mend that, clean all parts.",
        )
    ],
    "If you doubt:\n\n- A name\n- A part\n\n**Then:**\n\n1. Stop at once\n2. Ask the owner": [
        ("procedure", "If you doubt: A name; A part. Then: 1. Stop at once; 2. Ask the owner")
    ],
    "Every part has a note. With no note, write `NONE`.\n\nOtherwise use one line.": [
        ("constraint", "Every part has a note. With no note, write `NONE`. Otherwise use one line.")
    ],
    f"Parts run here. When you add a part, check:\n\n- {LONG}\n- {LONG}\n": [
        ("fact", "Parts run here."),
        ("constraint", f"When you add a part, check: {LONG}"),
        ("constraint", f"When you add a part, check: {LONG}"),
    ],
    "New parts must not know the shop, see [the plan](plan.md).": [
        ("constraint", "New parts must not know the shop, see the plan (`plan.md`).")
    ],
    "`web/` holds pages. " + "Never put a part there. " * 40: [
        (
            "constraint",
            "`web/` holds pages. " + "Never put a part there. " * 39 + "Never put a part there.",
        )
    ],
}

NAMES = {
    f"Check all parts as here:\n\n| Part | File |\n|--|--|\n| A | {LONG} |\n| B | {LONG} |": [
        ("constraint", "Check all parts as here."),
        ("fact", f"A: {LONG}"),
        ("fact", f"B: {LONG}"),
    ],
    "- `shop`\n- `web-pages`\n- `tools`": [("fact", "`shop`; `web-pages`; `tools`")],
    "- `./bb test`\n- `./bb lint` (with fixes)": [
        ("procedure", "`./bb test`; `./bb lint` (with fixes)")
    ],
    "- **shop/** - Build parts\n- **web/** - All pages": [
        ("fact", "shop/ - Build parts; web/ - All pages")
    ],
    "".join(f"- `p{n}`: {'x' * 150}\n" for n in range(6)): [
        ("fact", "; ".join(f"`p{n}`: {'x' * 150}" for n in range(3))),
        ("fact", "; ".join(f"`p{n}`: {'x' * 150}" for n in range(3, 6))),
    ],
}

TYPES = {
    "- **Store**: Maps over SQLite\n- **Event-led**: Inner bus for all parts": ["fact", "fact"],
    "- **Lint**: `bb lint all` - with fixes\n- **Never** skip it": ["procedure", "constraint"],
    "- **Parts**: `./scripts/parts.sh`\n- **Map**: `./docs/parts.md`": ["procedure", "fact"],
    "- **Try it**: Use `bb start` to see the pages": ["procedure"],
    "- Use later types via `from __later__ import types`.": ["constraint"],
    "- Define a `keys.ts` and export helpers (use lists with `as const`).": ["constraint"],
    "- PascalCase for types\n- camelCase for functions\n- Use whole words": ["constraint"] * 3,
    "- Rich set of parts\n- Automatic retry\n- Handles pages with `Page<T>`": ["fact"] * 3,
    "- Bug fixes require a test that shows the bug": ["constraint"],
    "- Ownership: when a buffer is lent (e.g. twice), document it": ["constraint"],
    "- There is no root part, so run commands in `web/`": ["constraint"],
    "- Keep edits small; prefer one file": ["constraint"],
    "- Re-read the comments after a change": ["constraint"],
    "- A part is named by `use x` instead of a number; use it": ["constraint"],
}

SECTIONS = {
    "Before a change, agents MUST:\n\n### Look\n\n- Read the notes\n- Names in the map": [
        ("constraint", "Before a change, agents MUST: Read the notes; Names in the map")
    ],
    "In changes of these files, verify:\n\n### Data\n\n- Every entry has a date": [
        ("constraint", "In changes of these files, verify: Every entry has a date")
    ],
    "### Stop at once if\n\n- A test fails twice\n- The plan is not clear": [
        ("constraint", "Stop at once if: A test fails twice; The plan is not clear")
    ],
    "Follow these rules:\n\n### DON'T\n\n- Copy a page": [
        ("constraint", "Follow these rules."),
        ("constraint", "DON'T: Copy a page"),
    ],
}

SENTENCES = {
    "Steps are counted. Rust edition 2024, for all parts. Strict mode fails early.": "fact",
    "Parts are counted. See `docs/parts.md` for more.": "fact",
    "Every function that reads is prefixed `db_`.": "constraint",
    "One or two lines — match what is there.": "constraint",
    "Check if a part is null before a call.": "constraint",
    "Keep layers thin: routes speak HTTP only. A store is a layer.": "constraint",
    "If you don't use it, the names are in `deps.edn`.": "fact",
    "Config in `pytest.ini`: `pythonpath = .`": "fact",
    "A part like {{ this }} has a name of its own, and no other part has one.": "fact",
}


TOLD = CODE | LISTS | LEADS | NAMES | SECTIONS


@pytest.mark.parametrize(("text", "wanted"), TOLD.items())
def test_a_block_is_told_as_what_it_is(text: str, wanted: list[tuple[str, str]]) -> None:
    assert told(text) == wanted


@pytest.mark.parametrize(("text", "wanted"), TYPES.items())
def test_an_entry_is_an_order_a_command_or_a_description(text: str, wanted: list[str]) -> None:
    assert [note.type for note in notes_of(text)] == wanted


@pytest.mark.parametrize(("text", "wanted"), SENTENCES.items())
def test_a_paragraph_orders_or_describes(text: str, wanted: str) -> None:
    assert told(text) == [(wanted, text)]


@pytest.mark.parametrize(
    "text", ["See the guide for more.", "For more, please see the guide.", "[more](more.md)"]
)
def test_what_only_points_elsewhere_is_left_out(text: str) -> None:
    assert told(text) == []


def test_thanks_before_the_sections_are_left_out() -> None:
    text = "# Help\n\nThanks! Please read this first.\n\n## Parts\n\n- Use whole words\n"
    assert [note.text for note in read_notes("CONTRIBUTING.md", text).notes] == ["Use whole words"]


def test_entries_below_a_heading_of_rules_are_rules() -> None:
    text = "# G\n\n## Conventions\n\n- Names that act end with `!`.\n- `a.nix` makes: hosts\n"
    found = read_notes("AGENTS.md", text).notes
    assert [note.type for note in found] == ["constraint", "fact"]


def test_rows_have_one_type_and_the_words_of_their_heads() -> None:
    long = "x" * 300
    rows = f"| Web | `npm test` | `npm run fix` |\n| Rest {long} | by hand | — |\n"
    found = told(f"| What | Check | Fix |\n|--|--|--|\n{rows}| B {long} | `b run` | |")
    assert {kind for kind, _ in found} == {"procedure"}
    assert found[1][1] == f"Rest {long}: Check by hand"
    table = "| Before adding a… | Look here first |\n|--|--|\n| Button | `ui/` |"
    assert told(table) == [("constraint", "Before adding a Button: Look here first `ui/`")]


ABOUT = {
    "- `a.json` and `b/c.json` must agree": ("a.json", "b/c.json"),
    "- `lint.json` sets it to an error. Open an issue instead.": (),
    "- `cores/` is built. Never edit it.": ("cores/",),
    "- NEVER edit `keys/a.yml` by hand": ("keys/a.yml",),
    "- NEVER import `keys/a.nix` by hand": (),
}


@pytest.mark.parametrize(("text", "about"), ABOUT.items())
def test_a_rule_is_about_the_files_that_it_begins_with(text: str, about: tuple[str, ...]) -> None:
    assert [note.about for note in notes_of(text)] == [about]


def test_a_row_is_about_the_file_in_its_column() -> None:
    rows = "".join(f"| Part {n} {'x' * 90} | `src/p{n}.c` |\n" for n in range(7))
    found = notes_of(f"| Part | File |\n|--|--|\n{rows}")
    assert [note.about for note in found] == [(f"src/p{n}.c",) for n in range(7)]


def test_what_a_file_is_described_as_is_the_heading_above_all() -> None:
    text = "---\ndescription: Rules for tests\n---\n- Use words\n\n## Names\n\n- Be short\n"
    found = read_notes(".cursor/rules/a.mdc", text).notes
    assert [(note.subject, note.tags) for note in found] == [
        ("Rules for tests", ("rules-for-tests",)),
        ("Names", ("rules-for-tests", "names")),
    ]


def test_what_the_file_of_a_folder_says_first_is_kept() -> None:
    text = "# web\n\nCustom pages, drawn by the server.\n\n## A\n\n- Use words\n"
    found = {file: read_notes(file, text).notes for file in ("web/AGENTS.md", "AGENTS.md")}
    assert [note.type for note in found["web/AGENTS.md"]] == ["fact", "constraint"]
    assert [note.text for note in found["AGENTS.md"]] == ["Use words"]


def test_what_a_file_says_first_is_kept_where_it_names_folders() -> None:
    text = "# G\n\nWelcome.\n\nMore rules are in `web/` and `api/`.\n\n## A\n\n- Use words\n"
    assert "More rules are in `web/` and `api/`." in [
        note.text for note in read_notes("AGENTS.md", text).notes
    ]


OPENINGS = {
    "This document says how we work. Use it to begin.": [],
    "This guide is for all. Every change must be small.": ["Every change must be small."],
    "This is for all who work here. Keep changes small and name the files.": [
        "Keep changes small and name the files."
    ],
    "Guidance for all. Keep it short.": [],
    "Changes are welcome only if they have tests.": [
        "Changes are welcome only if they have tests."
    ],
}


@pytest.mark.parametrize(("text", "wanted"), OPENINGS.items())
def test_what_a_file_says_of_itself_is_left_out(text: str, wanted: list[str]) -> None:
    found = read_notes("AGENTS.md", f"# G\n\n{text}\n\n## A\n\n- Use words\n").notes
    assert [note.text for note in found] == [*wanted, "Use words"]


SUBJECTS = {
    ("web/AGENTS.md", "# Web pages\n\n## Tests\n"): "Web pages: Tests",
    ("AGENTS.md", "# Web pages\n\n## Tests\n"): "Tests",
    ("AGENTS.md", "# Web pages\n\n## Page tests\n\n### Names\n"): "Page tests: Names",
    ("web/AGENTS.md", "# AGENTS.md\n\n## Tests\n"): "Tests",
    ("web/AGENTS.md", f"# {'Web ' * 30}\n\n## Tests\n"): "Web " * 18 + "W: Tests",
}


@pytest.mark.parametrize(("file", "subject"), SUBJECTS.items())
def test_a_heading_of_one_word_is_told_with_what_is_above_it(
    file: tuple[str, str], subject: str
) -> None:
    name, headings = file
    assert [note.subject for note in read_notes(name, f"{headings}\n- Use words\n").notes] == [
        subject
    ]


DATA = (
    "<rule>\nname: tests\nfilters:\n  - type: file\n\nactions:\n  - Run `bb up`\n\n</rule>\n",
    "---\nglobs: web/**\nalwaysApply: true\n---\n",
)


@pytest.mark.parametrize("data", DATA)
def test_data_in_the_body_is_not_read_as_rules(data: str) -> None:
    found = read_notes("AGENTS.md", f"# G\n\n<!-- x -->\n\n{data}\n- Use words\n").notes
    assert [(note.subject, note.text) for note in found] == [(None, "Use words")]


def test_an_element_around_rules_is_no_data() -> None:
    text = "# G\n\n<important>\n\n- Use words\n\n</important>\n"
    assert [note.text for note in read_notes("AGENTS.md", text).notes] == ["Use words"]
