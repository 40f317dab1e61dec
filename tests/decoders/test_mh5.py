"""MH5 against all sequences that Figure 2 derives with items of up to five heads, for up to five words. And bad input."""

import brute
import numpy as np
import pytest
from common import (
    BAD_HEADS,
    accepted_trees,
    bad_arrays,
    costs,
    kinds,
    parts_score,
    rng_for,
    sample,
    small,
    some,
    tolerance,
    zero_cost,
)
from mh5_judge import DECODERS, EVERY_KIND, HYBRID, HYBRID_ARCS, judge, scores_of

from mh4.decoders import NotInClass, mh5

every_decoder = pytest.mark.parametrize("decoder", DECODERS, ids=lambda decoder: decoder.name)
every_kind = kinds(*EVERY_KIND)

TREES = [1, 1, 3, 16, 125, 1276]  # over n = 0 to 5 words
SEQUENCES = [1, 1, 6, 84, 1860, 49908]

# Section 3.2: the transition system of MH4 produces this tree, but no deduction of MH4 derives it.
BEYOND_MH4 = (-1, 3, 0, 5, 2, 4)


# ----------------------------------------------------------------------------------------------------- the reference itself


@pytest.mark.parametrize("n", [*range(5), pytest.param(5, marks=pytest.mark.slow)])
def test_the_reference(n):
    """It enumerates the trees of the class, by all twelve reduces where there is room, and gives the counts known."""
    derivations = brute.derivations(n, 5)
    assert len(derivations.known) == SEQUENCES[n]
    assert set(derivations.trees) == set(brute.mhk_trees(n, 5)) and len(derivations.of_tree) == TREES[n]
    codes = set(derivations.reduces[..., 0].ravel().tolist())
    assert codes == [set(), {2}, {1, 2, 3, 4, 6}, set(range(1, 12)), set(range(1, 13)), set(range(1, 13))][n]
    assert set(brute.derivations(n, 4).known) <= set(derivations.known)


@pytest.mark.parametrize("n", range(5))
def test_the_reference_by_recognition(n):
    """Every run of the transition system with twelve reduces, each recognised or not by cutting it as Figure 2 allows."""

    def recognised(run, start, end):
        """Whether an item derives run[start:end], of (stack before, arc, shifted), with at most five heads."""
        stack, _, shifted = run[start]
        if shifted is None:
            return False
        for before, arc, _ in run[start:end]:  # nothing below the item's first node is touched
            if arc and (min(arc) < shifted or arc[1] == shifted or len(before) <= len(stack)):
                return False
        after = run[end][0] if end < len(run) else [0]
        if len(after) - len(stack) + 1 > 5:
            return False
        if end == start + 1:
            return True
        if run[end - 1][1] and recognised(run, start, end - 1):
            return True
        return any(
            run[cut][2] is not None and recognised(run, start, cut) and recognised(run, cut, end) for cut in range(start + 1, end)
        )

    def runs(stack, b0, rows, run):
        if stack == [0] and b0 == n + 1:
            yield tuple(rows), run
            return
        if b0 <= n:
            s0 = stack[-1] if stack else -1
            yield from runs(stack + [b0], b0 + 1, rows + [(0, None, s0, b0)], run + [(stack, None, b0)])
        for code, (_, *positions) in brute.REDUCES.items():
            nodes = (stack + [b0])[::-1][:5]
            if max(map(brute.POSITIONS.index, positions)) < len(nodes):
                arc = head, dependent = brute.arc_of(code, *nodes)
                if head <= n and dependent > 0:
                    rest = [node for node in stack if node != dependent]
                    yield from runs(rest, b0, rows + [(code, *stack[-2:], b0)], run + [(stack, arc, None)])

    found = {rows for rows, run in runs([], 0, [], []) if recognised(run, 0, len(run))}
    assert found == set(brute.derivations(n, 5).known)


# --------------------------------------------------------------------------------------- against enumeration, n up to five


@pytest.mark.parametrize(
    "decoder, n",
    [(decoder, n) for n in (1, 2, 3, 4) for decoder in DECODERS]
    + [pytest.param(decoder, 5, marks=pytest.mark.slow) for decoder in (HYBRID, HYBRID_ARCS)],
    ids=lambda what: getattr(what, "name", what),
)
def test_finds_every_sequence(decoder, n):
    """Each is the best in its turn, with or without its tree being given: nothing that MH5 derives is out of reach."""
    unfound = []
    for rows, tree in zip(brute.derivations(n, 5).sequences, brute.derivations(n, 5).trees):
        scores = decoder.plant(n, rows)
        for options in ({}, {"heads": np.array(tree, dtype=np.int32)}):
            if decoder.decode(scores, **options).score != n * len(scores):
                unfound.append(f"{brute.spell(rows)}{' with heads=' if options else ''}")
    assert not unfound, f"{decoder.name} n={n}: {len(unfound)} of the sequences are not found, the first {unfound[:3]}"


@every_decoder
@every_kind
@small
def test_best_of_all(decoder, n, kind):
    rng = rng_for("best", n, kind)
    for draw in range(20 if n < 5 else 8):
        scores = scores_of(decoder, n, rng, kind)
        for cost in costs(n, rng):
            best = decoder.candidate_scores(n, scores, cost).max()
            judge(decoder, decoder.decode(scores, cost=cost), n, scores, cost, best, f"{kind}, draw {draw}")


@every_decoder
@every_kind
@small
def test_best_with_a_single_root(decoder, n, kind):
    rng = rng_for("root", n, kind)
    single = brute.derivations(n, 5).single_root
    for draw in range(10 if n < 5 else 3):
        scores = scores_of(decoder, n, rng, kind)
        scores["reduce_s0b0"][..., n + 1] += rng.integers(2) * 3  # many roots
        for cost in costs(n, rng):
            best = decoder.candidate_scores(n, scores, cost)[single].max()
            derivation = decoder.decode(scores, cost=cost, single_root=True)
            assert brute.has_single_root(derivation.heads), f"{decoder.name} n={n}: roots in {derivation.heads.tolist()}"
            judge(decoder, derivation, n, scores, cost, best, f"{kind}, single root, draw {draw}")


@every_decoder
def test_single_root_when_many_roots_score_best(decoder):
    for n in range(2, 6):
        scores, cost = decoder.sample(n, rng_for("roots", n)), zero_cost(n)
        cost[0] = 100
        assert not brute.has_single_root(decoder.decode(scores, cost=cost).heads)
        derivation = decoder.decode(scores, cost=cost, single_root=True)
        best = decoder.candidate_scores(n, scores, cost)[brute.derivations(n, 5).single_root].max()
        judge(decoder, derivation, n, scores, cost, best, "single root")
        assert brute.has_single_root(derivation.heads)


@pytest.mark.slow
@every_decoder
@small
@pytest.mark.parametrize("kind", ["normal", "ties", "planted"])
def test_best_sequence_of_every_tree(decoder, n, kind):
    """MH5 derives a tree in up to 441 ways at n = 5: the best of them, for each of the 1276 trees."""
    rng = rng_for("heads", n, kind)
    scores, derivations = scores_of(decoder, n, rng, kind), brute.derivations(n, 5)
    cost = costs(n, rng)[2]
    without, with_cost = decoder.candidate_scores(n, scores), decoder.candidate_scores(n, scores, cost)
    for number, (tree, of_tree) in enumerate(derivations.of_tree.items()):
        for given_cost, candidates in ((None, without), (cost, with_cost)):
            single = brute.has_single_root(tree) and number % 2 == 0
            options = {"heads": np.array(tree, dtype=np.int32), "cost": given_cost, "single_root": single}
            derivation = decoder.decode(scores, **options)
            assert tuple(derivation.heads) == tree
            best = candidates[of_tree].max()
            near = tolerance(n, scores, given_cost)
            if abs(derivation.score - best) > near or number % 20 == 0:
                judge(decoder, derivation, n, scores, given_cost, best, f"{kind}, heads={tree}")


@every_decoder
@pytest.mark.parametrize("n", range(6))
def test_accepts_the_trees_of_the_class_and_refuses_all_others(decoder, n):
    accepted = accepted_trees(decoder, n)
    assert len(accepted) == TREES[n]
    assert accepted == set(brute.mhk_trees(n, 5))
    scores = decoder.sample(n, rng_for("refused"))  # a refusal leaves nothing behind
    judge(decoder, decoder.decode(scores), n, scores, best=decoder.candidate_scores(n, scores).max(), said="after a refusal")


def test_the_papers_tree_that_mh4_does_not_derive():
    assert BEYOND_MH4 not in brute.mhk_trees(5, 4)
    for decoder in DECODERS:
        scores = decoder.sample(5, rng_for("example"))
        best = decoder.candidate_scores(5, scores)[brute.derivations(5, 5).of_tree[BEYOND_MH4]].max()
        judge(decoder, decoder.decode(scores, heads=BEYOND_MH4), 5, scores, best=best, said="heads= of the example")


def test_not_in_class_says_so():
    outside = sorted(set(brute.all_trees(5)) - set(brute.mhk_trees(5, 5)))
    assert len(outside) == 20
    for decoder in DECODERS:
        for tree in outside:
            with pytest.raises(NotInClass, match="(?i)mh5"):
                decoder.decode(decoder.sample(5, rng_for("outside")), heads=np.array(tree))


@every_decoder
def test_a_given_tree_and_a_single_root(decoder):
    scores = decoder.sample(4, rng_for("both"))
    for tree in some(decoder.trees(4), rng_for("some")):
        heads = np.array(tree, dtype=np.int32)
        if brute.has_single_root(tree):
            assert decoder.decode(scores, heads=heads, single_root=True).score == decoder.decode(scores, heads=heads).score
        else:
            with pytest.raises(NotInClass):
                decoder.decode(scores, heads=heads, single_root=True)


@pytest.mark.slow
@every_decoder
@small
def test_minus_infinity_forbids(decoder, n):
    """The best of the remaining sequences, or an error if there are none; also for one tree, and with a single root."""
    rng = rng_for("forbid", n)
    derivations = brute.derivations(n, 5)
    for draw in range(40 if n < 5 else 10):
        scores, cost = decoder.sample(n, rng), sample((n + 1, n + 1), rng, "normal")
        for tensor in (*scores.values(), cost):
            tensor[rng.random(tensor.shape) < rng.choice([0.05, 0.2])] = -np.inf
        candidates = decoder.candidate_scores(n, scores, cost)
        tree = derivations.trees[rng.integers(len(candidates))]
        for best, options in (
            (candidates.max(), {}),
            (candidates[derivations.single_root].max(), {"single_root": True}),
            (candidates[derivations.of_tree[tree]].max(), {"heads": np.array(tree, dtype=np.int32)}),
        ):
            if best > -np.inf:
                derivation = decoder.decode(scores, cost=cost, **options)
                judge(decoder, derivation, n, scores, cost, best, f"{options}, draw {draw}")
                assert brute.has_single_root(derivation.heads) or "single_root" not in options
            else:
                with pytest.raises(ValueError, match="no derivation") as error:
                    decoder.decode(scores, cost=cost, **options)
                assert not isinstance(error.value, NotInClass)


@every_decoder
def test_a_sentence_without_words(decoder):
    scores = decoder.sample(0, rng_for("none"))
    for options in ({}, {"cost": zero_cost(0)}, {"heads": np.array([-1], dtype=np.int32)}):
        derivation = decoder.decode(scores, **options)
        assert derivation.heads.tolist() == [-1] and derivation.heads.dtype == np.int32 and derivation.score == 0
        assert derivation.transitions.tolist() == [[0, -1, -1, 0]]
        assert {name: len(rows) for name, rows in derivation.parts.items()} == dict.fromkeys(scores, 0)
        assert parts_score(derivation, scores) == 0
    with pytest.raises(ValueError):
        decoder.decode(scores, single_root=True)
    with pytest.raises(NotInClass, match="single root"):
        decoder.decode(scores, heads=np.array([-1], dtype=np.int32), single_root=True)


@every_decoder
def test_one_word(decoder):
    scores, cost = decoder.sample(1, rng_for("one")), sample((2, 2), rng_for("its cost"), "normal")
    for options in ({}, {"single_root": True}, {"heads": np.array([-1, 0], dtype=np.int32)}):
        derivation = decoder.decode(scores, cost=cost, **options)
        assert derivation.transitions.tolist() == [[0, -1, -1, 0], [0, -1, 0, 1], [2, 0, 1, 2]]
        expected = {"shift": [[0, 1]], "reduce_s0b0": [[1, 1, 2]], "reduce_s1s0": [[1, 0, 1]], "arcs": [[0, 1]]}
        assert {name: rows.tolist() for name, rows in derivation.parts.items()} == {name: expected[name] for name in scores}
        assert derivation.score == pytest.approx(decoder.candidate_scores(1, scores, cost)[0], rel=1e-6)


# ---------------------------------------------------------------------------------------------------------------- bad input


@every_decoder
def test_bad_scores(decoder):
    """Whatever else is given: other options may lead to other charts."""
    n = 4
    cost = sample((n + 1, n + 1), rng_for("cost"), "normal")
    good = {**decoder.sample(n, rng_for("bad")), "cost": cost}
    for name, tensor in good.items():
        nan, infinite = tensor.copy(), tensor.copy()
        nan[(..., 1, 2)], infinite[(..., 1, 2)] = np.nan, np.inf
        wrong = [(what, bad, name) for what, bad in bad_arrays(tensor).items()]
        wrong += [("NaN", nan, rf"{name}.*nan.*1, 2"), ("infinity", infinite, rf"{name}.*inf.*1, 2")]
        for what, bad, message in wrong:
            for options in ({}, {"single_root": True}, {"heads": [-1, 0, 1, 2, 3]}):
                with pytest.raises(ValueError, match=message):
                    mh5.decode(**{**good, name: bad}, **options)
                    pytest.fail(f"{name}, {what}, {list(options)}: no error")


@every_decoder
def test_the_number_of_reduces(decoder):
    """Twelve: neither MH4's six nor one more."""
    scores = decoder.sample(4, rng_for("reduces"))
    for name in set(scores) & {"reduce_s0b0", "reduce_s1s0"}:
        for count in (0, 2, 6, 11, 13):
            with pytest.raises(ValueError, match=name):
                decoder.decode({**scores, name: np.zeros((count, 6, 6), dtype=np.float32)})
                pytest.fail(f"{count} reduces: no error")


@every_decoder
def test_tensors_of_different_sentences(decoder):
    four, five = decoder.sample(4, rng_for("four")), decoder.sample(5, rng_for("five"))
    for name in list(four)[1:]:
        with pytest.raises(ValueError, match=name):
            decoder.decode({**four, name: five[name]})


@every_decoder
@pytest.mark.parametrize("what", BAD_HEADS)
def test_bad_heads(decoder, what):
    with pytest.raises(ValueError, match="heads") as error:
        decoder.decode(decoder.sample(4, rng_for("bad")), heads=np.array(BAD_HEADS[what]))
    assert not isinstance(error.value, NotInClass)  # it is no tree at all


@every_decoder
def test_all_scores_forbidden(decoder):
    scores = decoder.sample(4, rng_for("bad"))
    for bad, cost in (
        ({name: np.full_like(tensor, -np.inf) for name, tensor in scores.items()}, None),
        (scores, np.full((5, 5), -np.inf, dtype=np.float32)),
    ):
        with pytest.raises(ValueError, match="no derivation") as error:
            decoder.decode(bad, cost=cost)
        assert not isinstance(error.value, NotInClass)


def test_options_are_given_by_name():
    for value in (zero_cost(3), None):
        with pytest.raises(TypeError, match="positional"):
            mh5.decode(*HYBRID.sample(3, rng_for("name")).values(), value)
