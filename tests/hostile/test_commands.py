"""Hostile input on the command line: one sentence and exit code 2."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import corpus
import pytest
import sandbox
from sweep import Sweep

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def sweep(tmp_path_factory):
    """A good file and two small models."""
    return Sweep(tmp_path_factory.mktemp("hostile"))


@pytest.fixture
def good(sweep):
    return str(sweep.good)


def refused(*arguments, stdin=b"", **limits):
    """The message."""
    done = sandbox.run(*arguments, stdin=stdin, **limits)
    assert done.complaint() == "" and done.code == 2 and done.stdout == b"", (done, done.complaint())
    return done.stderr[len("mh4: ") : -1]


def accepted(*arguments, stdin=b"", **limits):
    """The output."""
    done = sandbox.run(*arguments, stdin=stdin, **limits)
    assert done.complaint() == "" and done.code == 0, (done, done.complaint())
    return done.stdout


def shell(command, *arguments):
    """A shell command in which "$@" is the command mh4 with these arguments."""
    environment = dict(os.environ, PYTHONPATH=str(ROOT))
    words = ["sh", "-c", command, "sh", sys.executable, "-m", "mh4", *arguments]
    return subprocess.run(words, stdout=-1, stderr=-1, stdin=subprocess.DEVNULL, env=environment)


# ------------------------------------------------------------------------------------------------------------- streams


def test_closed_streams(good):
    done = shell('"$@" <&-', "coverage", "-")
    assert (done.returncode, done.stdout, done.stderr) == (2, b"", b"mh4: standard input is closed\n")
    done = shell('"$@" >&-', "coverage", good)
    assert done.returncode == 2 and done.stderr.startswith(b"mh4: standard output is closed; ") and done.stderr.count(b"\n") == 1
    expected = accepted("coverage", good)
    assert shell('"$@" <&- 2>&-', "coverage", good).stdout == expected
    done = shell('"$@" <&- >&- 2>&-', "coverage", good)
    assert done.returncode == 2


def test_a_closed_stream_is_not_replaced_by_a_file(sweep, tmp_path):
    """DyNet writes to file descriptor 2, whatever that is."""
    out = tmp_path / "out.conllu"
    done = shell('"$@" <&- 2>&-', "parse", "--model", str(sweep.models["mst"]), str(sweep.good), "-o", str(out))
    assert done.returncode == 0 and done.stdout == b""
    assert out.read_bytes() == accepted("parse", "--model", str(sweep.models["mst"]), str(sweep.good))


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
@pytest.mark.parametrize("arguments", [["coverage", "GOOD"], ["evaluate", "GOOD", "GOOD"], ["--help"], ["parse", "--help"]])
def test_full_disk_behind_standard_output(good, arguments):
    done = shell('"$@" >/dev/full', *(good if argument == "GOOD" else argument for argument in arguments))
    assert (done.returncode, done.stderr) == (2, b"mh4: output: No space left on device\n")


def test_standard_input_is_read_once(good):
    once = "standard input can be read only once, so only one file can be -"
    content = corpus.GOOD.encode()
    assert refused("coverage", "-", "-", stdin=content) == once
    assert refused("evaluate", "-", "-", stdin=content) == once
    assert refused("compare", good, "-", "-", stdin=content) == once
    assert refused("ensemble", "--vote", "-", "-", stdin=content) == once
    assert refused("view", "-", "-", stdin=content) == once
    assert accepted("evaluate", "-", good, stdin=content) == accepted("evaluate", good, good)
    assert accepted("compare", good, "-", good, stdin=content).count(b"100.00") > 0


def test_output_is_printable_in_any_locale(sweep, tmp_path):
    path = tmp_path / "größe.conllu"
    path.write_text(corpus.GOOD)
    done = shell('PYTHONIOENCODING=ascii "$@"', "coverage", str(path))
    assert done.returncode == 0 and "größe.conllu".encode() in done.stdout  # click does not believe in ASCII
    odd = os.fsencode(tmp_path) + b"/\xff.conllu"
    Path(os.fsdecode(odd)).write_text(corpus.GOOD)
    done = shell('PYTHONIOENCODING=utf-8 "$@"', "coverage", os.fsdecode(odd))
    assert done.returncode == 0 and b".conllu " in done.stdout, done.stderr


# --------------------------------------------------------------------------------------------------------------- paths

TRAINING = ["train", "--system", "mst", "--train", "GOOD", "--dev", "GOOD", "--model", "MODEL"]
WITH_PATHS = [
    TRAINING,
    [*TRAINING, "--config", "FILE"],
    ["parse", "--model", "MODEL", "GOOD"],
    ["parse", "--model", "MODEL", "GOOD", "-o", "FILE"],
    ["ensemble", "--model", "MODEL", "--vote", "GOOD", "GOOD"],
    ["test", "--model", "MODEL", "GOOD"],
    ["evaluate", "GOOD", "GOOD"],
    ["compare", "GOOD", "GOOD", "GOOD", "--plot", "FILE"],
    ["info", "MODEL"],
    ["coverage", "GOOD", "--plot", "FILE"],
    ["view", "GOOD", "GOOD"],
    ["view", "GOOD", "--model", "MODEL", "--html", "FILE"],
    ["view", "GOOD", "--sentence", "1", "--svg", "FILE"],
    ["segmenter", "train", "GOOD", "--dev", "GOOD", "-o", "FILE"],
    ["parse", "--model", "MODEL", "--text", "--segmenter", "FILE", "GOOD"],
    ["data", "toy", "--to", "FILE"],
    ["data", "hu", "--ud", "FILE"],
]


@pytest.mark.parametrize("arguments", WITH_PATHS, ids=" ".join)
def test_an_empty_path(good, tmp_path, monkeypatch, arguments):
    """Not taken for the current folder."""
    monkeypatch.chdir(tmp_path)
    for place, argument in enumerate(arguments):
        if argument.isupper():
            given = [good if a == "GOOD" else str(tmp_path / a) if a.isupper() else a for a in arguments]
            given[place] = ""
            assert refused(*given).endswith(" is empty, expected a path")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("option", ["--train", "--dev"])
def test_training_reads_files(good, tmp_path, option):
    """More than once, so standard input and pipes cannot be used."""
    arguments = [good if a == "GOOD" else str(tmp_path / "model") if a == "MODEL" else a for a in TRAINING]
    place = arguments.index(option) + 1
    arguments[place] = "-"
    message = refused(*arguments, stdin=corpus.GOOD.encode())
    assert message == "%s: expected a path, as - (standard input) cannot be used here" % option
    arguments[place] = str(tmp_path / "pipe")
    os.mkfifo(arguments[place])
    assert refused(*arguments) == "%s: not a file; training reads its files more than once" % arguments[place]
    assert stat.S_ISFIFO(os.stat(arguments[place]).st_mode) and not (tmp_path / "model").exists()


def test_other_files_can_be_pipes(good):
    done = shell('cat "$5" | "$@"', "evaluate", good, "/dev/stdin")
    assert done.returncode == 0 and done.stdout == accepted("evaluate", good, good), done.stderr


@pytest.mark.parametrize("name", ["a\nb", "a\x1b[31mb", "a\rb", "é", "%s", "-"])
def test_odd_names_in_messages(tmp_path, name):
    message = refused("coverage", str(tmp_path / name))
    assert message.isprintable() and message.endswith("cannot be read: No such file or directory")


# -------------------------------------------------------------------------------------------------------- the scorer


def test_a_deep_tree_for_the_scorer(tmp_path):
    path = tmp_path / "deep.conllu"
    path.write_bytes(corpus.GOOD.encode() + corpus.chain(5000, upwards=True))
    message = refused("evaluate", str(path), str(path))
    assert message == "%s, line 13, sentence 3: a tree 5000 arcs deep, too deep for the official scorer" % path
    path.write_bytes(corpus.chain(5000, upwards=False))
    assert b"UAS        |    100.00" in accepted("evaluate", str(path), str(path))


def test_multiword_tokens_that_the_scorer_cannot_align(good, tmp_path):
    path = tmp_path / "long.conllu"
    token = "1-5000\t%s" % ("x" * 5000) + "\t_" * 8
    path.write_bytes(corpus.text(token, *(corpus.word(m, "x", int(m > 1)) for m in range(1, 5001))))
    message = refused("evaluate", str(path), str(path))
    assert "5000 words in multiword tokens that overlap with those of" in message
    # Tokens of two words each, which overlap from one file to the other.
    files = []
    for name, start in (("a", 1), ("b", 2)):
        rows = []
        for m in range(1, 5001):
            if m % 2 == start % 2 and m < 5000:
                rows.append("%d-%d\txx" % (m, m + 1) + "\t_" * 8)
            rows.append(corpus.word(m, "x", int(m > 1)))
        files.append(tmp_path / name)
        files[-1].write_bytes(corpus.text(*rows))
    assert "too many for the official scorer" in refused("evaluate", *map(str, files))
    assert b"100.00" in accepted("evaluate", str(files[0]), str(files[0]))


def test_a_word_of_a_million_characters(sweep, tmp_path):
    path = tmp_path / "long.conllu"
    path.write_bytes(corpus.text(corpus.word(1, "x" * 1_000_000), corpus.word(2, "y" * 1_000_000, 1)))
    out = accepted("parse", "--model", str(sweep.models["mst"]), str(path))
    assert out.count(b"x" * 1_000_000) == 2  # FORM and LEMMA
    accepted(*sweep.training("mst", path, tmp_path / "model"))


# --------------------------------------------------------------------------------------------------------------- memory


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere, the limit may be ignored")
def test_a_sentence_that_is_too_long_for_memory(sweep, tmp_path):
    path, out = tmp_path / "long.conllu", tmp_path / "out.conllu"
    path.write_bytes(corpus.GOOD.encode() + corpus.sentence_of(1200))
    arguments = ["parse", "--model", str(sweep.models["mh4-hybrid"]), str(path), "-o", str(out)]
    message = refused(*arguments, memory=3 << 30)
    assert message.startswith("%s, line 13, sentence 3: not enough memory to parse 1200 words: a sentence of 1200 words" % path)
    assert " MB" in message and not out.exists()
    accepted(*arguments, "--decode", "greedy", memory=3 << 30)
    assert out.exists()


# ------------------------------------------------------------------------------------------------------------- the sweep


@pytest.mark.parametrize("only, every", [("files", 25), ("models", 12)])
def test_a_sample_of_the_sweep(only, every):
    """Every 25th of the files, and every 12th of the models, that `make sweep` tries."""
    script = [sys.executable, str(ROOT / "tests/hostile/sweep.py"), "--only", only, "--every", str(every)]
    done = subprocess.run(script, stdout=-1, stderr=-1, env=dict(os.environ, PYTHONPATH=str(ROOT)))
    assert done.returncode == 0, done.stdout.decode() + done.stderr.decode()
    assert b" 0 failures" in done.stdout
