"""MH4 as the paper writes it (Figure 2, k = 4), with every item kept, so that its best derivation can be shown step by step.

The recurrences are those of mh4/decoders/mh4/deduction.pyx; a test compares what is found with `mh4.decoders.mh4.decode`.
"""

from dataclasses import dataclass, field
from functools import cache

import numpy as np

from mh4.transitions import ARC, LA, LA2, LA_PRIME, RA, RA2, RA_PRIME, SH, Configuration

Item = tuple[int, ...]
BONUS = 6  # of the arcs of the tree to be shown, among random scores


@dataclass
class Step:
    """One deduction: what it makes of which items, and the configuration of the parser after it."""

    rule: str
    item: Item
    used: list[Item]
    score: float  # of the item
    gained: float  # what this step adds to the scores of the items that it uses
    transition: int | None = None
    arc: tuple[int, int] | None = None
    stack: list[int] = field(default_factory=list)
    b0: int = 0
    heads: list[int] = field(default_factory=list)


def best(shift: np.ndarray, s0b0: np.ndarray, s1s0: np.ndarray, arcs: np.ndarray) -> list[Step]:
    """The deductions of the best derivation, in an order in which a transition-based parser would take them."""
    n = len(shift) - 2

    def reduce(code: int, s1: int, s0: int, b0: int) -> float:
        return float(s0b0[code - 1, s0, b0] + s1s0[code - 1, s1, s0])

    @cache
    def derive(item: Item) -> tuple[float, tuple]:
        """The best score of an item, and how it is reached: (rule, items used, gain, code, arc)."""
        if item[1] == item[0] + 1 and len(item) == 2:
            return 0.0, ("axiom" if item == (0, 1) else "shift", (), 0.0, int(SH), None)
        options = []
        for place in range(1, len(item) - 1):  # Combine: two items that share one head
            left, right = item[: place + 1], item[place:]
            gain = float(shift[left[-2], left[-1]])
            options.append((derive(left)[0] + derive(right)[0] + gain, ("combine", (left, right), gain, None, None)))
        if len(item) <= 3:  # Link: an item with one more head, which loses it
            for lost in range(item[0] + 1, item[-1]):
                if lost in item:
                    continue
                larger = tuple(sorted((*item, lost)))
                where = dict(zip(("b0", "s0", "s1", "s2"), reversed(larger), strict=False))
                for code in (LA, RA, LA_PRIME, RA_PRIME, LA2, RA2):
                    head, dependent = ARC[code]
                    if where.get(dependent) != lost or head not in where or where[head] == n + 1:
                        continue
                    gain = reduce(code, where["s1"], where["s0"], where["b0"]) + float(arcs[where[head], lost])
                    made = ("link", (larger,), gain, int(code), (where[head], lost))
                    options.append((derive(larger)[0] + gain, made))
        return max(options, key=lambda option: option[0])

    steps: list[Step] = []
    configuration = Configuration(n)

    def unfold(item: Item) -> None:
        score, (rule, used, gain, code, arc) = derive(item)
        for antecedent in used:
            unfold(antecedent)
        if code is not None:
            configuration.apply(code)
        state = list(configuration.stack), configuration.b0, configuration.heads.tolist()
        steps.append(Step(rule, item, list(used), score, gain, code, arc, *state))

    unfold((0, n + 1))
    return steps


def scores_for(heads: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Random scores of a sentence, as a network might give them, by which the best tree is `heads`: shift, s0b0, s1s0 and arcs."""
    n = len(heads) - 1
    rng = np.random.default_rng(seed)
    shift, s0b0, s1s0 = (rng.normal(size=size).astype(np.float32) for size in ((n + 2,) * 2, *2 * [(6, n + 2, n + 2)]))
    arcs = np.zeros((n + 1, n + 1), dtype=np.float32)
    arcs[heads[1:], np.arange(1, n + 1)] = BONUS
    return shift, s0b0, s1s0, arcs
