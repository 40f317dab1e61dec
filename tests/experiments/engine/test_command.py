"""The variables of studies: invalid values, defaults, and values from the environment."""

import inspect
import os
import re
import shlex

import click
import pytest
from samples import ROOT, study, usage

from experiments.__main__ import main
from experiments.engine.command import Study, request
from mh4.data import treebanks
from mh4.errors import InputError
from mh4.parser.systems import SYSTEMS


@pytest.mark.parametrize(
    "words, sentence",
    [
        ("reproduce --lang hu --systems 'mh3 mh9'", "SYSTEMS: no system 'mh9'; there are %s, and of" % ", ".join(SYSTEMS)),
        ("reproduce --lang hu --systems mh4-hybrd", "SYSTEMS: no system 'mh4-hybrd'; did you mean mh4-hybrid? there are"),
        ("reproduce --lang=hu --SETTING=authors", "no variable 'SETTING'; did you mean SETTINGS? there are LANG, "),
        ("reproduce --lang hu --seeds '1 two'", "SEEDS: two is not a positive whole number; expected something like SEEDS="),
        ("reproduce --lang hu --seeds=-1", "SEEDS: -1 is not a positive whole number"),
        ("reproduce --lang hu --jobs 0", "JOBS: 0 is not a whole number from 1 to 9999"),
        ("reproduce --lang hu --ud no/folder", "UD: no/folder is not a folder"),
        ("reproduce --lang hu --conll17 no/folder", "CONLL17: no/folder is not a folder"),
        ("reproduce --lang toy --settings ../authors", "SETTINGS: no settings '../authors'; "),
        ("reproduce --lang hu --settings autors", "SETTINGS: no settings 'autors'; did you mean authors? there are authors"),
        ("paper --langs 'hu xx'", "LANGS: xx is not the code of a treebank; there are eu ur "),
        ("paper --lang=hu", "no variable 'LANG'; did you mean LANGS? there are LANGS, SYSTEMS, "),
        ("paper --slurm=--partition=main --langs toy", "SLURM: there is no Slurm here (no sinfo); "),
        ("ablations --rows nonsense", "ROWS: no row nonsense in short runs; there are "),
        ("ablations --rows x --length full", "ROWS: no row x in full runs; there are "),
        ("ablations --length long", "LENGTH: long is not full; omit it for short runs"),
        ("calibration --lang toy --systems mh5-hybrid", "SYSTEMS: no system 'mh5-hybrid'; did you mean mh4-hybrid? there are"),
        ("calibration --lang toy --systems mh3", "no trained model of mh3 in "),
        ("calibration --lang toy --systems mst-likelihood", "no trained model of mst-likelihood in "),
        ("search --lang toy --systems greedy-mh4", "SYSTEMS: no system 'greedy-mh4'; there are mh3, "),
        ("ensemble --lang toy --systems 'mst greedy-mh4'", "SYSTEMS: no system 'greedy-mh4'; there are mh3, mst, "),
        ("ensemble --lang toy", "no trained model of mh4-hybrid in "),
        ("compare --lang toy --systems 'mst mst'", 'SYSTEMS: expected two different systems, as in SYSTEMS="mh4-hybrid 1ec"'),
        ("coverage --ud .", "no LANG-ud-SPLIT.conllu in "),
        ("report", "no records in "),
        ("ensemble --lang hu --settings=authors", "no variable 'SETTINGS'; there are LANG, SYSTEMS, "),
    ],
)
def test_bad_values_get_one_sentence_before_anything_happens(tmp_path, monkeypatch, capsys, words, sentence):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert study(*shlex.split(words), home=tmp_path / "home") == 2
    error = capsys.readouterr().err
    assert error.startswith("%s: %s" % (words.split()[0], sentence)) and error.count("\n") == 1
    assert not any((tmp_path / "home").rglob("*.*"))


@pytest.mark.parametrize("lang", ["", "en_US.UTF-8", "C", "xx", "HU", "../hu"])
def test_a_language_that_is_none_gets_the_usage_and_the_codes(run, capsys, lang):
    assert run("--lang", lang) == 2
    shown = capsys.readouterr().err
    assert " ".join(usage("reproduce").split()) in " ".join(shown.split())
    assert set(treebanks.languages()) <= set(shown.partition("\n  --LANG ")[2].partition("toy")[0].replace(",", "").split())


def test_empty_values_mean_the_defaults():
    asked = request("hu", "", "", "", "")
    assert asked.systems == ("mh3", "mst", "mh4-two", "mh4-hybrid", "1ec")
    assert asked.seeds == (1, 2, 3) and asked.ud is asked.conll17 is None
    assert 1 <= asked.jobs.number <= 4
    assert request("toy", "", "", "", "").seeds == (1, 2)
    assert request("toy", "", "", os.curdir, "", os.curdir).conll17 is None  # which has a test set
    assert request("hu", "mst mst", "2 1 2", "", "9").seeds == (2, 1)


def test_systems_may_be_trained_on_likelihood():
    assert request("hu", "mst-likelihood mst", "", "", "").systems == ("mst-likelihood", "mst")
    for system, sentence in (
        ("mh5-arcs-likelihood", "SYSTEMS: mh5-arcs cannot be trained on likelihood, as it has no marginals"),
        ("mh6-likelihood", "SYSTEMS: no system 'mh6'"),
    ):
        with pytest.raises(InputError, match=sentence):
            request("hu", system, "", "", "")


def test_a_study_is_a_file():
    """Every study is a file that begins with its usage, and its function has the variables of the usage."""
    files = {path.stem for path in (ROOT / "experiments" / "studies").glob("[a-z]*.py")}
    context = click.Context(main)
    assert set(main.list_commands(context)) == files | {"predictions"}
    for name in files:
        command = main.get_command(context, name)
        assert isinstance(command, Study) and command.name == name
        assert command.help.startswith(usage(name) + ":") and command.get_short_help_str()
        bench, *taken = inspect.signature(command.callback).parameters.values()
        variables = set(map(str.lower, re.findall("([A-Z0-9]+)=", usage(name))))
        named = {each.name for each in taken if each.kind is not each.VAR_KEYWORD}
        assert named <= variables if len(named) < len(taken) else named == variables


def test_variables_may_be_in_the_environment(tmp_path, monkeypatch, capsys):
    """Variables in the environment are used, except LANG, which is the locale, and those of other studies."""
    for name, value in {"SYSTEMS": "mh9", "LANG": "hu", "LENGTH": "long"}.items():
        monkeypatch.setenv(name, value)
    assert study("ensemble", "--lang=toy", home=tmp_path) == 2
    assert capsys.readouterr().err.startswith("ensemble: SYSTEMS: no system 'mh9'")
    assert study("ensemble", home=tmp_path) == 2
    assert capsys.readouterr().err.startswith("LANG is missing\n")
