import os
import signal
import sys
from pathlib import Path

import pytest

# For numpy, here and in processes that tests start: its threads would keep all cores busy.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import toy  # noqa: E402
from hypothesis import settings  # noqa: E402

# Processes that tests start import mh4 from this clone.
os.environ["PYTHONPATH"] = str(toy.ROOT)
sys.path.insert(0, str(Path(__file__).parent / "decoders"))  # brute.py and common.py, the reference for all decoders
# Failing assertions in these modules show the values, as in tests.
pytest.register_assert_rewrite("common", "oneec_judge", "marginals_judge")

# The machine may be busy: no deadlines. Derandomised, so that a failure is the same for everyone.
settings.register_profile("mh4", deadline=None, derandomize=True, database=None)
settings.load_profile("mh4")


@pytest.fixture
def ending_signals():
    """Let SIGHUP and SIGINT end the commands that a test starts, even if pytest was started by nohup or with &."""
    defaults = {signal.SIGHUP: signal.SIG_DFL, signal.SIGINT: signal.default_int_handler}
    before = {number: signal.signal(number, handler) for number, handler in defaults.items()}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture(scope="module")
def treebank(tmp_path_factory):
    """A folder for the test module, with the files of the toy treebank."""
    folder = tmp_path_factory.mktemp("treebank")
    toy.generator.write(str(folder))
    return folder


@pytest.fixture(scope="module")
def sentences(treebank):
    """The sentences of the toy treebank's training set."""
    return toy.sentences(treebank)


@pytest.fixture(scope="module")
def chromium():
    """A browser for the test module, see browser.py."""
    import browser

    with browser.chromium() as driver:
        yield driver
