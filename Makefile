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
EXTRAS ?= documents,mcp,offline,ray,report,serve,systems,dev
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
demo: $(READY)  ## check claims against documents, then train under all objectives, compare, report (minutes, no network)
	$(BIN)/adjudge index tests/resources/documents --out runs/demo-documents
	$(BIN)/adjudge verify --corpus runs/demo-documents "The Ellery Bridge was opened in 1932." \
		"Members of the library may borrow only five books at a time." "Ingrid Solberg played the violin."
	@echo "Those were checked with the model of the package. Now models are trained under each objective (minutes)."
	$(BIN)/adjudge compare demo --jobs $(WORKERS)
	$(BIN)/adjudge report runs/demo
	@echo "The report: file://$(CURDIR)/runs/demo/report.html"

.PHONY: test
test: lint  ## everything that must hold: lint, types, tests
	OMP_NUM_THREADS=1 TOKENIZERS_PARALLELISM=false HF_HUB_OFFLINE=1 \
		$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile $(PYTEST_ARGS)

SERVE_ARGS ?= --open
.PHONY: serve
serve: $(READY)  ## the page on the sample documents, opened in a browser (SERVE_ARGS=… for other options)
	mkdir -p runs/samples && cp src/adjudge/serving/page/samples/documents/*.md runs/samples/
	$(BIN)/adjudge serve --corpus runs/samples $(SERVE_ARGS)

.PHONY: browser-test
browser-test: $(BROWSER_READY) chromium  ## the page in Chromium: every feature, accessibility, no request elsewhere
	OMP_NUM_THREADS=1 TOKENIZERS_PARALLELISM=false HF_HUB_OFFLINE=1 AXE=$(CURDIR)/$(AXE) CHROMIUM=$(CHROMIUM) \
		$(BIN)/python -m pytest tests/browser $(PYTEST_ARGS)

.PHONY: screenshots
screenshots: $(BROWSER_READY) chromium  ## take the pictures of the page in docs/images anew
	OMP_NUM_THREADS=1 HF_HUB_OFFLINE=1 PYTHONPATH=tests/support CHROMIUM=$(CHROMIUM) $(BIN)/python tests/browser/screenshots.py

# A Chromium counts when it tells its version: an installation that was interrupted leaves a program that cannot start.
.PHONY: chromium
chromium:  ## see that there is a Chromium for browser-test; as root on Debian or Ubuntu it is installed
	@works() { for name in $(or $(CHROMIUM),chromium chromium-browser google-chrome); do \
		"$$name" --version > /dev/null 2>&1 && return; done; return 1; }; \
	install() { [ -z "$(CHROMIUM)" ] && [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null || return 1; \
		echo "Installing Chromium with apt-get."; export DEBIAN_FRONTEND=noninteractive; \
		dpkg --configure -a > /dev/null && apt-get update -qq && apt-get install -qq -y --reinstall \
		--no-install-recommends -o DPkg::Lock::Timeout=300 chromium > /dev/null; }; \
	works || { install && works; } || { \
		echo "The browser tests need Chromium, and there is none that starts$(if $(CHROMIUM), at $(CHROMIUM))." \
			"As root on Debian or Ubuntu it is installed; if that was tried, what apt-get said is above." \
			"Install the package chromium yourself, or name a browser: make browser-test CHROMIUM=/path/to/chrome" \
			>&2; exit 2; }

# Each in an environment of its own over .venv: their pins clash, with one another or with the lock. deepeval asks for an
# older rich than the lock has, and brings a pytest plugin and telemetry, which stay out. LlamaIndex leaves event loops open, which is not our error.
INTEGRATIONS ?= haystack langchain llamaindex deepeval
ENVIRONMENTS := .venv-integrations
UNLOCKED := deepeval
LOCKED_EXTRAS = $(shell $(PYTHON) -c 'import tomllib; names = tomllib.load(open("pyproject.toml", "rb"))["project"]; \
	print(*(f"--extra {name}" for name in names["optional-dependencies"] if name not in "$(UNLOCKED)".split()))')
.PHONY: integration-test
integration-test: $(READY)  ## test Haystack, LangChain, LlamaIndex and deepeval, each in an environment of its own
	@base=$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))'); \
	for name in $(INTEGRATIONS); do \
		home=$(ENVIRONMENTS)/$$name; python=$$home/bin/python; \
		[ -x $$python ] || $(BIN)/python -m venv $$home; \
		echo "$$base" > $$($$python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/base.pth; \
		case " $(UNLOCKED) " in *" $$name "*) lock=/dev/null ;; *) lock=$(PIP_CONSTRAINT) ;; esac; \
		PIP_CONSTRAINT=$$lock $$python -m pip install --quiet --editable ".[$$name]"; \
		echo "== $$name"; \
		OMP_NUM_THREADS=1 HF_HUB_OFFLINE=1 DEEPEVAL_TELEMETRY_OPT_OUT=YES PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 \
			$$python -m pytest -p no:deepeval -W ignore::pytest.PytestUnraisableExceptionWarning \
			-p no:cacheprovider -q -k $$name tests/integrations/test_$$name.py tests/test_docs.py; \
	done

.PHONY: lint
lint: $(READY)  ## ruff (rules and format) and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

.PHONY: format
format: $(READY)  ## let ruff fix what it can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Figures are kept as JSON, by processor and number of cores. Each benchmark has a share of fifteen minutes and is given
# the sizes that fit into it; what takes longer is cut off and says so. Alone, `python benchmarks/bench_X.py --help`, it
# may take its time.
BENCH_SECONDS ?= 75
BENCH_OUT ?= runs/bench/$(shell sed -n 's/^model name[^:]*: //p' /proc/cpuinfo 2>/dev/null | head -1 | \
	tr -cs 'A-Za-z0-9\n' '-')x$(WORKERS)
SIZE_embedding := --sentences 256 --rounds 3
SIZE_index_search := --sentences 100000 --queries 30
SIZE_large_index := --sentences 300000 --claims 30
SIZE_model := --rounds 1 --only parity training latency head tokens loss
SIZE_quantised := --claims 64 --timed 16 --rounds 2
SIZE_scale := --claims 4000
SIZE_serve := --clients 16 --seconds 4 --rounds 1
SIZE_shelf := --claims 16 --labels 64 --rounds 2
SIZE_vectors := --rows 200000 --queries 20
SIZE_workers := --only verify --sentences 20000 --claims 256 --rounds 1
.PHONY: bench
bench: $(READY)  ## run the benchmarks, each a ratio against its baseline (under fifteen minutes; JSON in runs/bench)
	@mkdir -p $(BENCH_OUT)
	$(BIN)/adjudge bench --out $(BENCH_OUT)/bench.json
	@$(foreach name,$(patsubst benchmarks/bench_%.py,%,$(sort $(wildcard benchmarks/bench_*.py))), \
		echo "== bench_$(name) $(SIZE_$(name))"; json=""; \
		if grep -q '"--json"' benchmarks/bench_$(name).py; then json="--json $(BENCH_OUT)/bench_$(name).json"; fi; \
		timeout --signal INT --kill-after 5 $(BENCH_SECONDS) $(BIN)/python benchmarks/bench_$(name).py \
			$(SIZE_$(name)) $$json || echo "ended with $$? (124: cut off after $(BENCH_SECONDS) s)";)

FAULTS ?= 330
.PHONY: torture
torture: $(READY)  ## interrupt index, training, comparison, bulk work, download and uploads FAULTS=330 times (half an hour)
	OMP_NUM_THREADS=1 $(BIN)/python tests/torture/run.py --faults $(FAULTS)

INPUTS ?= 100000
FUZZ_ARGS ?=
.PHONY: fuzz
fuzz: $(READY)  ## feed every reader INPUTS=100000 damaged or made-up inputs (hours)
	PYTHONPATH=tests/support $(BIN)/python tests/fuzz/run.py --inputs $(INPUTS) $(FUZZ_ARGS)

MINUTES ?= 30
SOAK_ARGS ?=
.PHONY: soak
soak: $(READY)  ## load a server on this machine for MINUTES=30: memory, descriptors and answers stay as they were
	OMP_NUM_THREADS=1 $(BIN)/python tests/soak/run.py --minutes $(MINUTES) $(SOAK_ARGS)

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
	$(SUPPLY)/bin/uv pip compile pyproject.toml $(LOCKED_EXTRAS) --constraint constraints.txt --generate-hashes \
		--no-header --no-annotate --quiet --output-file dist/requirements-hashed.txt
	rm -rf dist/wheel-1 dist/wheel-2 dist/*.whl
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
# bf16 where the processor multiplies it fast: less than half the time.
PRECISION ?= auto
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
small-judge: $(READY)  ## retrain the model `small`, by many sources, from `fever` (an hour of one core with PRECISION=bf16, else two; resumable)
	[ -e $(SMALL_RUN)-mix/held_out.jsonl.gz ] || \
		$(BIN)/adjudge data mix judges --data $(DATA) --data reproductions --out $(SMALL_RUN)-mix
	$(BIN)/adjudge train --preset small-judge --train $(SMALL_RUN)-mix/train.jsonl.gz \
		--dev $(SMALL_RUN)-mix/held_out.jsonl.gz --set training.precision=$(PRECISION) --out $(SMALL_RUN) --resume
	$(BIN)/adjudge export $(SMALL_RUN) --out src/adjudge/models/small --force $(EXPORT_TESTS)

.PHONY: large-judge
large-judge: $(READY)  ## retrain the model `large` on MPNet, by many sources (three hours of one core with PRECISION=bf16, else ten; resumable)
	$(BIN)/adjudge model fetch large
	[ -e $(LARGE_RUN)-mix/held_out.jsonl.gz ] || \
		$(BIN)/adjudge data mix judges --data $(DATA) --data reproductions --out $(LARGE_RUN)-mix
	$(BIN)/adjudge train --preset large-judge --train $(LARGE_RUN)-mix/train.jsonl.gz \
		--dev $(LARGE_RUN)-mix/held_out.jsonl.gz --set training.precision=$(PRECISION) --out $(LARGE_RUN) --resume
	$(BIN)/adjudge export $(LARGE_RUN) --out src/adjudge/models/large --force --precision auto $(EXPORT_TESTS)

OBJECTIVES_RUN ?= runs/objectives
.PHONY: objectives
objectives: $(READY)  ## compare the objectives on real claims of DATA/fever (an hour on two cores, resumable)
	$(BIN)/python reproductions/objectives/run.py $(DATA)/fever $(OBJECTIVES_RUN) $(WORKERS)

# NAME as in `python reproductions/reproduce.py --list`; its data are looked for in DATA/fever.
NAME ?= world-tiny
.PHONY: reproduce
reproduce: $(READY)  ## run what made a published figure, and compare: NAME=world-tiny (25 seconds)
	$(BIN)/python reproductions/reproduce.py $(NAME) --data $(DATA)/fever

.PHONY: load
load: $(READY)  ## 32 clients for a minute on a server of this machine, beside one without batching (4 minutes)
	$(BIN)/python benchmarks/bench_serve.py --clients 32 --seconds 20 --rounds 3

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
	echo hatchling | $(BIN)/uv pip compile pyproject.toml - $(LOCKED_EXTRAS) --universal --python-version 3.11 \
		--upgrade --constraint <(echo torch==2.13.0) --no-header --no-annotate --quiet \
		| sed -E '/^(adjudge|cuda-|nvidia-|triton)/d' >> $(VENV)/lock.txt
	mv $(VENV)/lock.txt constraints.txt

.PHONY: clean
clean:  ## remove what builds and tests leave behind
	rm -rf build dist site .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

.PHONY: distclean
distclean: clean  ## clean, and remove .venv and the environments of integrations
	rm -rf $(VENV) $(ENVIRONMENTS)

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
