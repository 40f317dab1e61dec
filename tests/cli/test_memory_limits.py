"""Commands that run out of memory print one sentence; neither the system nor a library ends them or prints anything."""

import os
import re
import resource
import subprocess
import sys
from itertools import product

import pytest
import toy
from running import WRITTEN

from mh4.data import conllu
from mh4.parser import config

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere, the limit may be ignored"),
]

MB = 2**20
SYSTEMS = ("mh3", "mst", "mh4-hybrid", "1ec", "mh5-arcs", "greedy-mh4")
EVERY_WORD = config.with_settings(config.Config(), ["encoder.word_min_count=1"])
SECONDS = 200  # of processor time: more than any sentence that fits takes


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with untrained models of the usual size, and files of one sentence, named after its length."""
    folder = tmp_path_factory.mktemp("limits")
    sentences = toy.sentences(folder)
    words = [word for sentence in sentences for word in sentence.words]
    for system in SYSTEMS:
        toy.untrained(system, sentences, folder / system, EVERY_WORD)
    for n in (400, 1000, 3000, 10_000):
        rows = ["\t".join([str(k), words[k % 997], *["_"] * 4, str(int(k > 1)), "x", "_", "_"]) for k in range(1, n + 1)]
        (folder / ("%d.conllu" % n)).write_text("\n".join(rows) + "\n\n", encoding="utf-8")
    return folder


def limited(megabytes, *arguments):
    """Return the exit code and the messages of a command with limited address space."""
    return run(lambda: resource.setrlimit(resource.RLIMIT_AS, (megabytes * MB, megabytes * MB)), *arguments)


def run(limit_memory, *arguments):
    """Return the exit code and the messages of a command whose process first calls `limit_memory`."""

    def limit():
        limit_memory()
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    environment = dict(os.environ, PYTHONWARNINGS="ignore")  # mh5 warns that it is not exact
    command = [sys.executable, "-m", "mh4", *map(str, arguments)]
    done = subprocess.run(command, env=environment, preexec_fn=limit, stdout=-1, stderr=-1, text=True)
    assert done.stdout == ""
    return done.returncode, done.stderr


@pytest.mark.parametrize("system", SYSTEMS)
def test_parsing(folder, tmp_path, system):
    """With little memory, long sentences are parsed, perhaps in windows that fit, or skipped."""
    out = tmp_path / "out"
    notes, large = set(), system not in ("mst", "mh3", "greedy-mh4")  # charts of 1,000 words do not fit
    for megabytes, n in product((400, 1000), (1000, 10_000)):
        path = folder / ("%d.conllu" % n)
        code, said = limited(megabytes, "parse", "--model", folder / system, path, "-o", out)
        assert code == 0, (megabytes, n, said)
        notes.add(check_parsed(out, n, path, said))
        if n == 1000 and large:  # with exact decoding requested
            code, said = limited(megabytes, "parse", "--model", folder / system, path, "-o", out, "--longest", n)
            assert code == 0, (megabytes, n, said)
            notes.add(check_parsed(out, n, path, said))
        assert list(tmp_path.iterdir()) == [out]
    assert any("more than the limit of" in note for note in notes), notes
    assert any("not enough memory" in note for note in notes) or not large, notes


def check_parsed(out, n, path, said):
    """Check that the output has all words, with heads or a note; return the note."""
    text = out.read_text(encoding="utf-8")
    note = text.partition("\n")[0] if text.startswith("# mh4 = ") else ""
    assert text.count("\n") == n + 1 + bool(note)
    expected = "mh4: %s: 1 of 1 sentence was not parsed as the others, as a comment in it says: 1 .*\n" % path
    said = WRITTEN.sub("", said)
    assert re.fullmatch(expected, said) if note else said == ""
    if not note.startswith("# mh4 = skipped"):
        (sentence,) = conllu.read(str(out))
        assert len(sentence) == n
    return note


@pytest.fixture
def control_group():
    """A function that makes a control group with limited memory; it returns a function with which processes join."""
    made = []

    def make(megabytes):
        with open("/proc/self/cgroup", encoding="utf-8") as file:
            paths = {controllers: path for _, controllers, path in (line.rstrip("\n").split(":", 2) for line in file)}
        if "memory" in paths:
            own, limit = "/sys/fs/cgroup/memory" + paths["memory"], "memory.limit_in_bytes"
        else:
            own, limit = "/sys/fs/cgroup" + paths.get("", "/"), "memory.max"
        group = os.path.join(own, "mh4-test-%d-%d" % (os.getpid(), megabytes))
        try:
            os.mkdir(group)
            made.append(group)
            with open(os.path.join(group, limit), "w", encoding="utf-8") as file:
                file.write(str(megabytes * MB))
        except OSError as error:
            pytest.skip("cannot make a control group with a limit of memory here: %s" % error)

        def join():
            with open(os.path.join(group, "cgroup.procs"), "w", encoding="utf-8") as file:
                file.write(str(os.getpid()))

        return join

    yield make
    for group in made:
        os.rmdir(group)


@pytest.mark.parametrize(
    "system, megabytes, n",
    [("mh4-hybrid", 2000, 1000), ("mst", 2000, 10_000), ("mst", 700, 3000), ("1ec", 700, 400), ("1ec", 2000, 400)],
)
def test_parsing_in_a_control_group(folder, tmp_path, control_group, system, megabytes, n):
    """Parsing respects the limit of a control group, where allocations succeed and the system kills processes."""
    path, out = folder / ("%d.conllu" % n), tmp_path / "out"
    code, said = run(control_group(megabytes), "parse", "--model", folder / system, path, "-o", out)
    assert code == 0, said
    check_parsed(out, n, path, said)
    assert list(tmp_path.iterdir()) == [out]


def test_a_network_that_cannot_be_loaded(folder):
    """If even the network, or DyNet, does not fit, the command ends with one sentence."""
    codes = set()
    for megabytes in (150, 200, 250, 300, 350):
        code, said = limited(megabytes, "parse", "--model", folder / "mst", folder / "1000.conllu", "-o", os.devnull)
        if code == 2:
            assert re.fullmatch("mh4: .*not enough memory(.*[^: ])?\n", said), (megabytes, said)
        elif code:  # Python itself, or a library, cannot be started
            assert code == 1 and ("ImportError" in said or "MemoryError" in said), (megabytes, said)
        codes.add(code)
    assert 2 in codes


def test_a_network_that_is_too_large(folder, tmp_path):
    files = ["--train", folder / "toy-ud-train.conllu", "--dev", folder / "toy-ud-dev.conllu"]
    large = [word for size in ("encoder.units", "scorer.mlp_units") for word in ("--set", size + "=2000")]
    code, said = limited(600, "train", "--system", "mst", *files, "--model", tmp_path / "model", *large)
    expected = r"mh4: not enough memory: a network of \d+ parameters needs another \d+ MB, and there are \d+\n"
    assert code == 2 and re.fullmatch(expected, said), said


@pytest.mark.parametrize("megabytes", [400, 600])
def test_training(folder, tmp_path, megabytes):
    """Training that runs out of memory is reported as such, and not as divergence."""
    path = folder / "3000.conllu"
    files = ["--train", path, "--dev", folder / "toy-ud-dev.conllu"]
    code, said = limited(megabytes, "train", "--quiet", "--system", "mst", *files, "--model", tmp_path / "model")
    expected = "mh4: %s, line 1, sentence 1: not enough memory to train on 3000 words: the network needs another .*MB.*\n" % path
    assert code == 2 and re.fullmatch(expected, said), said
    assert not list((tmp_path / "model").glob(".*.part"))
