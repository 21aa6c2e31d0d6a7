# Each of `make demo` and `make test` sets up everything it needs (virtual environment, Python packages, trampoline, Julia)
# and then does its job. Stamps in the environment remember what is done: a second run starts at once.

PYTHON ?= python3
VENV   ?= .venv
ARGS   ?=

PY     := $(VENV)/bin/python
STAMPS := $(VENV)/.pybridge
EXT    := pybridge/_trampoline.abi3.so

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup demo test lint format bench docs wheel clean

help:
	@echo 'make demo     set up, then train a network with layers written in Julia and compare its gradients'
	@echo 'make test     set up, then run all tests'
	@echo 'make setup    set up only: virtual environment, Python packages, C trampoline, Julia'
	@echo 'make lint     ruff and mypy'
	@echo 'make format   let ruff format and mend what it can'
	@echo 'make bench    the table of docs/performance.md'
	@echo 'make docs     build the documentation into site/'
	@echo 'make wheel    build a wheel into dist/'
	@echo 'make clean    remove the virtual environment and everything built (not Julia: pybridge setup --remove)'
	@echo
	@echo 'PYTHON=python3.10 chooses the interpreter, VENV=folder the environment, ARGS="..." goes to the command:'
	@echo '  make test ARGS="-k autograd"     make demo ARGS="--epochs 5"'

setup: $(STAMPS)/julia $(EXT)

demo: setup
	$(PY) -m pybridge demo $(ARGS)

test: setup
	$(PY) -m pytest $(ARGS)

bench: setup
	$(PY) benchmarks/bench.py $(ARGS)

lint: $(STAMPS)/packages
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy

format: $(STAMPS)/packages
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .

docs: $(STAMPS)/packages
	NO_MKDOCS_2_WARNING=1 $(PY) -m mkdocs build --strict

wheel: $(STAMPS)/packages
	$(PY) -m pip wheel --no-deps --wheel-dir dist .

clean:
	rm -rf $(VENV) build dist site *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis
	rm -f pybridge/_trampoline*.so
	find pybridge tests benchmarks examples -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

# An environment that somebody else made is taken as it is; a half-made one is completed.
$(STAMPS)/venv:
	@command -v $(PYTHON) >/dev/null 2>&1 || { echo '$(PYTHON) was not found. Install Python 3.9 to 3.11' \
	  '(Debian: sudo apt install python3 python3-venv), or say which one: make PYTHON=python3.11 ...' >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 9) <= sys.version_info[:2] <= (3, 11))' || { \
	  echo "pybridge needs Python 3.9 to 3.11 (MXNet 1.9.1 has no newer ones), $(PYTHON) is" \
	  "$$($(PYTHON) --version 2>&1). Say which one to take: make PYTHON=python3.11 ..." >&2; exit 1; }
	@$(PY) -m pip --version >/dev/null 2>&1 || $(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo "$(PYTHON) cannot make virtual environments: its venv module is missing." \
	  "Debian, Ubuntu: sudo apt install python3-venv" >&2; exit 1; }
	@$(PY) -m pip --version >/dev/null 2>&1 || { echo 'Making a virtual environment in $(VENV)'; \
	  $(PYTHON) -m venv $(VENV); }
	@mkdir -p $(STAMPS) && touch $@

# pip compiles the trampoline too; touched after the stamp, it counts as new.
$(STAMPS)/packages: $(STAMPS)/venv pyproject.toml setup.py requirements-dev.txt
	@echo 'Installing Python packages and compiling the trampoline (some minutes the first time)'
	$(PY) -m pip install $$([ -t 1 ] || echo -qq) --disable-pip-version-check -c requirements-dev.txt -e '.[dev]'
	@touch $@ && touch -c $(EXT)

$(EXT): $(wildcard pybridge/_trampoline*.[ch]) $(STAMPS)/packages
	$(PY) setup.py --quiet build_ext --inplace --force
	@touch $@

$(STAMPS)/julia: $(STAMPS)/packages pybridge/_setup.py $(wildcard pybridge/_old_julia/*) | $(EXT)
	$(PY) -m pybridge setup
	@touch $@
