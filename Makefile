# Targets for developers and CI.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
PYTHONS ?= python3.11 python3.12 python3.13 python3.14 python3.15
TRIED  := $(VENV)/.tried
EXTRAS := .[postgresql,lsp]
SAMPLED = tests/platforms tests/fixes tests/comparison/test_both_ways.py tests/editor/test_diagnostics.py \
	tests/pages tests/requests/test_shells.py tests/requests/test_recorded_brokerpaks.py tests/secrets \
	tests/cli/test_containment.py tests/cli/test_faults_outside.py tests/validation/test_parameters.py tests/drift/test_fields.py \
	tests/cli/test_one_platform.py tests/cli/test_settings.py tests/cli/test_shapes.py tests/cli/test_every_command.py \
	tests/sources/test_bombs.py tests/sources/test_spring.py tests/broker/test_crowds.py \
	tests/windows tests/jsonschemas/test_bounds.py tests/jsonschemas/test_spellings.py tests/validation/test_placeholders.py \
	tests/validation/test_identities.py tests/sources/exports/test_read.py::test_any_one_value_may_be_any_other
SITE   = $(BIN)/sphinx-build --quiet --fail-on-warning --keep-going --fresh-env docs build/site

# Keep bytecode: otherwise each test process compiles every test again.
export PYTHONDONTWRITEBYTECODE =

.PHONY: demo test test-every-case test-browser test-container test-oldest test-windows test-release release release-check try-install extension check docs site bench fuzz mutants soak clean

## Install into .venv and walk through the main job on the shipped catalogs.
demo: $(TRIED)
	$(BIN)/python tools/demo.py

## Run every test.
test: $(READY)
	$(BIN)/python -m pytest -n auto --dist worksteal

## Run on every recorded case and real catalog what `make test` runs on a sample of them.
test-every-case: $(READY)
	OSBCTL_FUZZ=1 $(BIN)/python -m pytest -n auto -m fuzz -o faulthandler_timeout=3600 $(SAMPLED)

## Run the tests of pages and of the documentation in Chromium.
test-browser: $(READY)
	$(BIN)/python -m pip install --quiet --group browser
	$(BIN)/python -m pytest -m browser -o faulthandler_timeout=3600

## Build the image with buildah on a Debian base (debootstrap), and run it. As root.
test-container: $(READY)
	$(BIN)/python -m pytest -m container -o faulthandler_timeout=3600 tests/deploy

## Run every install line of the documentation, and every release check against a planted fault.
test-release: $(READY)
	-$(BIN)/python -m pip install --quiet --group release
	$(BIN)/python -m pytest -n auto -m release -o faulthandler_timeout=3600

## Check that a release can be published; docs/contributing/publish.md has the steps.
release-check: $(READY)
	$(BIN)/python -m pip install --quiet --group release
	$(BIN)/python tools/release_check.py

## Run every test with the oldest versions that pyproject.toml allows.
test-oldest: $(READY)
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv venv --quiet --clear --seed --python 3.11 $(VENV)-oldest
	$(BIN)/uv pip install --quiet --python $(VENV)-oldest --resolution lowest-direct --editable "$(EXTRAS)" --group dev --group docs
	$(VENV)-oldest/bin/python -m pytest -n auto --dist worksteal

## Run the wheel on a Python for Windows, under Wine (wine64, wine, gcc-mingw-w64-x86-64-win32 of Debian).
test-windows: $(READY)
	$(BIN)/python -m pytest -m windows -o faulthandler_timeout=3600 tests/windows

## Make the release VERSION=1.2.3: write the version, run every check, commit and tag.
release: $(READY)
	$(BIN)/python tools/release.py $(VERSION)

## Install the wheel with pip and with pipx on each of PYTHONS, and walk through the commands.
try-install: $(READY)
	$(BIN)/python -m pip install --quiet pipx
	$(BIN)/python tools/try_install.py $(PYTHONS)

## Build dist/osbctl.vsix, the extension for Visual Studio Code. It needs Node.js 20 or later.
extension:
	cd editors/vscode && npm install --no-package-lock --ignore-scripts --no-audit --no-fund --loglevel=error
	cd editors/vscode && npm run --silent package

## Run validate, show, diff and page on the brokerpaks in the folders of BROKERPAKS.
BROKERPAKS ?= ../brokerpaks
try-brokerpaks: $(READY)
	$(BIN)/python tools/try_brokerpaks.py $(BROKERPAKS)

## Check style, types, wording, generated files and the site.
check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/mypy benchmarks/*.py
	$(BIN)/python tools/make_schemas.py --check
	$(BIN)/python tools/release_lines.py --check
	$(BIN)/python tools/surface.py --check
	$(BIN)/python tools/make_docs.py --check
	$(BIN)/python tools/check_words.py
	$(BIN)/python tools/check_web.py
	$(SITE)

## Generate documentation and schemas.
docs: $(READY)
	$(BIN)/python tools/make_schemas.py
	$(BIN)/python tools/release_lines.py
	$(BIN)/python tools/make_docs.py
	$(BIN)/python tools/surface.py
	OSBCTL_WRITE_EXAMPLES=1 $(BIN)/python -m pytest --quiet -n 0 tests/test_examples.py

## Build the site into build/site; a broken link is an error.
site: $(READY)
	$(SITE)

## Measure against other tools; the figures go into benchmarks/README.md.
bench: $(READY)
	$(BIN)/python -m pip install --quiet --group bench --group browser
	$(BIN)/python benchmarks/validate.py
	$(BIN)/python benchmarks/build.py
	$(BIN)/python benchmarks/diff.py
	$(BIN)/python benchmarks/serve.py
	$(BIN)/python benchmarks/registry.py
	$(BIN)/python benchmarks/page.py
	$(BIN)/python benchmarks/scale.py
	$(BIN)/python benchmarks/edit.py

## Soak test of a broker for a minute: mixed clients, password guessing, silent connections, timing of refusals.
soak: $(READY)
	$(BIN)/python tools/soak.py
	$(BIN)/python -m tools.crowds

## Run the property tests with at least 50,000 examples.
fuzz: $(READY)
	OSBCTL_FUZZ=1 $(BIN)/python -m pytest -n auto -m fuzz -o faulthandler_timeout=3600

## Mutation testing of security and comparison code: a test must fail for each change (CONTRIBUTING.md).
mutants: $(READY)
	$(BIN)/python -m pip install --quiet --group mutants
	$(BIN)/python tools/mutants.py

# Install only what `make demo` needs.
$(TRIED): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	touch $@

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --editable "$(EXTRAS)" --group dev --group docs
	touch $@

clean:
	rm -rf $(VENV) $(VENV)-oldest dist build .hypothesis .mypy_cache .pytest_cache .ruff_cache mutants
