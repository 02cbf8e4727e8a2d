# The one door for developers. Everything runs in .venv, which the first target to need it makes.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SCALE ?= small

PAGE := docs/experiments.md

# What has been done, as empty files: the environment, Overcoat in it, and the developers' tools.
MADE := $(VENV)/.made
INSTALLED := $(VENV)/.installed
TOOLS := $(VENV)/.tools
WEB := $(VENV)/.web

COMPILED := $(shell find src -name '*.pyx' -o -name '*.pxd')

# Python compiles a module when it is first imported; most of those installed here never are.
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile \
	-c constraints.txt
# The build runs in .venv itself, so that it has the Cython of constraints.txt.
BUILD := $(INSTALL) --no-build-isolation
TEST := $(BIN)/python -m pytest -n auto --dist loadgroup
SLOW := benchmarks docs/test_docs_examples.py experiments packaging property

.PHONY: bench browser check clean demo docs experiments format help lint screens serve test twins

help:
	@echo "make demo    anonymize generated hospital data and show what happened"
	@echo "make serve   the same in a browser"
	@echo "make test    lint, types and the whole test suite"
	@echo "make check   lint, types and the tests that are quick: before every commit"
	@echo "make twins   the test suite on the slow twins of the compiled parts"
	@echo "make browser get a browser for the tests of pages, where there is none"
	@echo "make lint    ruff and mypy only"
	@echo "make bench   measure speed (SCALE=tiny, small or full; DATA=folder with real data sets)"
	@echo "make experiments  the paper's experiments (DATA=folder with real data sets; NAMES= of some)"
	@echo "make docs    write the reference of the Python API from its docstrings"
	@echo "make screens walk through the pages in a browser, and take pictures of them"
	@echo "make format  let ruff format the code"
	@echo "make clean   remove the environment and what was built"

$(MADE):
	$(PYTHON) -m venv $(VENV)
	touch $@

$(INSTALLED): pyproject.toml setup.py constraints.txt $(COMPILED) | $(MADE)
	$(INSTALL) setuptools Cython
	$(BUILD) -e .
	touch $@

$(TOOLS): pyproject.toml constraints.txt | $(INSTALLED)
	$(BUILD) -e '.[dev]'
	touch $@

$(WEB): pyproject.toml constraints.txt | $(INSTALLED)
	$(BUILD) -e '.[web]'
	touch $@

demo: $(INSTALLED)
	$(BIN)/overcoat demo --out demo
	@echo
	@echo "The same in a browser, from a file to a release: make serve"

serve: $(WEB)
	$(BIN)/overcoat serve --demo

lint: $(INSTALLED) $(TOOLS)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Where what is missing is a failure, a browser is got first; elsewhere tests with one are skipped.
test: lint $(if $(CI)$(OVERCOAT_CI),browser)
	$(TEST)

browser: $(TOOLS)
	$(BIN)/python tests/browser.py

check: lint
	$(TEST) $(addprefix --ignore=tests/,$(SLOW))

twins: $(INSTALLED) $(TOOLS)
	OVERCOAT_ENGINE=reference $(TEST) -m 'not compiled' --ignore=tests/packaging

bench: $(INSTALLED) $(TOOLS)
	$(BIN)/python -m benchmarks.run --scale $(SCALE) $(if $(DATA),--data $(DATA)) $(if $(OUT),--out $(OUT))

experiments: $(INSTALLED) $(TOOLS)
	$(BIN)/python -m experiments.run $(if $(DATA),--data $(DATA) $(if $(NAMES),,--page $(PAGE))) $(NAMES)

docs: $(INSTALLED) $(TOOLS)
	$(BIN)/python -m tools.api
	$(BIN)/python -m tools.pictures

screens: $(INSTALLED) $(TOOLS)
	$(BIN)/python -m tools.screens

format: $(INSTALLED) $(TOOLS)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) build demo *.egg-info src/*.egg-info
	find src -name '*.so' -delete -o -name '*.c' -delete
