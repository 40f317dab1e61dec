"""Signals are held until the end of a block."""

import os
import signal
import threading
import time

import pytest

from mh4.util import signals


@pytest.mark.parametrize("number", signals.ENDING)
def test_signals_are_held_whichever_thread_they_reach(number):
    def stop(number, frame):
        raise KeyboardInterrupt

    before, ended = signal.signal(number, stop), threading.Event()
    other = threading.Thread(target=ended.wait)
    other.start()  # the system gives the signal to this thread, as it does not have the mask
    held = []
    try:
        with pytest.raises(KeyboardInterrupt), signals.held():
            os.kill(os.getpid(), number)
            time.sleep(0.05)
            held.append(number)
        assert held == [number] and signal.getsignal(number) is stop
        assert not signal.pthread_sigmask(signal.SIG_BLOCK, ()) & {*signals.ENDING}
    finally:
        ended.set()
        signal.signal(number, before)
