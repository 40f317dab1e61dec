"""Let every decoder run out of memory: a script for test_memory.py.

`exhaust.py allocations` (with failing.cpp preloaded) lets the first allocation and all others fail, then all but the first, and
so on until a decoder needs no more; `exhaust.py space` limits the address space to what is in use and a little more, in steps.
Either a decoder returns its usual result or it raises MemoryError with the numbers of words and megabytes; and a failure must not
change what it returns later. Prints a line for each decoder, with the number of failures.
"""

import contextlib
import ctypes
import hashlib
import re
import resource
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from common import DECODERS, rng_for, sample_tensors
from oneec_judge import ONEEC

from mh4.decoders import batch, beam, mh3, mh4, mh5, mst, oneec
from mh4.decoders.batch import DECODERS as BATCHED
from mh4.decoders.mhk import smallest_k

OURS = re.compile(
    "(sentence [0-9]+: )?a sentence of [0-9]+ words needs [0-9]+ MB, which is more memory than there is( \\([0-9]+ MB\\))?"
)


def calls(decoder, n):
    """What the decoder does with a sentence of n words, by name: functions that return comparable results."""
    scores = decoder.sample(n, rng_for(n))
    heads = np.array(decoder.planted(n, rng_for(n))[1], dtype=np.int32)
    for name, options in {"": {}, ", single root": {"single_root": True}, ", one tree": {"heads": heads}}.items():
        if not (name == ", one tree" and decoder.class_name == "all"):
            yield decoder.name + name, lambda options=options: outcome(decoder.decode(scores, **options))


def all_calls(n, threads):
    """The same for all decoders, with n words for a decoder of O(n^3), and fewer for others; threads: how many, for batches."""
    for decoder in DECODERS:
        shorter = {"mhk-4": n // 8, "mhk-5": n // 20, "mhk-6": n // 30}.get(decoder.name, n // 3 if "mh4" in decoder.name else n)
        yield from calls(decoder, max(shorter, 6))
    rng = rng_for("others", n)
    shorter = max(n // 8, 6)
    yield from calls(ONEEC, shorter)
    one = ONEEC.sample(shorter, rng)
    yield "1ec, marginals", lambda: oneec.marginals(**one).arcs.tolist()
    search = sample_tensors({"shift": (), "reduce_s0b0": (6,), "reduce_s1s0": (6,)}, shorter, rng)
    yield "beam", lambda: outcome(beam.decode(*search.values(), beam=n * 8))
    five = sample_tensors({"shift": (), "reduce_s0b0": (12,), "reduce_s1s0": (12,), "arcs": ()}, shorter, rng)
    tree = np.arange(-1, shorter, dtype=np.int32)
    yield "mh5", lambda: outcome(mh5.decode(**five))
    yield "mh5, one tree", lambda: outcome(mh5.decode(**five, heads=tree))
    local = sample_tensors({"s0b0": (7,), "s1s0": (7,), "s2s1": (7,)}, shorter, rng)
    yield "beam, local", lambda: outcome(beam.decode_local(*local.values(), beam=n * 8))
    chain = np.arange(-1, n, dtype=np.int32)
    yield "smallest k", lambda: smallest_k(chain)
    yield from sums(n, rng)
    for name in BATCHED:
        yield from batches(name, {"mh3": n, "mst": n, "mh4": n // 3}.get(name, n // 8), threads, rng)


def sums(n, rng):
    """Marginals and samples of mh3, mh4 and mst, also of one tree."""
    shorter = n // 3
    for name, module, tensors, words in [
        ("mh3", mh3, {"shift": (), "reduce_s0b0": (2,)}, n),
        ("mh4", mh4, {"shift": (), "reduce_s0b0": (6,), "reduce_s1s0": (6,), "arcs": ()}, shorter),
        ("mst", mst, {"arcs": ()}, n),
    ]:
        scores = sample_tensors(tensors, words, rng)
        chain = np.arange(-1, words, dtype=np.int32)
        yield name + ", marginals", lambda m=module, s=scores: counted(m.marginals(**s))
        yield name + ", samples", lambda m=module, s=scores: digest(m.sample(**s, samples=3, rng=1))
        if name != "mst":  # whose tree needs no memory but for the result
            yield name + ", marginals of one tree", lambda m=module, s=scores, t=chain: counted(m.marginals(**s, heads=t))


def batches(name, longest, numbers_of_threads, rng):
    """Sentences of a batch, with padding, so that results are too large for what is free in the heap, and numbers of both types."""
    decoder, padded = BATCHED[name], max(longest, 6) + 40
    lengths = [max(longest, 6) - 1, 4, 1]
    tensors = {
        tensor: rng.normal(size=(3, *shape.of(padded))).astype(np.float32 if tensor == "shift" else np.float64)
        for tensor, shape in decoder.tensors.items()
    }
    cost = rng.normal(size=(3, padded + 1, padded + 1))
    trees = np.full((3, padded + 1), -1)
    for b, words in enumerate(lengths):
        trees[b, : words + 1] = np.arange(-1, words)
    some = np.where(np.arange(trees.shape[1]) == 2, -1, trees)
    for threads in numbers_of_threads:
        said = "batch, %d threads, %s" % (threads, name)
        options = {"threads": threads, "single_root": True}
        for what, more in {"": {"cost": cost}, ", one tree": {"heads": trees}}.items():
            if name != "mst" or not what:
                yield said + what, lambda o={**options, **more}: decoded(batch.decode(name, tensors, lengths, **o))
        if decoder.marginals:
            for what, more in {"": {}, ", one tree": {"heads": trees}, ", some trees": {"heads": some}}.items():
                yield (
                    said + ", marginals" + what,
                    lambda o={**options, **more}: counted(batch.marginals(name, tensors, lengths, **o)),
                )
            yield (
                said + ", covariances",
                lambda o=options: {
                    part: digest(array) for part, array in batch.hessian_product(name, tensors, tensors, lengths, **o).items()
                },
            )
        if decoder.sample:
            yield said + ", samples", lambda o=options: digest(batch.sample(name, tensors, lengths, 3, rng=1, **o))


def counted(found):
    return digest(found.log_partition), digest(found.arcs), {name: digest(part) for name, part in found.parts.items()}


def decoded(found):
    return digest(found.scores), digest(found.heads), {name: digest(rows) for name, rows in found.parts.items()}


def digest(array):
    """Of the numbers of an array; it needs next to no memory, of which there may be no more."""
    return hashlib.sha256(np.ascontiguousarray(array)).hexdigest()


def outcome(derivation):
    return derivation.score, derivation.heads.tolist(), {name: rows.tolist() for name, rows in derivation.parts.items()}


def in_new_thread(call):
    """With the tables of a new thread, as decoders keep theirs."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(call).result()


def fail_every_allocation():
    library = ctypes.CDLL(None)

    def limited(call, allocations):
        library.fail_after(allocations)
        try:
            return call()
        finally:
            library.fail_after(-1)

    for name, call in all_calls(40, threads=(1, 2)):
        expected = call()
        failures = 0
        while True:
            try:
                found = in_new_thread(lambda call=call, allocations=failures: limited(call, allocations))
            except MemoryError as error:
                assert OURS.fullmatch(str(error)), (name, str(error))
            else:
                break
            assert call() == expected, name  # after a failure in another thread, and ...
            failures += 1
        assert found == expected, name
        if failures:
            assert in_this_thread(call, failures - 1, limited) == expected, name  # ... in the same one
        print(name, failures)


def in_this_thread(call, allocations, limited):
    """What the decoder returns after a failure in the same thread."""

    def work():
        with contextlib.suppress(MemoryError):
            limited(call, allocations)
        return call()

    return in_new_thread(work)


def limit_address_space():
    for name, call in all_calls(400, threads=(1,)):  # another would need space for its stack
        with ThreadPoolExecutor(1) as pool:  # with its own tables
            pool.submit(list, range(1000)).result()
            failures, found = 0, []
            for megabytes in (0, 1, 3, 10, 30):
                outcome_or_none = pool.submit(within, megabytes << 20, call).result()
                failures += outcome_or_none is None
                found += [] if outcome_or_none is None else [outcome_or_none]
            expected = pool.submit(call).result()
        assert all(one == expected for one in found), name
        print(name, failures)


def within(space, call):
    """What the decoder returns if no more than these bytes of address space can be added; None if it cannot do with them."""
    with open("/proc/self/statm") as file:
        used = int(file.read().split()[0]) * resource.getpagesize()
    _, highest = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (used + space, highest))
    try:
        return call()
    except MemoryError as error:
        assert OURS.fullmatch(str(error)) or str(error).startswith(("Unable to allocate ", "std::bad_alloc")), str(error)
        return None
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (highest, highest))


if __name__ == "__main__":
    {"allocations": fail_every_allocation, "space": limit_address_space}[sys.argv[1]]()
