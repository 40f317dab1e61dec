"""Systems of other packages, which are found by entry points."""

import subprocess
import sys
from importlib.metadata import EntryPoint

import pytest
from running import importing_from

from mh4.errors import InputError
from mh4.parser.systems import SYSTEMS, plugged_in

MODULE = """
from functools import partial

from mh4.decoders import mhk
from mh4.parser.systems import ARCS, GlobalSystem

system = GlobalSystem("mh6-arcs", "mh6", (ARCS,), {"exact": partial(mhk.decode, k=6)}, in_paper=False)
again = GlobalSystem("mst", "any", (ARCS,), {"exact": partial(mhk.decode, k=6)})
"""


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A folder with an installed package."""
    (tmp_path / "mine.py").write_text(MODULE)
    (tmp_path / "mine-1.0.dist-info").mkdir()
    (tmp_path / "mine-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n")
    (tmp_path / "mine-1.0.dist-info" / "entry_points.txt").write_text("[mh4.systems]\nmh6 = mine:system\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    sys.modules.pop("mine", None)


def test_the_command_line_has_the_systems_of_installed_packages(package):
    environment = importing_from(package)
    shown = subprocess.run([sys.executable, "-m", "mh4", "train", "--help"], env=environment, capture_output=True, check=True)
    assert b"mh6-arcs" in shown.stdout and "mh6-arcs" not in SYSTEMS
    (package / "mine.py").write_text("system = 1\n")
    refused = subprocess.run([sys.executable, "-m", "mh4", "info", "none"], env=environment, capture_output=True)
    assert refused.returncode == 2 and refused.stderr.count(b"\n") == 1
    assert b"the plug-in mh6 (mine:system) is not a system of mh4: it is of type int" in refused.stderr


@pytest.mark.parametrize(
    "value, said",
    [
        ("mine:nothing", "AttributeError: "),
        ("nobody:system", "ModuleNotFoundError: No module named 'nobody'"),
        ("mine:MODULE", "AttributeError: "),
        ("mine:ARCS", "it is of type Tensor"),
        ("mine:again", "there is another system mst"),
    ],
)
def test_what_is_no_system_is_refused(package, value, said):
    with pytest.raises(InputError) as error:
        plugged_in([EntryPoint("name", value, "mh4.systems")])
    assert str(error.value).startswith("the plug-in name (%s) is not a system of mh4: %s" % (value, said))


def test_two_of_one_name(package):
    entry = EntryPoint("name", "mine:system", "mh4.systems")
    assert list(plugged_in([entry])) == ["mh6-arcs"]
    with pytest.raises(InputError, match="there is another system mh6-arcs"):
        plugged_in([entry, entry])
