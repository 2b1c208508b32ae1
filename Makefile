# `make sandbox` tries the bot with no account anywhere; `make test` runs the tests.
# Both set up what they need in .venv first, from the hashed lock.
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
PORT ?= 8800

.PHONY: sandbox play test check lock clean help

help:
	@echo "make sandbox   a workspace to try the bot in, no account needed (PORT=$(PORT))"
	@echo "make play      the same, told as a story in the terminal"
	@echo "make test      the whole test suite"
	@echo "make check     style, types and layers"
	@echo "make lock      pin the newest versions that pyproject.toml allows"

$(VENV)/.run: requirements.txt pyproject.toml
	@command -v $(PYTHON) >/dev/null || { echo "Python 3.11 or newer is needed: make PYTHON=python3.12 ..."; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements.txt
	@touch $@

$(VENV)/.dev: $(VENV)/.run requirements-dev.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.txt
	@touch $@

sandbox: $(VENV)/.run
	$(BIN)/python -m bot sandbox --port $(PORT)

play: $(VENV)/.run
	$(BIN)/python -m bot sandbox --play

test: $(VENV)/.dev
	$(BIN)/python -m pytest

check: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

lock:
	uv pip compile --quiet --generate-hashes --no-emit-index-url --no-emit-find-links --universal --python-version 3.11 \
	  --upgrade pyproject.toml -o requirements.txt
	uv pip compile --quiet --generate-hashes --no-emit-index-url --no-emit-find-links --universal --python-version 3.11 \
	  --upgrade --all-extras -c requirements.txt pyproject.toml -o requirements-dev.txt

clean:
	rm -rf $(VENV) var
