"""Parsers in threads, in several processes and after pickling, and killed processes of a parse."""

import copy
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import pytest
import toy
from running import children, spawned, wait_for

import mh4
from mh4.parser.ensemble import Ensemble
from mh4.parser.network.graph import lock
from mh4.parser.parsing import Parser
from mh4.parser.systems import SYSTEMS
from mh4.training.trainer import Trainer
from mh4.util.progress import Listener


@pytest.fixture(scope="module")
def folders(sentences, tmp_path_factory):
    """Models of three systems, slightly trained, with networks of different sizes."""
    folders = {}
    for system, units in (("mh4-hybrid", 64), ("mst", 48), ("greedy-mh3", 32)):
        folders[system] = str(tmp_path_factory.mktemp(system))
        settings = toy.small("encoder.units=%d" % units, "training.max_updates=20")
        Trainer(system, settings, sentences[:60], sentences[60:70], folders[system]).run()
    return folders


def in_threads(*functions):
    """Return the results of the functions, called at the same time in a thread each."""
    results = [None] * len(functions)
    together = threading.Barrier(len(functions))

    def call(k):
        together.wait()
        results[k] = functions[k]()

    threads = [threading.Thread(target=call, args=(k,)) for k in range(len(functions))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


@pytest.mark.slow
def test_threads_share_parsers(folders, sentences):
    """Threads that share a parser, other parsers and an ensemble have the results of one thread."""
    parsers = [Parser.load(folder) for folder in folders.values()]
    used = [parsers[0]] * 4 + parsers[1:] + [Ensemble(parsers)]
    expected = [parser.parse(sentences[:80]) for parser in used]
    assert expected[0] != expected[4] != expected[5]

    def repeatedly(parser):
        return lambda: [parser.parse(sentences[:80]) for _ in range(2)] + [parser.parse([s])[0] for s in sentences[:20]]

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for found, parsed_by_one in zip(in_threads(*map(repeatedly, used)), expected):
            assert found == [parsed_by_one] * 2 + parsed_by_one[:20]
    finally:
        sys.setswitchinterval(before)


def test_a_sentence_that_is_refused_leaves_the_parser_to_other_threads(folders, sentences):
    parser = Parser.load(folders["mst"])

    def fails(words):
        raise ZeroDivisionError

    kept = []
    try:
        parser.parse(sentences[:5], fails)
    except ZeroDivisionError as error:
        kept.append(error)  # with everything that its traceback refers to
    (found,) = in_threads(lambda: lock.acquire(timeout=5) and (lock.release(), parser.parse(sentences[:5]))[1])
    assert found == parser.parse(sentences[:5])


@pytest.mark.slow
def test_threads_parse_while_another_trains(folders, sentences, tmp_path):
    """A training and parses in another thread do not change each other's results."""
    settings = toy.small("training.max_updates=30", "training.evaluate_updates=10", "dropout.lstm=0.3")

    class Slow(Listener):
        def update(self, words, loss):
            time.sleep(0.001)  # give the lock to the other thread

    def train(name):
        trainer = Trainer("mh4-two", settings, sentences[:40], sentences[40:60], str(tmp_path / name), listener=Slow())
        return trainer, lambda: trainer.run()

    parser = Parser.load(folders["mst"])
    expected = parser.parse(sentences[:30])
    train("by itself")[1]()
    trainer, run = train("with others")
    _, found = in_threads(run, lambda: [parser.parse(sentences[:30]) for _ in range(30)])
    assert found == [expected] * 30
    one, two = (mh4.load(str(tmp_path / name)).model._arrays() for name in ("by itself", "with others"))
    assert all((one[name] == two[name]).all() for name in one)


def test_pickles_and_copies(folders, sentences):
    for how in ((), ("greedy",), ("beam", 3)):
        parser = mh4.load(folders["mh4-hybrid"], *how)
        for again in (pickle.loads(pickle.dumps(parser)), copy.deepcopy(parser)):
            assert again.parse(sentences[:30]) == parser.parse(sentences[:30])
            assert again.model.describe() == parser.model.describe()
    ensemble = mh4.load(list(folders.values()), tree="1ec")
    assert pickle.loads(pickle.dumps(ensemble)).parse(sentences[:30]) == ensemble.parse(sentences[:30])


def test_every_decoder_can_be_pickled(folders):
    model = Parser.load(folders["mst"]).model
    for system in SYSTEMS.values():
        for decoding in system.decoders:
            model.system = system
            decode = Parser(model, decoding).decode
            assert repr(pickle.loads(pickle.dumps(decode))) == repr(decode)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes_share_a_parser(folders, sentences, method):
    parser = Parser.load(folders["mh4-hybrid"])
    expected = parser.parse(sentences[:40])
    with multiprocessing.get_context(method).Pool(2) as pool:
        parts = pool.map(parser.parse, [sentences[:20], sentences[20:40]])
    assert [*parts[0], *parts[1]] == expected
    assert parser.parse(sentences[:40]) == expected


def test_a_fork_while_a_thread_parses(folders, sentences):
    """A child that is forked during a parse can parse: neither the lock nor half of a graph is inherited."""
    parser = Parser.load(folders["mst"])
    expected = parser.parse(sentences[:30])
    stop = threading.Event()

    def parse_on():
        while not stop.is_set():
            parser.parse(sentences[:30])

    thread = threading.Thread(target=parse_on)
    thread.start()
    try:
        for _ in range(5):
            child = os.fork()
            if not child:
                os._exit(0 if parser.parse(sentences[:30]) == expected else 1)
            deadline = time.monotonic() + 120
            while time.monotonic() < deadline:
                done, status = os.waitpid(child, os.WNOHANG)
                if done:
                    break
                time.sleep(0.02)
            else:
                os.kill(child, signal.SIGKILL), os.waitpid(child, 0)
                raise AssertionError("the child waits for ever")
            assert status == 0
    finally:
        stop.set()
        thread.join()


@pytest.mark.slow
@pytest.mark.skipif(not os.path.isdir("/proc"), reason="needs /proc")
@pytest.mark.parametrize("whom", ["parent by SIGTERM", "parent by SIGHUP", "parent by SIGKILL", "worker by SIGKILL"])
@pytest.mark.usefixtures("ending_signals")
def test_killing_parsing_processes(folders, tmp_path, whom):
    """No process outlives its parent, a killed one is an error, and the output file does not change."""
    toy.sentences(tmp_path)
    (tmp_path / "in").write_text((tmp_path / "toy-ud-train.conllu").read_text(encoding="utf-8") * 400, encoding="utf-8")
    (tmp_path / "out").write_text("precious\n")
    command = ["parse", "--model", folders["mst"], "--jobs", "2", str(tmp_path / "in"), "-o", str(tmp_path / "out")]
    process = subprocess.Popen([sys.executable, "-m", "mh4", *command], stderr=subprocess.PIPE)
    workers = []

    def working():
        workers[:] = spawned(process.pid)
        return len(workers) == 2 and any(path.stat().st_size for path in tmp_path.glob(".out.*.part"))

    wait_for(working)
    started = children(process.pid)
    number = getattr(signal, whom.split()[-1])
    os.kill(workers[0] if whom.startswith("worker") else process.pid, number)
    said = process.communicate()[1].decode()
    if whom == "parent by SIGKILL":
        assert process.returncode == -signal.SIGKILL
    elif whom == "worker by SIGKILL":
        assert (
            process.returncode == 2 and said == "mh4: a process of --jobs was killed, perhaps because memory ran out: try fewer\n"
        )
    else:
        assert process.returncode == 128 + number and said == "mh4: stopped by %s\n" % number.name
    wait_for(lambda: not any(os.path.exists("/proc/%d" % pid) for pid in started))
    assert (tmp_path / "out").read_text() == "precious\n"
    assert len(list(tmp_path.glob(".out.*.part"))) == (whom == "parent by SIGKILL")
