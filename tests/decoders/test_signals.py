"""Every decoder checks for signals, ends with the exception of their handler, and can be used again.

The sentences here are so long that most decoders would take minutes.
"""

import contextlib
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from calls import comparable
from common import rng_for, sample

from mh4.decoders import beam, memory, mh3, mh4, mh5, mhk, mst, oneec
from mh4.decoders.mh4 import first_found as first_mh4
from mh4.decoders.mhk import smallest_k

pytestmark = pytest.mark.slow


class Stopped(BaseException):
    """The exception that the handler raises."""


def random(*shape):
    """Return 9,973 random scores, repeated, as drawing all would take too long."""
    return np.resize(sample(9973, rng_for(shape), "normal"), shape)


def transitions(n, reduces, tensors=2, arcs=False):
    scores = {"shift": random(n + 2, n + 2)}
    scores.update({name: random(reduces, n + 2, n + 2) for name in ("reduce_s0b0", "reduce_s1s0")[:tensors]})
    return {**scores, "arcs": random(n + 1, n + 1)} if arcs else scores


def arc_scores(n):
    return {"arcs": random(n + 1, n + 1)}


def third_order(n):
    rows = {"arc": n + 1, "crossed_arc": n + 1, "grandparent": n + 2, "sibling": n + 2}
    return {name: random(rows[name], n + 1) for name in rows}


def wide(scores):
    """Return scores whose sums exceed the range of float64."""
    return {name: tensor * np.float32(1e12) for name, tensor in scores.items()}


def samples(n):
    """Return options for so many samples that they take long."""
    return {"samples": n**3, "rng": 1}


def chain(n):
    return {"heads": np.arange(-1, n, dtype=np.int32)}


# By name: a function, a function that makes its arguments for n words, and the n of a long sentence.
LONG = {
    "mh3": (mh3.decode, lambda n: transitions(n, 2, 1), 4000),
    "mh4": (mh4.decode, lambda n: transitions(n, 6), 1000),
    "mh4, arcs, single root": (mh4.decode, lambda n: {**transitions(n, 6, arcs=True), "single_root": True}, 800),
    "mh5": (mh5.decode, lambda n: transitions(n, 12), 250),
    "mh5, arcs": (mh5.decode, lambda n: transitions(n, 12, arcs=True), 250),
    "mhk": (mhk.decode, lambda n: {**arc_scores(n), "k": 4}, 400),
    "mst": (mst.decode, arc_scores, 9000),
    "mh4, the first": (lambda arcs: first_mh4(arcs)[0], arc_scores, 400),
    "1ec": (oneec.decode, third_order, 300),
    "beam": (beam.decode, lambda n: {**transitions(n, 6), "beam": 3000}, 4000),
    "beam, wide": (beam.decode, lambda n: {**transitions(n, 6), "beam": 10**5}, 100),
    "mh3.marginals": (mh3.marginals, lambda n: transitions(n, 2, 1), 2000),
    "mh4.marginals": (mh4.marginals, lambda n: transitions(n, 6), 400),
    "mh4.marginals, arcs": (mh4.marginals, lambda n: transitions(n, 6, arcs=True), 400),
    "mst.marginals": (mst.marginals, arc_scores, 3000),
    "1ec.marginals": (oneec.marginals, third_order, 150),
    "1ec.marginals of large scores": (oneec.marginals, lambda n: wide(third_order(n)), 100),
    "mh3.marginals of large scores": (mh3.marginals, lambda n: wide(transitions(n, 2, 1)), 1500),
    "mh4.marginals of large scores": (mh4.marginals, lambda n: wide(transitions(n, 6)), 200),
    "mst.marginals of large scores": (mst.marginals, lambda n: {**wide(arc_scores(n)), "single_root": True}, 2000),
    "mh3.sample": (mh3.sample, lambda n: {**transitions(n, 2, 1), **samples(n)}, 60),
    "mh4.sample": (mh4.sample, lambda n: {**transitions(n, 6), **samples(n)}, 60),
    "mst.sample": (mst.sample, lambda n: {**arc_scores(n), **samples(n)}, 60),
    "smallest k": (smallest_k, chain, 5000),
}
every_decoder = pytest.mark.parametrize("name", LONG)


@contextlib.contextmanager
def alarm(handler, seconds):
    """Send a signal some seconds after the block begins."""
    before = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def stop(number, frame):
    raise Stopped


@every_decoder
def test_signals_end_it(name, monkeypatch):
    function, arguments, n = LONG[name]
    short, long = arguments(12), arguments(n)
    expected = comparable(function(**short))
    for seconds in (0.05, 0.2):

        def asked(size, seconds=seconds):
            """Start the timer when the chart requires memory, after the arguments are checked.

            Marginals require memory for results first, which numpy takes long to write.
            """
            for_results = "marginals" in name and sys._getframe(1).f_code is memory.room_for.__code__
            signal.setitimer(signal.ITIMER_REAL, 60 if for_results else seconds)

        monkeypatch.setattr(memory, "require", asked)
        with pytest.raises(Stopped) as caught, alarm(stop, 60 if "marginals" in name else 1):
            function(**long)
        # If the decoder did not check for signals, the handler would be called by a later function in Python.
        where = caught.traceback[-2]
        compiled = str(where.path).endswith(".pyx")  # whose statements pytest cannot read
        assert compiled or where.name == "asked", f"{name} did not look for signals, but {where}"
        monkeypatch.undo()
        assert comparable(function(**short)) == expected


@pytest.mark.parametrize("name", [name for name in LONG if "marginals" not in name and "arcs" not in name][:10])
def test_interrupted_from_the_keyboard(name):
    """Ctrl-C ends a decoder in a process with Python's own handlers, and the decoder can be used again."""
    code = f"""
import sys
sys.path.insert(0, {str(__file__).rpartition("/")[0]!r})
from test_signals import LONG, comparable
function, arguments, n = LONG[{name!r}]
short, long = arguments(12), arguments(n)
expected = comparable(function(**short))
print("ready", flush=True)
try:
    function(**long)
except KeyboardInterrupt:
    assert comparable(function(**short)) == expected
    print("interrupted")
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, preexec_fn=default) as process:
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.05 if name == "mst" else 0.3)
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=300)[0] == "interrupted\n"


def default():
    signal.signal(signal.SIGINT, signal.default_int_handler)


def test_handlers_may_decode():
    """A handler that decodes while a chart is half filled uses another chart."""
    long, short = transitions(250, 6, arcs=True), transitions(20, 6, arcs=True)
    expected = comparable(mh4.decode(**long)), comparable(mh4.decode(**short))
    found = []
    with alarm(lambda number, frame: found.append(comparable(mh4.decode(**short))), 0.05):
        while not found:
            assert comparable(mh4.decode(**long)) == expected[0]
    assert found == [expected[1]] and comparable(mh4.decode(**short)) == expected[1]


def test_handlers_may_clear_the_flags_of_floating_point_exceptions():
    """1ec.marginals detects overflows by these flags, which numpy clears in almost every call."""
    scores = {name: 30 * tensor for name, tensor in third_order(30).items()}
    expected = comparable(oneec.marginals(**scores))
    calls = []

    def handler(number, frame):
        calls.append(np.exp(np.zeros(3)).sum())
        signal.setitimer(signal.ITIMER_REAL, 0.002)

    for _ in range(3):
        with alarm(handler, 0.002):
            assert comparable(oneec.marginals(**scores)) == expected
    assert calls


def test_other_threads_go_on():
    """Signals do not interrupt decoders in other threads, as Python runs handlers in the main thread."""
    long = transitions(300, 6)
    expected = comparable(mh4.decode(**long))
    with ThreadPoolExecutor(2) as pool:
        futures = [pool.submit(mh4.decode, **long) for _ in range(2)]
        with pytest.raises(Stopped), alarm(stop, 0.1):
            threading.Event().wait()
        assert [comparable(future.result()) for future in futures] == [expected, expected]


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="the module has another name")
@pytest.mark.parametrize("call", ("mst.decode(array(3001, 3001))", "mh4.decode(array(302, 302), array(6, 302, 302))"))
def test_subinterpreters(call):
    """In a subinterpreter, a decoder does not run the signal handlers of the main interpreter, nor its Python code."""
    decode = f"""
import numpy as np
from mh4.decoders import mh4, mst
def array(*shape):
    return np.resize(np.arange(9973, dtype=np.float32) % 101, shape)
print({call}.score)
"""
    code = f"""
import _xxsubinterpreters as interpreters, signal
signal.signal(signal.SIGALRM, lambda *_: 1 / 0)
signal.setitimer(signal.ITIMER_REAL, 0.3, 0.01)
try:
    interpreters.run_string(interpreters.create(), {decode!r})
except ZeroDivisionError:
    signal.setitimer(signal.ITIMER_REAL, 0)
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "") and float(done.stdout) > 0
