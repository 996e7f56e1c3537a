# `make demo` and `make test` are all that a newcomer needs; both set up what is missing first.
PORT ?= 8000
PY := .venv/bin/python
PYTEST := $(PY) -m pytest
# As many test processes as cores, one when a test is chosen: make test TESTS=tests/quotes
TESTS ?= tests
WORKERS ?= auto
# What `make check` judges as if it were the real site; the key is no secret and no site uses it.
PRODUCTION := SITE_MODE=production SITE_URL=https://rekenkracht.example DEBUG=0 \
	SECRET_KEY=$(shell printf 'not-a-secret-%.0s' 1 2 3 4 5)

CHECKS := lint format types imports migrations messages deployment

.DEFAULT_GOAL := help
.PHONY: help setup setup-dev demo test test-postgresql check $(CHECKS:%=check-%) format bench messages requirements

help: ## Show what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: ## Set up everything that running the site needs
	@scripts/bootstrap

setup-dev: ## Set up everything that tests and checks need
	@scripts/bootstrap --dev

demo: setup ## Load the catalog and examples, start the site and print its addresses
	@$(PY) scripts/demo.py --port $(PORT)

test: setup-dev ## Run the whole test suite, browser tests included
	@$(PYTEST) -n $(WORKERS) $(TESTS)

test-postgresql: export DATABASE_URL := $(DATABASE_URL)
test-postgresql: setup-dev ## Run the tests that touch the database, on the PostgreSQL that DATABASE_URL names
	@test -n "$$DATABASE_URL" || { echo "Set DATABASE_URL=postgresql://user:password@host:5432/name"; exit 1; }
	@$(PYTEST) -n $(WORKERS) --database-only $(TESTS)

check: $(CHECKS:%=check-%) ## Lint, format, types, import contracts, migrations, translations, deployment (-k: go on)

check-lint: setup-dev
	$(PY) -m ruff check .

check-format: setup-dev
	$(PY) -m ruff format --check .

check-types: setup-dev
	$(PY) -m mypy

check-imports: setup-dev
	.venv/bin/lint-imports --no-logo

check-migrations: setup-dev
	$(PY) manage.py makemigrations --check --dry-run

check-messages: setup-dev
	$(PY) scripts/messages.py check

check-deployment: setup-dev
	$(PRODUCTION) $(PY) manage.py check --deploy --fail-level WARNING

format: setup-dev ## Put the code into shape
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .

bench: setup-dev ## Measure the search, a questionnaire step, the PDF and the memory
	@$(PY) tests/benchmarks/run.py

messages: setup-dev ## Bring the Dutch translations in line with the source
	@$(PY) scripts/messages.py update
	@$(PY) scripts/messages.py compile

requirements: setup-dev ## Compile requirements/*.in into hash-pinned requirements/*.txt (UPGRADE=1 takes newer ones)
	@cd requirements && for name in base dev; do \
		../.venv/bin/uv pip compile --quiet --universal --python-version 3.12 --generate-hashes --no-annotate \
		--no-header --no-emit-index-url --no-emit-find-links $(if $(UPGRADE),--upgrade) $$name.in -o $$name.txt; done
