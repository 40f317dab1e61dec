# `make` without a target lists the targets.

help:
	@echo 'make setup                        create .venv, build DyNet and the decoders, install the command mh4'
	@echo 'make test [UD=folder]             run the tests, including those on real treebanks if UD has them, and those on'
	@echo '          [CONLL17=folder]        outputs of the CoNLL 2017 shared task if CONLL17 has them'
	@echo 'make reproduce LANG=toy           train the parsers on one treebank and compare their scores with the paper:'
	@echo '    LANG=hu                       its language (toy: a small generated one, no download)'
	@echo '    SYSTEMS="mh3 mst mh4-hybrid"  the parsers            SEEDS="1 2 3"  the runs of each'
	@echo '    UD=folder                     existing treebanks     JOBS=2         parallel runs'
	@echo '    SOURCE=lindat                 download from there, not from GitHub, as for mh4 data --source'
	@echo '    CONLL17=folder                the shared task'"'"'s segmentation of the test sets, if you have it'
	@echo '    SETTINGS=authors              the settings of the authors'"'"' runs, not ours'
	@echo 'make paper [LANGS="hu got"]       the whole paper, or that on some treebanks: trainings, ensembles, tables and report'
	@echo '    SYSTEMS= SEEDS= UD= CONLL17=  as above; by default the systems and five seeds of the paper'
	@echo '    PROFILE=slurm                 as jobs of a cluster           JOBS=2     parallel runs'
	@echo 'make plan [CORES=16]              what make paper would take, from a short measurement: time, memory, disk'
	@echo 'make report                       Tables 1, 2, 4, 5 and 6 of every treebank and a report of everything, from the records'
	@echo 'make features LANG=toy            the rows of Tables 1 and 2: accuracy by feature set'
	@echo 'make search LANG=toy              greedy, beam and exact decoding with the models trained by make reproduce'
	@echo 'make calibration LANG=toy         how far the probabilities of their arcs can be trusted'
	@echo 'make likelihood LANG=toy          training on likelihood and with the hinge: SYSTEMS, SEEDS and JOBS as above'
	@echo 'make ablations                    what each difference between the authors'"'"' settings and ours changes, in short trainings'
	@echo '    LANGS= SYSTEMS= SEEDS= UD=    as for make paper; by default hu and got, and three seeds'
	@echo '    ROWS="word-boundaries"        some of the differences        LENGTH=full    the largest ones at full length'
	@echo 'make text LANG=toy                accuracy from raw text, with a segmenter trained on the treebank'
	@echo 'make ensemble LANG=toy            ensembles of the models trained by make reproduce, and ways of voting'
	@echo 'make compare LANG=toy             where one system is better than another: SYSTEMS="mh4-hybrid 1ec"'
	@echo 'make mh5 LANGS="hu got"           what systems over MH5 trees gain over those over MH4 trees, from recorded trees'
	@echo 'make coverage [UD=folder]         the coverage of the classes of trees, compared with the paper (Table 3), for all'
	@echo '                                  treebanks in a folder (by default data/ud-2.0, where mh4 data puts them)'
	@echo 'make conll17 [UD=folder]          the scores of the shared task'"'"'s systems in the paper (Tables 5 and 6), for all'
	@echo '             [CONLL17=folder]     their outputs in a folder (by default data/conll17, as for mh4 data --conll17)'
	@echo 'make slurm-test                   make paper on the toy treebank and a Slurm cluster of two nodes, started on this machine'
	@echo 'make sweep [EVERY=10]             run every command on malformed files and damaged models, or on every tenth'
	@echo 'make sanitize [CALLS=20000]       this many random calls of the decoders, compiled with AddressSanitizer and UBSan'
	@echo 'make package [PYTHONS="..."]      build an sdist, and a wheel for each of these Pythons, and try them; into dist/'
	@echo 'make clean                        remove build products; make distclean also removes .venv'
	@echo 'PYTHON=python3.11 selects the Python to set up with, JOBS=1 the number of parallel compilers.'

# Variables mean what was typed, as in UD='/a$b': make would expand what is in them, wherever they are used and for the environment of
# what it starts. A line break would end the command that it is in.
define newline


endef
literal = $(if $(findstring $(newline),$(value $(1))),$(error $(1) has a line break)) \
  $(eval override $(if $(filter command,$(firstword $(origin $(1)))),export) $(1) := $$(value $(1)))
GIVEN := CALLS CONLL17 CORES EVERY JOBS LANGS LENGTH PROFILE PYTEST PYTHON PYTHONS ROWS SEEDS SETTINGS SNAKEMAKE SYSTEMS UD
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
	$(if $(UD),UD=$(call quoted,$(UD)) )$(if $(CONLL17),CONLL17=$(call quoted,$(CONLL17)) ).venv/bin/python -m pytest $(PYTEST)

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

package: environment
	.venv/bin/python tools/package.py -- $(foreach python,$(PYTHONS),$(call quoted,$(python)))

# $(call given,variables): the given values of the variables, as options of the experiments.
given = $(foreach name,$(1),$(if $($(name)),--$(call lower,$(name))=$(call quoted,$($(name)))))
options = --lang=$(call quoted,$(TREEBANK)) $(call given,$(1))
lower = $(shell echo $(1) | tr '[:upper:]' '[:lower:]')
# $(call usage,options after LANG=hu)
usage = @echo 'usage: make $@ LANG=hu $(1)' >&2; \
	echo '       (LANG=toy needs no download; give LANG after `make`, as the locale of the shell is not a treebank)' >&2; \
	exit 2

ifneq ($(TREEBANK),)
reproduce: environment
	.venv/bin/python experiments/reproduce.py $(call options,SYSTEMS SEEDS UD CONLL17 JOBS SETTINGS)
features: environment
	.venv/bin/python experiments/features.py $(call options,SEEDS UD JOBS)
search: environment
	.venv/bin/python experiments/search.py $(call options,SYSTEMS SEEDS UD)
calibration: environment
	.venv/bin/python experiments/calibration.py $(call options,SYSTEMS SEEDS UD)
likelihood: environment
	.venv/bin/python experiments/likelihood.py $(call options,SYSTEMS SEEDS UD CONLL17 JOBS)
text: environment
	.venv/bin/python experiments/raw_text.py $(call options,SYSTEMS SEEDS UD CONLL17)
ensemble: environment
	.venv/bin/python experiments/ensemble.py $(call options,SYSTEMS SEEDS UD CONLL17)
compare: environment
	.venv/bin/python experiments/compare.py $(call options,SYSTEMS SEEDS UD)
else
reproduce:
	$(call usage,[SYSTEMS="mh3 mst mh4-hybrid"] [SEEDS="1 2 3"] [UD=folder] [CONLL17=folder] [JOBS=2] [SETTINGS=authors])
features:
	$(call usage,[SEEDS="1 2"] [UD=folder] [JOBS=2])
search:
	$(call usage,[SYSTEMS="mh4-hybrid mh4-two"] [SEEDS="1 2"] [UD=folder])
calibration:
	$(call usage,[SYSTEMS="mh4-hybrid mst"] [SEEDS="1 2"] [UD=folder])
likelihood:
	$(call usage,[SYSTEMS="mh4-hybrid mst"] [SEEDS="1 2"] [UD=folder] [CONLL17=folder] [JOBS=2])
text:
	$(call usage,[SYSTEMS="mh4-hybrid 1ec"] [SEEDS="1 2"] [UD=folder] [CONLL17=folder])
ensemble:
	$(call usage,[SYSTEMS="mh4-hybrid 1ec mst"] [SEEDS="1 2"] [UD=folder] [CONLL17=folder])
compare:
	$(call usage,[SYSTEMS="mh4-hybrid 1ec"] [SEEDS="1 2"] [UD=folder])
endif

# Snakemake has an environment of its own.
WORKFLOW = LANGS SYSTEMS SEEDS UD CONLL17 JOBS
paper: environment
	@.venv/bin/python tools/setup/workflow_environment.py
	.venv/bin/python experiments/workflow.py $(call given,$(WORKFLOW) SETTINGS PROFILE SNAKEMAKE)

plan: environment
	.venv/bin/python experiments/plan.py $(call given,$(WORKFLOW) CORES)

slurm-test: environment
	@.venv/bin/python tools/setup/workflow_environment.py
	.venv/bin/python tests/slurm/check.py

report: environment
	.venv/bin/python experiments/report.py $(foreach lang,$(LANGS),$(call quoted,$(lang)))

coverage: environment
	.venv/bin/python experiments/table3.py $(call given,UD)

ablations: environment
	.venv/bin/python experiments/ablations.py $(call given,LANGS ROWS SYSTEMS SEEDS LENGTH UD JOBS)

mh5: environment
	.venv/bin/python experiments/mh5.py $(call given,LANGS SEEDS UD)

conll17: environment
	.venv/bin/python experiments/shared_task.py $(call given,UD CONLL17)

clean:
	rm -rf build dist mh4.egg-info .pytest_cache .hypothesis
	find mh4 experiments data tests tools -name __pycache__ -prune -exec rm -rf {} +
	find mh4 \( -name '*.so' -o -name '*.cpp' -o -name '*.c' -o -name recurrences.hpp \) -exec rm -f {} +

distclean: clean
	rm -rf .venv .venv-workflow

.PHONY: help setup environment test reproduce features search calibration likelihood text ensemble compare ablations mh5 paper plan slurm-test report coverage conll17 sweep sanitize package clean distclean
