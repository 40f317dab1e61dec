"""The benchmarks run, and print their tables. What they measure is not tested."""

import os
import subprocess
import sys

import pytest
import toy


@pytest.mark.slow
@pytest.mark.parametrize(
    "command, last",
    [
        (["parsing.py", "--system", "mh3"], r"words/s, peak memory"),
        (["training.py", "--minibatches", "7"], r"tokens/s, peak memory"),
        (["training.py", "--minibatches", "7", "--set", "training.loss=likelihood"], r"tokens/s, peak memory"),
        (["decoders.py", "5", "10"], "| 1ec |"),
        (["longest.py", "mh4-two", "--seconds", "0.0001"], "| mh4-two | beam |"),
        (["limited_api.py", str(toy.ROOT), "5"], "| plain mh4 |"),
        (["batches.py", "--rounds", "1"], "| 1ec, `marginals` | 40 |"),
    ],
    ids=["parsing", "training", "training on likelihood", "decoders", "longest", "limited API", "batches"],
)
def test_a_benchmark(command, last):
    script = [sys.executable, str(toy.ROOT / "benchmarks" / command[0]), *command[1:]]
    done = subprocess.run(script, stdout=-1, stderr=-1, env=dict(os.environ, PYTHONPATH=str(toy.ROOT)))
    assert done.returncode == 0 and last in done.stdout.decode(), done.stdout.decode() + done.stderr.decode()
