import os
import signal
import sys
from pathlib import Path

import pytest

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read by numpy, here and in what tests start; its threads keep all cores busy

import toy  # noqa: E402
from hypothesis import settings  # noqa: E402

sys.path.insert(0, str(Path(__file__).parent / "decoders"))  # brute.py and common.py, the reference for all decoders
# Assertions that fail there show the values, as in tests.
pytest.register_assert_rewrite("common", "oneec_judge", "marginals_judge")

# The machine may be busy: no deadlines. Derandomised, so that a failure is the same for everyone.
settings.register_profile("mh4", deadline=None, derandomize=True, database=None)
settings.load_profile("mh4")


@pytest.fixture
def ending_signals():
    """SIGHUP and SIGINT end the commands that the test starts, though the tests may have been started by nohup, or with &."""
    defaults = {signal.SIGHUP: signal.SIG_DFL, signal.SIGINT: signal.default_int_handler}
    before = {number: signal.signal(number, handler) for number, handler in defaults.items()}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture(scope="module")
def treebank(tmp_path_factory):
    """A folder of the module's own, with the files of the toy treebank."""
    folder = tmp_path_factory.mktemp("treebank")
    toy.generator.write(str(folder))
    return folder


@pytest.fixture(scope="module")
def sentences(treebank):
    """The sentences of its training set."""
    return toy.sentences(treebank)


@pytest.fixture(scope="module")
def chromium():
    """A browser of the module's own, see browser.py."""
    import browser

    with browser.chromium() as driver:
        yield driver
