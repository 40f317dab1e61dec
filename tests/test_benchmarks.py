"""The benchmarks run and print their tables. Their measurements are not tested."""

import json
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
        (["variants.py", "5"], "| 1ec, marginals |"),
        (["batches.py", "--rounds", "1"], "| 1ec, `marginals` | 40 |"),
    ],
    ids=["parsing", "training", "training on likelihood", "decoders", "longest", "variants", "batches"],
)
def test_a_benchmark(command, last):
    script = [sys.executable, str(toy.ROOT / "benchmarks" / command[0]), *command[1:]]
    done = subprocess.run(script, stdout=-1, stderr=-1)
    assert done.returncode == 0 and last in done.stdout.decode(), done.stdout.decode() + done.stderr.decode()


@pytest.mark.slow
def test_peers_resume_from_their_records(tmp_path):
    script = [sys.executable, str(toy.ROOT / "benchmarks" / "peers.py"), str(toy.ROOT / "data" / "toy"), str(tmp_path)]
    options = ["--treebanks", "toy", "--peers", "mh4", "--results", str(tmp_path), "--minutes"]
    subprocess.run([*script, *options, "1"], check=True)
    lines, page = tmp_path / "peers.jsonl", tmp_path / "peers.md"
    record = json.loads(lines.read_text())
    assert not record["ended"] and record["minutes"] < 1.5 and record["test_las"] > 50 and record["words_per_second"] > 0
    assert "| %.2f | ≥ 1 |" % record["test_las"] in page.read_text(encoding="utf-8")
    lines.write_text(json.dumps(record | {"test_las": 12.34}))
    subprocess.run([*script, *options, "0"], check=True)
    assert "| 12.34 |" in page.read_text(encoding="utf-8")
