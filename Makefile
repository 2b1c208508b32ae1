# `make sandbox` tries the bot without an account; `make test` runs the tests. Both install their requirements into
# .venv first, from the hashed lock. They need only Python 3.11 or newer.
PYTHON ?= $(shell for p in python3.11 python3 python3.12 python3.13 python3.14; do \
	"$$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
PORT ?= 8800
RUNS ?= 200
SEED ?= 1
AT_ONCE ?= 10
# Of the processes that run tests: one more than the cores of a small machine, because some tests wait.
WORKERS ?= 3
MUTANTS ?= 600

.PHONY: help setup sandbox services play test slow approve stand-ins check torture seeds rolling mutants bench trace words size image pictures release evidence revision lock clean

help:
	@echo "make sandbox   a workspace to try the bot in, no account needed (PORT=$(PORT))"
	@echo "make services  the same without the bot, for one that you start yourself (PORT=$(PORT))"
	@echo "make play      one story in the terminal"
	@echo "make setup     install into $(VENV): afterwards there is $(BIN)/docs-bot"
	@echo "make test      the test suite without the slow tests"
	@echo "make slow      the slow tests: kills, the bench, operating, the sandbox's own"
	@echo "make approve   rewrite the approved texts of all messages (tests/messages/approved) and the derived tables of docs/"
	@echo "make stand-ins write the sandbox's answers anew, with which doctor --compare compares a transcript"
	@echo "make check     style, types and layers"
	@echo "make torture   the bot under faults, from seeds (RUNS=$(RUNS) SEED=$(SEED); 200 runs take about five minutes),"
	@echo "               then processes restarted in turn, then a kill at every await, statement and commit,"
	@echo "               then the property tests with many new examples"
	@echo "make seeds     only the runs from seeds of make torture"
	@echo "make rolling   only the processes restarted in turn, two minutes under load"
	@echo "make mutants   small changes of the code that no test catches (MUTANTS=$(MUTANTS) SEED=$(SEED); about an hour)"
	@echo "make trace     which functions one request enters, and how many in which rooms"
	@echo "make bench     the speed of the bot and of alternatives (fifteen minutes)"
	@echo "make words     how well the bot tells changes, questions and talk apart"
	@echo "make size      how large and how dense the code of each room is"
	@echo "make image     build the image on a base from Debian's packages, start, stop and kill it (root, on Debian)"
	@echo "make pictures  take the pictures of the docs again (needs Chromium, and a font with emoji)"
	@echo "make release   build a version's packages, image, list of parts and checksums into dist/ (of a clean tree;"
	@echo "               the version stands in bot/__init__.py, the Dockerfile and CHANGELOG.md; IMAGE=no builds no image)"
	@echo "make evidence  words, torture, kills and the bench of this commit, as a file for a release (RUNS=$(RUNS); two hours)"
	@echo "make revision  write the revision of the database that the declared tables need (NAME=\"add pins\")"
	@echo "make lock      pin the newest versions that pyproject.toml allows (needs uv)"

$(VENV)/.run: requirements.txt pyproject.toml
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed. Name yours with: make PYTHON=/path/to/python3"; exit 1; }
	@echo "Setting up $(VENV): a minute or two."
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear $(VENV)
	$(PIP) --require-hashes -r requirements.txt
	$(PIP) --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.sandbox: $(VENV)/.run requirements-sandbox.txt
	$(PIP) --require-hashes -r requirements-sandbox.txt
	@touch $@

$(VENV)/.dev: $(VENV)/.run requirements-dev.txt
	$(PIP) --require-hashes -r requirements-dev.txt
	@touch $@

$(VENV)/.release: $(VENV)/.run requirements-release.txt
	$(PIP) --require-hashes -r requirements-release.txt
	@touch $@

setup: $(VENV)/.run

sandbox: $(VENV)/.sandbox
	@$(BIN)/docs-bot sandbox --port $(PORT)

services: $(VENV)/.sandbox
	@$(BIN)/docs-bot sandbox --services --port $(PORT)

play: $(VENV)/.sandbox
	@$(BIN)/docs-bot sandbox --play

# Each worker would compile the whole tree anew where Python is told to keep no bytecode.
test slow: export PYTHONDONTWRITEBYTECODE :=
test: $(VENV)/.dev
	$(BIN)/python -m pytest -m "not slow" -n $(WORKERS) --dist worksteal

slow: $(VENV)/.dev
	$(BIN)/python -m pytest -m slow -n $(WORKERS) --dist worksteal

approve: $(VENV)/.dev
	@$(BIN)/python -m tests.messages.approval
	@$(BIN)/python -m tests.operator.pages

stand-ins: $(VENV)/.dev
	@$(BIN)/python -m tests.operator.whole_trial

check: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

torture: seeds rolling
	$(BIN)/python -m pytest -n 3 --every-place tests/scenarios/test_kill.py
	$(BIN)/python -m pytest -n 4 -m hypothesis --hypothesis-profile search --timeout 1800

seeds: $(VENV)/.dev
	@$(BIN)/python -m tests.torture --runs $(RUNS) --seed $(SEED) --at-once $(AT_ONCE)

rolling: $(VENV)/.dev
	@$(BIN)/python -m tests.torture --rolling 120

mutants: $(VENV)/.dev
	@$(BIN)/python -m tests.mutants --sample $(MUTANTS) --seed $(SEED)

bench: $(VENV)/.dev
	@$(BIN)/python -m bench

trace: $(VENV)/.dev
	@$(BIN)/python -m bench.trace

size: $(VENV)/.dev
	@$(BIN)/python -m tests.size

words: $(VENV)/.dev
	@$(BIN)/python -m tests.intent.words

image:
	@.ci/debian-image

pictures: $(VENV)/.dev
	@$(BIN)/python -m tests.pictures

LOCK := uv pip compile --quiet --generate-hashes --no-emit-index-url --no-emit-find-links --universal \
	--python-version 3.11 --upgrade pyproject.toml

release: $(VENV)/.release
	@$(BIN)/python .ci/release.py

evidence: $(VENV)/.dev
	@RUNS=$(RUNS) $(BIN)/python .ci/evidence.py

revision: $(VENV)/.dev
	@$(BIN)/python -m tests.store.new_revision $(NAME)

lock:
	$(LOCK) --extra build -o requirements.txt
	$(LOCK) --extra sandbox -c requirements.txt -o requirements-sandbox.txt
	$(LOCK) --extra build --extra sandbox --extra dev -c requirements.txt -c requirements-sandbox.txt -o requirements-dev.txt
	$(LOCK) --extra release -c requirements.txt -c requirements-dev.txt -o requirements-release.txt

clean:
	rm -rf $(VENV) var
