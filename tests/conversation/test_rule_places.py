"""Where a rule applies: at what it names, if that is there, beside or within its file's places."""

import json
from pathlib import Path

import pytest

from tests.cli.shell import Shell, new_repository

TREE = (
    "oven/cake.py",
    "oven/tray.lock",
    "oven/old/pie.py",
    "jam/plum.jam",
    "jam/go.sum",
    "go.sum",
    "kitchen.toml",
    "site/menu.css",
    "site/gen/api/menu.cs",
    "docs/bread.md",
    "make.sh",
)


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    shell = Shell(new_repository(str(tmp_path / "p")))
    for name in TREE:
        write(shell, name, "")
    write(shell, ".gitignore", "out/\n")
    write(shell, "out/built.js", "")
    shell.run("pmem init -q --no-import")
    return shell


def write(shell: Shell, name: str, text: str) -> None:
    path = Path(shell.folder, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def places(shell: Shell, *files: str) -> dict[str, list[str]]:
    done = shell.run(f"pmem import notes {' '.join(files)}")
    assert done.code == 0, done.said
    found = json.loads(shell.run("pmem list -n 300 --json").text)["data"]["items"]
    return {one["content"]: one["places"] for one in found}


NAMED = {
    "Do not edit `oven/tray.lock` by hand": ["/oven/tray.lock"],
    "Never rename kitchen.toml unless the cook says so": ["/kitchen.toml"],
    "Ask the cook for a tray - do not touch oven/tray.lock directly": ["/oven/tray.lock"],
    "Never make changes to the old cakes in `/oven/old`": ["oven/old/**"],
    "Don't update files under `*/api/*.cs` (such as site/gen/api/menu.cs)": ["**/*/api/*.cs"],
    "You must not move the recipes of `jam/`": ["jam/**"],
    "`oven/tray.lock` must not be changed by hand": ["/oven/tray.lock"],
    "`kitchen.toml` and `oven/tray.lock` must never be reformatted": [
        "/kitchen.toml",
        "/oven/tray.lock",
    ],
    "When changing `docs/`, read it aloud": ["docs/**"],
    "If you edit a jam in `jam/`, taste it": ["jam/**"],
    "Taste it after changing `jam/plum.jam` or `kitchen.toml`": [
        "/jam/plum.jam",
        "/kitchen.toml",
    ],
    "Before you add a cake to `oven/old/`, ask the cook": ["oven/old/**"],
    "Changes to `site/` need a look at the menu": ["site/**"],
    "All changes to `site/menu.css` should be small": ["/site/menu.css"],
    "Recipes of the shop in `jam/` must name a fruit": ["jam/**"],
    "Cakes under `oven/` should never be cold": ["oven/**"],
    "Any `.jam` file → `make jam`": ["*.jam"],
    "Every `*.css` file must be sorted": ["*.css"],
    "Menus: one dish per line in all `*.css`, as cooks read them": ["*.css"],
    "`go.sum` or `kitchen.toml` in any kitchen -> `make tidy`": ["**/go.sum", "**/kitchen.toml"],
    "`jam/plum.jam` → `make jam` and taste it": ["/jam/plum.jam"],
    "Anything in `oven/old/` -> throw it away": ["oven/old/**"],
    "Cakes in `oven/old/` have no name - give them one": ["oven/old/**"],
    "The menu of the shop: `site/`": ["site/**"],
    "The old cakes (`oven/old/`) are for nobody": ["oven/old/**"],
    "`oven/` - what is warm. `jam/plum.jam:3-4` - what is sweet.": ["oven/**", "/jam/plum.jam"],
    "`gen/api/menu.cs` is made by the cook": ["/site/gen/api/menu.cs"],
}

MENTIONED = (
    "Add a line to `docs/bread.md` with each bread",
    "Every bread must have a page like `docs/bread.md`",
    "Names must be sorted (see `docs/bread.md`)",
    "Keep cakes small, for example `oven/cake.py`",
    "Never bake without a look at `docs/bread.md`",
    "Do not edit built parts by hand — edit `oven/cake.py` and run `make parts`",
    "Do not change parts that come from `jam/`",
    "Never run `make.sh` twice",
    "Do not import from `oven/old/`",
    "Helpers in `oven/cake.py` must be used for all cakes",
    "`make.sh` must be run before a push",
    "`docs/bread.md` must have a line for each bread",
    "Lint: `./make.sh` → all checks",
    "Update the price in all `*.css` files",
    "Add a cake → `oven/cake.py`",
    "When adding cakes, write them down in `docs/bread.md`",
    "When calling the cook in `oven/cake.py`, say please",
    "`out/` must not be edited",
    "Do not edit `out/built.js`",
    "When changing `none/`, tell us",
    "Bake at noon. Do not edit `oven/tray.lock` by hand.",
    "`jam/` is gitignored, so make it first",
    "Check the site before you change docs.",
    "Baking - Look at the cakes in `oven/old/` as patterns",
    "The guests (`site/`) and the cooks (`oven/`) eat apart",
    "Lint all: `./make.sh`",
    "Use `node.js` and/or `deno` when changing parts",
)


def test_a_rule_applies_to_what_it_is_about_and_not_to_what_it_mentions(shell: Shell) -> None:
    wanted = {**NAMED, **{rule: [] for rule in MENTIONED}}
    rules = "".join(f"## Part {n}\n\n- {rule}\n\n" for n, rule in enumerate(wanted))
    write(shell, "AGENTS.md", f"# Guide\n\n{rules}")
    assert places(shell, "AGENTS.md") == wanted


def test_a_sentence_above_a_list_says_where_the_whole_applies(shell: Shell) -> None:
    write(
        shell,
        "AGENTS.md",
        "# G\n\n## A\n\nWhen changing `docs/`:\n\n- Read it aloud\n- Sort the links\n\n"
        "## B\n\nBefore you push:\n\n- Never edit `go.sum`\n- Taste it\n",
    )
    assert places(shell, "AGENTS.md") == {
        "When changing `docs/`: Read it aloud; Sort the links": ["docs/**"],
        "Before you push: Never edit `go.sum`; Taste it": [],
    }


def test_a_section_says_where_all_is_that_it_tells_of(shell: Shell) -> None:
    write(
        shell,
        "AGENTS.md",
        "# G\n\n## Old\n\nLocation: `oven/old/{Cake}/`\n\n- Never serve these cold\n\n"
        "### Crumbs\n\n- Keep crumbs\n- Do not edit `go.sum`\n\n"
        "## Jam\n\n- Located in `jam/` (e.g. `jam/plum.jam`).\n- Stir it by hand\n\n"
        "## Rooms\n\n**Site** (`site/`)\n\n- Paint it white\n\n"
        "Always close the door.\n\n- Open the window (`make.sh`)\n\n"
        "## Gone\n\nLocation: `cellar/`\n\n- Bring a light\n",
    )
    assert places(shell, "AGENTS.md") == {
        "Location: `oven/old/{Cake}/`": ["oven/old/**"],
        "Never serve these cold": ["oven/old/**"],
        "Keep crumbs": [],
        "Do not edit `go.sum`": ["/go.sum"],
        "Located in `jam/` (e.g. `jam/plum.jam`).": ["jam/**"],
        "Stir it by hand": ["jam/**"],
        "Site (`site/`): Paint it white": ["site/**"],
        "Always close the door.": [],
        "Open the window (`make.sh`)": [],
        "Location: `cellar/`": [],
        "Bring a light": [],
    }


def test_what_a_rule_is_about_comes_beside_the_patterns_of_its_file(shell: Shell) -> None:
    rules = "- Never edit `kitchen.toml` by hand\n- Do not touch `oven/cake.py`\n- Bake it\n"
    write(shell, ".cursor/rules/a.mdc", f"---\nglobs: '*.py'\n---\n\n{rules}")
    assert places(shell, ".cursor/rules") == {
        "Never edit `kitchen.toml` by hand": ["*.py", "/kitchen.toml"],
        "Do not touch `oven/cake.py`": ["*.py"],
        "Bake it": ["*.py"],
    }


def test_a_rule_of_a_folder_counts_names_from_there(shell: Shell) -> None:
    text = "- Never edit `tray.lock` by hand\n- Every `*.py` file must be short\n- Bake it\n"
    write(shell, "oven/AGENTS.md", text)
    assert places(shell, "oven/AGENTS.md") == {
        "Never edit `tray.lock` by hand": ["/oven/tray.lock"],
        "Every `*.py` file must be short": ["oven/**/*.py"],
        "Bake it": ["oven/**"],
    }


def test_a_heading_that_names_one_of_the_files_narrows_what_is_below_it(shell: Shell) -> None:
    front = "---\napplyTo: '{kitchen.toml,my-kitchen.toml,site/menu.css,*.jam}'\n---\n"
    text = (
        "# Kitchen\n\n## All\n\n- Be kind\n\n## kitchen.toml\n\n- Sort it\n\n### Names\n\n"
        "- Use words\n\n## The `site/menu.css` file\n\n- Keep it small\n\n## Jam\n\n- Stir\n"
    )
    write(shell, ".github/instructions/a.instructions.md", front + text)
    every = ["kitchen.toml", "my-kitchen.toml", "site/menu.css", "*.jam"]
    assert places(shell, ".github/instructions") == {
        "Be kind": every,
        "Sort it": ["kitchen.toml"],
        "Use words": ["kitchen.toml"],
        "Keep it small": ["site/menu.css"],
        "Stir": every,
    }


def test_a_heading_that_names_a_folder_says_where_it_all_is(shell: Shell) -> None:
    text = "# Kitchen of AGENTS.md\n\n## All\n\n- Be kind\n\n## Oven (`oven/`)\n\n- Keep it warm\n"
    write(shell, "AGENTS.md", text)
    front = "---\napplyTo: 'oven/**,jam/**'\n---\n"
    text = "# A\n\n## Jam (`jam/`)\n\n### How\n\n- Stir it\n\n## Site (`site/`)\n\n- Paint it\n"
    write(shell, ".github/instructions/a.instructions.md", front + text)
    assert places(shell, "AGENTS.md", ".github/instructions") == {
        "Be kind": [],
        "Keep it warm": ["oven/**"],
        "Stir it": ["jam/**"],
        "Paint it": ["oven/**", "jam/**"],
    }


def test_a_heading_that_reaches_beyond_the_patterns_narrows_nothing(shell: Shell) -> None:
    text = "---\nglobs: '*.jam'\n---\n\n# A\n\n## Jam (`jam/`)\n\n- Stir it\n"
    write(shell, ".cursor/rules/a.mdc", text)
    assert places(shell, ".cursor/rules") == {"Stir it": ["*.jam"]}
