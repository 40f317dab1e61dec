"""`mh4 corpus` with workers in this process writes what `mh4 parse` writes, whatever happens in between."""

import bz2
import gzip
import hashlib
import io
import json
import os
import re
import signal
import subprocess
import sys
from dataclasses import replace
from types import SimpleNamespace

import corpora
import numpy as np
import pytest
from corpora import mh4, parse, pool, same_as_mh4_parse
from rich.console import Console

from mh4.corpus import display, driver, verifying
from mh4.data import conllu, text_lines
from mh4.util import reading
from mh4.util.files import atomic_path

pytestmark = pytest.mark.slow

workers = pytest.importorskip("mh4.corpus.workers", reason="Dask is not installed", exc_type=ImportError)

OPTIONS = (  # of a corpus that is parsed without any option
    {"input": "conllu"}
    | dict.fromkeys(("decode", "beam", "longest", "beyond"))
    | dict.fromkeys(("confidence", "tags", "keep_deps", "rejects"), False)
)


@pytest.mark.parametrize(
    "options", [(), ("--tags", "--keep-deps", "--decode", "mbr", "--confidence", "--longest", "12", "--beyond", "skip")]
)
def test_the_joined_files_are_those_of_mh4_parse(folder, options):
    summary = "%s/out: 8 shards, 102 sentences, " % folder
    assert besides_warnings(parse(*options)).startswith(summary)
    assert same_as_mh4_parse(folder, *options)
    assert len(corpora.records(folder / "out")) == 8 and not corpora.in_mid_shard(folder / "out")
    assert ": shards done: 8 of 8; files cut into shards: 2 of 2\n102 sentences, " in mh4("corpus", "status", "out")
    assert besides_warnings(mh4("corpus", "verify", "out")).startswith(summary)


def same_in_shards(folder, options):
    """Parse a file in several shards; check that they are joined into what `mh4 parse` writes, byte for byte."""
    mh4("corpus", "parse", *options, "-o", "out")
    assert len(corpora.records(folder / "out")) > 3
    mh4("corpus", "verify", "out")
    mh4("corpus", "join", "out", "-o", "joined")
    mh4("parse", *options, "-o", "parsed", "--quiet")
    assert (folder / "joined").read_bytes() == (folder / "parsed").read_bytes()


def besides_warnings(said):
    """Remove the warning that the model has no temperature."""
    return re.sub(r"^mh4: .*/model has no calibration.json, .*\n", "", said)


def test_what_is_done_is_not_done_again(folder, monkeypatch):
    """After an interruption, the next run continues from the records, and from a plan that was not finished."""
    worked_on = []

    def interrupted(shard):
        if len(worked_on) == 3:
            raise KeyboardInterrupt
        worked_on.append(shard)

    pool(monkeypatch, interrupted)
    parse(code=130)
    with open("out/plan/00001.jsonl", "a") as plan:
        plan.write('{"file": 1, "num')  # as if it had been killed
    pool(monkeypatch, worked_on.append)
    parse()
    assert len(worked_on) == 8 == len(set(worked_on))
    parse()
    assert len(worked_on) == 8 and same_as_mh4_parse(folder)


@pytest.mark.parametrize(
    "options, which, message",
    [
        (["--tags"], "model", "begun with --tags off, not on"),
        (["--decode", "greedy"], "model", "begun with --decode unset, not greedy"),
        ([], "other", "begun with the model with checksum "),
    ],
)
def test_nothing_is_mixed(folder, options, which, message):
    parse()
    other = "%s/toy-ud-test.conllu" % os.path.realpath("model")
    said = mh4("corpus", "parse", other, "-o", "out", "--model", "model", code=2)
    assert "begun with file %s/in/a b\\n.conllu, not " % folder in said
    os.mkdir("other")
    for name in ("config.toml", "vocabulary.json", "weights.npz"):
        content = (folder / "model" / name).read_bytes()
        (folder / "other" / name).write_bytes(content.replace(b"seed = 1", b"seed = 2"))
    said = parse(*options, model=which, code=2)
    assert said.startswith("mh4: %s/out: %s" % (folder, message)) and said.count("\n") == 1 and "another folder" in said


def test_files_are_added_and_removed(folder, monkeypatch):
    """Adding, removing or renaming files keeps the parses of all other files, and of files that return."""
    worked_on = []
    pool(monkeypatch, worked_on.append)
    parse()
    content = (folder / "in/long.conllu").read_bytes()
    (folder / "in/long.2.conllu").write_bytes(content)
    (folder / "in/0.conllu").write_bytes((folder / "in/a b\n.conllu").read_bytes())
    parse()
    assert [shard.file for shard in worked_on] == [0, 0, *[1] * 6, 2, 2, *[3] * 6] and same_as_mh4_parse(folder)
    for place in ("in", "joined", "parsed"):
        (folder / place / "long.conllu").unlink()
    said = parse()
    assert "mh4: out: no longer part of the input: in/long.conllu\n" in said and "10 shards" in said
    assert "shards done: 10 of 10; files cut into shards: 3 of 3\n" in mh4("corpus", "status", "out")
    assert same_as_mh4_parse(folder)
    (folder / "in/long.conllu").write_bytes(content)
    (folder / "in/1.conllu").write_bytes(content)
    assert "no longer" not in parse()
    assert [shard.file for shard in worked_on[16:]] == 6 * [4] and same_as_mh4_parse(folder)
    mh4("corpus", "verify", "out")


def test_a_shard_that_fails(folder, monkeypatch):
    """A shard that fails three times is named with its log and left out; the next run tries it again."""
    failures = []

    def failing(shard):
        if (shard.file, shard.number) == (1, 2):
            failures.append(shard)
            raise ValueError("a reason\x1b\u202e\n" if len(failures) > 3 else "a reason")

    pool(monkeypatch, failing)
    said = parse(code=1)
    log = folder / "out/shards/00001/000/002.log"
    assert len(failures) == 3 and len(corpora.records(folder / "out")) == 7
    assert "mh4: in/long.conllu, shard 2, failed: ValueError: a reason (log: %s)\n" % log in said
    assert log.read_text().count("Traceback") == 3
    assert "failed: in/long.conllu, shard 2 (log: %s)" % log in mh4("corpus", "status", "out")
    undone = "mh4: out: not done (`mh4 corpus status` says more), so nothing is written for in/long.conllu\n"
    expected = "mh4: 22 sentences in 1 file written to joined\n" + undone
    assert mh4("corpus", "join", "out", "-o", "joined", code=1) == expected and os.listdir("joined") == ["a b\n.conllu"]
    assert "mh4: out: shards not done: 1 of 8\n" in mh4("corpus", "verify", "out", code=1)
    parse(code=1)
    assert not any(char in log.read_text() for char in "\x1b\u202e") and log.read_text().count("a reason\\x1b\\u202e\\n\n") == 3
    pool(monkeypatch)
    parse()
    assert not log.exists() and same_as_mh4_parse(folder)


def test_a_corpus_of_which_nothing_is_done(folder, monkeypatch):
    def failing(shard):
        raise ValueError("a reason")

    pool(monkeypatch, failing)
    parse(code=1)
    assert "nothing is written for in/" in mh4("corpus", "join", "out", "-o", "joined", code=1)
    assert not os.path.exists("joined")
    assert "shards not done: 8 of 8" in mh4("corpus", "verify", "out", code=1)


@pytest.mark.parametrize("text", (False, True))
def test_empty_files(folder, tmp_path_factory, text):
    """Empty files have empty parses, also in subfolders, and files that are left out are reported."""
    given, kind, options = tmp_path_factory.mktemp("given"), ".conllu", ["--model", "model"]
    made = {"a": "1\tA" + "\t_" * 8 + "\n\n", "none": "", "z/blank": "\n\n", "z/mark": "\ufeff"}
    if text:
        pytest.importorskip("ufal.udpipe")
        from mh4.data import segmenter

        segmenter.train("in/long.conllu", "in/long.conllu", "segmenter", 1)
        made["a"], kind, options = "A b.\n", ".txt", [*options, "--text", "--segmenter", "segmenter"]
    (given / "z").mkdir()
    for name, content in made.items():
        (given / (name + kind)).write_text(content, encoding="utf-8")
    (given / "z" / "c.conll").touch()
    left_out = "mh4: %s: only %s files are read; left out: z/c.conll\n" % (given, kind)
    said, in_shards = (mh4(*of, "parse", str(given), *options, "-o", out) for of, out in (((), "parsed"), (["corpus"], "out")))
    why = "no text in it" if text else "no sentences in it, expected CoNLL-U"
    expected = [left_out, *("mh4: %s/%s%s: %s; its parse is empty\n" % (given, name, kind, why) for name in list(made)[1:])]
    assert all(line in said and line in in_shards for line in expected)
    mh4("corpus", "verify", "out")
    mh4("corpus", "join", "out", "-o", "joined")
    for name in made:
        parsed, joined = ((folder / place / (name + ".conllu")).read_bytes() for place in ("parsed", "joined"))
        assert parsed == joined and bool(parsed) == (name == "a")


def test_bad_files(folder):
    """A bad file does not prevent others from being parsed; --rejects sets bad blocks aside, as in `mh4 parse`."""
    content = (folder / "in/long.conllu").read_bytes()
    middle = content.index(b"\r\n\r\n", 20_000) + 4
    (folder / "in/long.conllu").write_bytes(content[:middle] + b"1\tx\n\nw\xff\n\n" + content[middle:])
    said = parse(code=1)
    line = content[:middle].count(b"\n") + 3
    assert ", failed: in/long.conllu, line %d: not UTF-8 (byte 0xff) (log: " % line in said
    assert len(corpora.records(folder / "out")) == 7
    assert "not cut" not in mh4("corpus", "status", "out")
    bad = (folder / "in/long.conllu").read_bytes()
    (folder / "in/long.conllu").write_bytes(content)  # mended
    parse()
    assert same_as_mh4_parse(folder)
    (folder / "in/long.conllu").write_bytes(bad)
    said = mh4("corpus", "parse", "in", "-o", "rest", "--model", "model", "--rejects")
    assert said.endswith(
        "mh4: 2 blocks set aside, not CoNLL-U: `mh4 corpus join --rejects FILE` writes them, each with the reason\n"
    )
    assert mh4("corpus", "parse", "in", "-o", "rest", "--model", "model", "--rejects", "--quiet") == ""
    assert "2 blocks rejected" in mh4("corpus", "status", "rest")
    written = "mh4: 102 sentences in 2 files written to %s\n"
    expected = written + "mh4: 2 blocks are left out because not CoNLL-U: --rejects FILE writes what was set aside\n"
    assert mh4("corpus", "join", "rest", "-o", "without") == expected % "without"
    mh4("corpus", "verify", "rest")
    assert mh4("corpus", "join", "rest", "-o", "joined", "--rejects", "set aside") == written % "joined"
    mh4("parse", "in/long.conllu", "--model", "model", "-o", "alone", "--rejects", "rejects", "--quiet")
    assert (folder / "joined/long.conllu").read_bytes() == (folder / "alone").read_bytes()
    assert (folder / "set aside").read_bytes() == (folder / "rejects").read_bytes() != b""


def test_compressed_files(folder):
    """Compressed files are cut as they are read, and joined into compressed files."""
    given = (folder / "in/long.conllu").read_bytes()
    (folder / "in/long.conllu").unlink()
    (folder / "in/x.conllu.gz").write_bytes(gzip.compress(given))
    (folder / "in/y.conllu.bz2").write_bytes(bz2.compress(given))
    parse()
    corpora.records(folder / "out")[-2].unlink()
    assert "14 shards" in parse()
    assert same_as_mh4_parse(folder)
    (folder / "in/x.conllu.gz").write_bytes(gzip.compress(given)[:-100])
    assert "ends early" in mh4("corpus", "parse", "in", "-o", "new", "--model", "model", code=1)
    assert "\nnot cut into shards: in/x.conllu.gz\n" in mh4("corpus", "status", "new")


def test_a_file_that_changes(folder, monkeypatch):
    """A file that changes while it is parsed or afterwards is reported, and its shards are not joined."""
    path = folder / "in" / "long.conllu"
    content = path.read_bytes()

    def change(shard):
        if (shard.file, shard.number) == (1, 1):
            path.write_bytes(content.replace(b"a", b"e"))

    pool(monkeypatch, change)
    said = parse(code=1)
    assert "mh4: in/long.conllu, shard 1, failed: %s: changed since it was cut into shards" % path in said
    assert "mh4: %s: changed" % path in said
    path.write_bytes(content)
    pool(monkeypatch)
    parse()
    assert same_as_mh4_parse(folder)
    os.utime(path, (1, 1))  # the content stays the same
    assert "8 shards" in parse()
    written = "mh4: 102 sentences in 2 files written to joined/\n"
    assert mh4("corpus", "join", "out", "-o", "joined/") == written
    path.write_bytes(content + b"1\tx" + b"\t_" * 8 + b"\n\n")
    assert parse(code=1).count("%s: changed" % path) == 1
    assert "mh4: %s: changed since it was cut into shards: name another folder" % path in parse(code=1)
    assert mh4("corpus", "join", "out", "-o", "joined/").startswith("mh4: %s: changed since it was parsed" % path)
    path.unlink()
    assert mh4("corpus", "join", "out", "-o", "joined/") == written


def test_verify_finds_what_is_wrong(folder, monkeypatch):
    """`verify` finds damaged shards, which are then parsed again."""
    parse()
    record = corpora.records(folder / "out")[2]
    output = record.with_suffix(".conllu")
    good = output.read_bytes()

    def tampered(content):
        """Write this content, and a record with its size and checksum; return what `verify` prints."""
        output.write_bytes(content)
        found = json.loads(record.read_text())
        found.update(output_bytes=len(content), output_sha256=hashlib.sha256(content).hexdigest())
        record.write_text(json.dumps(found))
        said = mh4("corpus", "verify", "out", code=1)
        assert said.count("\n") == 1 and not record.exists()
        parse()
        assert output.read_bytes() == good
        return said

    sentences = good.split(b"\r\n\r\n")
    assert "has no parallel in" in tampered(b"\r\n\r\n".join(sentences[:-2]) + b"\r\n\r\n")
    assert "in more than its tree" in tampered(b"\r\n\r\n".join([sentences[1], sentences[0], *sentences[2:]]))
    assert "in more than its tree" in tampered(good.replace(b"# text", b"# Text", 1))
    words = sentences[0].split(b"\t")
    words[6] = b"99"
    assert "HEAD is 99" in tampered(b"\r\n\r\n".join([b"\t".join(words), *sentences[1:]]))
    output.write_bytes(good[:-1])
    assert "%s: damaged: its size" % output in mh4("corpus", "verify", "out", code=1) and not record.exists()
    parse()
    output.write_bytes(good.replace(b"a", b"e"))
    said = mh4("corpus", "join", "out", "-o", "joined", code=1)
    assert "%s: damaged: its content does not match its checksum" % output in said and "written for in/long.conllu" in said
    opened = reading.open_regular
    with monkeypatch.context() as patched:
        patched.setattr(reading, "open_regular", lambda path, *rest: opened("/" if path == str(output) else path, *rest))
        said = mh4("corpus", "join", "out", "-o", "joined", code=1)
    assert "mh4: /: cannot be read: Is a directory" in said and "written for in/long.conllu" in said
    assert os.listdir("joined") == ["a b\n.conllu"]
    assert "does not match its checksum" in mh4("corpus", "verify", "out", code=1)


@pytest.mark.parametrize("confidence", [False, True])
def test_what_is_kept_is_the_same_in_the_parse(tmp_path, confidence):
    """All of MISC except probabilities, also of an earlier parse, is the same in input and output."""
    cells = ("SpaceAfter=No|", "A||B", "_|A=1", "B", "ArcProb=0.5|A||", "ArcProb=0.5", "_")
    words = ["%d\tw\t_\t_\t_\t_\t%d\tx\t_\t%s\n" % (m, m - 1, misc) for m, misc in enumerate(cells, start=1)]
    (tmp_path / "in.conllu").write_text("".join(words) + "\n")
    (block,) = conllu.blocks(str(tmp_path / "in.conllu"))
    n = len(cells)
    parsed = replace(block.sentence, heads=np.zeros(n + 1, np.int32), deprels=["y"] * n)
    parsed.probabilities = np.ones(n + 1) if confidence else None
    (tmp_path / "out.conllu").write_text(block.text(block.parsed_columns(parsed), ""))
    (again,) = conllu.blocks(str(tmp_path / "out.conllu"), trees=False)
    settings = SimpleNamespace(keep_deps=False, tags=False, confidence=confidence)
    assert verifying._kept(again, settings) == verifying._kept(block, settings)
    assert ("ArcProb=1.0000" in again.lines[0]) == confidence and "ArcProb=0.5" not in "".join(again.lines)


def test_one_driver_at_a_time(folder):
    """Only one driver works on a corpus; the lock of a killed driver is ignored."""
    work = "print('in', flush=True); time.sleep(600)"
    code = "import sys, time; from mh4.corpus.folder import Corpus\nwith Corpus.load('out').driving(): " + work
    parse()
    with subprocess.Popen([sys.executable, "-c", code], stdout=-1) as other:
        try:
            assert other.stdout.readline() == b"in\n"
            assert "is at work in this folder (process %d on " % other.pid in parse(code=2)
            assert "at work: process %d on " % other.pid in mh4("corpus", "status", "out")
        finally:
            other.send_signal(signal.SIGKILL)
    assert "8 shards" in parse() and "nobody is at work" in mh4("corpus", "status", "out")


def test_what_killed_processes_have_left_is_deleted(folder, monkeypatch):
    """Partial files of killed processes are deleted at the start and at the end, but not those of live processes."""
    parse()
    places = [folder / "out" / place for place in (".corpus.json", "plan/.00000.jsonl", "shards/00001/000/.a\n.conllu")]
    with atomic_path("out/shards/00001/000/live") as live:
        left = [place.with_name(place.name + ".0123abcd.part") for place in places]
        for path in left:
            path.touch()
        seen = []

        def working(shard):
            seen.append([path.exists() for path in left])
            left[2].touch()

        pool(monkeypatch, working)
        corpora.records(folder / "out")[0].unlink()
        parse()
        assert seen == [[False] * 3] and os.path.exists(live) and not left[2].exists()
    assert same_as_mh4_parse(folder)


def test_folders_that_are_none(folder):
    os.mkdir("empty")
    os.symlink("loop", "loop")
    assert "loop/corpus.json: cannot be read: Too many levels" in mh4("corpus", "status", "loop", code=2)
    assert "no .conllu files in this folder" in mh4("corpus", "parse", "empty", "-o", "out", "--model", "model", code=2)
    for command in (["status"], ["verify"], ["join", "-o", "x"]):
        assert "expected a folder made by `mh4 corpus parse`" in mh4("corpus", *command[:1], "empty", *command[1:], code=2)
    parse()
    assert "begun with shards of " in parse("--shard-size", "7", code=2)
    said = "would be in %s, and be read the next time: choose another output" % (folder / "in")
    assert said in mh4("corpus", "join", "out", "-o", "in/joined", code=2) and not os.path.exists("in/joined")


def test_workers_of_another_version_or_model(folder):
    from mh4.corpus.parse_options import Settings

    settings = Settings.of("model", None, **OPTIONS)
    assert workers.problem(settings) == ""
    changed = {"mh4": "0.0.9", "program_checksum": "0", "model_checksum": "0", "model": "none"}
    for name, value in changed.items():
        assert workers.problem(Settings(**{**vars(settings), name: value})) != ""


def test_a_file_that_is_repaired(folder, monkeypatch):
    """Nothing is left of shards that the file no longer has."""
    path, shards = folder / "in" / "long.conllu", folder / "out" / "shards" / "00001" / "000"
    content = path.read_bytes()
    half = content.index(b"\r\n\r\n", len(content) // 2) + 4
    path.write_bytes(content[:half] + b"1\tx\r\n\r\n" + content[half:])
    pool(monkeypatch)
    parse(code=1)
    before = len(list(shards.glob("*.json")))
    path.write_bytes(content[:half])
    parse()
    parsed = "".join(one.read_text(encoding="utf-8") for one in sorted(shards.glob("*.conllu")))
    assert len(list(shards.glob("*.json"))) < before and same_as_mh4_parse(folder)
    assert parsed == (folder / "joined" / "long.conllu").read_text(encoding="utf-8")


def test_a_finished_corpus_needs_no_workers(folder, monkeypatch):
    pool(monkeypatch)
    parse()
    monkeypatch.setattr(corpora.Here, "count", lambda self: 0)
    assert "8 shards" in parse()


def test_workers_that_are_all_refused(folder, monkeypatch):
    class Refused(corpora.Here):
        def count(self):
            return 0

        def refused(self):
            return ["worker x is refused: y"]

        def finished(self, seconds):
            return []

        def expected(self):
            expected.append(len(expected) < 3)
            return expected[-1]

    expected = []
    monkeypatch.setattr(driver, "PATIENCE", 0)
    monkeypatch.setattr(corpora, "Here", lambda before: Refused())
    assert parse(code=2).splitlines()[-1] == "mh4: there are no workers: worker x is refused: y"
    assert expected == [True, True, True, False]  # the driver waits while jobs wait for a node


def test_the_plan_is_measured(folder):
    lines = parse("--plan", "--workers", "1").splitlines()
    assert lines[0].startswith("input: 2 files, 46.") and lines[1].startswith("sample: ") and "by 1 worker 0:" in lines[2]
    assert not (folder / "out").exists()
    for option in (["--shard-size", "1"], ["--scheduler", "tcp://x:1"], ["--slurm", ""], ["--quiet"]):
        assert "an estimate, on which %s has no effect: omit it" % option[0] in parse("--plan", *option, code=2)


def test_lines_where_there_is_no_terminal(folder, monkeypatch):
    monkeypatch.setattr(display, "EVERY", 0)
    lines = parse().splitlines()
    assert lines[0] == "0 shards, 0 sentences, 0 words, workers: 2, failures: 0"
    assert re.fullmatch(
        r"[4-7] shards, \d+ sentences, \d+ words, [\d,]+ words/s, [\d:]+ left, workers: 2, failures: 0", lines[-4]
    )
    assert parse("--quiet") == ""


def test_sentences_that_are_too_long_are_counted(folder):
    """Sentences that are too long are counted as by `mh4 parse`, including those in shards of an earlier run."""
    number = sum(len(sentence) > 12 for name in os.listdir("in") for sentence in conllu.read("in/" + name))
    said = "\nmh4: %d of 102 sentences were not parsed as the others, as comments in them say: %d by beam 64\n" % (number, number)
    assert parse("--longest", "12").endswith(said) and parse("--longest", "12").endswith(said)


@pytest.mark.parametrize("form", ["text", "presegmented"])
def test_text(folder, monkeypatch, form):
    """Shards of raw text are joined into one document; some end with white space."""
    pytest.importorskip("ufal.udpipe", reason="ufal.udpipe is not installed")
    from mh4.data import segmenter

    train = str(folder / "model/toy-ud-dev.conllu")
    segmenter.train(train, train, "segmenter", 1)
    sentences = [block.comment("text") for block in conllu.blocks(train)]
    white = "\u00a0\n\n" * 300  # more than a shard
    text = ("\n\n" + 30 * "\t\n\n").join(" ".join(sentences[k : k + 3]) for k in range(0, 80, 3))
    (folder / "in" / "text.txt").write_text("\ufeff" + white + text + "\n\n" + white)
    monkeypatch.setattr(text_lines, "PORTION", 500)
    options = ["in/text.txt", "--input", form, "--segmenter", "segmenter", "--model", "model"]
    same_in_shards(folder, options)
    assert (folder / "joined").read_bytes().count(b"# newdoc") == 1

    (folder / "in" / "text.txt").write_text(white)
    mh4("corpus", "parse", *options, "-o", "white")
    mh4("corpus", "verify", "white")
    mh4("corpus", "join", "white", "-o", "none")
    assert (folder / "none").read_bytes() == b""


@pytest.mark.parametrize("split", ["horizontal", "vertical"])
def test_text_that_is_already_split(folder, monkeypatch, split):
    """Files of split text are cut into shards, also between lines without blank lines (one sentence per line)."""
    monkeypatch.setattr(text_lines, "PORTION", 300)
    words = [sentence.words for sentence in conllu.read("model/toy-ud-dev.conllu")]
    text = "".join(" ".join(w) + "\n" if split == "horizontal" else "\n".join([*w, "\n"]) for w in words)
    (folder / "in" / "split.txt").write_text("\ufeff" + text[:-9] + "\x0cé")
    options = ["in/split.txt", "--input", split, "--model", "model"]
    assert "omit it" not in mh4("corpus", "parse", *options, "-o", "out", "--plan")
    same_in_shards(folder, options)
    with open("in/split.txt", "ab") as file:
        file.write(b"\n\xff\n")
    line = (folder / "in/split.txt").read_bytes().count(b"\n")
    assert "line %d: not UTF-8" % line in mh4("corpus", "parse", *options, "-o", "bad", code=1)


def test_the_display_on_a_narrow_terminal():
    """On a narrow terminal, the text below the progress bar is wrapped and not cut off."""
    shown, drawn = display.Display(None, 100, quiet=True), io.StringIO()
    with Console(file=drawn, width=40, force_terminal=True, color_system=None) as console:
        console.print(shown._shown())
    lines = drawn.getvalue().splitlines()
    assert " ".join(" ".join(lines[1:]).split()) == shown.line() and "shard" not in lines[0]
