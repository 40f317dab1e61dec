"""``make corpus-test``: parse corpora while workers, drivers and schedulers are killed, and while the disk is full.

The joined output has to equal that of one undisturbed `mh4 parse`, byte for byte. Shards are as large as in real
corpora, a megabyte and more.
"""

import argparse
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[k]) for k in (0, 1, 2)]

import corpora  # noqa: E402
import toy  # noqa: E402
from running import wait_for  # noqa: E402

from mh4.util.processes import with_parent  # noqa: E402

PATIENCE = 900  # seconds
os.environ["PYTHONPATH"] = str(toy.ROOT)  # as conftest.py does for tests


class Trial:
    """A folder with a model, an input, and the output of `mh4 parse` for it. megabytes: of the larger of two files."""

    def __init__(self, scratch, megabytes):
        self.scratch, self.megabytes = scratch, megabytes
        self.model = corpora.train(make(scratch / "model"))
        train = (scratch / "model" / "toy-ud-train.conllu").read_bytes()
        files = {"large.conllu": train * (megabytes * 1_000_000 // len(train) + 1), "a b/small\n.conllu": train}
        for name, content in files.items():
            path = scratch / "in" / name
            make(path.parent)
            path.write_bytes(content)
            code, _, said = corpora.run("parse", "--quiet", "--model", self.model, str(path), "-o", str(scratch / "quiet"))
            assert code == 0, said
            make((scratch / "parsed" / name).parent)
            (scratch / "quiet").rename(scratch / "parsed" / name)
        self.parsed = contents(scratch / "parsed")

    def command(self, folder, *options):
        return ["corpus", "parse", str(self.scratch / "in"), "-o", str(folder), "--model", self.model, *options]

    def start(self, folder, *options, **more):
        return corpora.start(*self.command(folder, *options), **more)

    def check(self, folder):
        """Parse the rest of the corpus, verify and join it, and check that the output is right."""
        code, _, said = corpora.run(*self.command(folder, "--workers", "2"))
        assert code == 0, said
        code, _, said = corpora.run("corpus", "verify", str(folder), "--workers", "2")
        assert code == 0, said
        joined = self.scratch / ("joined-" + folder.name)
        code, _, said = corpora.run("corpus", "join", str(folder), "-o", str(joined) + "/")
        assert code == 0, said
        assert contents(joined) == self.parsed, "%s differs" % joined
        assert not corpora.in_mid_shard(folder)
        shutil.rmtree(joined)
        shutil.rmtree(folder)


def make(folder):
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def workers_are_killed(trial, rng, kills):
    """Kill workers in mid-shard, by SIGKILL. Each time, another worker parses the shard."""
    folder, killed = trial.scratch / "workers", 0
    while killed < kills:
        driver = trial.start(folder, "--workers", "2", "--quiet")
        while driver.poll() is None and killed < kills:
            if corpora.in_mid_shard(folder) and (workers := corpora.workers_of(driver)):
                with suppress(ProcessLookupError):
                    os.kill(rng.choice(workers).pid, signal.SIGKILL)
                    killed += 1
                time.sleep(rng.uniform(0.2, 2))
        assert driver.wait(PATIENCE) in (0, 1), driver.stderr.read()  # 1: a shard was killed three times
        if driver.returncode == 0 and killed < kills:
            for record in corpora.records(folder):
                record.unlink()  # all shards are parsed again
    trial.check(folder)
    return killed


def drivers_are_killed(trial, rng, kills):
    """Kill drivers at any time, by SIGKILL. Their workers end, and the next driver continues.

    A second driver at the same time is rejected.
    """
    folder = trial.scratch / "drivers"
    for k in range(kills):
        driver = trial.start(folder, "--workers", "2", "--quiet")
        if k % 3:
            wait_for(lambda: corpora.in_mid_shard(folder) or driver.poll() is not None)  # noqa: B023
        time.sleep(rng.uniform(0, 1.5))
        workers = corpora.workers_of(driver) if driver.poll() is None else []
        if k == 1:
            code, _, said = corpora.run(*trial.command(folder))
            assert code == 2 and "is at work in this folder (process %d on " % driver.pid in said or driver.poll() == 0, said
        driver.kill()
        driver.wait()
        wait_for(lambda: not any(map(corpora.alive, workers)))  # noqa: B023
    trial.check(folder)
    return kills


def the_scheduler_is_killed(trial, rng, kills):
    """Kill an external scheduler. One of its workers has another version of mh4, and has to be rejected."""
    folder, address = trial.scratch / "scheduler", "tcp://127.0.0.1:%d" % free_port()
    other = make(trial.scratch / "other")
    (other / "sitecustomize.py").write_text("import mh4.version\nmh4.version.__version__ = '0.0.9'\n")
    for k in range(kills + 1):
        with ExitStack() as stack:
            scheduler = stack.enter_context(dask(trial, "scheduler", "--host", "127.0.0.1", "--port", address.rpartition(":")[2]))
            stack.enter_context(dask(trial, "worker", address, "--nthreads", "1", PYTHONPATH="%s:%s" % (other, toy.ROOT)))
            stack.enter_context(dask(trial, "worker", address, "--nthreads", "2"))
            driver = trial.start(folder, "--scheduler", address)
            if k < kills:
                wait_for(lambda: corpora.in_mid_shard(folder), driver)
                time.sleep(rng.uniform(0, 1))
                scheduler.kill()
            _, said = driver.communicate(timeout=PATIENCE)
            said = said.decode()
            assert driver.returncode == (2 if k < kills else 0), said
            assert "the scheduler of the workers is gone" in said or k == kills, said
            if k == kills:
                assert "is refused: it has mh4 0.0.9, expected " in said, said
    trial.check(folder)
    return kills


def the_disk_is_full(trial, rng, kills):
    """Fill the disk, early or late. The error has to be reported, and with more space, the rest is parsed."""
    disk = make(trial.scratch / "disk")
    if os.geteuid() or mount(disk, 4):
        return "skipped: only root can mount a small file system"
    try:
        for kilobytes in sorted((4, 64, 30 * trial.megabytes, 80 * trial.megabytes)):
            mount(disk, kilobytes, "remount")
            driver = trial.start(disk / "corpus", "--workers", "2", "--quiet")
            _, said = driver.communicate(timeout=PATIENCE)
            assert driver.returncode in (1, 2) and b"No space left on device" in said and b"Traceback" not in said, said
        mount(disk, 10**6, "remount")
        trial.check(disk / "corpus")
    finally:
        subprocess.run(["umount", "--lazy", str(disk)], check=True)
    return 4


def mount(folder, kilobytes, option="rw"):
    """Mount a file system of this size, or resize it; return the exit code."""
    command = ["mount", "-t", "tmpfs", "-o", "%s,size=%dk" % (option, kilobytes), "tmpfs", str(folder)]
    return subprocess.run(command, stderr=-1).returncode


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


@contextmanager
def dask(trial, *arguments, **environment):
    """Start a process of Dask, which is terminated at the end of the block."""
    command = [sys.executable, "-m", "dask", *arguments, "--no-dashboard"]
    with open(trial.scratch / "dask.log", "ab") as log:
        process = subprocess.Popen(command, env={**os.environ, **environment}, stdout=log, stderr=log, preexec_fn=with_parent())
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


def main():
    parser = argparse.ArgumentParser(description="Parse corpora whose processes are killed, and compare them with quiet ones.")
    parser.add_argument("--megabytes", type=int, default=30, help="the size of the larger file")
    parser.add_argument("--kills", type=int, default=20, help="how many workers, drivers and schedulers are killed")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    scratch, rng = Path(tempfile.mkdtemp(prefix="mh4-corpus-")), random.Random(options.seed)
    say("a quiet run, in %s" % scratch)
    trial = Trial(scratch, options.megabytes)
    for name, times in ((workers_are_killed, 1), (drivers_are_killed, 1), (the_scheduler_is_killed, 4), (the_disk_is_full, 1)):
        say("%s: %s" % (name.__name__.replace("_", " "), name(trial, rng, -(-options.kills // times))))
    print("corpus-test: passed")
    shutil.rmtree(scratch)


def say(what):
    print("%s  corpus-test: %s" % (time.strftime("%H:%M:%S"), what), flush=True)


if __name__ == "__main__":
    main()
