## make setup [PYTHON=python3.13] [JOBS=1]   create .venv, build DyNet and the decoders with at most JOBS compilers, install the command mh4
## make reproduce LANG=toy                   the first thing to try: a small generated treebank, no download
## make test [UD=folder] [CONLL17=folder]    all tests, also on real treebanks and on outputs of the shared task; PYTEST=... for pytest
## make check                                format, lint, types, imports and the fast tests: before a commit
## make docs                                 the documentation, into build/docs; warnings are errors
## make package [PYTHONS="..."] [DYNET=1]    an sdist, and wheels (also of DyNet) for these Pythons or those here, tried; into dist/
## make sweep [EVERY=10]                     every command on malformed files and damaged models, or on every tenth
## make sanitize [CALLS=20000] [SEEDS=1]     random calls of the decoders under AddressSanitizer and UBSan
## make serve-test                           1,000 requests by 50 clients of mh4 serve, while its processes are killed
## make corpus-test [MB=30] [KILLS=20]       corpora whose workers, drivers and schedulers are killed, and whose disk is full
## make slurm-test                           make paper, and a corpus, on a Slurm cluster of two nodes, started on this machine
## make machines-test [MACHINES="sid"]       the toy run and the fast tests on other Debians, 64-bit ARM and with clang, in chroots
## make torch-test, make spacy-test          the tests with PyTorch and JAX, or with spaCy, in environments of their own
## make clean, make distclean                remove build products; distclean also removes the environments
##
## The studies, each a file of experiments/studies; `make NAME HELP=1` says what the variables mean, such as LANG=hu (a language, or toy),
## TREEBANK=folder (your own), SYSTEMS="mh3 mst", SEEDS="1 2", UD=folder (existing treebanks), CONLL17=folder, SOURCE=lindat (where to download),
## JOBS=2; RECORD=1 writes to experiments/results, which git tracks, instead of runs:
##
help:
	@sed -n 's/^## \{0,1\}//p' Makefile
	@awk 'FNR == 1 { on = 0; text = "" } /^"""``make/ { on = 1 } on && /^$$/ { on = 0; print text } \
	    on { sub(/^"""/, ""); text = text (text == "" ? "" : " ") $$0 }' experiments/studies/[a-z]*.py | sed 's/``//; s/``: */  # /'

PYTHON ?= python3
STUDIES := $(basename $(notdir $(wildcard experiments/studies/[a-z]*.py)))
# Studies get every variable that follows `make` as an option, even a misspelt one, with the value that make exports to
# the shell. Only LANG is not exported, since it is the locale there: a LANG that follows `make` is a treebank, and a LANG
# of the environment is not.
given = $(foreach name,$(.VARIABLES),$(if $(filter command,$(origin $(name))),$(name)))
exported = $(filter-out LANG PYTHON SOURCE RECORD HELP,$(sort $(given)))
options = $(if $(filter LANG,$(given)),--LANG='$(LANG)') $(foreach name,$(exported),$(if $($(name)),--$(name)="$$$(name)"))
unexport LANG MAKEFLAGS MFLAGS MAKEOVERRIDES
ifdef SOURCE
  export MH4_DATA_SOURCE = $(SOURCE)
endif
# A PYTHON that the user selects, in either place, replaces that of an existing .venv.
set_up = '$(PYTHON)' tools/environment.py $(if $(filter file,$(origin PYTHON)),,--this-python) $(if $(JOBS),--jobs="$$JOBS")

setup: ; @$(set_up)
environment: ; @$(set_up) --quiet
$(STUDIES): environment ; @.venv/bin/python -m experiments $(if $(RECORD),--record) $@ $(options) $(if $(HELP),--help)
test: environment ; .venv/bin/python -m pytest -n auto --dist loadscope $(PYTEST)
check: lint ; .venv/bin/python -m pytest -q -m 'not slow' -n auto --dist loadscope $(PYTEST)
lint: environment
	.venv/bin/ruff format --check --quiet . && .venv/bin/ruff check --quiet . && .venv/bin/mypy && .venv/bin/lint-imports --no-logo
	.venv/bin/clang-format --dry-run -Werror mh4/decoders/charts/*/*.hpp mh4/decoders/charts/*/*.cc
# An environment .venv-GROUP with a dependency group of pyproject.toml; its packages precede those of .venv.
%-environment: environment
	@cmp -s .venv/pyvenv.cfg .venv-$*/made || .venv/bin/python -m venv --clear .venv-$*
	@.venv-$*/bin/python -m pip -q --disable-pip-version-check install 'pip>=25.1'
	@.venv-$*/bin/python -m pip -q --disable-pip-version-check install --group $*
	@.venv/bin/python -c "import sysconfig; print('import site; site.addsitedir(%r)' % sysconfig.get_path('purelib'))" \
	    >"$$(echo .venv-$*/lib/*/site-packages)/mh4.pth" && cp .venv/pyvenv.cfg .venv-$*/made
docs: docs-environment
	@rm -f build/docs/complete
	.venv-docs/bin/sphinx-build -q -W --keep-going -c docs -b html . build/docs && touch build/docs/complete
package: environment ; .venv/bin/python tools/package.py $(if $(DYNET),--dynet) -- $(PYTHONS)
sweep: environment ; .venv/bin/python tests/hostile/sweep.py $(if $(EVERY),--every=$(EVERY))
sanitize: environment ; sh tests/hostile/sanitize.sh $(if $(CALLS),--calls=$(CALLS)) $(if $(SEEDS),--seed=$(SEEDS))
serve-test: environment ; .venv/bin/python tests/serving/many_clients.py
corpus-test: environment ; .venv/bin/python tests/corpus/trial.py $(if $(MB),--megabytes=$(MB)) $(if $(KILLS),--kills=$(KILLS))
slurm-test: environment ; .venv/bin/python tests/slurm/check.py && .venv/bin/python tests/slurm/corpus.py
machines-test: ; '$(PYTHON)' tools/machines.py $(MACHINES)
torch-test: torch-environment ; .venv-torch/bin/python -m pytest -k 'torch or jax' $(PYTEST)
spacy-test: spacy-environment ; .venv-spacy/bin/python -m pytest -k 'spacy or conversions' $(PYTEST)
clean:
	rm -rf build dist *.egg-info .pytest_cache .hypothesis .mypy_cache .ruff_cache .import_linter_cache
	find mh4 experiments benchmarks data docs examples tests tools -name __pycache__ -prune -exec rm -rf {} +
	find mh4 \( -name '*.so' -o -name '*.cpp' -o -name '*.c' -o -name '*.pyi' -o -name recurrences.hpp \) -exec rm -f {} +
distclean: clean ; rm -rf .venv .venv-*

.PHONY: help setup environment test check lint docs package sweep sanitize serve-test corpus-test slurm-test machines-test torch-test spacy-test clean distclean $(STUDIES)
