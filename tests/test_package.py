"""What `make package` builds for, and what it says of that. Building is left to `make package` itself, which tries every wheel."""

import subprocess
import sys

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
