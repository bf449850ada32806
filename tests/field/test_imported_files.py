"""Instruction files as people and programs write them: lines, bullets, scopes, what is left out."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.shell import Outcome, Shell, new_repository

MARK = "\ufeff"
NO_LINE_ENDS = ["\u2028", "\u2029", "\x85", "\v", "\f", "\x1c", "\x1d", "\x1e", "\r"]


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    shell = Shell(new_repository(str(tmp_path / "p")))
    shell.run("pmem init -q")
    return shell


def write(shell: Shell, name: str, text: str) -> None:
    path = Path(shell.folder, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())


def take(shell: Shell, *paths: str) -> Outcome:
    done = shell.run(f"pmem import notes {' '.join(paths)}")
    assert done.code == 0, done.said
    return done


def items(shell: Shell, command: str) -> list[dict[str, Any]]:
    found = json.loads(shell.run(f"pmem {command} --json").text)
    return list(found["data"]["items"])


def kept(shell: Shell) -> list[dict[str, Any]]:
    return items(shell, "list -n 200")


def texts(shell: Shell) -> set[str]:
    return {one["content"] for one in kept(shell)}


def why(shell: Shell, place: str) -> set[str]:
    return {one["memory"]["content"] for one in items(shell, f"why {place}")}


@pytest.mark.parametrize("sign", NO_LINE_ENDS, ids=ascii)
def test_only_a_line_feed_ends_a_line_that_is_cited(shell: Shell, sign: str) -> None:
    write(shell, "AGENTS.md", f"# Rules\n\n- Use tabs{sign}for indentation\n- Never push to main\n")
    take(shell, "AGENTS.md")
    assert why(shell, "AGENTS.md:4") == {"Never push to main"}
    found = json.loads(shell.run("pmem check citations --json").text)
    assert found["data"]["citations"]["items"] == []


@pytest.mark.parametrize("sign", NO_LINE_ENDS, ids=ascii)
def test_a_decision_cites_its_section_whatever_is_in_its_lines(shell: Shell, sign: str) -> None:
    text = f"# 1. Cache\n\n## Context\n\nIt is{sign}slow.\n\n## Decision\n\nUse Redis.\n"
    write(shell, "adr/0001-cache.md", text)
    assert shell.run("pmem import adr adr").code == 0
    assert len(why(shell, "adr/0001-cache.md:9")) == 1
    assert why(shell, "adr/0001-cache.md:5") == set()


def test_windows_line_ends_count_as_one(shell: Shell) -> None:
    write(shell, "AGENTS.md", "# Rules\r\n\r\n- Use tabs\r\n- Never push to main\r\n")
    take(shell, "AGENTS.md")
    assert why(shell, "AGENTS.md:3") == {"Use tabs"}


def test_what_is_accepted_is_shown_by_the_lines_that_git_counts(shell: Shell) -> None:
    write(shell, "rules.txt", "a\u2028b\nthe old rule of this file\n")
    shell.run("pmem add 'A rule' --cite rules.txt:2")
    write(shell, "rules.txt", "a\u2028b\nthe new rule of this file\n")
    (memory,) = kept(shell)
    done = shell.run(f"pmem check --accept {memory['id']}")
    assert "the new rule of this file" in done.text


def test_each_line_of_a_text_is_a_memory_and_no_part_of_one(shell: Shell) -> None:
    shell.run("pmem add - --each-line", stdin="Use tabs\u2028always\nUse pnpm\n")
    assert texts(shell) == {"Use tabs\u2028always", "Use pnpm"}


BULLETS = {
    "- Keys live in the vault\n\nThis guide says how we work.\n": "Keys live in the vault",
    "- Use pnpm\n\n  It keeps one store.\n": "Use pnpm; It keeps one store.",
    "- Use pnpm\nand never npm\n": "Use pnpm and never npm",
    "- Use pnpm\n\n\n  - with a lock file\n": "Use pnpm; with a lock file",
    "* Use pnpm\n  > quoted\n": "Use pnpm",
    "10. Use pnpm\n\n   This is not below it\n": "Use pnpm",
    "- Use pnpm\n# Next\n": "Use pnpm",
    "- Use pnpm <!-- since May -->\n": "Use pnpm",
    "- Use pnpm\n\n      pnpm install\n": "Use pnpm; `pnpm install`",
}


@pytest.mark.parametrize(("text", "said"), BULLETS.items())
def test_a_bullet_has_what_commonmark_counts_to_it(shell: Shell, text: str, said: str) -> None:
    write(shell, "CLAUDE.md", text)
    take(shell, "CLAUDE.md")
    assert texts(shell) == {said}


def test_a_paragraph_after_a_bullet_does_not_change_its_type(shell: Shell) -> None:
    write(shell, "CLAUDE.md", "- Keys live in the vault\n\nAlways run the checks first.\n")
    take(shell, "CLAUDE.md")
    assert {one["content"]: one["type"] for one in kept(shell)} == {
        "Keys live in the vault": "fact",
        "Always run the checks first.": "constraint",
    }


def test_a_paragraph_below_a_heading_that_states_something_is_a_memory(shell: Shell) -> None:
    text = (
        "# Deploy\n\nAlways deploy on Tuesdays.\n\n## Database\n\nWe use PostgreSQL.\n\n- Back up\n"
    )
    write(shell, "CLAUDE.md", text)
    done = take(shell, "CLAUDE.md")
    assert texts(shell) == {"Always deploy on Tuesdays.", "We use PostgreSQL.", "Back up"}
    assert why(shell, "CLAUDE.md:3") == {"Always deploy on Tuesdays."}
    assert "left out" not in done.text


def test_a_short_line_above_a_list_is_its_heading(shell: Shell) -> None:
    write(
        shell, "CLAUDE.md", "# Guide\n\nQuick commands\n\n- Use make\n\n**Names:**\n\n- Use words\n"
    )
    take(shell, "CLAUDE.md")
    found = {one["content"]: one["subject"] for one in kept(shell)}
    assert found == {"Use make": "Quick commands", "Names: Use words": "Quick commands"}


def test_what_a_file_says_of_itself_before_its_sections_is_no_rule(shell: Shell) -> None:
    text = "# Guide\n\nWelcome to the shop. Start here for more.\n\n## Style\n\nUse words.\n"
    write(shell, "CLAUDE.md", text)
    assert "1 paragraph (line 3)" in take(shell, "CLAUDE.md").text
    assert texts(shell) == {"Use words."}


def test_a_heading_that_orders_counts(shell: Shell) -> None:
    text = (
        "### Use `screen`, no parts\n\n```ts\nscreen.get()\n```\n\n### Do not:\n\n- Break a shape\n"
    )
    write(shell, "CLAUDE.md", f"# Guide\n\n## Tests\n\n{text}- Great!\n")
    take(shell, "CLAUDE.md")
    assert {one["content"]: one["type"] for one in kept(shell)} == {
        "Use `screen`, no parts: `screen.get()`": "constraint",
        "Do not: Break a shape": "constraint",
    }


def test_code_within_an_entry_that_is_not_told_is_named(shell: Shell) -> None:
    code = "  a + b\n" * 16
    write(shell, "CLAUDE.md", f"- Join parts so\n\n  ```python\n{code}  ```\n")
    assert "1 code block (lines 3-20)" in take(shell, "CLAUDE.md").text


def test_a_rule_applies_to_the_file_or_folder_that_it_begins_with(shell: Shell) -> None:
    write(shell, "shop/cores/a.so", "")
    write(shell, "shop/main.rs", "")
    write(shell, "shop/AGENTS.md", "- `cores/` is built. Do not edit it.\n- `none/` is ours\n")
    text = "- In the folder `shop/cores/`, use no tabs\n- Run `shop/main.rs` first\n"
    write(shell, "AGENTS.md", f"{text}- `shop/main.rs` starts it\n")
    take(shell, "AGENTS.md shop/AGENTS.md")
    assert {one["content"]: one["places"] for one in kept(shell)} == {
        "`cores/` is built. Do not edit it.": ["shop/cores/**"],
        "`none/` is ours": ["shop/**"],
        "In the folder `shop/cores/`, use no tabs": ["shop/cores/**"],
        "Run `shop/main.rs` first": [],
        "`shop/main.rs` starts it": ["/shop/main.rs"],
    }


def test_all_that_is_left_out_is_counted_with_its_lines(shell: Shell) -> None:
    text = (
        "# Guide\n\nThis file guides assistants.\n\n- Keep it short\n- [ ] a task\n- [b](#b)\n\n"
        "```text\na/ b/\n```\n\nTBD\n\n> A quotation\n\n<div>x</div>\n\n"
        "<!-- a comment -->\n\n@docs/more.md\n\n[link]: https://example.org\n"
    )
    write(shell, "CLAUDE.md", text)
    assert take(shell, "CLAUDE.md").text.splitlines()[1] == (
        "left out of CLAUDE.md: 2 paragraphs (lines 3, 13), 1 task (line 6), 1 link (line 7), "
        "1 code block (lines 9-11), 1 quotation (line 15), 1 HTML block (line 17), "
        "1 comment (line 19), 1 import (line 21), 1 other line (line 23)"
    )


RULES = {
    "**Never** push to [main](https://example.org/x.md) <!-- since May --> with `-f`": [
        ("constraint", "Never push to main with `-f`")
    ],
    "Use [cart.ts](mdc:shop/web/cart.ts), __tests__/cart.ts and *all* of __init__.py": [
        ("constraint", "Use `shop/web/cart.ts`, __tests__/cart.ts and all of __init__.py")
    ],
    "Read [the guide](./docs/guide.md#start) or [`docs/b.md`](docs/b.md) (or [this](c/d.md))": [
        ("constraint", "Read the guide (`docs/guide.md`) or `docs/b.md` (or this, `c/d.md`)")
    ],
    "Before a release:\n\n- raise the version\n- run the tests": [
        ("constraint", "Before a release: raise the version; run the tests")
    ],
    "1. Open the file\n2. Run\n   ```sh\n   make x\n   ```\n   - twice": [
        ("procedure", "1. Open the file; 2. Run; twice; `make x`")
    ],
    "- `make dev` — a server that reloads\n- `make dist` — the files to ship": [
        ("procedure", "`make dev` — a server that reloads; `make dist` — the files to ship")
    ],
    "```bash\n# all of it\nmake check\nmake fmt  # layout alone\n```": [
        ("procedure", "all of it: `make check`; `make fmt` (layout alone)")
    ],
    "| Job | Runs | For |\n|--|--|--|\n| `ci` | at a push | tests |\n| `rel` | by hand | |": [
        ("fact", "`ci`: Runs at a push, For tests; `rel`: Runs by hand")
    ],
    "> [!IMPORTANT]\n> Read the *design* before you change a shape.": [
        ("constraint", "Read the design before you change a shape.")
    ],
    "The two are the best models. Read them before you write another one.": [
        ("constraint", "The two are the best models. Read them before you write another one.")
    ],
    "Name models with `{{ ref('x') }}`. Never name a table.": [
        ("constraint", "Name models with `{{ ref('x') }}`. Never name a table.")
    ],
    "Wrap errors with what was done:\n\n```go\nreturn wrap(err)\n```": [
        ("constraint", "Wrap errors with what was done: `return wrap(err)`")
    ],
    "1. Build it:\n\n```sh\nmake all\n```\n\n2. Ship it\n3. Tell the others": [
        ("procedure", "1. Build it: `make all`; 2. Ship it; 3. Tell the others")
    ],
    "1. **Names** — use whole words\n2. **Tests**: write one first": [
        ("constraint", "Names — use whole words"),
        ("constraint", "Tests: write one first"),
    ],
    "- Use a locator\n  - Make shops single\n  - Make carts new": [
        ("constraint", "Use a locator; Make shops single; Make carts new")
    ],
    '- Lint with: lint "docs/**/*.md" && lint "*.md"': [
        ("constraint", 'Lint with: lint "docs/**/*.md" && lint "*.md"')
    ],
    "| Job | Does |\n|--|--|\n| `just ci` | all checks |\n| `just one X` | one test |": [
        ("procedure", "`just ci`: all checks; `just one X`: one test")
    ],
    "- Start it: `cd shop && make run`\n- Rows never leave the shop\n- yarn lint: 3 seconds": [
        ("procedure", "Start it: `cd shop && make run`"),
        ("constraint", "Rows never leave the shop"),
        ("fact", "yarn lint: 3 seconds"),
    ],
    "- Do use `$name` for parts\n- Before you write a helper, look into it\n- One part per file": [
        ("constraint", "Do use `$name` for parts"),
        ("constraint", "Before you write a helper, look into it"),
        ("constraint", "One part per file"),
    ],
    "- Run the tests: ./run_tests.sh --fast\n- Unit tests: CI=1 npm test\n- Go!": [
        ("procedure", "Run the tests: ./run_tests.sh --fast"),
        ("procedure", "Unit tests: CI=1 npm test"),
    ],
    "- Use guards instead of nested ifs\n- Automatically runs the parser": [
        ("constraint", "Use guards instead of nested ifs"),
        ("fact", "Automatically runs the parser"),
    ],
    "When you write of parts, names, or ends, wrap each name in quotes.": [
        ("constraint", "When you write of parts, names, or ends, wrap each name in quotes.")
    ],
    "The default branch is `main`.\n\nThis is so since May.": [
        ("fact", "The default branch is `main`. This is so since May.")
    ],
    "In a sandbox, run what is below.\n\n```sh\nmake all\n```": [
        ("procedure", "In a sandbox, run what is below. `make all`")
    ],
    "- Web: Axum with parts\n- Data: PostgreSQL 16\n- Queue: PostgreSQL": [
        ("fact", "Web: Axum with parts"),
        ("fact", "Data: PostgreSQL 16"),
        ("fact", "Queue: PostgreSQL"),
    ],
    "- Use the exact revisions\n- The server is in Oslo\n- {{ a rule }}\n- [A](#a)": [
        ("constraint", "Use the exact revisions"),
        ("fact", "The server is in Oslo"),
    ],
}


@pytest.mark.parametrize(("text", "wanted"), RULES.items())
def test_what_belongs_together_is_one_memory_below_its_heading(
    shell: Shell, text: str, wanted: list[tuple[str, str]]
) -> None:
    write(shell, "AGENTS.md", f"# Guide\n\n## 2. Ship *it*\n\n{text}\n")
    take(shell, "AGENTS.md")
    assert sorted((one["type"], one["content"]) for one in kept(shell)) == sorted(wanted)
    assert {one["subject"] for one in kept(shell)} == {"Ship it"}
    assert {tuple(one["tags"]) for one in kept(shell)} == {("guide", "ship-it")}


def test_what_is_too_long_together_is_told_one_by_one_with_its_sentence(shell: Shell) -> None:
    long = [f"Rule {n}: {'say what it is for, ' * 8}please" for n in range(6)]
    write(shell, "AGENTS.md", "# G\n\nIn tests:\n\n" + "".join(f"- {one}\n" for one in long))
    take(shell, "AGENTS.md")
    assert texts(shell) == {f"In tests: {one}" for one in long}


def test_a_heading_that_is_renamed_renames_the_subject_unless_a_person_did(shell: Shell) -> None:
    text = "# Guide\n\n## Shipping\n\n- Ship on Tuesdays\n- Tell Ben first\n"
    write(shell, "AGENTS.md", text)
    take(shell, "AGENTS.md")
    (mine,) = [one for one in kept(shell) if "Ben" in one["content"]]
    shell.run(f"pmem edit {mine['id']} --subject Ben")
    write(shell, "AGENTS.md", text.replace("Shipping", "Releases"))
    assert take(shell, "AGENTS.md").text.startswith("0 added, 1 updated, 1 unchanged")
    assert {one["subject"] for one in kept(shell)} == {"Ben", "Releases"}
    assert "0 updated, 2 unchanged" in take(shell, "AGENTS.md").text


def test_a_file_of_prose_alone_is_named_with_what_it_has(shell: Shell) -> None:
    write(shell, "CLAUDE.md", "# Guide\n\nThis file guides assistants.\n\n@AGENTS.md\n")
    done = shell.run("pmem import notes CLAUDE.md")
    assert (done.code, kept(shell)) == (3, [])
    assert "hint: left out: 1 paragraph, 1 import" in done.said


def test_what_no_message_or_record_has_a_place_for_is_counted(shell: Shell) -> None:
    write(
        shell, "talk.jsonl", '{"content": "Hello", "model": "m"}\n{"content": "Bye", "model": 1}\n'
    )
    assert "\nleft out: model (2)\n" in shell.run("pmem import messages talk.jsonl").text
    memory = {"id": "x", "content": "A", "createdAt": "2026-01-01T00:00:00Z", "moodRing": "blue"}
    write(shell, "arrays/long-term-memory.json", json.dumps([memory]))
    assert "\nleft out: memory mood_ring (1)\n" in shell.run("pmem import arrays arrays").text


def test_a_bullet_that_says_what_is_known_in_other_words_is_named(shell: Shell) -> None:
    shell.run("pmem add 'The tests are run with pytest'")
    write(shell, "CLAUDE.md", "- Keep it short\n- Tests are run with Pytest\n")
    done = take(shell, "CLAUDE.md")
    assert done.text.startswith("1 added, 0 updated, 0 unchanged, 1 skipped")
    assert "skipped CLAUDE.md:2: it adds nothing: a memory says the same" in done.said


SCOPES = {
    ("packages/web/AGENTS.md", ""): ["packages/web/**"],
    ("packages/web/CLAUDE.local.md", ""): ["packages/web/**"],
    ("packages/web/.claude/CLAUDE.md", ""): ["packages/web/**"],
    ("a[b]/GEMINI.md", ""): [r"a\[b\]/**"],
    ("AGENTS.md", ""): [],
    ("docs/how-we-work.md", ""): [],
    (".cursor/rules/a.mdc", "globs: db/**/*.sql, m/*.sql\nalwaysApply: false"): [
        "db/**/*.sql",
        "m/*.sql",
    ],
    (".cursor/rules/a.mdc", "description: Rules: ours\nglobs: *.ts"): ["*.ts"],
    (".cursor/rules/a.mdc", "globs: **/*.ts\nalwaysApply: true"): [],
    (".cursor/rules/a.mdc", "globs:\n  - **/*.ts\n  - 'b/**'"): ["**/*.ts", "b/**"],
    (".cursor/rules/a.mdc", 'globs: [**/*.ts, "!**/*.test.ts"]'): ["**/*.ts", "!**/*.test.ts"],
    (".cursor/rules/a.mdc", "globs:\nalwaysApply: false"): [],
    ("web/.cursor/rules/a.mdc", "globs: *.ts, src/**"): ["web/**/*.ts", "web/src/**"],
    ("web/.cursor/rules/a.mdc", "alwaysApply: true"): ["web/**"],
    (".github/instructions/a.instructions.md", 'applyTo: "src/**/*.{ts,tsx},lib/**"'): [
        "src/**/*.ts",
        "src/**/*.tsx",
        "lib/**",
    ],
    (".github/instructions/a.instructions.md", 'applyTo: "**"'): [],
    (".claude/rules/a.md", 'paths:\n  - "infra/**"'): ["infra/**"],
    (".claude/rules/a.md", "paths: {src,lib}/**/*.{a,{b,c}}"): [
        f"{folder}/**/*.{end}" for folder in ("src", "lib") for end in "abc"
    ],
    (".windsurf/rules/a.md", "trigger: glob\nglobs: backend/**/*.py"): ["backend/**/*.py"],
    (".windsurf/rules/a.md", "trigger: always_on\nglobs: backend/**"): [],
    (".clinerules/a.md", "paths:\n  - src/**"): ["src/**"],
    (".kiro/steering/a.md", "inclusion: fileMatch\nfileMatchPattern: ['a/**', '*.c']"): [
        "a/**",
        "*.c",
    ],
}


@pytest.mark.parametrize(("file", "places"), SCOPES.items())
def test_where_the_rules_of_a_file_apply_is_where_its_memories_do(
    shell: Shell, file: tuple[str, str], places: list[str]
) -> None:
    name, front = file
    write(shell, name, f"---\n{front}\n---\n\n- Keep it short\n" if front else "- Keep it short\n")
    take(shell, f"'{name}'")
    assert [one["places"] for one in kept(shell)] == [places]


def test_the_files_below_a_folder_are_found_but_not_what_git_ignores(shell: Shell) -> None:
    write(shell, "packages/web/AGENTS.md", "- Never use moment.js\n")
    write(shell, "packages/api/.cursor/rules/deep/a.mdc", "- Never use console.log\n")
    write(shell, "packages/web/README.md", "- A list of features\n")
    write(shell, "packages/web/node_modules/x/AGENTS.md", "- Not ours\n")
    write(shell, ".gitignore", "node_modules/\n")
    done = take(shell, "packages")
    assert texts(shell) == {"Never use moment.js", "Never use console.log"}
    assert "no instruction file (1): packages/web/README.md" in done.said
    assert why(shell, "packages/web/a.tsx") == {"Never use moment.js"}


def test_a_folder_that_git_ignores_is_read_when_it_is_named(shell: Shell) -> None:
    write(shell, ".cursor/rules/a.mdc", "- Keep it short\n")
    write(shell, ".gitignore", ".cursor/\n")
    take(shell, ".cursor/rules")
    assert texts(shell) == {"Keep it short"}


def test_one_rule_of_two_folders_applies_in_both(shell: Shell) -> None:
    for folder in ("web", "api"):
        write(shell, f"{folder}/AGENTS.md", "- Never use any\n")
    take(shell, "web/AGENTS.md", "api/AGENTS.md")
    assert why(shell, "web/a.ts") == why(shell, "api/a.ts") == {"Never use any"}
    assert take(shell, "web/AGENTS.md", "api/AGENTS.md").text.startswith("0 added, 0 updated, 2 un")


def test_places_follow_the_file_when_it_changes(shell: Shell) -> None:
    write(shell, ".cursor/rules/a.mdc", "---\nglobs: a/**\n---\n- Keep it short\n")
    take(shell, ".cursor/rules")
    write(shell, ".cursor/rules/a.mdc", "---\nglobs: ['b/**', '!b/c']\n---\n- Keep it short\n")
    assert "1 updated" in take(shell, ".cursor/rules").text
    assert [one["places"] for one in kept(shell)] == [["b/**", "!b/c"]]


def test_places_that_a_person_added_stay(shell: Shell) -> None:
    write(shell, "AGENTS.md", "- Keep it short\n")
    take(shell, "AGENTS.md")
    shell.run(f"pmem edit {kept(shell)[0]['id']} --for 'docs/**'")
    assert "1 unchanged" in take(shell, "AGENTS.md").text
    assert [one["places"] for one in kept(shell)] == [["docs/**"]]


@pytest.mark.parametrize(
    ("front", "sentence"),
    [
        ("globs: [a\n  b: {", "front matter in lines 1-4 that is no YAML"),
        ("globs: ../secret/**", "no place in the project"),
        (f"globs: '{{{','.join(map(str, range(60)))}}}/x'", "more than 50 places"),
        (f"globs: {'a{b,c}' * 300}", "the limit is 1000"),
    ],
)
def test_a_file_whose_scope_cannot_be_read_is_named_and_the_others_come_in(
    shell: Shell, front: str, sentence: str
) -> None:
    write(shell, ".cursor/rules/a.mdc", f"---\n{front}\n---\n- Never here\n")
    write(shell, ".cursor/rules/b.mdc", "- Keep it short\n")
    done = take(shell, ".cursor/rules")
    assert "skipped .cursor/rules/a.mdc" in done.said
    assert sentence in done.said
    assert texts(shell) == {"Keep it short"}


def test_a_rule_line_between_paragraphs_is_no_front_matter(shell: Shell) -> None:
    write(shell, "CLAUDE.md", "---\n\n- Keep it short\n\n---\n\n- Use pnpm\n")
    take(shell, "CLAUDE.md")
    assert texts(shell) == {"Keep it short", "Use pnpm"}


def test_a_byte_order_mark_is_read_past(shell: Shell) -> None:
    write(shell, ".cursor/rules/a.mdc", f"{MARK}---\nglobs: a/**\n---\n- Keep it short\n")
    take(shell, ".cursor/rules")
    assert [one["places"] for one in kept(shell)] == [["a/**"]]
    write(shell, "talk.jsonl", f'{MARK}{{"content": "Hello there"}}\n')
    assert "1 added" in shell.run("pmem import messages talk.jsonl").text
    write(shell, "arrays/long-term-memory.json", f"{MARK}[]")
    assert shell.run("pmem import arrays arrays").code == 0
    write(shell, "adr/1.md", f"{MARK}# 1. Cache\n\n## Decision\n\nUse Redis.\n")
    assert "1 added" in shell.run("pmem import adr adr").text


@pytest.mark.parametrize(
    ("data", "why"),
    [(b"- caf\xe9\n", "is not UTF-8"), (b"- long\n" * 200_000, "has 1400000 bytes")],
)
def test_a_file_that_cannot_be_read_does_not_stop_those_beside_it(
    shell: Shell, data: bytes, why: str
) -> None:
    write(shell, "rules/a.md", "- Keep it short\n")
    Path(shell.folder, "rules", "b.md").write_bytes(data)
    assert f"skipped rules/b.md: it {why}" in take(shell, "rules").said
    assert texts(shell) == {"Keep it short"}
    assert shell.run("pmem import notes rules/b.md").code == 3
