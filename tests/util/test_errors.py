"""Errors for people: packages that are missing, or broken."""

import pytest

from mh4.errors import InputError, NotInstalled, needs


@pytest.mark.parametrize(
    "error, kind, message",
    [
        (ModuleNotFoundError("no", name="a.b"), NotInstalled, "this needs a.b, which is not installed: pip install 'mh4[c]'"),
        (
            ImportError("libx.so\nis missing", name="a"),
            InputError,
            "this needs a, which cannot be imported: libx.so\\nis missing",
        ),
        (NotInstalled("as it is"), NotInstalled, "as it is"),
        (ModuleNotFoundError("ours", name="mh4.x"), ModuleNotFoundError, "ours"),
    ],
)
def test_packages_that_cannot_be_imported(error, kind, message):
    with pytest.raises(kind) as found, needs("this", "c"):
        raise error
    assert str(found.value) == message and type(found.value) is kind
