"""Probabilities in the tails of the distributions of test statistics."""

import math


def chi_squared(value: float, freedom: int) -> float:
    """Return the probability that chi-squared with `freedom` degrees of freedom exceeds `value`."""
    half, shape = value / 2, 0.5 if freedom % 2 else 1.0
    tail = math.erfc(math.sqrt(half)) if freedom % 2 else math.exp(-half)
    while shape < freedom / 2:
        tail += half**shape * math.exp(-half) / math.gamma(shape + 1)
        shape += 1
    return tail


def student(t: float, freedom: int) -> float:
    """Return the probability that the absolute value of Student's t exceeds `t` (Abramowitz & Stegun 26.7.3 and 26.7.4)."""
    angle, odd = math.atan(t / math.sqrt(freedom)), freedom % 2
    term, total = math.cos(angle) if odd else 1.0, 0.0
    for k in range(1 + odd, freedom, 2):
        total += term
        term *= k / (k + 1) * math.cos(angle) ** 2
    total *= math.sin(angle)
    return 1 - (2 / math.pi * (angle + total) if odd else total)
