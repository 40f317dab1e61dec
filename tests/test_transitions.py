"""The transition system of Section 3.2, against its definition and the deduction system."""

import brute
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mh4 import transitions
from mh4.transitions import EMPTY, LA, LA2, LA_PRIME, MH3, MH4, RA, RA2, RA_PRIME, SH, Configuration, Transition

REDUCES = [code for code in Transition if code != SH]


def after(n, codes):
    configuration = Configuration(n)
    for code in codes:
        configuration.apply(code)
    return configuration


def rows_of(n, codes):
    """Return the rows (code, s1, s0, b0) of a sequence of codes."""
    configuration = Configuration(n)
    rows = []
    for code in codes:
        rows.append((int(code), configuration.s1, configuration.s0, configuration.b0))
        configuration.apply(code)
    return np.array(rows)


def sequences(n, codes):
    """Return all sequences of legal transitions among `codes` that lead to a final configuration, with their heads."""
    complete, pending = [], [()]
    while pending:
        done = pending.pop()
        configuration = after(n, done)
        if configuration.is_final():
            complete.append((done, tuple(configuration.heads.tolist())))
            continue
        legal = [code for code in codes if configuration.legal(code)]
        assert legal, f"a dead end: {configuration}"
        pending.extend(done + (code,) for code in legal)
    return complete


@pytest.mark.parametrize(
    "code, head, dependent",
    list(zip(REDUCES, [5, 3, 4, 2, 5, 2, 1, 1, 1, 3, 4, 5], [4, 4, 3, 3, 3, 4, 4, 3, 2, 2, 2, 2])),
    ids=[str(code) for code in REDUCES],
)
def test_each_reduce(code, head, dependent):
    """Each reduce makes its arc and removes the dependent. The stack is 0|1|2|3|4 and the buffer 5|6."""
    configuration = after(5, [SH] * 5)
    nodes = configuration.s3, configuration.s2, configuration.s1, configuration.s0, configuration.b0
    assert nodes == (1, 2, 3, 4, 5)
    assert configuration.legal(code) and configuration.arc(code) == (head, dependent)
    configuration.apply(code)
    assert configuration.stack == [node for node in (0, 1, 2, 3, 4) if node != dependent]
    assert list(configuration.buffer) == [5, 6]
    assert np.flatnonzero(configuration.heads != -1).tolist() == [dependent]
    assert configuration.heads[dependent] == head


@pytest.mark.parametrize(
    "shifts, legal",
    [
        (0, {SH}),
        (1, {SH}),  # the root, which is no dependent, is s0
        (2, {SH, LA, RA}),  # the root is s1
        (3, {SH, LA, RA, LA_PRIME, RA_PRIME, LA2, RA2}),  # the root is s2
        (4, set(Transition)),  # the root is s3
        (5, set(Transition) - {SH, LA, LA2, Transition.LA3}),  # b0 is the sentinel: neither shifted nor a head
    ],
)
def test_what_is_legal(shifts, legal):
    configuration = after(4, [SH] * shifts)
    assert {code for code in Transition if configuration.legal(code)} == legal
    for code in set(Transition) - legal:
        before = repr(configuration)
        with pytest.raises(ValueError, match="not legal"):
            configuration.apply(code)
        assert repr(configuration) == before


def test_why_a_transition_is_not_legal():
    for shifts, code, reason in [
        (5, SH, "sentinel cannot be shifted"),
        (5, LA, "sentinel cannot be a head"),
        (5, LA2, "sentinel cannot be a head"),
        (1, LA, "root cannot be a dependent"),
        (2, LA_PRIME, "root cannot be a dependent"),
        (2, LA2, "root cannot be a dependent"),
        (2, RA2, "no s2"),
        (2, RA_PRIME, "no s2"),
        (3, Transition.LA3, "root cannot be a dependent"),
        (3, Transition.RA3, "no s3"),
        (1, RA, "no s1"),
        (0, LA, "no s0"),
    ]:
        with pytest.raises(ValueError, match=reason):
            after(4, [SH] * shifts).apply(code)


@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_legal_in_many_configurations_at_once(n):
    """`legal` agrees with Configuration.legal; with single_root, its transitions lead to trees with one root."""
    seen, rooted = {}, set()
    for done, heads in sequences(n, MH4):
        for step, code in enumerate(done):
            configuration = after(n, done[:step])
            here = (configuration.s2, configuration.s1, configuration.s0, configuration.b0)
            seen[here] = [configuration.legal(code) for code in MH4]
            if brute.has_single_root(heads):
                rooted.add((here, int(code)))
    rows = np.array(list(seen))
    np.testing.assert_array_equal(transitions.legal(rows, n).T, list(seen.values()))
    if n > 0:
        single = transitions.legal(rows, n, single_root=True)
        assert {(here, code) for here, column in zip(seen, single.T) for code in np.flatnonzero(column)} >= rooted
        for here, column in zip(seen, single.T):
            s2, s1, _, b0 = here
            for code in np.flatnonzero(column):
                arc = {RA: s1, RA_PRIME: s2, RA2: s2}.get(int(code))
                assert arc != 0 or (b0 == n + 1 and s1 == 0)
    assert transitions.legal(rows[:0], n).shape == (7, 0)
    with pytest.raises(ValueError, match=r"^positions are an integer array of rows \(s2, s1, s0, b0\), not of shape"):
        transitions.legal(rows[:, :3], n)
    with pytest.raises(ValueError, match="^single_root: expected True or False, got 'no'"):
        transitions.legal(rows, n, single_root="no")


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4])
def test_every_sequence_of_legal_transitions_makes_a_tree(n):
    """There are no dead ends, and every sequence has n + 1 shifts and n reduces and makes a tree."""
    for done, heads in sequences(n, MH4):
        assert len(done) == 2 * n + 1
        assert heads[0] == -1 and min(heads[1:], default=0) >= 0 and brute.is_tree(heads)
        assert tuple(transitions.run(rows_of(n, done), n).tolist()) == heads


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_the_mh3_subset_makes_the_projective_trees(n):
    """The sequences of MH3 are those of the deduction system and make the projective trees (Section 3.1)."""
    found = sequences(n, MH3)
    assert {heads for _, heads in found} == set(brute.class_trees(n, "projective"))
    assert {done for done, _ in found} == {tuple(row[0] for row in rows) for rows in brute.sequences(n, 3)}


@pytest.mark.parametrize("n", [1, 2, 3, 4, pytest.param(5, marks=pytest.mark.slow)])
def test_runs_every_derivation_of_mh4(n):
    """The transition system executes every sequence that the deduction system derives (Section 3.2)."""
    for rows in brute.sequences(n, 4):
        codes = [row[0] for row in rows]
        stated = rows_of(n, codes)
        assert [tuple(row) for row in stated[:, 2:].tolist()] == [row[2:] for row in rows]
        heads = transitions.run(stated, n)
        assert tuple(heads.tolist()) == brute.heads_of(n, rows)
    assert heads.dtype == np.int32 and heads.shape == (n + 1,)


@given(n=st.integers(0, 30), seed=st.integers(0, 2**32 - 1), codes=st.sampled_from([MH3, MH4]))
def test_random_sequences(n, seed, codes):
    rng = np.random.default_rng(seed)
    configuration, done = Configuration(n), []
    while not configuration.is_final():
        legal = [code for code in codes if configuration.legal(code)]
        done.append(legal[rng.integers(len(legal))])
        configuration.apply(done[-1])
    rows = rows_of(n, done)
    assert rows.shape == (2 * n + 1, 4)
    np.testing.assert_array_equal(transitions.run(rows, n), configuration.heads)
    assert brute.is_tree(configuration.heads.tolist())
    if codes is MH3:
        assert brute.is_projective(configuration.heads.tolist())
    # A row with any position changed is rejected.
    row, column = rng.integers(len(rows)), rng.integers(1, 4)
    rows[row, column] += 1
    with pytest.raises(ValueError, match=rf"row {row} has"):
        transitions.run(rows, n)


def test_run_refuses():
    good = rows_of(2, [SH, SH, SH, LA_PRIME, RA])
    assert transitions.run(good, 2).tolist() == [-1, 2, 0]
    with pytest.raises(ValueError, match="expected 5 transitions for 2 words, not 4"):
        transitions.run(good[:-1], 2)
    with pytest.raises(ValueError, match="expected 7 transitions for 3 words, not 5"):
        transitions.run(good, 3)
    with pytest.raises(ValueError, match="cannot have -1 words"):
        transitions.run(good, -1)
    for bad in (good[:, :3], good.ravel(), good.astype(float), [], [[0, 0], [0]]):
        with pytest.raises(ValueError):
            transitions.run(bad, 2)
    for row, values, message in [
        (3, (LA_PRIME, 1, 2, 2), r"row 3 has \(s1, s0, b0\) = \(1, 2, 2\), but they are \(1, 2, 3\)"),
        (1, (SH, EMPTY, EMPTY, 1), r"row 1 has .* but they are \(-1, 0, 1\)"),
        (3, (LA, 1, 2, 3), "row 3: LA is not legal .* sentinel cannot be a head"),
        (3, (13, 1, 2, 3), "row 3: 13 is not a valid Transition"),
        (3, (-1, 1, 2, 3), "row 3: -1 is not a valid Transition"),
    ]:
        bad = good.copy()
        bad[row] = values
        with pytest.raises(ValueError, match=message):
            transitions.run(bad, 2)
