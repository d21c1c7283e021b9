# Everything that people and machines run here. `make run` and `make test` set up what they need.
SHELL := /bin/bash
.DEFAULT_GOAL := help

PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
DOCS_READY := $(VENV)/.docs-ready
AIRFLOW := .airflow-venv
AIRFLOW_READY := $(AIRFLOW)/.ready
SPARK_JARS := .jars/spark/.ready
KAFKA_JARS := .jars/kafka/.ready
SHARED_CLASSES := .jars/spark.jsa
PYTEST := $(BIN)/python -m pytest
BENCHES := broker gate processing client lake api

.PHONY: help setup hooks jars bytecode chromium spin kcat run test test-fast check format lock codecs docs bench soak chaos fuzz model wheel airflow airflow-test clean

help:  ## what there is
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-9s %s\n", $$1, $$2}'

setup: $(READY) hooks jars bytecode $(SHARED_CLASSES)  ## virtual environment in .venv, jars in .jars, and what makes Spark start faster

$(READY): requirements/dev.txt pyproject.toml
	@command -v $(PYTHON) >/dev/null || { echo "Python 3.11 is missing: install it, or name one with PYTHON=..." >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@test -x $(BIN)/pip || $(BIN)/python -m ensurepip >/dev/null
	$(BIN)/python -m pip install -q --require-hashes -r requirements/dev.txt
	$(BIN)/python -m pip install -q --no-deps --editable .
	@touch $@

hooks:
	@! git rev-parse --git-dir >/dev/null 2>&1 || git config core.hooksPath tools/git_hooks

# Where the environment forbids writing bytecode, every process would compile all of it again.
bytecode: $(READY)
	@$(BIN)/python -m compileall -q src

jars: $(SPARK_JARS) $(KAFKA_JARS)  ## the jars of pom.xml, copied once

.jars/%/.ready: pom.xml
	@command -v java >/dev/null || { echo "A JDK is missing: install JDK 17 (Debian: apt-get install openjdk-17-jdk-headless)." >&2; exit 1; }
	@command -v mvn >/dev/null || { echo "Maven is missing: install it (Debian: apt-get install maven)." >&2; exit 1; }
	@rm -rf .jars/$*
	mvn -q -B -P$* package
	@touch $@

# A minute, once; with it Spark starts a fifth faster. `make run` does not wait for it.
$(SHARED_CLASSES): $(READY) $(SPARK_JARS)
	@$(BIN)/python -m tools.share_classes

chromium:  ## the browser of the browser tests, from Debian's packages
	@command -v "$${CHROMIUM:-chromium}" >/dev/null || { \
		test "$$(id -u)" = 0 && command -v apt-get >/dev/null && apt-get update -qq && \
		DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends chromium fonts-liberation >/dev/null; } || { \
		echo "Chromium is missing: install it (Debian: apt-get install chromium fonts-liberation), or name one with CHROMIUM=..." >&2; exit 1; }

spin:  ## the model checker, from Debian's packages
	@{ command -v spin && command -v gcc; } >/dev/null || { \
		test "$$(id -u)" = 0 && command -v apt-get >/dev/null && apt-get update -qq && \
		DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends spin gcc libc6-dev >/dev/null; } || \
		echo "Spin is missing, so the model cannot be checked: install it (Debian: apt-get install spin gcc libc6-dev)." >&2

kcat:  ## kcat, with which ours is compared, from Debian's packages
	@command -v kcat >/dev/null || { \
		test "$$(id -u)" = 0 && command -v apt-get >/dev/null && apt-get update -qq && \
		DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends kcat >/dev/null; } || \
		echo "kcat is missing, so ours is not compared with it: install it (Debian: apt-get install kcat)." >&2

run: $(READY) $(SPARK_JARS) bytecode  ## start Holdfast on this machine, with demo traffic (Ctrl-C stops it)
	$(BIN)/holdfast up --demo

# Several processes at once, each with a broker and a Spark session of its own: most tests wait (tests/parallel.py).
PARALLEL := -n auto --dist loadfile --no-loadscope-reorder --durations=20 --durations-min=1

# Units come first, in processes that have neither brokers nor Spark around them.
test: setup chromium spin kcat  ## all tests (some, in one process: ARGS="tests/unit/gate -x")
ifdef ARGS
	$(PYTEST) $(ARGS)
else
	$(PYTEST) -q $(PARALLEL) tests/unit
	$(PYTEST) -q $(PARALLEL) --ignore=tests/unit
endif

test-fast: setup  ## units and contracts, without Apache Kafka and Spark: below 3 minutes
	$(PYTEST) -q $(PARALLEL) tests/unit tests/contract -m "not spark" -k "not apache"

check: $(READY)  ## ruff, mypy --strict, import contracts; build/sbom.json, known weaknesses of dependencies
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m tools.supply_chain

format: $(READY)  ## format the code as `make check` requires
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

LOCK := uv pip compile -q --upgrade --generate-hashes --no-emit-find-links --no-header --python-version 3.11

lock: $(READY)  ## write the files in requirements from pyproject.toml (needs uv)
	$(LOCK) --all-extras --group dev pyproject.toml -o requirements/dev.txt
	$(LOCK) --group docs --constraints requirements/dev.txt -o requirements/docs.txt
	$(LOCK) --group providers/airflow/pyproject.toml:test providers/airflow/pyproject.toml -o requirements/airflow.txt

codecs: setup  ## generate the protocol codecs again
	$(BIN)/python -m tools.generate_codecs

$(DOCS_READY): requirements/docs.txt $(READY)
	$(BIN)/python -m pip install -q --require-hashes -r requirements/docs.txt
	@touch $@

docs: $(DOCS_READY)  ## the documentation, with the reference made from the code, in build/docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet
	@echo "Open build/docs/index.html"

bench: setup  ## every benchmark against its peer, and how cost grows: docs/benchmarks.md (two hours)
	@for b in $(BENCHES); do echo "== $$b"; $(BIN)/python -m bench.record $$b || exit 1; done
	$(BIN)/python -m bench.growth

soak: setup  ## the whole system at half of its peak rate for half an hour: does anything grow? (ARGS="--minutes 5")
	$(BIN)/python -m bench.soak $(ARGS)

chaos: setup  ## break the whole system at random and prove that nothing was lost (ARGS="--minutes 60")
	$(BIN)/python -m tests.chaos $(ARGS)

fuzz: setup  ## mutated and random frames, commands and requests, for longer than the tests do
	$(BIN)/python -m tests.fuzz $(ARGS)

model: $(READY) spin  ## check the model of the step protocol with Spin, and that it can fail
	$(BIN)/python -m model.check $(ARGS)

wheel: $(READY)  ## build wheel and sdist in dist; install them as a user would, and run the demo (ARGS="python3.13")
	@rm -rf dist
	$(BIN)/python -m hatchling build
	$(BIN)/python -m tools.try_wheel $(ARGS)

airflow: $(AIRFLOW_READY)  ## Airflow with our provider, in .airflow-venv (140 packages)

$(AIRFLOW_READY): requirements/airflow.txt providers/airflow/pyproject.toml
	@test -x $(AIRFLOW)/bin/python || $(PYTHON) -m venv $(AIRFLOW)
	$(AIRFLOW)/bin/python -m pip install -q --require-hashes -r requirements/airflow.txt
	$(AIRFLOW)/bin/python -m pip install -q --no-deps --editable providers/airflow
	@touch $@

airflow-test: setup airflow  ## the provider in a real Airflow, against a real `holdfast up` (ten minutes)
	cd providers/airflow && ../../$(AIRFLOW)/bin/python -m pytest $(or $(ARGS),-q)

clean:  ## remove what the other targets made
	rm -rf $(VENV) $(AIRFLOW) .jars build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
