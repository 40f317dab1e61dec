"""The command mh4 as users run it: imports, signals, completion, training, parsing and messages."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import click
import pytest
import toy
from running import COMMAND, importing_from, mh4, on_a_terminal, refuses, succeeds

from mh4 import cli
from mh4.parser.choices import DECODING_METHODS
from mh4.parser.systems import SYSTEMS
from mh4.training import trainer

QUICK = "--set training.max_updates=30 --set training.evaluate_updates=10 --set encoder.units=32 --set scorer.mlp_units=24"


@pytest.fixture(scope="module")
def model(treebank):
    folder = str(treebank / "model")
    train, dev = str(treebank / "toy-ud-train.conllu"), str(treebank / "toy-ud-dev.conllu")
    command = ["train", "--quiet", "--system", "mh4-hybrid", "--train", train, "--dev", dev, "--model", folder]
    assert b"mh4-hybrid, seed 1: dev UAS" in succeeds(*command, *QUICK.split())
    return folder


@pytest.mark.slow
def test_what_needs_no_model_comes_without_dynet_and_matplotlib(treebank, tmp_path):
    for name in ("dynet", "dynet_config", "matplotlib"):
        (tmp_path / (name + ".py")).write_text("raise SystemExit('%s was imported')" % name)
    dev = str(treebank / "toy-ud-dev.conllu")
    commands = [["--help"], ["--version"], ["train", "--help"], ["data", "toy", "--to", str(tmp_path)]]
    for arguments in (*commands, ["coverage", dev], ["compare", dev, dev, dev], ["ensemble", "--vote", dev, dev]):
        done = subprocess.run(COMMAND + arguments, stdout=-1, stderr=-1, env=importing_from(tmp_path))
        assert done.returncode == 0, done.stderr.decode()
    assert (tmp_path / "toy-ud-train.conllu").exists()


@pytest.mark.slow
def test_without_dynet_commands_say_how_to_get_it(treebank, tmp_path):
    (tmp_path / "dynet_config.py").write_text("raise ModuleNotFoundError('No module named dynet_config')")
    train, dev = str(treebank / "toy-ud-train.conllu"), str(treebank / "toy-ud-dev.conllu")
    for arguments in (["train", "--system", "mst", "--train", train, "--dev", dev], ["parse", dev], ["test", dev], ["info"]):
        arguments += [str(tmp_path / "model")] if arguments == ["info"] else ["--model", str(tmp_path / "model")]
        done = subprocess.run(COMMAND + arguments, stdout=-1, stderr=-1, env=importing_from(tmp_path))
        assert (done.returncode, done.stdout) == (2, b"")
        assert re.fullmatch("mh4: this needs DyNet, .*`mh4 install-dynet`.*\n", done.stderr.decode())
    assert not (tmp_path / "model").exists()


def test_help_imports_next_to_nothing():
    """Help imports neither numpy nor the decoders nor rich, so that it is printed at once."""
    code = "import sys, mh4.cli; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], stdout=-1, check=True)
    modules = done.stdout.decode().split()
    ours = {name for name in modules if name.partition(".")[0] == "mh4"}
    commands = {"mh4.cli." + path.stem for path in Path(cli.__file__).parent.iterdir() if path.name[0] != "_"}
    others = {
        "mh4." + name for name in "version errors parser parser.choices util util.signals util.streams util.text_tables".split()
    }
    assert ours == {"mh4", "mh4.cli", *commands, *others} - {"mh4.cli.output"}
    assert not {"numpy", "rich", "dynet", "tomllib", "json"} & set(modules)


def test_an_interrupt_while_the_command_is_imported(tmp_path):
    """An interrupt ends the process without a traceback, unless it is ignored, as in the background."""
    (tmp_path / "click.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\nraise SystemExit(3)")
    environment = importing_from(tmp_path)
    for before, code in ((signal.default_int_handler, 130), (signal.SIG_IGN, 3)):
        done = subprocess.run(
            COMMAND, stderr=-1, env=environment, preexec_fn=lambda before=before: signal.signal(signal.SIGINT, before)
        )
        assert (done.returncode, done.stderr) == (code, b"")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="counts threads in /proc")
def test_a_command_has_one_thread(treebank, monkeypatch):
    """Numpy starts no threads, each of which would keep a core busy for a tenth of a second."""
    code = "import os; from mh4.cli import main; main(%r, standalone_mode=False); print(len(os.listdir('/proc/self/task')))"
    monkeypatch.delenv("OPENBLAS_NUM_THREADS")  # set by conftest.py
    command = [sys.executable, "-c", code % ["coverage", str(treebank / "toy-ud-dev.conllu")]]
    done = subprocess.run(command, stdout=-1, check=True)
    assert done.stdout.split()[-1] == b"1"


@pytest.mark.slow
def test_completion_in_the_shell():
    """The shell completes commands, options, values and files."""

    def completed(words):
        asked = {"_MH4_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
        return subprocess.run(COMMAND, stdout=-1, env={**os.environ, **asked}, check=True).stdout.decode().split()

    assert completed("mh4 v") == ["plain,view"] and completed("mh4 segmenter t") == ["plain,train"]
    assert completed("mh4 view --ht") == ["plain,--html"] and completed("mh4 view R") == ["file,R"]
    assert completed("mh4 train --system greedy-") == ["plain," + name for name in SYSTEMS if name.startswith("greedy-")]
    assert completed("mh4 train --set training.batch") == ["plain,training.batch_tokens=", "plain,training.batches="]
    assert completed("mh4 parse --decode ") == ["plain," + name for name in DECODING_METHODS]


@pytest.mark.slow
def test_parse_changes_only_head_deprel_and_deps(model, treebank):
    gold, out = str(treebank / "toy-ud-test.conllu"), str(treebank / "out.conllu")
    done = mh4("parse", "--model", model, gold, "-o", out)
    assert (done.returncode, done.stdout) == (0, b"")
    assert done.stderr.decode() == "mh4: 80 sentences with 552 words written to %s\n" % out
    with open(gold, "rb") as file:
        before = file.read()
    with open(out, "rb") as file:
        after = file.read()
    assert re.search(rb"(?m)^\d+-\d+\t", before) and b"# sent_id" in before  # the toy has multiword tokens and comments
    assert before != after
    without = re.sub(rb"(?m)^\d+\.\d+\t.*\n", b"", before)  # without empty nodes, which are part of the enhanced graph
    for one, two in zip(without.split(b"\n"), after.split(b"\n")):
        one, two = one.split(b"\t"), two.split(b"\t")
        assert one[:6] == two[:6] and one[9:] == two[9:]
        if one[0].isdigit():
            assert two[8] == b"_"  # the old DEPS would contradict the new HEAD
        else:
            assert one == two
    assert before.count(b"\n") > without.count(b"\n") == after.count(b"\n")
    assert re.search(rb"(?m)^(\d+\t.*\t)\d+:\w+\t_$", before)  # DEPS

    # With --keep-deps, DEPS is the input's, and empty nodes stay.
    kept = succeeds("parse", "--model", model, gold, "--keep-deps")
    for one, three in zip(before.split(b"\n"), kept.split(b"\n"), strict=True):
        one, three = one.split(b"\t"), three.split(b"\t")
        assert one[:6] + one[8:] == three[:6] + three[8:]

    # The same bytes from standard input to standard output, or with several processes; with tags, three more columns.
    assert succeeds("parse", "--model", model, "-", stdin=before) == after
    assert succeeds("parse", "--model", model, "--jobs", "2", gold) == after
    tagged = succeeds("parse", "--model", model, "--tags", gold)
    for one, two in zip(after.split(b"\n"), tagged.split(b"\n")):
        one, two = one.split(b"\t"), two.split(b"\t")
        assert one[:3] == two[:3] and one[6:] == two[6:]


@pytest.mark.slow
def test_several_files_go_into_a_folder(model, treebank, tmp_path):
    test, dev = (str(treebank / ("toy-ud-%s.conllu" % split)) for split in ("test", "dev"))
    out = tmp_path / "out"
    done = mh4("parse", "--model", model, test, dev, "-o", str(out), "--verbose")
    assert done.returncode == 0 and done.stdout == b""
    *lines, last = done.stderr.decode().splitlines()
    assert re.fullmatch(r"mh4: 160 sentences with \d+ words in 2 files written to %s" % re.escape(str(out)), last)
    assert [line.partition(": 80 sentences, ")[0] for line in lines] == [test, dev] and all("words/s" in line for line in lines)
    for file in (test, dev):
        assert (out / Path(file).name).read_bytes() == succeeds("parse", "--model", model, file)
    assert succeeds("parse", "--model", model, test, "-o", str(out), "--quiet") == b""  # an existing folder
    assert sorted(path.name for path in out.iterdir()) == ["toy-ud-dev.conllu", "toy-ud-test.conllu"]

    def parse(*arguments):
        return refuses("parse", "--model", model, *arguments)

    new = tmp_path / "new"
    assert "several files cannot all go to standard output: name a folder" in parse(test, dev)
    assert "standard input has no name" in parse(test, "-", "-o", str(new))
    assert "would overwrite %s, which is read: choose another output" % test in parse(test, dev, "-o", str(treebank))
    taken = tmp_path / "taken" / Path(dev).name
    taken.mkdir(parents=True)
    assert "%s is a folder, so the parse of %s cannot" % (taken, dev) in parse(test, dev, "-o", str(taken.parent))
    assert os.listdir(taken.parent) == [taken.name]
    assert "not a folder, as the output of several files has to be" in parse(test, dev, "-o", str(out / "toy-ud-dev.conllu"))
    assert "--quiet and --verbose exclude each other" in parse(test, "--quiet", "--verbose")
    assert not new.exists()
    succeeds("parse", "--model", model, test, str(out / "toy-ud-test.conllu"), "-o", str(new))
    assert sorted(path.name for path in new.iterdir()) == ["toy-ud-test-2.conllu", "toy-ud-test.conllu"]


@pytest.mark.slow
def test_a_parse_on_a_terminal_cannot_control_it(model, tmp_path):
    """On a terminal, control characters of a parse are escaped; a pipe gets every byte."""
    odd = "\x1b[31m\x07\x9b2J\x7f\u202e\u2066\u2028\u2029"
    path = tmp_path / "odd.conllu"
    path.write_bytes(("# text = %s\n1\té\t%s\t_\t_\t_\t_\t_\t_\t_\r\n\n" % (odd, odd)).encode("utf-8"))
    for output in ("-", "/dev/stdout"):
        code, shown = on_a_terminal("parse", "--model", model, str(path), "-o", output, streams=("stdout",))
        assert code == 0 and shown.count(rb"\x1b[31m\x07\x9b2J\x7f\u202e\u2066\u2028\u2029") == 2 and "é".encode() in shown
        assert not re.search(b"[^\r\n\t -~\x80-\xff]|\xc2[\x80-\x9f]|\r[^\r\n]", shown) and shown.count(b"\n") == 3
    assert succeeds("parse", "--model", model, str(path)).count(odd.encode("utf-8")) == 2


def test_a_test_on_training_data_is_pointed_out(model, treebank):
    train, dev = (str(treebank / ("toy-ud-%s.conllu" % split)) for split in ("train", "dev"))
    warned = "mh4: %s: the model was trained on it, so that scores say little about other texts\n" % train
    assert mh4("test", "--model", model, train).stderr.decode() == warned and succeeds("test", "--model", model, dev)


def test_info_says_what_the_model_is(model):
    text = succeeds("info", model).decode()
    assert "mh4-hybrid, seed 1" in text and "trained: dev UAS" in text
    assert "toy-ud-train.conllu (git blob" in text and "max_updates = 30" in text
    found = json.loads(succeeds("info", "--json", model))
    assert (found["system"], found["seed"], found["vectors"]) == ("mh4-hybrid", 1, None)
    assert "%d parameters" % found["parameters"] in text
    assert "vocabulary: %(words)d words, %(chars)d characters" % found["knows"] in text
    assert "temperature %.3f" % found["temperature"] in text and "dev UAS %.2f" % found["training"]["dev_uas"] in text
    assert found["settings"]["training"]["max_updates"] == 30


@pytest.mark.slow
def test_progress_shows_on_a_terminal(treebank, tmp_path):
    train, dev = (str(treebank / ("toy-ud-%s.conllu" % split)) for split in ("test", "dev"))
    command = ["train", "--system", "mst", "--train", train, "--dev", dev, "--model", str(tmp_path / "m"), *QUICK.split()]
    code, shown = on_a_terminal(*command, columns=80)
    assert code == 0
    for part in (b"epoch 1", b"tokens/s", b"loss", b"dev UAS", b"evaluation 3"):
        assert part in shown
    plain = re.sub(rb"\x1b\[[0-9;?]*[A-Za-z]", b"", shown).decode()
    assert max(map(len, re.split("[\r\n]+", plain))) <= 80
    assert shown.count(b"\x1b[1A") == 1  # the cursor goes up once, at the end: the bar never has several lines
    command[command.index(str(tmp_path / "m"))] = str(tmp_path / "quiet")
    assert on_a_terminal(*command, "--quiet") == (0, b"")


@pytest.mark.slow
def test_progress_in_a_pipe_and_in_a_log(treebank, tmp_path):
    train, dev = (str(treebank / ("toy-ud-%s.conllu" % split)) for split in ("test", "dev"))
    folder = tmp_path / "m"
    log = folder / "log"  # in a new folder
    command = ["train", "--system", "mst", "--train", train, "--dev", dev, "--model", str(folder), *QUICK.split(), "--log"]
    done = mh4(*command, str(log))
    said = done.stderr.decode().splitlines()
    assert done.returncode == 0 and [line.partition("  ")[0] for line in said[1:]] == ["evaluation %d" % k for k in (1, 2, 3)]
    lines = log.read_text(encoding="utf-8").splitlines()
    assert [line.split("  ", 1)[1] for line in lines[:-1]] == said and "  training has finished: dev UAS" in lines[-1]
    kept = log.read_bytes()
    assert succeeds(*command, str(log)) and log.read_bytes() == kept  # training has finished
    assert "would overwrite" in refuses(*command, str(folder / "metrics.jsonl"))
    summary = folder / "summary.json"
    summary.write_text(summary.read_text().replace('"tokens_per_second"', '"tokens"'))
    assert refuses(*command, str(log)) == "mh4: %s: damaged" % summary


def test_several_roots_in_training_data_name_the_sentence(tmp_path):
    bad = tmp_path / "bad.conllu"
    bad.write_text("1\tw\t_\t_\t_\t_\t0\troot\t_\t_\n2\tw\t_\t_\t_\t_\t0\troot\t_\t_\n\n")
    line = refuses("train", "--system", "mst", "--train", str(bad), "--dev", str(bad), "--model", str(tmp_path / "m"))
    assert "bad.conllu, line 1, sentence 1: 2 words have the root as head" in line


def test_training_that_diverges_is_one_sentence(treebank, tmp_path):
    dev = str(treebank / "toy-ud-dev.conllu")
    wild = [*QUICK.split(), "--quiet", "--set", "training.learning_rate=1e30"]
    files = ["--train", dev, "--dev", str(treebank / "toy-ud-test.conllu"), "--model", str(tmp_path / "m")]
    line = refuses("train", "--system", "mh4-two", *files, *wild)
    assert "training has diverged, try a lower learning rate" in line


@pytest.mark.parametrize("error", [ValueError("heads: expected 3"), RuntimeError("a mistake of ours")])
def test_not_every_error_in_training_is_divergence(treebank, tmp_path, monkeypatch, error):
    def wrong(*arguments):
        raise error

    monkeypatch.setattr(trainer, "minibatch_loss", wrong)
    sentences = toy.sentences(treebank)[:5]
    with pytest.raises(type(error), match=str(error)):
        trainer.Trainer("mst", toy.SMALL, sentences, sentences, str(tmp_path / "m")).run()


def test_a_folder_is_a_treebank_to_train_on(treebank, tmp_path):
    """Training on a folder uses its files and ignores empty ones."""
    for name, split in (("a", "dev"), ("sub/b", "test")):
        path = tmp_path / "banks" / (name + ".conllu")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes((treebank / ("toy-ud-%s.conllu" % split)).read_bytes())
    (tmp_path / "banks" / "c.conllu").touch()
    files = ["--train", str(tmp_path / "banks"), "--dev", str(treebank / "toy-ud-dev.conllu")]
    command = ["train", "--system", "mst", *files, *QUICK.split(), "--model"]
    done = mh4(*command, str(tmp_path / "m"), "--quiet")
    assert done.returncode == 0 and b"mh4: %s: no sentences in it" % bytes(tmp_path / "banks" / "c.conllu") in done.stderr
    (tmp_path / "banks" / "sub" / "b.conllu").write_text("1\tw\n\n")
    assert "sub/b.conllu, line 1, sentence 1: 2 columns" in refuses(*command, str(tmp_path / "new"))


@pytest.mark.parametrize("module", ["mst", "oneec"])
def test_modules_that_are_not_compiled(treebank, monkeypatch, module):
    import mh4.decoders

    for name in [name for name in sys.modules if name.startswith(("mh4.trees", "mh4.analysis", "mh4.decoders." + module))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delattr(mh4.decoders, module, raising=False)
    monkeypatch.setitem(sys.modules, "mh4.decoders." + module, None)
    assert "older than their sources: run `make setup`" in refuses("coverage", str(treebank / "toy-ud-test.conllu"))


def test_modules_that_lack_a_function(treebank, monkeypatch):
    from mh4.trees import measures

    monkeypatch.delattr(measures, "crossings")
    message = refuses("coverage", str(treebank / "toy-ud-test.conllu"))
    assert "has no attribute 'crossings': compiled modules are missing, or older than their sources" in message


def _commands(group, words=()):
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from _commands(command, (*words, name))
        else:
            yield (*words, name), command


def test_options_given_twice_are_refused():
    """Every command rejects an option given twice, before all other checks, unless the option may be repeated."""
    seen = 0
    for words, command in _commands(cli.main):
        for option in command.params:
            if isinstance(option, click.Option) and not option.multiple:
                given = [option.opts[-1]] if option.is_flag else [option.opts[-1], "1"]
                said = "mh4: %s is given 2 times, expected once" % "/".join(option.opts)
                assert refuses(*words, *given, *given) == said
                seen += 1
    assert seen > 25
    assert succeeds("train", "--help", "--help")
