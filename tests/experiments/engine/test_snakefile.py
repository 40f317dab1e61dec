"""The Snakefile of `make paper`, run by Snakemake on a stand-in for single."""

import json
import subprocess
import sys

import pytest
from samples import ROOT

from experiments.engine.workflow import SNAKEMAKE

SINGLE = """
import sys
from pathlib import Path

options = dict(zip(sys.argv[1::2], sys.argv[2::2]))
print(options["--command"])
Path(options["--home"], "runs", "toy", options["--system"], "seed" + options["--seed"], "recorded").touch()
"""


@pytest.mark.skipif(not SNAKEMAKE.exists(), reason="no .venv-workflow, which make paper makes")
@pytest.mark.parametrize("name", ["home", "braces {a} {name} and 'quotes'"])
def test_records_and_logs_in_a_folder_of_any_name(tmp_path, name):
    home = tmp_path / name
    folder = home / "runs" / "workflow"
    folder.mkdir(parents=True)
    (home / "single.py").write_text(SINGLE)
    systems = ("mst", "mh3", "ensemble")
    config = {
        "single": [sys.executable, str(home / "single.py"), "--home", str(home)],
        "cwd": str(ROOT),
        "command": "make paper UD='{x}'",
        "members": ["mst", "mh3"],
        "treebanks": {"toy": ["--lang", "toy"]},
        "records": [["toy", system, 1] for system in systems],
        "memory": 100,
        "minutes": 10,
    }
    (folder / "config.json").write_text(json.dumps(config))
    words = [str(SNAKEMAKE), "--snakefile", str(ROOT / "experiments" / "engine" / "Snakefile"), "--directory", str(folder)]
    words += ["--configfile", str(folder / "config.json"), "--nolock", "--rerun-triggers", "mtime", "--cores", "1"]
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.returncode == 0, done.stdout.decode()
    for system in systems:
        assert (home / "runs" / "toy" / system / "seed1" / "job.log").read_text() == "make paper UD='{x}'\n"
