"""What `make package` builds for, and what it says of that. Building is left to `make package` itself, which tries every wheel."""

import subprocess
import sys
from pathlib import Path

import pytest
import toy

sys.path.insert(0, str(toy.ROOT / "tools"))
import package  # noqa: E402


@pytest.mark.slow
def test_the_pythons_here():
    """One of each version, among them that of the tests, by the paths of real interpreters, not of environments."""
    found = package.pythons_here()
    code = "import sys; print(*sys.version_info[:2], sys.prefix == sys.base_prefix)"
    said = [subprocess.run([python, "-c", code], stdout=-1, text=True, check=True).stdout.split() for python in found]
    versions = [(int(major), int(minor)) for major, minor, _ in said]
    assert sys.version_info[:2] in versions and versions == sorted(set(versions))
    assert {version[0] for version in versions} == {3} and versions[0] >= (3, 11) and all(real == "True" for *_, real in said)


@pytest.mark.parametrize(
    "name, meaning",
    [
        ("mh4-1.0.0.tar.gz", "sources, for Python 3.11 to 3.15"),
        ("mh4-1.0.0-cp311-cp311-manylinux_2_34_x86_64.whl", "Python 3.11, Linux on x86_64 with glibc 2.34 or later"),
        (
            "mh4-1.0.0-cp313-cp313-manylinux_2_9_x86_64.manylinux_2_17_x86_64.whl",
            "Python 3.13, Linux on x86_64 with glibc 2.9 or later",
        ),
        ("mh4-1.0.0-cp312-cp312-linux_x86_64.whl", "Python 3.12, linux_x86_64"),
    ],
)
def test_what_a_file_is_for(name, meaning, monkeypatch):
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    assert package.described(Path(name)) == meaning
