"""Type checkers and editors have the types and names of mh4."""

import os
import pydoc
import shutil
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest
from toy import ROOT

import mh4
from mh4.decoders.batch import DECODERS, DecoderName
from mh4.parser.choices import DECODING_METHODS, TREES, Decoding, SystemName, TreeClass
from mh4.parser.systems import SYSTEMS

SCRIPT = """\
import conllu
import numpy as np
from typing_extensions import reveal_type

import mh4
from mh4.decoders import batch

parser = mh4.load("models/toy", "greedy")
ensemble = mh4.load(["a", "b"], tree="1ec")
reveal_type(parser)  # Parser
reveal_type(ensemble)  # Ensemble
reveal_type(parser.parse([["ta", "zenita"]], tags=True))  # list[Sentence]
reveal_type(parser.parse(["Ta zenita."], segmenter="segmenter")[0].heads[1:])  # ndarray
reveal_type(parser.parse(conllu.parse("")))  # list[TokenList]
reveal_type(ensemble.parse([["ta"]], confidence=True)[0])  # Sentence
reveal_type(mh4.evaluate("gold.conllu", "out.conllu")["LAS"].f1)  # float
batch.decode("mst", {"arcs": np.zeros((1, 3, 3), np.float32)}, np.array([2]))
mh4.load("models/toy", "exakt")  # error
mh4.load(["a"], tree="mh9")  # error
parser.parse([["ta"]], confidance=True)  # error
mh4.train("a", "b", "c", "mh4-hibrid")  # error
batch.decode("mts", {}, np.array([]))  # error
"""


@pytest.mark.slow
@pytest.mark.parametrize("checker", ["mypy", "pyright"])
def test_a_users_script(tmp_path, checker):
    """A type checker knows the types of a script and reports misspelt names and options in their lines."""
    command = shutil.which(checker, path="%s:%s" % (Path(sys.executable).parent, os.environ["PATH"]))
    if command is None:
        pytest.skip("%s is not installed (npm install -g pyright)" % checker)
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    options = ["--ignore-missing-imports"] if checker == "mypy" else ["--pythonpath", sys.executable]
    environment = {**os.environ, "MYPYPATH": str(ROOT), "NO_COLOR": "1"}
    done = subprocess.run([command, *options, str(script)], cwd=tmp_path, env=environment, capture_output=True, text=True)
    by_line = {}
    for line in done.stdout.splitlines():
        if "script.py:" in line:
            by_line.setdefault(int(line.partition("script.py:")[2].partition(":")[0]), []).append(line)
    for number, line in enumerate(SCRIPT.splitlines(), start=1):
        _, _, expected = line.partition("  # ")
        about = by_line.pop(number, [])
        if expected == "error":
            assert any("error" in one for one in about), line
        elif expected:
            assert any(
                expected in one.replace("builtins.", "").replace("mh4.data.sentence.", "").replace("conllu.models.", "")
                for one in about
            ), (line, about)
    assert not by_line


@pytest.mark.parametrize(
    "names, registry", [(SystemName, SYSTEMS), (DecoderName, DECODERS), (Decoding, DECODING_METHODS), (TreeClass, TREES)]
)
def test_names_are_those_of_the_registry(names, registry):
    assert list(get_args(names)) == list(registry)


def test_the_package_shows_what_users_call():
    names = [name for name in dir(mh4) if not name.startswith("_")]
    assert set(mh4.__all__) <= set(names) and not {"Any", "TYPE_CHECKING", "import_module"} & set(names)
    text = pydoc.plain(pydoc.render_doc(mh4))
    assert "load(" in text and "class Parser" in text and "train(" in text and "TYPE_CHECKING" not in text
