# Two targets matter: `make demo` runs the whole pipeline on sample sessions, `make test` passes the tests.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test check lint types clean reference

.venv/.run: pyproject.toml
	@echo "setting up .venv (once, a minute or two)"
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(BIN)/pip install --quiet --disable-pip-version-check -e .
	@touch $@

.venv/.test: .venv/.run
	@$(BIN)/pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@

demo: .venv/.run
	@bash examples/demo.sh $(BIN)/hotwash

test: .venv/.test
	$(BIN)/pytest

lint: .venv/.test
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/lint-imports

types: .venv/.test
	$(BIN)/mypy

check: lint types test

clean:
	rm -rf .venv .demo build *.egg-info

reference: .venv/.run
	$(BIN)/python -m flows.reference
