# `make demo` and `make test` set everything up by themselves.
VENV ?= .venv
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$p; break; }; done)
BIN := $(VENV)/bin
export PYTHONDONTWRITEBYTECODE :=  # else each start of pmem, and each test file, is compiled again

.PHONY: demo quick test rest whole all explore thorough assistants browser faults check format lint types docs site bench mutants clean

demo: $(VENV)/.installed
	@PATH="$$(cd $(BIN) && pwd):$$PATH" sh docs/demo.sh

quick: $(VENV)/.developing  # what a change most likely breaks, within a minute
	$(BIN)/python -m tests.quick

test: $(VENV)/.developing
	$(BIN)/python -m pytest -n auto --dist worksteal

explore: $(VENV)/.developing  # new examples of every property; MINUTES=60 goes on with new seeds
	$(BIN)/python -m tests.explore $(if $(MINUTES),--minutes $(MINUTES))

SEED ?= $(shell $(PYTHON) -c 'import random; print(random.randrange(2**32))')
thorough: $(VENV)/.developing  # every case, and all the examples that the properties ask for
	PMEM_THOROUGH=1 $(BIN)/python -m pytest -n auto --dist worksteal --hypothesis-seed=$(SEED)

rest: $(VENV)/.developing  # what `make test` leaves out: what takes seconds each, most of many cases
	PMEM_REST=only $(BIN)/python -m pytest -n auto --dist worksteal

whole: $(VENV)/.developing  # `make test` and `make rest` in one run
	PMEM_REST=too $(BIN)/python -m pytest -n auto --dist worksteal

all: lint types whole  # `make --jobs all` leaves no core idle

assistants: $(VENV)/.developing  # Claude Code, Codex, Gemini CLI and OpenCode from npm, offline
	$(BIN)/python -m tests.assistants.real
	$(BIN)/python -m tests.assistants.real_capture
	$(BIN)/python -m tests.assistants.real_reads
	$(BIN)/python -m tests.assistants.real_packages

browser: $(VENV)/.browsing  # the page of `pmem report` in Chromium; PMEM_SHOTS=DIR keeps pictures
	PMEM_THOROUGH=1 PMEM_BROWSER=1 $(BIN)/python -m pytest -n 0 -s tests/report/test_chromium.py

faults: $(VENV)/.developing
	$(BIN)/python -m tests.faults.sweep
	$(BIN)/python -m tests.faults.powercuts
	$(BIN)/python -m tests.faults.index_cuts
	$(BIN)/python -m tests.faults.storm
	$(BIN)/python -m tests.faults.threads
	$(BIN)/python -m tests.faults.serving
	$(BIN)/python -m tests.faults.server_storm --terminations 2000 --kills 1000 --writers 16
	$(BIN)/python -m tests.fuzz --inputs 100000
	PMEM_THOROUGH=1 $(BIN)/python -m pytest -n auto tests/hostile

check: lint types test  # the tests hold the docs too

lint: $(VENV)/.developing
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(VENV)/.developing
	$(BIN)/mypy

docs: $(VENV)/.developing
	$(BIN)/python -m pytest -n auto tests/docs

site: $(VENV)/.developing  # the documents as a website, in build/site
	$(BIN)/python docs/site/build.py

format: $(VENV)/.developing
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/.developing
	$(BIN)/python -m tests.benchmarks.run
	$(BIN)/python -m tests.benchmarks.commands
	$(BIN)/python -m tests.benchmarks.search
	$(BIN)/python -m tests.benchmarks.conversations
	$(BIN)/python -m tests.benchmarks.mcp
	$(BIN)/python -m tests.benchmarks.hooks
	$(BIN)/python -m tests.benchmarks.review
	$(BIN)/python -m tests.benchmarks.postgres

mutants: $(VENV)/.developing  # MODULE=pmem/core/retrieval/ranking.py MOST=60 TESTS=tests/core
	$(BIN)/python -m tests.mutation $(MODULE) $(if $(MOST),--most $(MOST)) \
		$(if $(TESTS),--tests $(TESTS))

$(VENV)/.installed: pyproject.toml
	@test -n "$(PYTHON)" || { echo "pmem needs Python 3.11 or newer" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/.developing: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --editable '.[dev]'
	-$(BIN)/python -m compileall -q -j 0 $(VENV)/lib pmem  # on every core, which pip does not
	@touch $@

$(VENV)/.browsing: $(VENV)/.developing  # needs Debian's chromium, and npm for axe-core
	@command -v chromium chromium-browser >/dev/null || { \
		echo "there is no Chromium: apt-get install chromium" >&2; exit 1; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'playwright>=1.60,<2'
	mkdir -p $(VENV)/axe
	cd $(VENV)/axe && npm pack --silent axe-core@4 >/dev/null && tar -xzf axe-core-*.tgz
	@touch $@

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist
