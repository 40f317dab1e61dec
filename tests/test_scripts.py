"""The scripts that the Makefile runs can be imported."""

import re
import subprocess
import sys

import pytest
import toy

SCRIPTS = re.findall(r"python ((?:tests|tools)/\S+\.py)", (toy.ROOT / "Makefile").read_text(encoding="utf-8"))


@pytest.mark.parametrize("script", SCRIPTS)
def test_the_scripts_of_make_find_what_they_import(script):
    imported = "import runpy, sys; sys.path[0] = sys.argv[2]; runpy.run_path(sys.argv[1], run_name='imported')"
    path = toy.ROOT / script
    done = subprocess.run([sys.executable, "-c", imported, str(path), str(path.parent)], cwd=toy.ROOT, stdout=-1, stderr=-1)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
