# `make` without a target lists the targets.

help:
	@echo 'make setup                        create .venv, build DyNet and the decoders, install the command mh4'
	@echo 'make test [UD=folder]             run the tests, including those on real treebanks if UD has them, and those on'
	@echo '          [CONLL17=folder]        outputs of the CoNLL 2017 shared task if CONLL17 has them'
	@echo 'make check                        format, lint, types, imports and the fast tests, side by side'
	@echo 'make reproduce LANG=toy           the first thing to try: a small generated treebank, no download'
	@echo
	@$(foreach study,$(STUDIES),awk '{ sub(/^"""``/, "") } /^$$/ { exit } said { printf " %s", $$0; next } /``: / { sub(/``: /, "\n    "); said = 1; printf "%s", $$0; next } { print } END { print "" }' $(call module,$(study));)
	@echo
	@echo '    LANG=hu                       its language (toy: a small generated one, no download)   LANGS="hu got"  several'
	@echo '    SYSTEMS="mh3 mst mh4-hybrid"  the parsers            SEEDS="1 2 3"  the runs of each'
	@echo '    UD=folder                     existing treebanks     JOBS=2         parallel runs'
	@echo '    SOURCE=lindat                 download from there, not from GitHub, as for mh4 data --source'
	@echo '    CONLL17=folder                the shared task'"'"'s segmentation of the test sets, and outputs, if you have them'
	@echo '    SETTINGS=authors              the settings of the authors'"'"' runs, not ours'
	@echo '    PROFILE=slurm                 as jobs of a cluster, JOBS at a time'
	@echo '.venv/bin/python -m experiments NAME --help says what the variables of a study mean, and their defaults.'
	@echo
	@echo 'make slurm-test                   make paper on the toy treebank and a Slurm cluster of two nodes, started on this machine; and'
	@echo '                                  a corpus parsed there'
	@echo 'make corpus-test [MB=30] [KILLS=20] corpora whose workers, drivers and schedulers are killed, and whose disk is full'
	@echo 'make serve-test                   1,000 requests by 50 clients of mh4 serve, whose processes are killed meanwhile'
	@echo 'make sweep [EVERY=10]             run every command on malformed files and damaged models, or on every tenth'
	@echo 'make sanitize [CALLS=20000]       this many random calls of the decoders, compiled with AddressSanitizer and UBSan'
	@echo 'make package [PYTHONS="..."]      build an sdist, and a wheel for each of these Pythons or of those here, and try them; into dist/'
	@echo 'make docs                         build the documentation, into build/docs; warnings are errors'
	@echo 'make torch-test                   the tests of mh4.torch, with PyTorch and JAX in an environment of their own'
	@echo 'make spacy-test                   the tests of mh4.spacy, with spaCy in an environment of its own'
	@echo 'make clean                        remove build products; make distclean also removes .venv'
	@echo 'PYTHON=python3.11 selects the Python to set up with, JOBS=1 the number of parallel compilers.'

# Variables (VARIABLES are those of the studies) mean what was typed, as in UD='/a$b': make would expand what is in them, wherever they
# are used and for the environment of what it starts. A line break would end the command that it is in.
define newline


endef
literal = $(if $(findstring $(newline),$(value $(1))),$(error $(1) has a line break)) \
  $(eval override $(if $(filter command,$(firstword $(origin $(1)))),export) $(1) := $$(value $(1)))
VARIABLES := LANGS ROWS SYSTEMS SEEDS LENGTH UD CONLL17 JOBS SETTINGS PROFILE SNAKEMAKE CORES
GIVEN := $(VARIABLES) CALLS EVERY KILLS MB PYTEST PYTHON PYTHONS
$(foreach name,$(GIVEN),$(if $(filter-out undefined,$(origin $(name))),$(call literal,$(name))))

ifeq ($(firstword $(origin SOURCE)),command)
  export MH4_DATA_SOURCE := $(value SOURCE)
endif

# LANG is also the variable of the locale. The treebank is the LANG given after `make`; no command started here may take it for a
# locale, so LANG is reset to the value in the shell, as far as make lets us see it: before version 4.4 in the environment of
# $(shell), later in that of make itself if there is /proc. Nested makes get no variables.
TREEBANK :=
ifeq ($(firstword $(origin LANG)),command)
  $(call literal,LANG)
  TREEBANK := $(LANG)
endif
ifneq ($(TREEBANK),)
  LOCALE := $(shell (tr '\0' '\n' </proc/$$PPID/environ) 2>/dev/null | sed -n 's/^LANG=//p')
  ifeq ($(LOCALE),)
    LOCALE := $(filter-out $(TREEBANK),$(shell echo "$$LANG"))
  endif
  override LANG := $(or $(LOCALE),C.UTF-8)
  export LANG
endif
MAKEOVERRIDES :=
unexport MAKEFLAGS MFLAGS MAKEOVERRIDES

PYTHON_NAMED := $(PYTHON)
override PYTHON := $(or $(PYTHON),python3)
# $(call quoted,text) is the text as one word of the shell, which may have apostrophes.
quoted = '$(subst ','\'',$(1))'
# $(call set_up,options)
set_up = @command -v -- $(call quoted,$(PYTHON)) >/dev/null || { \
	  printf '%s %s %s\n' 'mh4: '$(call quoted,$(PYTHON)) 'not found: install Python 3.11 to 3.13, on Debian or Ubuntu with' \
	    '`apt install python3-venv python3-dev`, or select one as in `make setup PYTHON=python3.11`.' >&2; exit 2; }; \
	exec $(call quoted,$(PYTHON)) tools/setup $(if $(PYTHON_NAMED),--this-python) $(if $(JOBS),--jobs=$(call quoted,$(JOBS))) $(1)

setup:
	$(call set_up)

environment:
	$(call set_up,--quiet)

test: environment
	$(if $(UD),UD=$(call quoted,$(UD)) )$(if $(CONLL17),CONLL17=$(call quoted,$(CONLL17)) ).venv/bin/python -m pytest -n auto --dist loadscope $(PYTEST)

# What to run before a commit.
check: lint
	.venv/bin/python -m pytest -q -m 'not slow' -n auto --dist loadscope $(PYTEST)

lint: environment
	.venv/bin/ruff format --check --quiet .
	.venv/bin/ruff check --quiet .
	.venv/bin/mypy
	.venv/bin/lint-imports --no-logo

# Slower checks that are not part of the tests.

sweep: environment
	.venv/bin/python tests/hostile/sweep.py $(if $(EVERY),--every=$(call quoted,$(EVERY)))

# The decoders are compiled again, with the sanitizers, into build/sanitize. Python itself is not, so leaks are not looked for.
SANITIZED = build/sanitize
sanitize: environment
	MH4_CFLAGS='-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer -g1 -O1' \
	  .venv/bin/python setup.py -q build --build-base $(SANITIZED) --build-lib $(SANITIZED)/lib
	PYTHONPATH=$(SANITIZED)/lib LD_PRELOAD="$$($${CXX:-c++} -print-file-name=libasan.so) $$($${CXX:-c++} -print-file-name=libstdc++.so)" \
	  ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 \
	  .venv/bin/python tests/hostile/fuzz.py $(if $(CALLS),--calls=$(call quoted,$(CALLS))) $(if $(SEEDS),--seed=$(call quoted,$(SEEDS)))

serve-test: environment
	.venv/bin/python tests/serving/many_clients.py

package: environment
	.venv/bin/python tools/package.py -- $(foreach python,$(PYTHONS),$(call quoted,$(python)))

# The studies, each a file of experiments/studies, which begins with its usage. They get all of VARIABLES that are given; of those of
# others, they refuse what chooses what is studied, and ignore the rest.
module = experiments/studies/$(1).py
STUDIES := $(basename $(notdir $(wildcard $(call module,[a-z]*))))
OF_TREEBANK := $(foreach study,$(STUDIES),$(if $(shell grep '^"""``make $(study) LANG=' $(call module,$(study))),$(study)))
lower = $(shell echo $(1) | tr '[:upper:]' '[:lower:]')
options = $(if $(TREEBANK),--lang=$(call quoted,$(TREEBANK))) \
  $(foreach name,$(VARIABLES),$(if $($(name)),--$(call lower,$(name))=$(call quoted,$($(name)))))

ifeq ($(TREEBANK),)
$(OF_TREEBANK):
	@awk 'NR == 1 { sub(/^"""``/, "usage: ") } NR > 1 { printf "       " } \
	  /``: / { sub(/``: .*/, ""); print; exit } { print }' $(call module,$@) >&2
	@echo '       (LANG=toy needs no download; give LANG after `make`, as the locale of the shell is not a treebank)' >&2
	@exit 2
endif

$(if $(TREEBANK),$(STUDIES),$(filter-out $(OF_TREEBANK),$(STUDIES))): environment
	.venv/bin/python -m experiments $@ $(options)

# Snakemake has an environment of its own, and so have Sphinx, PyTorch with JAX, and spaCy, which see .venv.
SECOND = workflow-environment docs-environment torch-environment spacy-environment
$(SECOND): environment
	@.venv/bin/python tools/setup/second_environment.py $(@:-environment=)

paper: workflow-environment

slurm-test: workflow-environment
	.venv/bin/python tests/slurm/check.py
	.venv/bin/python tests/slurm/corpus.py

corpus-test: environment
	.venv/bin/python tests/corpus/trial.py $(if $(MB),--megabytes=$(call quoted,$(MB))) $(if $(KILLS),--kills=$(call quoted,$(KILLS)))

docs: docs-environment
	@rm -f build/docs/complete
	.venv-docs/bin/sphinx-build -q -W --keep-going -c docs -b html . build/docs
	@touch build/docs/complete
	@echo 'build/docs/index.html'

torch-test: torch-environment
	.venv-torch/bin/python -m pytest tests/torch_layer tests/test_documentation.py::test_the_page_on_pytorch \
	  tests/test_documentation.py::test_the_page_on_jax $(PYTEST)

spacy-test: spacy-environment
	.venv-spacy/bin/python -m pytest tests/test_spacy.py tests/data/test_conversions.py tests/test_documentation.py::test_the_page_on_spacy $(PYTEST)

clean:
	rm -rf build dist mh4.egg-info .pytest_cache .hypothesis .mypy_cache .ruff_cache .import_linter_cache
	find mh4 experiments benchmarks data docs examples tests tools -name __pycache__ -prune -exec rm -rf {} +
	find mh4 \( -name '*.so' -o -name '*.cpp' -o -name '*.c' -o -name recurrences.hpp \) -exec rm -f {} +

distclean: clean
	rm -rf .venv .venv-workflow .venv-docs .venv-torch .venv-spacy

.PHONY: help setup environment test check lint sweep sanitize serve-test package slurm-test corpus-test docs torch-test spacy-test clean distclean $(SECOND) $(STUDIES)
