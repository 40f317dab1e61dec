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


SCRIPTS = re.findall(r"^\t.*python ((?:tests|tools)/\S+\.py)", (toy.ROOT / "Makefile").read_text(encoding="utf-8"), re.M)


@pytest.mark.parametrize("script", SCRIPTS)
def test_the_scripts_of_make_find_what_they_import(script):
    imported = "import runpy, sys; sys.path[0] = sys.argv[2]; runpy.run_path(sys.argv[1], run_name='imported')"
    path = toy.ROOT / script
    done = subprocess.run([sys.executable, "-c", imported, str(path), str(path.parent)], cwd=toy.ROOT, stdout=-1, stderr=-1)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_there_are_such_scripts():
    assert {"tests/slurm/check.py", "tests/slurm/corpus.py", "tests/hostile/fuzz.py", "tools/package.py"} <= set(SCRIPTS)


def test_the_overview_of_experiments_names_files_that_there_are():
    """In the rows of its table, each below the folder that the row, or one above it, begins with."""
    folder, named = "", []
    for line in (toy.ROOT / "experiments" / "README.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("| `") or line.startswith("| |"):
            first, _, rest = line[2:].partition("|")
            folder = first.strip(" `") or folder
            named += [Path(folder) / name for name in re.findall(r"`(\w+\.py)`", rest)]
    assert len(named) > 15 and [str(path) for path in named if not (toy.ROOT / "experiments" / path).is_file()] == []
