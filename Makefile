# Each target first makes .venv, once; after that it starts at once.
#   make demo SEED=3      another seed
#   make test PYTHON=...  another Python (3.11 or 3.12)
#   make test CORE=1      without torch: what needs it is skipped
#   make demo GPU=1       with the CUDA build of torch
#   make checkov          .venv-checkov, for the scan engine of that name
#   make vllm             .venv-vllm, the real engine on the CPU: `make test` then tests with it

SEED ?= 0
# Of the tests with the real vLLM, all together.
VLLM_SECONDS ?= 1800
# Without compiled modules every process, and a run starts several, would compile torch and transformers anew.
unexport PYTHONDONTWRITEBYTECODE
SUPPORTED := import sys; sys.exit(sys.version_info[:2] not in ((3, 11), (3, 12)))
ifndef PYTHON
PYTHON := $(shell for p in .venv/bin/python python3 python3.12 python3.11; do \
	$$p -c '$(SUPPORTED)' 2>/dev/null && { echo $$p; break; }; done)
endif
RUN := .venv/bin/python -m

.PHONY: demo test test-slow lint bench setup checkov vllm python

demo: setup
	@.venv/bin/rl-gym demo --train --seed $(SEED)

test: setup
	@OMP_NUM_THREADS=1 $(RUN) pytest -m "not slow" -n auto --dist worksteal --ignore tests/vllm
	@if [ -e .venv-vllm/bin/python ]; then timeout --foreground -s INT -k 60 $(VLLM_SECONDS) $(RUN) pytest tests/vllm || { \
		code=$$?; [ $$code -ne 124 ] || echo "tests/vllm: not done within $(VLLM_SECONDS) s" >&2; exit $$code; }; \
	else echo "tests/vllm: skipped, there is no .venv-vllm: \`make vllm\` makes it"; fi

test-slow: setup
	@$(RUN) pytest -m slow

lint: setup
	@$(RUN) ruff check .
	@$(RUN) ruff format --check .
	@$(RUN) mypy shared services deploy

bench: setup
	@set -e; for script in bench/*.py; do echo "== $$script"; .venv/bin/python $$script; done

setup: python
	@$(PYTHON) deploy/local/setup.py $(if $(GPU),--gpu) $(if $(CORE),--core)

checkov: python
	@$(PYTHON) deploy/local/setup.py --checkov

vllm: python
	@$(PYTHON) deploy/local/setup.py --vllm

python:
	@test -n "$(PYTHON)" || { echo "error: Python 3.11 or 3.12 is needed; python3 is $$(python3 -V 2>&1)" >&2; exit 1; }
