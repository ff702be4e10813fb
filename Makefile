# Every target works from a fresh clone: the environment is made when it is missing or out of date.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
REPORTS := build/reports
CODE := $(wildcard src bench tools)
export HYPOTHESIS_PROFILE ?= ci
# Hundreds of processes import the same modules: each would compile them again.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: help browser docs release-check demo demo-live test test-deep test-fast test-kafka lint format bench clean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(READY)  ## a marketplace through Spark: searches, a stream of listings, who is told, and a picture
	@$(BIN)/python -m bench.demo

browser:
	@command -v chromium >/dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null \
		&& { apt-get update -qq; apt-get install -qq -y chromium; } >/dev/null 2>&1; } \
		|| echo "no Chromium, and apt may not install it: the tests of the console page will be skipped"

demo-live: $(READY)  ## the same, without an end: open its console in a browser
	@$(BIN)/python -m bench.demo --live

test-fast: $(READY)  ## the inner loop: no Spark, browser, crash campaigns or real data; under three minutes
	@HYPOTHESIS_PROFILE=fast $(BIN)/python -m pytest -n 2 --dist loadgroup -m "not full"

# The kernels come first: they are compiled once, for all processes of the other tests. Beside them one process
# imports all tests, so that the others find the bytecode of every package, and one archives the classes of Spark
# for all processes of Java. The other tests wait a third of their time for processes that they have killed or
# started, so five of them keep two cores busy. The interpreted kernels take the time that is left.
test: $(READY) browser  ## everything: lint, all tests, and the kernels once more, interpreted and under coverage
	@rm -rf $(REPORTS) && mkdir -p $(REPORTS)
	@($(BIN)/python -m pytest --collect-only -m "not kernels" > $(REPORTS)/collected.txt 2>&1; \
		$(BIN)/python -m tests.spark.java > $(REPORTS)/java.txt 2>&1; \
		$(MAKE) --no-print-directory lint > $(REPORTS)/lint.txt 2>&1) & lint=$$!; status=0; \
	echo "kernels, compiled:"; \
	$(BIN)/python -m pytest -n 2 --dist loadfile -m kernels --junitxml=$(REPORTS)/kernels.xml || status=1; \
	wait $$lint || status=1; cat $(REPORTS)/lint.txt; \
	NUMBA_DISABLE_JIT=1 nice -n 5 $(BIN)/python -m pytest -n 2 -m "kernels and not compiled" \
		-W "ignore:overflow encountered:RuntimeWarning" --cov --cov-report=term --junitxml=$(REPORTS)/interpreted.xml > $(REPORTS)/interpreted.txt 2>&1 & \
	interpreted=$$!; \
	echo "everything else:"; \
	$(BIN)/python -m pytest -n 5 --dist loadgroup -m "not kernels" --junitxml=$(REPORTS)/others.xml || status=1; \
	wait $$interpreted || status=1; echo "kernels, interpreted:"; cat $(REPORTS)/interpreted.txt; \
	$(BIN)/python tools/count_tests.py $(REPORTS)/kernels.xml $(REPORTS)/others.xml $(REPORTS)/interpreted.xml \
		|| status=1; \
	exit $$status

test-deep: $(READY)  ## for hours: the duels with ten times the examples, new ones in each run, and all real data
	@HYPOTHESIS_PROFILE=deep $(BIN)/python -m pytest -n 2 tests/duel tests/normal tests/language tests/space tests/index \
		tests/realdata

test-kafka: $(READY)  ## streams from and to a real Kafka broker; needs Maven, which fetches it
	@command -v mvn >/dev/null || { echo "make test-kafka needs Maven (mvn) and Java 17"; exit 1; }
	@TAMIS_KAFKA=1 $(BIN)/python -m pytest tests/kafka

lint: $(READY)  ## ruff, mypy --strict, import-linter, plain English
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --check --quiet . || { echo "formatting differs: run 'make format'"; exit 1; }
	@$(BIN)/mypy $(CODE)
	@$(BIN)/lint-imports --no-logo
	@$(BIN)/python tools/prose.py

format: $(READY)  ## rewrite the code in the house format
	@$(BIN)/ruff check --quiet --fix . || true
	@$(BIN)/ruff format .

docs: $(READY)  ## the documentation site, into build/site: open build/site/index.html
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet && echo "the site is in build/site: open build/site/index.html"

release-check:  ## build sdist and wheel, install the wheel alone, run the README, check licences, write an SBOM
	@$(PYTHON) tools/release_check.py

bench: $(READY)  ## the benchmark suite
	@$(BIN)/python -m bench suite

clean:  ## remove the environment and everything that was built
	@rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis .coverage
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(READY): pyproject.toml constraints.txt
	@echo "setting up $(VENV) (about a minute, only when pyproject.toml or constraints.txt changed)"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@
