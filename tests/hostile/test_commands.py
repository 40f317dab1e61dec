"""Commands with hostile arguments, files and streams end with one sentence and exit code 2."""

import json
import os
import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import click
import corpus
import pytest
import sandbox
from click.testing import CliRunner
from toy import ROOT

from mh4.cli.group import Commands
from mh4.parser.model_files import FILES

pytestmark = pytest.mark.slow


@pytest.fixture
def good(sweep):
    return str(sweep.good)


def refused(*arguments, **options):
    """Return the message of a command that is rejected."""
    done = sandbox.run(*arguments, **options)
    assert done.complaint() == "" and done.code == 2 and done.stdout == b"", (done, done.complaint())
    return done.stderr[len("mh4: ") : -1]


def accepted(*arguments, **options):
    """Return the output of a command that succeeds."""
    done = sandbox.run(*arguments, **options)
    assert done.complaint() == "" and done.code == 0, (done, done.complaint())
    return done.stdout


def shell(command, *arguments):
    """Run a shell command in which "$@" is the command mh4 with these arguments."""
    words = ["sh", "-c", command, "sh", sys.executable, "-m", "mh4", *arguments]
    return subprocess.run(words, stdout=-1, stderr=-1, stdin=subprocess.DEVNULL)


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
    """If standard error is closed, no output file becomes file descriptor 2, to which DyNet writes."""
    out = tmp_path / "out.conllu"
    done = shell('"$@" <&- 2>&-', "parse", "--model", str(sweep.models["mst"]), str(sweep.good), "-o", str(out))
    assert done.returncode == 0 and done.stdout == b""
    assert out.read_bytes() == accepted("parse", "--model", str(sweep.models["mst"]), str(sweep.good))


def test_standard_input_is_read_once(good):
    once = "standard input can be read only once, so only one file can be -"
    content = corpus.GOOD.encode()
    for command in (["coverage", "-"], ["evaluate", "-"], ["compare", good, "-"], ["ensemble", "--vote", "-"], ["view", "-"]):
        assert refused(*command, "-", stdin=content) == once
    assert accepted("evaluate", "-", good, stdin=content) == accepted("evaluate", good, good)
    assert accepted("compare", good, "-", good, stdin=content).count(b"100.00") > 0


def test_output_is_printable_in_any_locale(tmp_path):
    path = tmp_path / "größe.conllu"
    path.write_text(corpus.GOOD)
    done = shell('PYTHONIOENCODING=ascii "$@"', "coverage", str(path))
    assert done.returncode == 0 and "größe.conllu".encode() in done.stdout  # click replaces ASCII by UTF-8
    odd = os.fsencode(tmp_path) + b"/\xff.conllu"
    Path(os.fsdecode(odd)).write_text(corpus.GOOD)
    done = shell('PYTHONIOENCODING=utf-8 "$@"', "coverage", os.fsdecode(odd))
    assert done.returncode == 0 and b".conllu " in done.stdout, done.stderr


# --------------------------------------------------------------------------------------------------------------- paths

TRAINING = ["train", "--quiet", "--system", "mst", "--train", "GOOD", "--dev", "GOOD", "--model", "MODEL"]
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
    ["view", "GOOD", "--model", "MODEL", "--html", "FILE.HTML"],
    ["view", "GOOD", "--sentence", "1", "--svg", "FILE.SVG"],
    ["segmenter", "train", "GOOD", "--dev", "GOOD", "-o", "FILE"],
    ["parse", "--model", "MODEL", "--text", "--segmenter", "FILE", "GOOD"],
    ["data", "toy", "--to", "FILE"],
    ["data", "hu", "--ud", "FILE"],
]


@pytest.mark.parametrize("arguments", WITH_PATHS, ids=" ".join)
def test_an_empty_path(good, tmp_path, monkeypatch, arguments):
    """An empty path is rejected and not taken for the current folder."""
    monkeypatch.chdir(tmp_path)
    for place, argument in enumerate(arguments):
        if argument.isupper():
            given = [good if a == "GOOD" else str(tmp_path / a) if a.isupper() else a for a in arguments]
            given[place] = ""
            assert refused(*given).endswith(" is empty, expected a path")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("option", ["--train", "--dev"])
def test_training_reads_files(good, tmp_path, option):
    """Training reads files more than once, so that standard input and pipes are rejected."""
    arguments = [good if a == "GOOD" else str(tmp_path / "model") if a == "MODEL" else a for a in TRAINING]
    place = arguments.index(option) + 1
    arguments[place] = "-"
    message = refused(*arguments, stdin=corpus.GOOD.encode())
    assert message == "%s: expected a path, as - (standard input) cannot be used here" % option
    arguments[place] = str(tmp_path / "pipe")
    os.mkfifo(arguments[place])
    assert refused(*arguments) == "%s: not a regular file, so it cannot be read more than once" % arguments[place]
    assert stat.S_ISFIFO(os.stat(arguments[place]).st_mode) and not (tmp_path / "model").exists()


# -------------------------------------------------------------------------------------------------- names, and terminals

ESCAPES = "\x1b[31m\x1b]0;title\x07\x9b2J\r"
NAMES = {"escapes": ESCAPES, "lines": "a\nb", "no UTF-8": os.fsdecode(b"\xff\xfe"), "spaces": " a  b ", "option": "--help"}


def harmless(text):
    """Return whether a terminal would only display this text."""
    return not re.search(rb"[^\n -~\x80-\xff]|\xc2[\x80-\x9f]", text)


@pytest.fixture(params=NAMES)
def odd(request, tmp_path, monkeypatch):
    """A part of the names of files and folders."""
    monkeypatch.chdir(tmp_path)
    name = NAMES[request.param]
    for end in ("1", "2"):
        Path("x%s%s.conllu" % (name, end)).write_text(corpus.GOOD, encoding="utf-8")
    return name


def test_odd_names(sweep, odd):
    """Every command accepts odd names and prints them harmlessly on one line."""
    one, two, model = ("x%s%s" % (odd, end) for end in ("1.conllu", "2.conllu", "model"))
    printed = [accepted(*sweep.training("mst", Path(one), Path(model))), accepted("info", model)]
    assert printed[1].count(b"x") and printed[1].split(b"\n")[0].endswith(b"parameters")
    parse = ["parse", "--model", model, one]
    assert accepted(*parse) == accepted("parse", "--model", model, str(sweep.good))
    assert accepted(*parse, two, "-o", "x%sout" % odd) == b"" and len(os.listdir("x%sout" % odd)) == 2
    assert accepted("ensemble", "--model", model, *2 * ["--vote", two], one, "-o", "x%svoted" % odd) == b""
    printed += [
        accepted("test", "--model", model, one),
        accepted("coverage", one, two),
        accepted("coverage", one, "--json"),
        accepted("evaluate", one, two),
        accepted("evaluate", one, two, one, "--by", "deprel"),
        accepted("evaluate", one, two, "--json"),
        accepted("compare", one, one, two),
        accepted("compare", one, one, two, "--json"),
        accepted("view", one),
        accepted("view", one, two),
        accepted("view", one, "--model", model),
        accepted("view", one, two, "--html", "x%s.html" % odd),
        accepted("view", one, "--sentence", "1", "--svg", "x%s.svg" % odd),
        accepted("data", "toy", "--to", "x%stoy" % odd),
    ]
    for done in (
        sandbox.run(*parse, "--verbose", "-o", "x%sparsed" % odd),
        sandbox.run("coverage", one, two, "x%snone" % odd),
        sandbox.run("info", model, model),
    ):
        printed += [done.stdout, done.stderr.encode("utf-8", "surrogateescape")]
    assert [text for text in printed if not harmless(text)] == []
    assert b"\n" not in b"".join(name for name in map(os.fsencode, os.listdir(".")) if odd != "a\nb")


def test_escapes_in_files(sweep, tmp_path):
    """Escape sequences in CoNLL-U files and training records are printed harmlessly; CoNLL-U output has every byte."""
    path, model = tmp_path / "odd.conllu", tmp_path / "model"
    word = corpus.word(1, "w" + ESCAPES[:-1], 0, "root", "X" + ESCAPES[:-1], xpos="Y" + ESCAPES[:-1])
    other = corpus.word(2, "v", 1, "dep" + ESCAPES[:-1])
    path.write_bytes(corpus.text("# sent_id = s" + ESCAPES, "# text = t" + ESCAPES, word, other))
    shutil.copytree(sweep.models["mst"], model)
    summary = json.loads((model / "summary.json").read_text())
    sources = {ESCAPES: {"file": ESCAPES + "\nforged: line", "git_blob": ESCAPES}}
    (model / "summary.json").write_text(json.dumps({**summary, "sources": sources, "mh4": ESCAPES}))
    printed = [
        accepted("evaluate", str(path), str(path), "--by", "deprel"),
        accepted("evaluate", str(path), str(path), str(path), "--by", "deprel", "--counts"),
        accepted("evaluate", str(path), str(path), "--by", "deprel", "--json"),
        accepted("view", str(path)),
        accepted("view", str(path), str(path)),
        accepted("view", str(path), "--model", str(model)),
        accepted("compare", str(path), str(path), str(path)),
        accepted("coverage", str(path)),
        accepted("info", str(model)),
    ]
    assert [text for text in printed if not harmless(text)] == []
    assert b"\nforged" not in printed[-1] and printed[-1].count(b"\\x1b[31m") >= 3
    assert b"\\x1b[31m" in printed[0] and ("dep" + ESCAPES[:-1]).encode() not in printed[0]
    assert accepted("parse", "--model", str(model), str(path)).count(ESCAPES[:-1].encode()) >= 5


def test_no_bars_in_logs(sweep, good, monkeypatch, tmp_path):
    """No progress bar is printed unless standard error is a terminal, whatever the environment says."""
    for setting in ("FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "CLICOLOR_FORCE"):
        monkeypatch.setenv(setting, "1")
    assert b"\x1b" not in accepted("parse", "--model", str(sweep.models["mst"]), good)
    assert b"\x1b" not in accepted("coverage", good) + accepted("view", good, good)
    assert accepted(*sweep.training("mst", Path(good), tmp_path / "model")).count(b"\n") == 1


def test_nothing_is_said_by_matplotlib(tmp_path, monkeypatch):
    """Matplotlib does not warn of missing glyphs or an unwritable font folder, and its errors are one sentence."""
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    Path("\U00020000\u0e01.conllu").write_text(corpus.GOOD)
    code = "from mh4.cli import main; main()"
    environment = dict(os.environ, MPLCONFIGDIR="/dev/null/none", HOME="/dev/null")
    words = [sys.executable, "-c", code, "coverage", "\U00020000\u0e01.conllu", "--plot", "plot.png"]
    done = subprocess.run(words, stdout=-1, stderr=-1, env=environment)
    assert (done.returncode, done.stderr) == (0, b"mh4: the plot written to plot.png\n")
    assert Path("plot.png").stat().st_size > 1000
    done = subprocess.run(words, stdout=-1, stderr=-1, env={**environment, "MPLBACKEND": "none"})
    assert done.returncode == 2 and done.stderr.count(b"\n") == 1
    assert done.stderr.startswith(b"mh4: a plot needs matplotlib, which cannot be imported: ")


# ----------------------------------------------------------------------------------- outputs that would overwrite inputs

NOT_THERE = ("checkpoint.npz", "origin.json", "vectors.npz")  # in MODEL
# The output is the last argument; the file that it would overwrite is named before.
OVERWRITING = [
    ["parse", "--model", "MODEL", "A", "-o", "A"],
    *(["parse", "--model", "MODEL", "A", "-o", "MODEL/" + name] for name in FILES if name not in NOT_THERE),
    ["parse", "--model", "MODEL", "A", "--text", "--segmenter", "B", "-o", "B"],
    ["ensemble", "--vote", "A", "--vote", "B", "A", "-o", "B"],
    ["ensemble", "--vote", "B", "A", "-o", "A"],
    ["ensemble", "--model", "MODEL", "A", "-o", "MODEL/weights.npz"],
    ["view", "A", "--model", "MODEL", "--html", "MODEL/config.toml"],
    ["coverage", "A", "B", "--plot", "B"],
    ["compare", "A", "A", "B", "--plot", "B"],
    ["segmenter", "train", "A", "--dev", "B", "-o", "A"],
    ["segmenter", "train", "A", "--dev", "B", "-o", "B"],
]


@pytest.fixture
def inputs(sweep, tmp_path, monkeypatch):
    """The contents of the current folder: A.png and B.png, which are CoNLL-U, and a model."""
    monkeypatch.chdir(tmp_path)
    for name in ("A.png", "B.png"):
        (tmp_path / name).write_text(corpus.GOOD, encoding="utf-8")
    shutil.copytree(sweep.models["mst"], tmp_path / "MODEL")
    return sweep.contents(tmp_path)


def named(arguments):
    return [argument + ".png" if argument in ("A", "B") else argument for argument in arguments]


@pytest.mark.parametrize("arguments", OVERWRITING, ids=" ".join)
def test_an_output_that_is_an_input(sweep, inputs, tmp_path, arguments):
    """An output that is also an input, by any of its names or by a link, is rejected before work starts."""
    *command, output = named(arguments)
    for name in (output, "./" + output, str(tmp_path / output)):
        message = refused(*command, name)
        assert message == "%s would overwrite %s, which is read: choose another output" % (name, output)
    end = os.path.splitext(output)[1]
    os.symlink(output, "symbolic" + end), os.link(output, "hard" + end)
    for name in ("symbolic" + end, "hard" + end):
        assert refused(*command, name).startswith("%s would overwrite %s, " % (name, output))
        if "/" not in output:  # then also with the names exchanged
            renamed = [name if argument == output else argument for argument in command]
            assert refused(*renamed, output).startswith("%s would overwrite %s, " % (output, name))
        os.unlink(name)
    assert sweep.contents(tmp_path) == inputs


def test_outputs_in_a_folder_that_are_inputs(sweep, inputs, tmp_path):
    for name in ("C", "D"):
        (tmp_path / (name + ".conllu")).write_text(corpus.GOOD)
    before, parse = sweep.contents(tmp_path), ["parse", "--model", "MODEL"]
    assert refused(*parse, "A.png", "C.conllu", "-o", ".").startswith("./C.conllu would overwrite C.conllu, ")
    assert refused(*parse, "C.conllu", "-o", "./").startswith("./C.conllu would overwrite C.conllu, ")
    os.mkdir("folder"), os.link("D.conllu", "folder/C.conllu")
    assert refused(*parse, "C.conllu", "D.conllu", "-o", "folder").startswith("folder/C.conllu would overwrite D.conllu, ")
    shutil.rmtree("folder")
    assert sweep.contents(tmp_path) == before


def test_standard_output_that_is_an_input(sweep, inputs, tmp_path):
    for command in (["coverage", "A.png"], ["parse", "--model", "MODEL", "A.png"], ["evaluate", "B.png", "A.png"]):
        done = shell('"$@" >>A.png', *command)
        assert done.returncode == 2, done
        assert done.stderr == b"mh4: standard output would overwrite A.png, which is read: choose another output\n"
    done = shell('"$@" <A.png', "parse", "--model", "MODEL", "-", "-o", "A.png")
    assert done.returncode == 2 and done.stderr.startswith(b"mh4: A.png would overwrite standard input, which is read"), done
    assert sweep.contents(tmp_path) == inputs


def test_outputs_that_are_none_of_the_inputs(inputs):
    """Outputs may be in the folder of the model, may exist already, and may be devices."""
    for output in ("MODEL/parsed.conllu", "MODEL/", "new/", "/dev/null"):
        for _ in range(2):
            assert accepted("parse", "--model", "MODEL", "A.png", "-o", output) == b""
    assert Path("MODEL/A.conllu").read_bytes() == Path("new/A.conllu").read_bytes() == Path("MODEL/parsed.conllu").read_bytes()
    with open("/dev/null", "r+b") as null:
        done = sandbox.run("ensemble", "--vote", "A.png", "A.png", "-o", "/dev/stdout", stdout=null.fileno())
    assert done.code == 0
    done = shell('"$@" <A.png >>out', "parse", "--model", "MODEL", "-")
    assert done.returncode == 0 and Path("out").stat().st_size > 100


# --------------------------------------------------------------------------------------------------------------- memory


@pytest.mark.parametrize("message", ["", "a reason"])
def test_memory_that_runs_out_anywhere(message):
    @click.group(cls=Commands)
    def group():
        pass

    @group.command()
    def fail():
        raise MemoryError(message)

    done = CliRunner().invoke(group, ["fail"])
    assert (done.exit_code, done.output) == (2, "mh4: not enough memory%s\n" % (message and ": " + message))


# ------------------------------------------------------------------------------------------------------------- warnings


@pytest.fixture(scope="module")
def mh5(sweep):
    """A model, and a file with sentences for which its decoder takes too much memory."""
    model, path = sweep.folder / "mh5", sweep.folder / "long.conllu"
    accepted(*sweep.training("mh5-hybrid", sweep.good, model))
    path.write_bytes(corpus.sentence_of(320) + corpus.GOOD.encode() + corpus.sentence_of(320))
    return str(model), str(path)


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_sentence_that_is_decoded_otherwise(mh5, jobs):
    """Each sentence that another decoder decodes is reported with its place, unless --quiet is given."""
    model, path = mh5
    parse = ["parse", "--model", model, path, "--jobs", jobs, "--longest", "1000"]
    done = shell('"$@"', *parse)
    lines = done.stderr.decode().splitlines()
    assert done.returncode == 0 and len(lines) == 2, lines
    for line, place in zip(lines, ("line 1, sentence 1", "line 334, sentence 4")):
        assert line.startswith("mh4: %s, %s: MH5 takes " % (path, place)) and line.endswith("it is decoded by MH4")
    quiet = shell('"$@"', *parse, "--quiet")
    assert (quiet.returncode, quiet.stdout, quiet.stderr) == (0, done.stdout, b"")


def test_other_commands_that_warn(mh5):
    model, path = mh5
    done = shell('"$@"', "ensemble", "--longest", "1000", "--model", model, path)
    said = done.stderr.decode()
    assert done.returncode == 0 and said.count("sentence 1: MH5 takes ") == said.count("sentence 4: MH5 takes ") == 1, said
    assert said.count("\n") == said.count("mh4: ") == 2
    said = shell('"$@"', "test", "--model", model, path).stderr.decode()
    assert said == "mh4: 2 of 4 sentences were decoded otherwise, as with `mh4 parse`: too long for the usual decoder\n"
    assert shell('"$@"', "ensemble", "--quiet", "--model", model, path).stderr == b""


# ------------------------------------------------------------------------------------------------------------- the sweep


@pytest.mark.parametrize("only, every", [("files", 25), ("models", 40)])
def test_a_sample_of_the_sweep(only, every):
    """Try every 25th file and every 40th model of `make sweep`; test_damaged_models.py loads every model."""
    script = [sys.executable, str(ROOT / "tests/hostile/sweep.py"), "--only", only, "--every", str(every)]
    done = subprocess.run(script, stdout=-1, stderr=-1)
    assert done.returncode == 0, done.stdout.decode() + done.stderr.decode()
    assert b" 0 failures" in done.stdout
