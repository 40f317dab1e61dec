"""The queue of requests, and the processes that parse them."""

import asyncio
import gc
import os
import signal
import threading
import time

import pytest

from mh4.errors import InputError
from mh4.serving.queue import Busy, Workers
from mh4.util.processes import Killed

pytestmark = pytest.mark.slow


def run(scenario, size=1, waiting=100, seconds=120, prepare=(os.getpid,)):
    """Return the result of a scenario with workers that have started; check that no thread of theirs remains."""

    async def main():
        workers = Workers(size, waiting, seconds, prepare)
        try:
            first = await workers.start()
            return await scenario(workers, first)
        finally:
            workers.stop()

    before = threading.active_count()
    result = asyncio.run(main())
    assert threading.active_count() == before
    return result


async def idle(workers):
    while workers.busy:
        await asyncio.sleep(0.01)


def test_killed_processes_come_back_and_no_call_is_lost():
    async def scenario(workers, first):
        os.kill(first, signal.SIGKILL)  # while it is idle
        assert await workers.call(pow, 2, 3) == 8
        with pytest.raises(Killed):  # by the call itself, twice, as if it needed too much memory
            await workers.call(signal.raise_signal, signal.SIGKILL)
        assert await workers.call(pow, 2, 4) == 16
        await idle(workers)
        return workers.started

    assert run(scenario) == 4  # the first process, its replacement, one for the second try, and its replacement


def test_a_full_queue_and_a_slow_one():
    async def scenario(workers, first):
        slow = [asyncio.ensure_future(workers.call(time.sleep, 1)) for _ in range(3)]
        await asyncio.sleep(0.1)
        assert workers.busy == 1 and workers.waiting == 2
        with pytest.raises(Busy):  # there is no room
            await workers.call(pow, 1, 1)
        slow[2].cancel()  # the client has gone
        await asyncio.sleep(0)
        assert workers.waiting == 1
        waiting = asyncio.ensure_future(workers.call(pow, 2, 2))
        await slow[0]
        await slow[1]
        return await waiting

    assert run(scenario, waiting=2) == 4


def test_nothing_is_kept_of_what_nobody_waits_for():
    """After a client has gone, neither the arguments nor the error of its call are kept."""
    said, size = [], 12_345_678

    async def scenario(workers, first):
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: said.append(context))
        call = asyncio.ensure_future(workers.call(_sleeps, bytes(size)))
        await asyncio.sleep(0.3)
        call.cancel()
        await asyncio.sleep(0)
        del call
        await asyncio.sleep(1)
        await idle(workers)
        return [one for one in gc.get_objects() if type(one) is tuple and any(type(a) is bytes and len(a) == size for a in one)]

    gc.disable()
    try:
        assert run(scenario, seconds=0.8) == [] and said == []
    finally:
        gc.enable()


def test_a_timeout_of_the_function_itself():
    async def scenario(workers, first):
        with pytest.raises(TimeoutError, match="of its own"):
            await workers.call(_times_out)
        return await workers.call(os.getpid) == first

    assert run(scenario)


def test_what_prevents_the_start():
    with pytest.raises(InputError, match="no model"):
        run(None, size=2, prepare=(_fails,))


def test_what_prevents_a_later_start_is_no_error_of_the_call(tmp_path):
    """If a killed process cannot be replaced, as when the model was moved, the call fails with a RuntimeError."""
    folder = tmp_path / "model"
    folder.mkdir()

    async def scenario(workers, first):
        folder.rmdir()
        os.kill(first, signal.SIGKILL)
        with pytest.raises(RuntimeError, match="a process that was killed cannot be replaced: no model"):
            await workers.call(pow, 2, 3)
        folder.mkdir()
        return await workers.call(pow, 2, 4)

    assert run(scenario, prepare=(_needs, str(folder))) == 16


def _needs(folder):
    return os.getpid() if os.path.isdir(folder) else _fails()


def _sleeps(content):
    time.sleep(60)


def _times_out():
    raise TimeoutError("of its own")


def _fails():
    raise InputError("no model")
