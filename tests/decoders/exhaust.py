"""Let every decoder run out of memory: a script for test_memory.py.

`exhaust.py allocations` (with failing.cpp preloaded) makes all allocations fail, then all but the first, and so on until a
decoder needs no more. `exhaust.py space` limits the address space to what is in use plus a few megabytes.
A decoder must return its usual result or raise MemoryError with the numbers of words and megabytes. A failure must not
change later results. Prints a line for each decoder, with the number of failures.
"""

import contextlib
import ctypes
import re
import resource
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from calls import CALLS, comparable
from common import GLOBAL, LOCAL, rng_for

from mh4.decoders import batch
from mh4.decoders.batch import DECODERS as BATCHED
from mh4.decoders.mhk import smallest_k

OURS = re.compile(
    "(sentence [0-9]+: )?a sentence of [0-9]+ words needs [0-9]+ MB, which is more memory than there is( \\([0-9]+ MB\\))?"
)


def all_calls(n, threads):
    """Yield names and calls of all decoders, with n words for those of O(n^3) and fewer for others.

    threads: the numbers of threads for batches.
    """
    longest = {"mh3": n, "mst": n, "mh4": n // 3, "mhk-3": n, "mhk-5": n // 20, "mhk-6": n // 30}
    for name, (of, function, options) in CALLS.items():
        if name.startswith("beam"):
            continue
        rng = rng_for(n)
        words = max(longest.get(of.name, longest.get(of.name[:3], n // 8)), 6)
        scores = of.sample(words, rng)
        for choice in options(words, rng):
            if "heads" not in choice or of.class_name != "all":  # a given tree of "all" needs no chart
                said = ", ".join([name, *choice])
                yield said, lambda f=function, s=scores, o=choice: comparable(f(s, **o))
    rng, shorter = rng_for("others", n), max(n // 8, 6)
    for model in (LOCAL[-1], GLOBAL[2]):
        scores = model.sample(shorter, rng)
        yield "beam, " + model.name, lambda m=model, s=scores: comparable(m.decode(s, beam=n * 8))
    chain = np.arange(-1, n, dtype=np.int32)
    yield "smallest k", lambda: smallest_k(chain)
    for name in BATCHED:
        yield from batches(name, longest.get(name, n // 8), threads, rng)


def batches(name, longest, numbers_of_threads, rng):
    """Yield names and calls for a batch of scores of both types, padded so that results exceed free heap memory."""
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
                yield said + what, lambda o={**options, **more}: comparable(batch.decode(name, tensors, lengths, **o))
        if decoder.marginals:
            for what, more in {"": {}, ", one tree": {"heads": trees}, ", some trees": {"heads": some}}.items():
                yield (
                    said + ", marginals" + what,
                    lambda o={**options, **more}: comparable(batch.marginals(name, tensors, lengths, **o)),
                )
            yield (
                said + ", covariances",
                lambda o=options: comparable(batch.hessian_product(name, tensors, tensors, lengths, **o)),
            )
        if decoder.sample:
            yield said + ", samples", lambda o=options: comparable(batch.sample(name, tensors, lengths, 3, rng=1, **o))


def in_new_thread(call):
    """Return the result of a call in a new thread, whose workspaces are new."""
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
            assert call() == expected, name  # after a failure in another thread
            failures += 1
        assert found == expected, name
        if failures:
            assert in_this_thread(call, failures - 1, limited) == expected, name
        print(name, failures)


def in_this_thread(call, allocations, limited):
    """Return the result of a call after a failure in the same thread."""

    def work():
        with contextlib.suppress(MemoryError):
            limited(call, allocations)
        return call()

    return in_new_thread(work)


def limit_address_space():
    for name, call in all_calls(400, threads=(1,)):  # a second thread would need space for its stack
        if "heads" in name or "cost" in name:  # heads are compared by numpy, which may crash without memory (2.4.6)
            continue
        with ThreadPoolExecutor(1) as pool:  # a thread with new workspaces
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
    """Return the result of a call that can add at most `space` bytes of address space, or None if it runs out."""
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
