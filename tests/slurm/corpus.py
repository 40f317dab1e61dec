"""``make slurm-test``, second part: `mh4 corpus parse --slurm`, with a node, a job and the driver killed in mid-shard.

The joined files have to equal those of one undisturbed `mh4 parse`, byte for byte.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "tests" / "corpus")]

import corpora  # noqa: E402
from check import say  # noqa: E402
from cluster import Cluster, wait_for, why_not  # noqa: E402
from trial import Trial  # noqa: E402

PATIENCE = 600  # seconds
MEGABYTES = 12
OPTIONS = ("--workers", "2", "--slurm", "--partition=main --time=1:00:00")


def main():
    reason = why_not()
    if reason:
        print("slurm-test: skipped: %s" % reason)
        return
    scratch = Path(tempfile.mkdtemp(prefix="mh4-slurm-"))
    say("a corpus, and a quiet run, in %s" % scratch)
    trial = Trial(scratch, MEGABYTES)
    folder = scratch / "parsed in jobs"
    with Cluster(scratch / "slurm") as cluster:
        first = trial.start(folder, *OPTIONS)
        in_mid_shard(folder, first)
        say("killing the driver")
        first.kill()
        first.wait()
        wait_for(lambda: not cluster.jobs("RUNNING"), PATIENCE, "slurm-test: FAILED: jobs outlive their driver; see %s" % scratch)
        say("starting the driver again, with %d shards done" % len(corpora.records(folder)))
        second = trial.start(folder, *OPTIONS)
        in_mid_shard(folder, second)
        job = wait_for(lambda: cluster.jobs("RUNNING"), PATIENCE, "slurm-test: FAILED: no job is running")[0]
        say("cancelling job %s" % job)
        subprocess.run(["scancel", job], check=True)
        wait_for(lambda: job not in cluster.jobs("RUNNING"), PATIENCE, "slurm-test: FAILED: the job is not cancelled")
        in_mid_shard(folder, second)
        say("killing node n1")
        cluster.kill_node("n1")
        _, said = second.communicate(timeout=PATIENCE)
        if second.returncode:
            raise SystemExit("slurm-test: FAILED: exit code %d: %s; see %s" % (second.returncode, said.decode(), scratch))
    trial.check(folder)
    print("slurm-test: passed: the corpus is the same")
    shutil.rmtree(scratch)


def in_mid_shard(folder, driver):
    """Wait until a shard is being parsed."""
    found = wait_for(
        lambda: corpora.in_mid_shard(folder) or driver.poll() is not None, PATIENCE, "slurm-test: FAILED: nothing is parsed"
    )
    if driver.poll() is not None:
        raise SystemExit("slurm-test: FAILED: the driver ended early (%s): %s" % (found, driver.stderr.read().decode()))


if __name__ == "__main__":
    main()
