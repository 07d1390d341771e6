# Each target first makes .venv, once; after that it starts at once.
#   make demo SEED=3      another seed
#   make test PYTHON=...  another Python (3.11 or 3.12)
#   make test CORE=1      without torch: what needs it is skipped
#   make demo GPU=1       with the CUDA build of torch

SEED ?= 0
# Without compiled modules every process, and a run starts several, would compile torch and transformers anew.
unexport PYTHONDONTWRITEBYTECODE
SUPPORTED := import sys; sys.exit(sys.version_info[:2] not in ((3, 11), (3, 12)))
ifndef PYTHON
PYTHON := $(shell for p in .venv/bin/python python3 python3.12 python3.11; do \
	$$p -c '$(SUPPORTED)' 2>/dev/null && { echo $$p; break; }; done)
endif
RUN := .venv/bin/python -m

.PHONY: demo test test-slow lint bench setup

demo: setup
	@.venv/bin/rl-gym demo --train --seed $(SEED)

test: setup
	@OMP_NUM_THREADS=1 $(RUN) pytest -m "not slow" -n auto

test-slow: setup
	@$(RUN) pytest -m slow

lint: setup
	@$(RUN) ruff check .
	@$(RUN) ruff format --check .
	@$(RUN) mypy shared services deploy

bench: setup
	@set -e; for script in bench/*.py; do echo "== $$script"; .venv/bin/python $$script; done

setup:
	@test -n "$(PYTHON)" || { echo "error: Python 3.11 or 3.12 is needed; python3 is $$(python3 -V 2>&1)" >&2; exit 1; }
	@$(PYTHON) deploy/local/setup.py $(if $(GPU),--gpu) $(if $(CORE),--core)
