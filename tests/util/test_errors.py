"""Error messages for users: missing or broken packages, and control characters."""

import pytest

from mh4.errors import InputError, NotInstalled, needs, one_line


@pytest.mark.parametrize(
    "error, kind, message",
    [
        (ModuleNotFoundError("no", name="a.b"), NotInstalled, "this needs a.b, which is not installed: pip install a.b"),
        (ImportError("x.so\nis missing", name="a"), InputError, "this needs a, which cannot be imported: x.so\\nis missing"),
        (ValueError("numpy.dtype size changed"), InputError, "this needs c, which cannot be imported: numpy.dtype size changed"),
        (NotInstalled("as it is"), NotInstalled, "as it is"),
        (ModuleNotFoundError("ours", name="mh4.x"), ModuleNotFoundError, "ours"),
    ],
)
def test_packages_that_cannot_be_imported(error, kind, message):
    with pytest.raises(kind) as found, needs("this", "c"):
        raise error
    assert str(found.value) == message and type(found.value) is kind


def test_packages_of_an_extra_are_named_one_by_one():
    """The packages of an extra are listed for pip, because mh4 itself is on no index."""
    expected = r"not installed: pip install 'dask\[distributed\]>=\S+' 'dask-jobqueue>=\S+' '\w+>=\d+'$"
    with pytest.raises(NotInstalled, match=expected), needs("this", "corpus"):
        raise ModuleNotFoundError("no", name="dask")


# Control characters, line and paragraph separators, and characters that change the direction of text.
CONTROLS = [
    *map(chr, [*range(32), *range(127, 160)]),
    *"\u2028\u2029\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069",
]


def test_what_could_control_a_terminal_is_made_visible_and_nothing_else():
    words = "می\u200cخواهم 10\u00a0000\u202f% か\u3000な co\xadop 👩\u200d🔬"
    assert one_line(words) == words
    assert one_line("a\n\x1b[2J\u2028\u202e\x9b") == "a\\n\\x1b[2J\\u2028\\u202e\\x9b"
    assert one_line("\N{ARABIC END OF AYAH}\t\n\r", kept="\t\n") == "\N{ARABIC END OF AYAH}\t\n\\r"
    assert all(one_line(char).isascii() for char in CONTROLS)
