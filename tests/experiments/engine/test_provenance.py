"""Recorded commands."""

import os
import shlex

from experiments.engine import provenance


def test_commands_are_written_down_without_absolute_paths():
    words = ["mh4", "train", "--train", "/a b/c/hu x.conllu", "--dev", "../c/d.conllu", "--config=/x/y z/y.toml", "--set=a.b='c'"]
    command = "mh4 train --train 'hu x.conllu' --dev ../c/d.conllu --config=y.toml "
    assert provenance.without_machine(words) == command + shlex.quote("--set=a.b='c'")
    made = provenance.make_command("search", LANG="hu", SYSTEMS=[], SEEDS=(1, 2), UD="/a/b/ud/")
    assert made == 'make search LANG=hu SEEDS="1 2" UD=ud'
    assert provenance.make_command("coverage", UD=os.path.abspath("mine/ud")) == "make coverage UD=mine/ud"
    assert provenance.make_command("coverage", UD="../ud") == "make coverage UD=../ud"
    assert provenance.make_command("coverage", UD="", LANG=None) == "make coverage"
    assert provenance.make_command("coverage", UD="/x/a b$c") == "make coverage UD='a b$c'"
    assert provenance.make_command("coverage", UD="a\n\udcff") == "make coverage UD='a\\n\\udcff'"
