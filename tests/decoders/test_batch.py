"""Batches return for each sentence what its decoder returns, to the bit, whatever is around the sentence."""

import os
import sys
import threading
import time
import warnings

import brute
import numpy as np
import pytest
from calls import comparable
from common import padded, padded_array, rng_for
from hypothesis import given, settings
from hypothesis import strategies as st

from mh4.decoders import NotInClass, batch, memory, mh5
from mh4.decoders.batch import COST, DECODERS, single

WITH_MARGINALS = [name for name, decoder in DECODERS.items() if decoder.marginals]


def with_cost(tensors, cost):
    return tensors if cost is None else {**tensors, "cost": cost}


batches = st.tuples(
    st.lists(st.integers(1, 7), max_size=6),
    st.integers(0, 2),  # words of padding that the longest sentence has, too
    st.integers(0, 2**32 - 1),
    st.sampled_from([np.float32, np.float64]),
    st.booleans(),
    st.integers(1, 3),
)


def optional(name, rng):
    return [tensor for tensor, shape in DECODERS[name].tensors.items() if shape.optional and rng.random() < 0.5]


@pytest.mark.slow
@pytest.mark.parametrize("name", DECODERS)
@given(batches, st.booleans(), st.booleans())
@settings(deadline=None, max_examples=60)
def test_decode_is_that_of_each_sentence(name, what, costs, without_words):
    lengths, room, seed, dtype, single_root, threads = what
    if without_words and not single_root:
        lengths = [*lengths, 0]
    rng, longest = np.random.default_rng(seed), max(lengths, default=0) + room
    tensors = padded(name, lengths, longest, rng, dtype, optional(name, rng), masked=0.02)
    cost = padded_array(COST, lengths, longest, rng, dtype, masked=0.02) if costs else None
    if rng.random() < 0.3:  # ties
        tensors = {tensor: np.round(array) for tensor, array in tensors.items()}
    given_arrays = {tensor: array.copy() for tensor, array in with_cost(tensors, cost).items()}
    alone, errors = [], []
    for b, n in enumerate(lengths):
        try:
            alone.append(DECODERS[name].decode(**single(name, with_cost(tensors, cost), b, n), single_root=single_root))
        except ValueError as error:
            errors.append("sentence %d: %s" % (b, error))
    if errors:
        with pytest.raises(ValueError) as caught:
            batch.decode(name, tensors, lengths, cost=cost, single_root=single_root, threads=threads)
        assert str(caught.value) == errors[0]
        return
    found = batch.decode(name, tensors, lengths, cost=cost, single_root=single_root, threads=threads)
    assert found.heads.shape == (len(lengths), longest + 1) and found.heads.dtype == np.int32
    assert found.scores.shape == (len(lengths),) and found.scores.dtype == np.float64
    for b, n in enumerate(lengths):
        assert comparable(found.derivation(b)) == comparable(alone[b])
        assert (found.heads[b, n + 1 :] == -1).all()
    total = sum(tensors[tensor][tuple(rows.T)].sum(dtype=np.float64) for tensor, rows in found.parts.items())
    if cost is None:
        np.testing.assert_allclose(total, found.scores.sum(), atol=1e-6)  # of scores rounded to float32
    for tensor, array in with_cost(tensors, cost).items():
        np.testing.assert_array_equal(array, given_arrays[tensor])
    for left_open in (0, 0.5, 1):
        heads = np.where(rng.random(found.heads.shape) < left_open, -1, found.heads)
        again = batch.decode(name, tensors, lengths, cost=cost, heads=heads, single_root=single_root, threads=threads)
        for b, n in enumerate(lengths):
            of = single(name, with_cost(tensors, cost), b, n, heads)
            assert comparable(again.derivation(b)) == comparable(DECODERS[name].decode(**of, single_root=single_root))


@pytest.mark.parametrize("name", WITH_MARGINALS)
@given(batches, st.sampled_from([0, 0.5, 1]))
@settings(deadline=None, max_examples=60)
def test_marginals_are_those_of_each_sentence(name, what, left_open):
    """A sentence without a derivation is an error or, with allow_none, has marginals of 0."""
    lengths, room, seed, dtype, single_root, threads = what
    rng, longest = np.random.default_rng(seed), max(lengths, default=0) + room
    tensors = padded(name, lengths, longest, rng, dtype, optional(name, rng), masked=0.02)
    if rng.random() < 0.3:
        for array in tensors.values():
            array *= 1000  # too large for float64
    heads = np.full((len(lengths), longest + 1), -1)
    for b, n in enumerate(lengths):
        heads[b, : n + 1] = np.where(rng.random(n + 1) < left_open, -1, brute.random_tree(n, rng, single_root))
    options = {"heads": heads, "single_root": single_root, "threads": threads}
    alone, errors = [], []
    for b, n in enumerate(lengths):
        try:
            alone.append(DECODERS[name].marginals(**single(name, tensors, b, n, heads), single_root=single_root))
        except ValueError as error:
            alone.append(None)
            errors.append("sentence %d: %s" % (b, error))
    if errors:
        for function in (batch.marginals, batch.log_partition):
            with pytest.raises(ValueError) as caught:
                function(name, tensors, lengths, **options)
            assert str(caught.value) == errors[0]
    found = batch.marginals(name, tensors, lengths, allow_none=True, **options)
    only_sums = batch.log_partition(name, tensors, lengths, allow_none=True, **options)
    np.testing.assert_array_equal(only_sums, found.log_partition, strict=True)
    expected = {"arcs": np.zeros((len(lengths), longest + 1, longest + 1))}
    expected |= {tensor: np.zeros(array.shape) for tensor, array in tensors.items()}
    for b, n in enumerate(lengths):
        if alone[b] is None:
            assert found.log_partition[b] == -np.inf
            continue
        assert found.log_partition[b] == found.marginals(b).log_partition == alone[b].log_partition
        expected["arcs"][b, : n + 1, : n + 1] = alone[b].arcs
        for tensor, counts in alone[b].parts.items():
            rows, columns = counts.shape[-2:]
            expected[tensor][b, ..., :rows, :columns] = counts
    np.testing.assert_array_equal(found.arcs, expected["arcs"], strict=True)
    assert found.parts.keys() == tensors.keys()
    for tensor, counts in found.parts.items():
        np.testing.assert_array_equal(counts, expected[tensor], strict=True)


@pytest.mark.parametrize("name", DECODERS)
def test_longer_sentences_and_more_threads_than_cores(name):
    rng = rng_for("batch", name)
    lengths = rng.integers(0, 30, 40)
    tensors = padded(name, lengths, 30, rng, np.float32, left_out=["arcs"] if name.startswith("mh") else [])
    first = batch.decode(name, tensors, lengths, threads=1)
    for threads in (2, 9, None):
        other = batch.decode(name, tensors, lengths, threads=threads)
        np.testing.assert_array_equal(other.heads, first.heads)
        np.testing.assert_array_equal(other.scores, first.scores)
        for tensor, rows in first.parts.items():
            np.testing.assert_array_equal(other.parts[tensor], rows)


def test_an_empty_batch():
    for name, decoder in DECODERS.items():
        tensors = {tensor: np.zeros((0, *shape.of(5)), dtype=np.float32) for tensor, shape in decoder.tensors.items()}
        found = batch.decode(name, tensors, [])
        assert found.heads.shape == (0, 6) and found.scores.shape == (0,)
        assert all(rows.shape[0] == 0 for rows in found.parts.values())
        with pytest.raises(IndexError, match="sentence 0 of a batch of 0"):
            found.derivation(0)
    assert batch.marginals("mst", {"arcs": np.zeros((0, 6, 6))}, []).arcs.shape == (0, 6, 6)


def test_mh5_falls_back_to_mh4(monkeypatch):
    rng = rng_for("batch, mh5")
    lengths = [3, 20, 5]
    tensors = padded("mh5", lengths, 20, rng, np.float32, left_out=["arcs"])
    monkeypatch.setattr(mh5, "most_words", lambda *_: 19)
    with pytest.warns(RuntimeWarning, match=r"^sentence 1: MH5 takes .* 20 words, .* decoded by MH4"):
        found = batch.decode("mh5", tensors, lengths)
    for b, n in enumerate(lengths):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            alone = mh5.decode(**single("mh5", tensors, b, n))
        assert comparable(found.derivation(b)) == comparable(alone)


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="no /proc to measure memory with")
def test_threads_do_not_take_the_same_memory(monkeypatch):
    """Of two sentences for which there is memory only one at a time, one is decoded on one thread, and is an error on two."""

    def resident():
        with open("/proc/self/statm") as numbers:
            return int(numbers.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def available():
        free = before + 2**27 - resident()
        time.sleep(0.05)  # the other thread could look, too
        return free

    lengths = [140, 140]  # 95 MB each
    tensors = padded("mh5", lengths, 140, rng_for("batch, memory"), np.float32, left_out=["arcs"])
    memory.workspaces.clear()
    before = resident()
    monkeypatch.setattr(memory, "available", available)
    batch.decode("mh5", tensors, lengths, threads=1)
    memory.workspaces.clear()
    with pytest.raises(MemoryError, match="^sentence [01]: a sentence of 140 words needs "):
        batch.decode("mh5", tensors, lengths, threads=2)


class TestErrors:
    """An error names the sentence of the batch."""

    lengths = np.array([2, 4, 3])

    def tensors(self, name="mh4"):
        left_out = ["arcs", "reduce_s1s0"] if name == "mh4" else []
        return padded(name, self.lengths, 4, rng_for("errors", name), np.float32, left_out)

    @pytest.mark.parametrize(
        "change, message",
        [
            ({"name": "mh6"}, "no decoder 'mh6'; there are mh3, mh4, mh5, mst, 1ec"),
            ({"name": ["mh4"]}, r"no decoder \['mh4'\]; there are"),
            ({"lengths": [2, 5, 3]}, "lengths: sentence 1 has 5 words, but the arrays have room for 0 to 4"),
            ({"lengths": [2, -1, 3]}, "lengths: sentence 1 has -1 words"),
            ({"lengths": [2.0, 4.0, 3.0]}, "lengths: expected a vector of integers, got dtype float64"),
            ({"lengths": [2, 4]}, r"shift: expected the shape \(B, N\+2, N\+2\), B = 2 and N = 4, got \(3, 6, 6\)"),
            *[
                ({"threads": threads}, "threads: expected a positive number, got %s$" % threads)
                for threads in (0, -1, 1.5, 2.0, True, np.nan)
            ],
            ({"scores": [np.zeros((3, 6, 6))]}, "scores: expected the tensors by name, shift, reduce_s0b0, .*, got list$"),
            ({"heads": np.zeros((3, 4), dtype=int)}, r"heads: expected integers of shape \(3, 5\)"),
            ({"cost": np.zeros((3, 4, 4))}, r"cost: expected the shape \(B, N\+1, N\+1\), B = 3 and N = 4, got \(3, 4, 4\)"),
            ({"cost": np.zeros((3, 5, 5), dtype=int)}, "cost: expected floating-point numbers, got dtype int64"),
        ],
    )
    def test_arguments(self, change, message):
        with pytest.raises(ValueError, match="^" + message):
            batch.decode(**{"name": "mh4", "scores": self.tensors(), "lengths": self.lengths, **change})

    def test_tensors(self):
        tensors = self.tensors()
        with pytest.raises(
            ValueError, match=r"^scores: mh4 has no tensor 'sibling'; it has shift, reduce_s0b0, reduce_s1s0, arcs$"
        ):
            batch.decode("mh4", {**tensors, "sibling": tensors["shift"]}, self.lengths)
        with pytest.raises(ValueError, match=r"^scores: mh4 needs the tensor reduce_s0b0 \(B, 6, N\+2, N\+2\)$"):
            batch.decode("mh4", {"shift": tensors["shift"]}, self.lengths)
        with pytest.raises(ValueError, match=r"^reduce_s0b0: expected the shape .*, got \(3, 2, 6, 6\)$"):
            batch.decode("mh4", {**tensors, "reduce_s0b0": tensors["reduce_s0b0"][:, :2]}, self.lengths)
        with pytest.raises(ValueError, match=r"^mh5 has no marginals; mh3, mh4, mst, 1ec have$"):
            batch.marginals("mh5", self.tensors("mh5"), self.lengths)

    @pytest.mark.parametrize("name", DECODERS)
    @pytest.mark.parametrize("value", [np.nan, 1e30, np.inf])
    def test_scores(self, name, value):
        for tensor in self.tensors(name):
            tensors = self.tensors(name)
            tensors[tensor][1, ..., 1, 2] = value
            with pytest.raises(ValueError, match="^sentence 1: %s: scores must be below 1e.30 and not NaN, got" % tensor):
                batch.decode(name, tensors, self.lengths)
            if name in WITH_MARGINALS:
                with pytest.raises(ValueError, match="^sentence 1: %s: scores must be below" % tensor):
                    batch.marginals(name, tensors, self.lengths)

    def test_no_derivation(self):
        tensors = self.tensors()
        tensors["reduce_s0b0"][2] = -np.inf
        for function in (batch.decode, batch.marginals, batch.log_partition):
            with pytest.raises(ValueError, match="^sentence 2: no derivation"):
                function("mh4", tensors, self.lengths)

    def test_no_tree(self):
        """The first sentence has a tree, as words are never their own heads. The second has none."""
        arcs = np.zeros((3, 5, 5), dtype=np.float32)
        arcs[:, range(5), range(5)] = arcs[1:] = -np.inf
        for function in (batch.decode, batch.marginals, batch.log_partition):
            with pytest.raises(ValueError, match="^sentence 1: no derivation"):
                function("mst", {"arcs": arcs}, self.lengths)

    @pytest.mark.parametrize(
        "name, heads, single_root, error, message",
        [
            ("mh4", [2, 1, 0, 3], False, ValueError, "word 1 is on a cycle"),
            ("mh4", [0, 2**40, 0, 3], False, ValueError, "the head of word 2 is 2147483647, expected"),
            ("mh4", [0, -5, 0, 3], False, ValueError, "the head of word 2 is -5, expected"),
            ("mh4", [0, 1, 1, 0], True, NotInClass, "a single root is required"),
            ("mh3", [3, 0, 2, 2], False, NotInClass, "the tree is not in MH3"),  # 3 -> 1 crosses 0 -> 2
            ("mh3", [3, 4, 0, -1], False, NotInClass, "no tree of the decoder's class"),
        ],
    )
    def test_trees(self, name, heads, single_root, error, message):
        given = np.array([[-1, 0, 1, -1, -1], [-1, *heads], [-1, 0, 1, 2, -1]])
        for function, more in ((batch.decode, {}), (batch.marginals, {}), (batch.sample, {"samples": 1})):
            with pytest.raises(error, match="^sentence 1: heads: " + message):
                function(name, self.tensors(name), self.lengths, heads=given, single_root=single_root, **more)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere, threads are not counted")
def test_other_threads_end_and_leave_python_free():
    """While a batch is decoded, other Python threads run; afterwards, the threads of the batch have ended."""
    rng = rng_for("threads")
    lengths = np.full(30, 60)
    tensors = padded("mh5", lengths, 60, rng, np.float32, left_out=["arcs"])
    counted, done = [0], threading.Event()

    def count():
        while not done.is_set():
            counted[0] += 1
            done.wait(0.001)

    counter = threading.Thread(target=count, daemon=True)
    before = threading.active_count()
    counter.start()
    batch.decode("mh5", tensors, lengths, threads=3)
    during = counted[0]
    done.set()
    counter.join()
    assert during > 5
    assert threading.active_count() == before
