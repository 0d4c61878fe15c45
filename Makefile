# Two commands matter: `make demo` and `make test`. Each builds .venv by itself; nothing is installed globally.
#
#   make test PYTHON=python3.12     with another interpreter (3.11 or newer); .venv is rebuilt for it
#   make test WORKERS=1             without parallel test processes
#   make demo TORCH_INDEX=https://download.pytorch.org/whl/cpu     the small CPU build of PyTorch on Linux

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

PYTHON ?= python3
WORKERS ?= $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
EXTRAS ?= documents,offline,ray,report,serve,dev
TORCH_INDEX ?=

VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
DOCS_READY := $(VENV)/.ready-docs
BROWSER_READY := $(VENV)/.ready-browser
AXE_VERSION := 4.14.0
CHROMIUM ?=
AXE := $(VENV)/axe/node_modules/axe-core/axe.min.js

# Every pip call in a recipe obeys the lock, the environment that builds the package included: without the
# pin a newer PyTorch comes with gigabytes of GPU packages. pip before 25.3 reads the first name for both,
# later ones the second for the build.
export PIP_CONSTRAINT := $(CURDIR)/constraints.txt
export PIP_BUILD_CONSTRAINT := $(CURDIR)/constraints.txt
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: help
help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: demo
demo: $(READY)  ## train under all objectives, compare, write the report, check claims (minutes, no network)
	$(BIN)/adjudge compare demo --jobs $(WORKERS)
	$(BIN)/adjudge report runs/demo
	$(BIN)/adjudge index tests/resources/documents --out runs/demo/documents
	$(BIN)/adjudge verify --corpus runs/demo/documents "The Ellery Bridge was opened in 1932." \
		"Members of the library may borrow only five books at a time." "Ingrid Solberg played the violin."

.PHONY: test
test: lint  ## everything that must hold: lint, types, tests
	OMP_NUM_THREADS=1 TOKENIZERS_PARALLELISM=false HF_HUB_OFFLINE=1 \
		$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile $(PYTEST_ARGS)

.PHONY: browser-test
browser-test: $(BROWSER_READY) chromium  ## the page in Chromium: every feature, accessibility, no request elsewhere
	OMP_NUM_THREADS=1 TOKENIZERS_PARALLELISM=false HF_HUB_OFFLINE=1 AXE=$(CURDIR)/$(AXE) CHROMIUM=$(CHROMIUM) \
		$(BIN)/python -m pytest tests/browser $(PYTEST_ARGS)

.PHONY: chromium
chromium:  ## see that there is a Chromium for browser-test; as root on Debian or Ubuntu it is installed
	@[ -n "$(CHROMIUM)" ] || command -v chromium chromium-browser google-chrome > /dev/null || { \
		[ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null && apt-get update -qq && \
		DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends chromium > /dev/null; } || { \
		echo "The browser tests need Chromium: install the package chromium (apt-get install chromium)," \
			"or name another by CHROMIUM=/path/to/chrome." >&2; exit 2; }

.PHONY: lint
lint: $(READY)  ## ruff (rules and format) and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

.PHONY: format
format: $(READY)  ## let ruff fix what it can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

.PHONY: bench
bench: $(READY)  ## run the benchmarks, each a ratio against its baseline
	@for file in benchmarks/bench_*.py; do \
		[ -e "$$file" ] || { echo "There are no benchmarks/bench_*.py yet."; break; }; \
		echo "== $$file"; $(BIN)/python "$$file"; \
	done

FAULTS ?= 330
.PHONY: torture
torture: $(READY)  ## interrupt index, training, comparison, bulk work and download FAULTS=330 times (half an hour)
	OMP_NUM_THREADS=1 $(BIN)/python tests/torture/run.py --faults $(FAULTS)

INPUTS ?= 100000
FUZZ_ARGS ?=
.PHONY: fuzz
fuzz: $(READY)  ## feed every reader INPUTS=100000 damaged or made-up inputs (hours)
	PYTHONPATH=tests/support $(BIN)/python tests/fuzz/run.py --inputs $(INPUTS) $(FUZZ_ARGS)

# In an environment of its own, so that what lists the dependencies is not listed.
SUPPLY := $(VENV)/supply
.PHONY: supply-chain
supply-chain: $(READY)  ## the SBOM, the licences, the lock with hashes, and whether the wheel is reproducible, into dist/
	[ -x $(SUPPLY)/bin/cyclonedx-py ] || { $(PYTHON) -m venv $(SUPPLY) && \
		$(SUPPLY)/bin/python -m pip install --quiet cyclonedx-bom pip-licenses build uv; }
	mkdir -p dist
	$(SUPPLY)/bin/cyclonedx-py environment --pyproject pyproject.toml --output-reproducible \
		--output-file dist/sbom.json $(BIN)/python
	$(SUPPLY)/bin/pip-licenses --python $(BIN)/python --format markdown --with-urls --output-file dist/licences.md
	$(SUPPLY)/bin/uv pip compile pyproject.toml --all-extras --constraint constraints.txt --generate-hashes \
		--no-header --no-annotate --quiet --output-file dist/requirements-hashed.txt
	for turn in 1 2; do SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) $(SUPPLY)/bin/python -m build --wheel \
		--outdir dist/wheel-$$turn . > dist/build.log || { cat dist/build.log; exit 1; }; done
	cmp dist/wheel-1/*.whl dist/wheel-2/*.whl && mv dist/wheel-1/*.whl dist/ && rm -r dist/wheel-1 dist/wheel-2
	cd dist && sha256sum *.whl sbom.json licences.md requirements-hashed.txt > SHA256SUMS && cat SHA256SUMS

# Retrain the models that come with the package, from the files in DATA and reproductions/written. Given again, each goes on
# where it stopped.
DATA ?= ../shared/data
FEVER_RUN ?= runs/fever-judge
SMALL_RUN ?= runs/small-judge
LARGE_RUN ?= runs/large-judge
EXPORT_TESTS := --test $(DATA)/fever/dev_gold.jsonl.gz --test $(DATA)/fever/dev_retrieved.jsonl.gz

.PHONY: fever-judge
fever-judge: $(READY)  ## retrain the model `fever`, on FEVER's claims alone (83 minutes on two cores, resumable)
	$(BIN)/adjudge train --preset default-model --train $(DATA)/fever/train.jsonl.gz \
		--set data.pages=$(DATA)/fever/train_pages.jsonl.gz --out $(FEVER_RUN) --resume
	$(BIN)/adjudge train --preset default-model-second --train $(DATA)/fever/train.jsonl.gz \
		--set data.pages=$(DATA)/fever/train_pages.jsonl.gz --set model.init=$(FEVER_RUN) \
		--out $(FEVER_RUN)-second --resume
	$(BIN)/adjudge train --preset default-model-third --train $(DATA)/fever/train.jsonl.gz \
		--set data.pages=$(DATA)/fever/train_pages.jsonl.gz --set model.init=$(FEVER_RUN)-second \
		--out $(FEVER_RUN)-third --resume

.PHONY: small-judge
small-judge: $(READY)  ## retrain the model `small`, by many sources, from `fever` (an hour of one core, resumable)
	[ -e $(SMALL_RUN)-mix/held_out.jsonl.gz ] || \
		$(BIN)/adjudge data mix judges --data $(DATA) --data reproductions --out $(SMALL_RUN)-mix
	$(BIN)/adjudge train --preset small-judge --train $(SMALL_RUN)-mix/train.jsonl.gz \
		--dev $(SMALL_RUN)-mix/held_out.jsonl.gz --out $(SMALL_RUN) --resume
	$(BIN)/adjudge export $(SMALL_RUN) --out src/adjudge/models/small --force $(EXPORT_TESTS)

.PHONY: large-judge
large-judge: $(READY)  ## retrain the model `large` on MPNet, by many sources (hours of one core, resumable)
	$(BIN)/adjudge model fetch large
	[ -e $(LARGE_RUN)-mix/held_out.jsonl.gz ] || \
		$(BIN)/adjudge data mix judges --data $(DATA) --data reproductions --out $(LARGE_RUN)-mix
	$(BIN)/adjudge train --preset large-judge --train $(LARGE_RUN)-mix/train.jsonl.gz \
		--dev $(LARGE_RUN)-mix/held_out.jsonl.gz --out $(LARGE_RUN) --resume
	$(BIN)/adjudge export $(LARGE_RUN) --out src/adjudge/models/large --force $(EXPORT_TESTS)

OBJECTIVES_RUN ?= runs/objectives
.PHONY: objectives
objectives: $(READY)  ## compare the objectives on real claims of DATA/fever (an hour on two cores, resumable)
	$(BIN)/python reproductions/objectives/run.py $(DATA)/fever $(OBJECTIVES_RUN) $(WORKERS)

# NAME as in `python reproductions/reproduce.py --list`; its data are looked for in DATA/fever.
NAME ?= world-tiny
.PHONY: reproduce
reproduce: $(READY)  ## run what made a published figure, and compare: NAME=world-tiny (25 seconds)
	$(BIN)/python reproductions/reproduce.py $(NAME) --data $(DATA)/fever

.PHONY: docs
docs: $(DOCS_READY)  ## build the pages into site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

# Does not wait for a finished .venv, which a new dependency may keep from being built. uv asks PyPI; another
# index is named by UV_DEFAULT_INDEX.
.PHONY: lock
lock:  ## renew constraints.txt for every supported Python and platform (needs the network)
	@[ -x $(BIN)/python ] || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet uv
	@sed '/^[^#]/,$$d' constraints.txt > $(VENV)/lock.txt
	echo hatchling | $(BIN)/uv pip compile pyproject.toml - --all-extras --universal --python-version 3.11 \
		--upgrade --constraint <(echo torch==2.13.0) --no-header --no-annotate --quiet \
		| sed -E '/^(adjudge|cuda-|nvidia-|triton)/d' >> $(VENV)/lock.txt
	mv $(VENV)/lock.txt constraints.txt

.PHONY: clean
clean:  ## remove what builds and tests leave behind
	rm -rf build dist site .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

.PHONY: distclean
distclean: clean  ## clean, and remove .venv
	rm -rf $(VENV)

# A .venv of another Python version is thrown away; one of the same version is brought up to date.
$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "adjudge needs Python 3.11 or newer and $(PYTHON) is $$($(PYTHON) -V 2>&1)." \
			"Name another: make $(MAKECMDGOALS) PYTHON=python3.12" >&2; exit 2; }
	@version='import sys; print(sys.version_info[:2])'; \
	if [ -x $(BIN)/python ] && [ "$$($(BIN)/python -c "$$version")" != "$$($(PYTHON) -c "$$version")" ]; then \
		rm -rf $(VENV); fi
	@echo "Building $(VENV) with the versions of constraints.txt; the first time takes a few minutes."
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet $(if $(TORCH_INDEX),--extra-index-url $(TORCH_INDEX) --timeout 30 --retries 1) --no-deps torch
	$(BIN)/python -m pip install --quiet --editable '.[$(EXTRAS)]'
	@touch $@

$(DOCS_READY): $(READY)
	$(BIN)/python -m pip install --quiet --editable '.[docs]'
	@touch $@

# axe checks the accessibility of the pages in tests; it is no part of the package.
$(BROWSER_READY): $(READY)
	$(BIN)/python -m pip install --quiet --editable '.[browser]'
	@command -v npm > /dev/null || { \
		echo "The browser tests fetch axe-core with npm: install the package npm." >&2; exit 2; }
	npm install --silent --no-save --no-fund --no-audit --prefix $(VENV)/axe axe-core@$(AXE_VERSION)
	@touch $@
