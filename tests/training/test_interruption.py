"""Training and parsing lose nothing and leave no partial file if they are killed, run twice, or run out of space."""

import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from functools import partial

import pytest
import running
import toy
from test_training import FINISHED, weights

from mh4.errors import InputError
from mh4.training.trainer import Trainer
from mh4.util.progress import Listener

pytestmark = pytest.mark.slow

KILLS = int(os.environ.get("MH4_KILLS", "5"))  # for test_a_training_killed_again_and_again_ends_with_the_same_weights
wait_for = partial(running.wait_for, seconds=600)  # trainings compete for a processor


@pytest.fixture(scope="module")
def treebank(treebank):
    """The toy treebank, with ten sentences in dev."""
    dev = treebank / "toy-ud-dev.conllu"
    dev.write_text(toy.beginning(dev, 10), encoding="utf-8")
    return treebank


# Clipping uses the norm of all gradients, which depends on the order in which gradients of embeddings are summed.
CHOSEN = "training.evaluate_updates=5 training.patience=20 training.max_updates=90 training.clip=0.1"


def training(treebank, folder, *more):
    """Return the command line of a toy training, in which epochs end between evaluations."""
    files = ["--train", str(treebank / "toy-ud-train.conllu"), "--dev", str(treebank / "toy-ud-dev.conllu")]
    options = [option for assignment in CHOSEN.split() for option in ("--set", assignment)]
    small = ["--config", str(toy.ROOT / "experiments" / "toy.toml")]
    return ["train", "--quiet", "--system", "mh4-hybrid", *small, *files, "--model", str(folder), *options, *more]


def start(arguments, command=("-m", "mh4"), **options):
    return subprocess.Popen([sys.executable, *command, *arguments], **options)


def run(arguments, **options):
    """Return exit code, output and messages."""
    process = start(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
    out, said = process.communicate()
    return process.returncode, out.decode(), said.decode()


def record(folder):
    """Return the weights, metrics and summary of a finished training without times."""
    timing = ("tokens_per_second", "seconds", "cpu_seconds")
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    lines.append(json.loads((folder / "summary.json").read_text()))
    return weights(folder), [{key: value for key, value in line.items() if key not in timing} for line in lines]


def names(folder):
    return sorted(os.listdir(folder))


@pytest.fixture(scope="module")
def whole(treebank, tmp_path_factory):
    """The folder of an uninterrupted training, and the seconds to its first evaluation and between evaluations."""
    folder = tmp_path_factory.mktemp("whole") / "model"
    began = time.monotonic()
    process = start(training(treebank, folder))
    wait_for((folder / "metrics.jsonl").exists, process)
    first = time.monotonic()
    assert process.wait() == 0
    assert len((folder / "metrics.jsonl").read_text().splitlines()) == 15
    return folder, first - began, (time.monotonic() - first) / 15


# `mh4` that kills itself when it has written half of a file, or just before or after the file replaces the old one.
KILLING_ITSELF = """
import io, os, signal, sys
import numpy as np
from mh4.cli import main

moment, count, part = sys.argv.pop(1), int(sys.argv.pop(1)), float(sys.argv.pop(1))
savez, replace = np.savez, os.replace

def time_to_die(now):
    global count
    count -= now == moment
    return now == moment and not count

def savez_or_die(file, **arrays):
    if time_to_die("half"):
        whole = io.BytesIO()
        savez(whole, **arrays)
        file.write(whole.getvalue()[: int(part * whole.tell())])
        file.flush()
        os.kill(os.getpid(), signal.SIGKILL)
    savez(file, **arrays)

def replace_or_die(source, target):
    if time_to_die("before"):
        os.kill(os.getpid(), signal.SIGKILL)
    replace(source, target)
    if time_to_die("after"):
        os.kill(os.getpid(), signal.SIGKILL)

np.savez, os.replace = savez_or_die, replace_or_die
main()
"""


def test_a_training_killed_again_and_again_ends_with_the_same_weights(treebank, whole, tmp_path):
    """Resumed trainings have the weights of an uninterrupted one, bit for bit.

    SIGKILL comes before the first evaluation, near an evaluation, and before, during and after files are replaced.
    When a training has finished, the next begins in a new folder, until there have been MH4_KILLS kills.
    """
    folder_of_whole, until_first, between = whole
    draw = random.Random(1)
    kills, finished, half_written = 0, 0, 0
    while kills < KILLS or not finished:
        folder = tmp_path / ("cut-%d" % finished)
        metrics = folder / "metrics.jsonl"
        before = metrics.stat().st_size if metrics.exists() else 0
        moment = ("half", "soon", "before", "evaluation", "after")[kills % 5] if kills < KILLS else None
        if moment in ("half", "before", "after"):
            chosen = [moment, str(draw.randrange(1, 7)), str(draw.random())]
            process = start(training(treebank, folder), command=["-c", KILLING_ITSELF, *chosen])
        else:
            process = start(training(treebank, folder))
        if moment == "soon":
            time.sleep(draw.uniform(0, until_first))
            process.kill()
        elif moment == "evaluation":
            wait_for(lambda: process.poll() is not None or metrics.exists() and metrics.stat().st_size > before)  # noqa: B023
            time.sleep(draw.uniform(0, 2 * between))
            process.kill()
        assert process.wait() in (0, -signal.SIGKILL)
        kills += process.returncode != 0
        half_written += any(folder.glob(".*.part"))
        if process.returncode == 0:
            finished += 1
            assert record(folder) == record(folder_of_whole)
            assert names(folder) == FINISHED
    print("%d kills, %d of which left a file half written, in %d trainings" % (kills, half_written, finished))
    assert half_written or KILLS < 5


def assert_says_how_to_resume(said, number):
    reason = "interrupted" if number == signal.SIGINT else "stopped by " + number.name
    assert said == "mh4: %s; run the same command again to resume\n" % reason


# `mh4` that gets a signal when it reads a treebank, in an update, in an evaluation, when it writes an
# array of weights, or when the temperature is fitted.
SIGNALLED = """
import os, sys, zipfile
from mh4.data import conllu
from mh4.parser.parsing import Parser
from mh4.training import calibration, trainer
from mh4.cli import main

moment, number = sys.argv.pop(1), int(sys.argv.pop(1))
place, name = {
    "reading": (conllu, "each_file"),
    "update": (trainer.Trainer, "learn"),
    "evaluation": (Parser, "derivations"),
    "weights": (zipfile._ZipWriteFile, "close"),
    "temperature": (calibration, "negative_log_likelihood"),
}[moment]
function = getattr(place, name)

def signalled(*arguments, **options):
    os.kill(os.getpid(), number)
    return function(*arguments, **options)

setattr(place, name, signalled)
sys.argv[0] = "__main__.py"
main()
"""


@pytest.mark.usefixtures("ending_signals")
def test_a_training_told_to_end_at_any_moment_says_how_to_resume(treebank, whole, tmp_path):
    """A training that is stopped at several moments, one after the other, ends like an uninterrupted one."""
    folder, metrics = tmp_path / "model", tmp_path / "model" / "metrics.jsonl"
    chosen = training(treebank, folder)
    moments = ["reading", "update", "evaluation", "weights", None, "evaluation", "temperature"]
    for k, moment in enumerate(moments):
        number = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)[k % 3]
        if moment:
            process = start(chosen, command=["-c", SIGNALLED, moment, str(int(number))], stderr=subprocess.PIPE)
        else:  # once there is a checkpoint
            process = start(chosen, stderr=subprocess.PIPE)
            wait_for((folder / "checkpoint.npz").exists, process)
            process.send_signal(number)
        if moment == "temperature":
            assert not (folder / "summary.json").exists()
        said = process.communicate()[1].decode()
        assert process.returncode == 128 + number, said
        assert_says_how_to_resume(said, number)
        assert not list(folder.glob(".*.part"))
        assert (folder / "checkpoint.npz").exists() == (k >= 4)
    assert len(metrics.read_text().splitlines()) == 15 and not (folder / "summary.json").exists()
    assert run(chosen)[0] == 0
    assert record(folder) == record(whole[0]) and names(folder) == FINISHED


def test_nohup_lets_a_training_go_on(treebank, tmp_path):
    folder = tmp_path / "model"
    process = start(training(treebank, folder), stdout=-1, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    wait_for((folder / "metrics.jsonl").exists, process)
    process.send_signal(signal.SIGHUP)
    process.communicate()
    assert process.returncode == 0


def test_two_trainings_into_one_folder(treebank, whole, tmp_path):
    """The second training is an error and does not change the first. A killed training leaves no lock."""
    folder = tmp_path / "model"
    first = start(training(treebank, folder), stdout=subprocess.DEVNULL)
    wait_for((folder / "config.toml").exists, first)
    first.send_signal(signal.SIGSTOP)  # so that it does not finish too soon
    said = "mh4: %s: another process is writing to this folder; wait for it to finish or choose another folder\n" % folder
    busy = 2, "", said
    assert run(training(treebank, folder)) == busy
    assert run(training(treebank, folder, "--seed", "2")) == busy
    first.send_signal(signal.SIGCONT)
    assert first.wait() == 0
    assert record(folder) == record(whole[0]) and names(folder) == FINISHED

    folder = tmp_path / "killed"
    first = start(training(treebank, folder), stdout=subprocess.DEVNULL)
    wait_for((folder / "metrics.jsonl").exists, first)
    first.kill(), first.wait()
    assert run(training(treebank, folder))[0] == 0
    assert record(folder) == record(whole[0])


# Full disks


SHORT = toy.small("training.max_updates=12", "training.evaluate_updates=4", "dropout.lstm=0.3")


def trainer(sentences, folder, **options):
    return Trainer("mst", SHORT, sentences[:30], sentences[30:40], str(folder), **options)


@pytest.fixture(scope="module")
def short(sentences, tmp_path_factory):
    folder = tmp_path_factory.mktemp("short")
    trainer(sentences, folder).run()
    return folder


def resize(folder, kilobytes, option="remount"):
    return subprocess.run(["mount", "-t", "tmpfs", "-o", "%s,size=%dk" % (option, kilobytes), "tmpfs", str(folder)], stderr=-1)


@pytest.fixture
def small_disk(tmp_path):
    """An empty folder on its own file system, whose size `resize` changes."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if not shutil.which("mount") or resize(folder, 4, "rw").returncode:
        pytest.skip("only root can mount a small file system")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def test_training_on_a_full_disk(sentences, short, small_disk):
    """A disk that is full at any moment is an error. With more space, the same command ends with the same weights."""
    failed, where = 0, set()
    size = sum(path.stat().st_size for path in short.iterdir()) // 1024
    for kilobytes in (4, 8, 16, size // 2, size - 8, size + 8, *(size * k // 8 for k in range(9, 50, 3))):
        folder = small_disk / "model"
        shutil.rmtree(str(folder), ignore_errors=True)
        assert resize(small_disk, kilobytes).returncode == 0
        try:
            trainer(sentences, folder).run()
        except InputError as error:
            assert str(error).endswith("cannot be written: No space left on device")
            where.add(str(error).partition(": ")[0].rpartition("/")[2])
            failed += 1
            assert not list(folder.glob(".*.part"))
            with pytest.raises(InputError, match="No space left on device"):  # again
                trainer(sentences, folder).run()
            assert resize(small_disk, 20 * size).returncode == 0
            trainer(sentences, folder).run()
        assert record(folder) == record(short) and names(folder) == FINISHED
    assert failed >= 5 and {"weights.npz", "checkpoint.npz"} <= where


def test_training_that_cannot_record_an_evaluation(sentences, short, tmp_path):
    """A training that failed after writing the best weights but before the checkpoint ends with the same weights."""

    class Full(Listener):
        def update(self, words, loss):
            if not (tmp_path / "model" / "metrics.jsonl").is_symlink():
                (tmp_path / "model" / "metrics.jsonl").symlink_to("/dev/full")

    with pytest.raises(InputError, match="metrics.jsonl: cannot be written: No space left on device"):
        trainer(sentences, tmp_path / "model", listener=Full()).run()
    (tmp_path / "model" / "metrics.jsonl").unlink()
    trainer(sentences, tmp_path / "model").run()
    assert record(tmp_path / "model") == record(short)


@pytest.fixture(scope="module")
def long_file(treebank, tmp_path_factory):
    path = tmp_path_factory.mktemp("long") / "in.conllu"
    path.write_text((treebank / "toy-ud-test.conllu").read_text(encoding="utf-8") * 4, encoding="utf-8")
    return path


def test_parsing_into_files_that_may_not_be_large(short, long_file, treebank, tmp_path):
    """Files that exceed a limit like that of ulimit -f are errors, and no partial file is left."""
    (tmp_path / "out").write_text("precious\n")
    limit = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))}
    arguments = ["parse", "--model", str(short), str(long_file), "-o", str(tmp_path / "out")]
    assert run(arguments, **limit) == (2, "", "mh4: %s: cannot be written: File too large\n" % (tmp_path / "out"))
    assert names(tmp_path) == ["out"] and (tmp_path / "out").read_text() == "precious\n"
    folder = tmp_path / "model"
    code, out, said = run(training(treebank, folder), **limit)
    assert (code, out, said) == (2, "", "mh4: %s: cannot be written: File too large\n" % (folder / "weights.npz"))
    assert names(folder) == ["config.toml", "vocabulary.json"]
