# The one door: people and CI call the same targets.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

.PHONY: demo test check bench fuzz clean

## Install into .venv and run the main job on the shipped catalogs.
demo: $(READY)
	$(BIN)/python -m osbctl validate catalogs/interface-example.json

## Run every test.
test: $(READY)
	$(BIN)/python -m pytest -n auto

## Lint, types, docs up to date.
check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --editable . --group dev
	touch $@

clean:
	rm -rf $(VENV) dist build .hypothesis .mypy_cache .pytest_cache .ruff_cache
