"""The tails of distributions against tabulated quantiles."""

import pytest

from experiments.tables import tails


def test_tails():
    chi_squared = {(3.841, 1): 0.05, (7.815, 3): 0.05, (31.41, 20): 0.05, (38.93, 21): 0.01}
    assert {key: tails.chi_squared(*key) for key in chi_squared} == pytest.approx(chi_squared, abs=1e-4)
    student = {(12.706, 1): 0.05, (4.303, 2): 0.05, (3.182, 3): 0.05, (2.042, 30): 0.05, (1.972, 200): 0.05, (2.861, 19): 0.01}
    assert {key: tails.student(*key) for key in student} == pytest.approx(student, abs=1e-4)
