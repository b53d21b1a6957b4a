# The one door: people and CI call the same targets.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

.PHONY: demo test check docs bench fuzz soak clean

## Install into .venv and walk through the main job on the shipped catalogs.
demo: $(READY)
	$(BIN)/python tools/demo.py

## Run every test.
test: $(READY)
	$(BIN)/python -m pytest -n auto

## Lint, types, and whether the generated documentation is up to date.
check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python tools/make_schemas.py --check
	$(BIN)/python tools/make_docs.py --check

## Write the generated documentation and schemas anew.
docs: $(READY)
	$(BIN)/python tools/make_schemas.py
	$(BIN)/python tools/make_docs.py

## Measure against peers; the figures go into benchmarks/README.md.
bench: $(READY)
	$(BIN)/python -m pip install --quiet --group bench
	$(BIN)/python benchmarks/validate.py
	$(BIN)/python benchmarks/build.py
	$(BIN)/python benchmarks/diff.py
	$(BIN)/python benchmarks/serve.py
	$(BIN)/python benchmarks/registry.py

## A broker under a chaos of clients for a minute, a flood of wrong passwords, the timing of refusals.
soak: $(READY)
	$(BIN)/python tools/soak.py

## Run the property tests for long: at least 50,000 examples.
fuzz: $(READY)
	OSBCTL_FUZZ=1 $(BIN)/python -m pytest -n auto -m fuzz

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --editable . --group dev
	touch $@

clean:
	rm -rf $(VENV) dist build .hypothesis .mypy_cache .pytest_cache .ruff_cache
