"""The benchmarks run, and print their tables. What they measure is not tested."""

import json
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
        (["variants.py", "5"], "| 1ec, marginals |"),
        (["batches.py", "--rounds", "1"], "| 1ec, `marginals` | 40 |"),
    ],
    ids=["parsing", "training", "training on likelihood", "decoders", "longest", "variants", "batches"],
)
def test_a_benchmark(command, last):
    script = [sys.executable, str(toy.ROOT / "benchmarks" / command[0]), *command[1:]]
    done = subprocess.run(script, stdout=-1, stderr=-1, env=dict(os.environ, PYTHONPATH=str(toy.ROOT)))
    assert done.returncode == 0 and last in done.stdout.decode(), done.stdout.decode() + done.stderr.decode()


@pytest.mark.slow
def test_peers_resume_from_their_records(tmp_path):
    script = [sys.executable, str(toy.ROOT / "benchmarks" / "peers.py"), str(toy.ROOT / "data" / "toy"), str(tmp_path)]
    options = ["--treebanks", "toy", "--peers", "mh4", "--results", str(tmp_path), "--minutes"]
    env = dict(os.environ, PYTHONPATH=str(toy.ROOT))
    subprocess.run([*script, *options, "0.4"], env=env, check=True)
    lines, page = tmp_path / "peers.jsonl", tmp_path / "peers.md"
    record = json.loads(lines.read_text())
    assert not record["ended"] and record["minutes"] < 0.6 and record["test_las"] > 50 and record["words_per_second"] > 0
    assert "| %.2f | ≥ 0 |" % record["test_las"] in page.read_text(encoding="utf-8")
    lines.write_text(json.dumps(record | {"test_las": 12.34}))
    subprocess.run([*script, *options, "0"], env=env, check=True)
    assert "| 12.34 |" in page.read_text(encoding="utf-8")


def test_the_commit_of_changed_code_says_so(tmp_path):
    def git(*command):
        subprocess.run(["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b", *command], check=True)

    def commit():
        code = "from training import commit; print(commit(%r))" % str(tmp_path / "benchmarks")
        env = dict(os.environ, PYTHONPATH=os.pathsep.join([str(toy.ROOT / "benchmarks"), str(toy.ROOT)]))
        return subprocess.run([sys.executable, "-c", code], stdout=-1, env=env, check=True).stdout.decode().strip()

    for path in (tmp_path / "mh4" / "a.py", tmp_path / "benchmarks" / "results.md"):
        path.parent.mkdir()
        path.write_text("1")
    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "one")
    clean = commit()
    assert clean and "+" not in clean
    (tmp_path / "benchmarks" / "results.md").write_text("2")  # as when a page is written
    assert commit() == clean
    (tmp_path / "mh4" / "a.py").write_text("2")
    assert commit() == clean + "+changes"
