"""The instructions for adding a system; and the checks named in CONTRIBUTING.md that are not among the tests."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import toy

from mh4 import trees
from mh4.parser import config
from mh4.parser.parsing import Parser
from mh4.parser.systems import SYSTEMS
from mh4.training.trainer import Trainer


@pytest.mark.slow
def test_the_new_system_trains_and_parses(tmp_path):
    text = (toy.ROOT / "docs" / "howto" / "own-system.md").read_text(encoding="utf-8")
    known = dict(SYSTEMS)
    try:
        exec(re.findall(r"```python\n(.*?)```", text, re.S)[0], {})
        (new,) = [system for name, system in SYSTEMS.items() if name not in known]
        sentences = toy.sentences(tmp_path)[:30]
        settings = config.with_settings(toy.SMALL, ["training.max_updates=60", "training.evaluate_updates=60"])
        summary = Trainer(new.name, settings, sentences, sentences, str(tmp_path / "model")).run()
        assert summary["system"] == new.name and summary["dev_uas"] > 60
        for sentence in Parser.load(str(tmp_path / "model")).parse(sentences):
            assert trees.in_class(sentence.heads, new.tree_class) and (sentence.heads[1:] == 0).sum() == 1
    finally:
        SYSTEMS.clear()
        SYSTEMS.update(known)


SCRIPTS = re.findall(r"python ((?:tests|tools)/\S+\.py)", (toy.ROOT / "Makefile").read_text(encoding="utf-8"))


@pytest.mark.parametrize("script", SCRIPTS)
def test_the_scripts_of_make_find_what_they_import(script):
    imported = "import runpy, sys; sys.path[0] = sys.argv[2]; runpy.run_path(sys.argv[1], run_name='imported')"
    path = toy.ROOT / script
    done = subprocess.run([sys.executable, "-c", imported, str(path), str(path.parent)], cwd=toy.ROOT, stdout=-1, stderr=-1)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_there_are_such_scripts():
    assert {"tests/slurm/check.py", "tests/slurm/corpus.py", "tools/package.py"} <= set(SCRIPTS)


FOLDERS = ("mh4", "experiments", "benchmarks", "docs", "examples", "tests", "tools")


def test_pages_and_docstrings_name_files_that_there_are():
    """Such as `parsing.py` or `decoders/mh4/deduction.pyx`, the end of the path of a file of ours."""
    paths = [path for folder in FOLDERS for path in (toy.ROOT / folder).rglob("*")] + list(toy.ROOT.glob("*"))
    ours = ["/%s" % path.relative_to(toy.ROOT).as_posix() for path in paths]
    named = [
        (path.name, name)
        for path in paths
        if path.suffix in (".md", ".py", ".pyx", ".hpp", ".h") and path.name != "CHANGELOG.md" and path != Path(__file__)
        for name in re.findall(r"`((?:[\w-]+/)*\w+\.(?:pyx|pyi|py|hpp))\b", path.read_text(encoding="utf-8"))
    ]
    assert len(named) > 150 and [each for each in named if not any(path.endswith("/" + each[1]) for path in ours)] == []
