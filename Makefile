# Two commands do everything on a fresh machine with python3 (3.11 or newer) and make: `make plan` and `make test`.
# Both set up what they need in .venv first. Arguments: make plan FROM=1.34 TO=1.37 ARGS="--provider eks -o markdown"

PYTHON ?= python3
FROM ?= 1.33
TO ?= 1.37
ARGS ?=

venv := .venv
bin := $(venv)/bin
.DEFAULT_GOAL := help
.PHONY: help plan test lint types bench bench-table oracles golden kb-check lock clean

help: ## Show what can be made
	@grep -hE '^[a-z-]+:.*##' $(firstword $(MAKEFILE_LIST)) | sed -E 's/:.*## */\t/' | expand -t 12

plan: $(venv)/run.stamp ## Plan an upgrade: FROM=1.33 TO=1.37 ARGS="..."
	@$(bin)/compat plan --from $(FROM) --to $(TO) $(ARGS) || { code=$$?; case $$code in 10|20|30) echo "compat ended with exit code $$code, see docs/exit-codes.md" >&2;; *) exit $$code;; esac; }

test: $(venv)/test.stamp lint types ## Lint, check types and run the tests
	$(bin)/pytest -q

lint: $(venv)/test.stamp ## Check style and format
	$(bin)/ruff check .
	$(bin)/ruff format --check .

types: $(venv)/test.stamp ## Check types
	$(bin)/mypy compat planner cli scripts tests

bench: $(venv)/test.stamp ## Measure start-up, knowledge and solver, as ratios
	$(bin)/python -m tests.benchmarks.startup
	$(bin)/python -m tests.benchmarks.knowledge
	$(bin)/pytest -q -o addopts="" --benchmark-only --benchmark-columns=median,iqr,rounds tests/benchmarks

bench-table: $(venv)/test.stamp ## Measure against Fast Downward and clingo, and write docs/benchmarks.md anew (half an hour)
	$(bin)/python -m tests.benchmarks.table

oracles: $(venv)/test.stamp ## Compare optimal costs with Fast Downward and clingo on hundreds of instances (minutes)
	COMPAT_ORACLE_TIMES=15 $(bin)/pytest -q tests/oracles

golden: $(venv)/test.stamp ## Write the golden outputs and schemas anew; read the difference before you commit it
	$(bin)/pytest -q --update-golden tests

kb-check: $(venv)/run.stamp ## Validate every file under data/
	@$(bin)/compat kb check

lock: $(venv)/test.stamp ## Resolve the locked versions anew, for all supported Pythons
	$(bin)/pip install -q uv
	$(bin)/uv pip compile -q --universal --python-version 3.11 --upgrade --extra test --no-header --no-annotate pyproject.toml -o requirements.lock

clean: ## Remove what was set up or built
	rm -rf $(venv) dist build *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis

$(bin)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "compat needs Python 3.11 or newer; say which with make PYTHON=python3.12 ..." >&2; exit 1; }
	@echo "Setting up $(venv) ..." >&2
	@$(PYTHON) -m venv $(venv) || { rm -rf $(venv); echo "No virtual environment could be made; on Debian and Ubuntu install the package python3-venv." >&2; exit 1; }

$(venv)/run.stamp: pyproject.toml requirements.lock | $(bin)/python
	@$(bin)/pip install -q --disable-pip-version-check -c requirements.lock -e . >&2
	@touch $@

$(venv)/test.stamp: pyproject.toml requirements.lock | $(bin)/python
	@$(bin)/pip install -q --disable-pip-version-check -c requirements.lock -e ".[test]" >&2
	@touch $@ $(venv)/run.stamp
