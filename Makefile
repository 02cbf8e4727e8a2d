# The one door for developers. Everything runs in .venv, which the first target to need it makes.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
SCALE ?= small

PAGE := docs/experiments.md

.PHONY: bench demo experiments test lint format clean help

help:
	@echo "make demo    anonymize generated hospital data and show what happened"
	@echo "make test    lint, types and the whole test suite"
	@echo "make lint    ruff and mypy only"
	@echo "make bench   measure speed (SCALE=tiny, small or full; DATA=folder with real data sets)"
	@echo "make experiments  the paper's experiments (DATA=folder with real data sets; NAMES= of some)"
	@echo "make format  let ruff format the code"
	@echo "make clean   remove the environment and what was built"

$(INSTALLED): pyproject.toml constraints.txt $(wildcard src/overcoat/*/*.pyx src/overcoat/*/*.pxd)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $@

demo: $(INSTALLED)
	$(BIN)/overcoat demo --out demo

lint: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: lint
	$(BIN)/python -m pytest -n auto

bench: $(INSTALLED)
	$(BIN)/python -m benchmarks.run --scale $(SCALE) $(if $(DATA),--data $(DATA)) $(if $(OUT),--out $(OUT))

experiments: $(INSTALLED)
	$(BIN)/python -m experiments.run $(if $(DATA),--data $(DATA) $(if $(NAMES),,--page $(PAGE))) $(NAMES)

format: $(INSTALLED)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) build demo src/overcoat/*/*.so src/overcoat/*/*.c *.egg-info src/*.egg-info
