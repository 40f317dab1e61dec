"""The arguments of make reproduce, and the recorded commands."""

import os
import re

import click
import pytest
from samples import ROOT, calls, study, usage

from experiments.__main__ import main
from experiments.engine import options
from experiments.engine.command import Study
from mh4.errors import InputError
from mh4.parser.systems import SYSTEMS


@pytest.mark.parametrize("lang", ["", "en_US.UTF-8", "C.UTF-8", "C", "hu_HU", "xx", "HU", "../hu"])
def test_a_language_that_is_none_gets_the_usage_and_the_codes(run, capsys, lang):
    assert run("--lang", lang) == 2
    lines = capsys.readouterr().err.splitlines()
    usage = 'usage: make reproduce LANG=hu [SYSTEMS="mh3 mst mh4-hybrid"] [SEEDS="1 2"] [UD=folder] [CONLL17=folder] [JOBS=2]'
    assert usage in lines
    codes = next(line for line in lines if line.startswith("  LANG "))
    assert set("bg cu da de el eu got he hi hu id it ja lv pl ro sk ur vi zh".split()) <= set(codes.replace(",", "").split())


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        (
            ("--systems", "mh3 mh9"),
            "reproduce: SYSTEMS: no system mh9; there are %s, and of those with marginals NAME-likelihood" % ", ".join(SYSTEMS),
        ),
        (("--seeds", "1 two"), 'reproduce: SEEDS: two is not a positive whole number; expected something like SEEDS="1 2 3"'),
        (("--seeds", "0"), 'reproduce: SEEDS: 0 is not a positive whole number; expected something like SEEDS="1 2 3"'),
        (("--seeds", "-1"), 'reproduce: SEEDS: -1 is not a positive whole number; expected something like SEEDS="1 2 3"'),
        (("--jobs", "0"), "reproduce: JOBS: 0 is not a whole number from 1 to 9999"),
        (("--jobs", "many"), "reproduce: JOBS: many is not a whole number from 1 to 9999"),
        (("--ud", "no/such/folder"), "reproduce: UD: no/such/folder is not a folder"),
        (("--conll17", "no/such/folder"), "reproduce: CONLL17: no/such/folder is not a folder"),
    ],
)
def test_bad_values_get_one_sentence_before_anything_happens(run, stand_in, tmp_path, capsys, arguments, sentence):
    arguments = [arguments[0] + "=" + arguments[1]]
    assert run("--lang", "hu", *arguments) == 2
    assert capsys.readouterr().err == sentence + "\n"
    assert not calls(stand_in) and not (tmp_path / "home").exists()


def test_empty_values_mean_the_defaults():
    asked = options.request("hu", "", "", "", "")
    assert (
        asked.systems == ("mh3", "mst", "mh4-two", "mh4-hybrid", "1ec")
        and asked.seeds == (1, 2, 3)
        and asked.ud is asked.conll17 is None
    )
    assert 1 <= asked.jobs.number <= 4
    assert options.request("toy", "", "", "", "").seeds == (1, 2)
    assert options.request("toy", "", "", os.curdir, "", os.curdir).conll17 is None  # its test set is our own
    assert options.request("hu", "mst mst", "2 1 2", "", "9").seeds == (2, 1)


def test_systems_may_be_trained_on_likelihood():
    assert options.request("hu", "mst-likelihood mst", "", "", "").systems == ("mst-likelihood", "mst")
    for system, sentence in (
        ("mh5-arcs-likelihood", "SYSTEMS: mh5-arcs cannot be trained on likelihood, as it has no marginals"),
        ("mh6-likelihood", "SYSTEMS: no system mh6"),
    ):
        with pytest.raises(InputError, match=sentence):
            options.request("hu", system, "", "", "")


def test_the_command_on_record_has_no_absolute_path(tmp_path):
    folder = tmp_path / "ud-2.0"
    folder.mkdir()
    assert (
        options.request("hu", "mh3", "1 2", str(folder), "7").command()
        == 'make reproduce LANG=hu SYSTEMS="mh3" SEEDS="1 2" UD=ud-2.0'
    )
    assert options.request("hu", "", "", os.curdir, "").command() == 'make reproduce LANG=hu SEEDS="1 2 3" UD=.'
    with_segmentation = options.request("hu", "", "1", str(folder), "", str(folder)).command()
    assert with_segmentation == 'make reproduce LANG=hu SEEDS="1" UD=ud-2.0 CONLL17=ud-2.0'


def test_a_study_is_a_file():
    """Its first lines have its usage, with the variables that its options are."""
    files = {path.stem for path in (ROOT / "experiments" / "studies").glob("[a-z]*.py")}
    assert {
        "reproduce", "features", "search", "calibration", "compare", "text", "ensemble", "coverage", "conll17", "ablations", "likelihood",
        "mh5", "paper", "plan", "report", "verify",
    } == files  # fmt: skip
    context = click.Context(main)
    assert set(main.list_commands(context)) == files | {"predictions"}
    for name in files:
        command = main.get_command(context, name)
        assert isinstance(command, Study) and command.name == name
        assert command.get_usage(click.Context(command)) == usage(name)
        variables = [option.name.upper() for option in command.params if not option.hidden]
        assert re.findall("([A-Z0-9]+)=", usage(name)) == variables
        assert command.get_short_help_str()


def test_variables_of_other_studies_are_left_out_or_refused(tmp_path, capsys):
    """make passes all that are given, also by the environment; LANG only if it was typed."""
    assert study("coverage", "--slurm=-p main", "--jobs=2", "--ud=" + str(tmp_path), home=tmp_path) == 2
    assert capsys.readouterr().err.startswith("coverage: no LANG-ud-SPLIT.conllu in ")
    assert study("coverage", "--lang=hu", "--ud=" + str(tmp_path), home=tmp_path) == 2
    assert capsys.readouterr().err == "coverage: LANG=hu: this study is not of one treebank\n"
    assert study("ensemble", "--lang=hu", "--settings=authors", "--ud=" + str(tmp_path), home=tmp_path) == 2
    assert capsys.readouterr().err == "ensemble: SETTINGS=authors: this study has no choice of these\n"
    assert study("coverage", "--langes=hu", home=tmp_path) == 2
    assert "--langes" in capsys.readouterr().err
