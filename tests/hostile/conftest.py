import pytest
from sweep import Sweep


@pytest.fixture(scope="module")
def sweep(tmp_path_factory):
    """A good file and two small models."""
    return Sweep(tmp_path_factory.mktemp("hostile"))
