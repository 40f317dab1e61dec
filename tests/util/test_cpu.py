"""How processors are described."""

import pytest

from mh4.util import cpu


@pytest.mark.parametrize(
    "flags, expected",
    [
        ("avx avx2 avx512f fma", "AMD EPYC with AVX-512"),
        ("avx avx2 fma", "AMD EPYC with AVX2"),
        ("avx", "AMD EPYC"),
        ("", "AMD EPYC"),
    ],
)
def test_models_are_told_apart_by_their_widest_vectors(flags, expected):
    assert cpu.described("AMD EPYC", flags) == expected
