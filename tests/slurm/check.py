"""``make slurm-test``: run the toy treebank on a Slurm whose node, job and driver are killed; compare with a quiet run.

The tables, the predicted trees and the scores of every evaluation have to be the same, to the bit.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from cluster import Cluster, tasks, wait_for, why_not

ROOT = Path(__file__).resolve().parents[2]
GRID = {"--langs": "toy", "--systems": "mst mh4-hybrid 1ec", "--seeds": "1 2"}
TIMES = ("seconds", "tokens_per_second", "cpu_seconds", "date")
PATIENCE = 1800  # seconds


def main():
    reason = why_not()
    if reason:
        print("slurm-test: skipped: %s" % reason)
        return 0
    scratch = Path(tempfile.mkdtemp(prefix="mh4-slurm-"))
    quiet, tried = scratch / "quiet", scratch / "tried"
    say("a quiet run, in %s" % quiet)
    if driver(quiet, "--jobs", "1").wait():
        raise SystemExit("slurm-test: the quiet run failed; everything is in %s" % scratch)
    with Cluster(scratch / "slurm") as cluster:
        restarted = trial(cluster, tried)
    differing = [name for name in sorted(names(quiet) | names(tried)) if content(quiet, name) != content(tried, name)]
    if differing or not restarted:
        raise SystemExit(
            "slurm-test: FAILED: different: %s; see %s" % (" ".join(differing) or "nothing was interrupted", scratch)
        )
    print("slurm-test: passed: %d files are the same; restarted in mid-training: %s" % (len(names(quiet)), ", ".join(restarted)))
    shutil.rmtree(scratch)
    return 0


def trial(cluster, home):
    """Run the grid on the cluster; kill driver, node and job; return the runs that were interrupted in mid-training."""
    options = ("--slurm=--partition=main --time=1:00:00", "--jobs", "2")
    first = driver(home, *options)
    try:
        in_training(cluster, home, "n1")
    finally:
        orphans = set(cluster.jobs("RUNNING"))
        say("killing the driver")
        os.killpg(first.pid, signal.SIGKILL)
        first.wait()
    say("starting the driver again")
    second = driver(home, *options)
    try:
        wait_for(lambda: not orphans & set(cluster.jobs("RUNNING")), PATIENCE, "slurm-test: FAILED: jobs outlive their driver")
        in_training(cluster, home, "n1")
        say("killing node n1")
        cluster.kill_node("n1")
        job = in_training(cluster, home, "n2")
        say("cancelling job %s, on n2" % job)
        subprocess.run(["scancel", job], check=True)
        wait_for(lambda: not cluster.jobs("RUNNING", "n1"), PATIENCE, "Slurm does not notice that n1 is gone")
        say("starting node n1 again")
        cluster.start_node("n1")
        if second.wait(PATIENCE):
            raise SystemExit("slurm-test: FAILED: the driver ended with exit code %d; see %s" % (second.returncode, home))
    finally:
        if second.poll() is None:
            os.killpg(second.pid, signal.SIGKILL)
            second.wait()
    return [
        "%s (%d times)" % (log.parent.relative_to(home / "models" / "toy"), starts - 1)
        for log in sorted(home.glob("models/toy/*/seed*/train.log"))
        for starts in [sum(" train --system " in line for line in log.read_text().splitlines())]
        if starts > 1
    ]


def driver(home, *options):
    """Start make paper for the grid in the folder `home`, as a group of processes."""
    command = [sys.executable, "-m", "experiments", "--home", str(home), "paper", *options]
    command += [word for pair in GRID.items() for word in pair]
    return subprocess.Popen(command, cwd=str(ROOT), start_new_session=True, env={**os.environ, "PYTHONUNBUFFERED": "1"})


def in_training(cluster, home, node):
    """Wait for a job in mid-training on a node, with two more evaluations than when first seen; return its id."""
    begun = {}

    def found():
        for words in tasks(node).values():
            if "train" in words and "--model" in words:
                folder = ROOT / words[words.index("--model") + 1]
                evaluated = lines(folder / "metrics.jsonl")
                running = cluster.jobs("RUNNING", node)
                if evaluated >= begun.setdefault(folder, evaluated) + 2 and running and not (folder / "summary.json").exists():
                    return running[0]
        return None

    return wait_for(found, PATIENCE, "slurm-test: FAILED: no training on %s; see %s" % (node, home))


def lines(path):
    return path.read_bytes().count(b"\n") if path.exists() else 0


def names(home):
    """Return the names of the tables, and of the records and trees of all runs."""
    results = home / "results"
    return {str(path.relative_to(results)) for ending in ("csv", "jsonl", "trees.gz") for path in results.rglob("*." + ending)}


def content(home, name):
    """Return the content that has to be the same: records without times, every byte of all other files."""
    path = home / "results" / name
    if not path.exists():
        return None
    if path.suffix != ".jsonl":
        return path.read_bytes()
    return [json.loads(line, object_hook=without_times) for line in path.read_text().splitlines()]


def without_times(found):
    return {key: value for key, value in found.items() if key not in TIMES}


def say(what):
    print("%s  slurm-test: %s" % (time.strftime("%H:%M:%S"), what), flush=True)


if __name__ == "__main__":
    sys.exit(main())
