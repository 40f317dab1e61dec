"""`mh4 parse` of long sentences, blocks that are not CoNLL-U, compressed files, and sentences as they arrive."""

import gzip
import os
import subprocess
import sys

import pytest
import tiny
import toy
from running import COMMAND, WRITTEN, mh4, refuses, succeeds

import mh4 as mh4_package
from mh4.data import conllu
from mh4.decoders import arguments
from mh4.parser import config


@pytest.fixture(scope="module")
def folder(treebank):
    """The folder of the treebank, with untrained models."""
    sentences = toy.sentences(treebank)
    for system in ("mh4-hybrid", "mst"):
        toy.untrained(system, sentences, treebank / system)
    return treebank


@pytest.fixture(scope="module")
def model(folder):
    return str(folder / "mh4-hybrid")


@pytest.fixture(scope="module")
def given(folder):
    """Ten sentences."""
    path = folder / "sample.conllu"
    path.write_text(toy.beginning(folder / "toy-ud-test.conllu", 10), encoding="utf-8")
    return path


def parts(parsed):
    return parsed.decode("utf-8").split("\n\n")[:-1]


def noted(block):
    return [line for line in block.split("\n") if line.startswith("# mh4 = ")]


@pytest.mark.slow
def test_nothing_in_the_current_folder_is_imported(model, folder, tmp_path):
    """Neither the command nor its child processes import modules from the current folder."""
    script, place = tmp_path / "mh4", tmp_path / "place"
    script.write_text(
        "import sys\nsys.path.append(%r)\nfrom mh4.__main__ import main\nif __name__ == '__main__': main()" % str(toy.ROOT)
    )
    place.mkdir()
    source = str(folder / "toy-ud-train.conllu")
    for name in ("struct", "signal", "types"):
        (place / (name + ".py")).write_text("open('imported', 'w')\n")
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONSAFEPATH")}
    command = [sys.executable, str(script), "parse", "--model", model, source, "--jobs", "2", "-o", "out", "--quiet"]
    done = subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "") and "imported" not in os.listdir(place)


@pytest.mark.slow
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_every_sentence_gets_a_tree(folder, given, model, jobs):
    lengths = [len(sentence) for sentence in conllu.read(str(given))]
    path, n = folder / ("long%s.conllu" % jobs), 1500
    words = "".join(tiny.WORD % (m, m % 7, m - 1) for m in range(1, n + 1))
    path.write_text("# mh4 = skipped, as it was once\n# table = 1\n%s\n%s" % (words, given.read_text(encoding="utf-8")), "utf-8")
    done = mh4("parse", "--model", model, str(path), "--jobs", jobs, "--longest", "6", "-o", str(folder / "out"))
    assert done.returncode == 0
    assert WRITTEN.sub("", done.stderr.decode()) == (
        "mh4: %s: %d of 11 sentences were not parsed as the others, as comments in them say: "
        "%d by beam 64, 1 by beam 64 in windows of up to 1134 words\n"
        % (path, 1 + sum(length > 6 for length in lengths), sum(length > 6 for length in lengths))
    )
    first, *others = parts((folder / "out").read_bytes())
    note = "# mh4 = beam 64 in windows of up to 1134 words, 1500 words are more than the limit of 6"
    assert first.split("\n")[:2] == ["# table = 1", note]
    for expected, length, block in zip(parts(succeeds("parse", "--model", model, str(given))), lengths, others):
        assert noted(block) == (["# mh4 = beam 64, %d words are more than the limit of 6" % length] if length > 6 else [])
        assert length > 6 or block == expected
    for sentence in conllu.read(str(folder / "out")):
        arguments.tree(sentence.heads, len(sentence))
    # Parsed again, the old comments go.
    again = succeeds("parse", "--model", model, str(folder / "out"), "--quiet", "--longest", "2000", "--decode", "greedy")
    assert b"# mh4 = " not in again and again.count(b"\n\n") == 11


@pytest.mark.slow
def test_skipped_sentences_are_as_they_were(given, model):
    done = mh4("parse", "--model", model, str(given), "--longest", "6", "--beyond", "skip", "--keep-deps")
    before, after = parts(given.read_bytes()), parts(done.stdout)
    skipped = 0
    for sentence, old, new in zip(conllu.read(str(given)), before, after):
        if len(sentence) > 6:
            skipped += 1
            (note,) = noted(new)
            assert note == "# mh4 = skipped, %d words are more than the limit of 6" % len(sentence)
            assert new.replace(note + "\n", "") == old
        else:
            assert not noted(new)
    assert done.stderr.decode().endswith(" say: %d skipped\n" % skipped) and 0 < skipped < 10


@pytest.mark.slow
def test_rejects(folder, given, model):
    """Blocks that are not CoNLL-U are written to --rejects, byte for byte, with the reason; the rest is parsed."""
    blocks = [block + b"\n\n" for block in given.read_bytes().split(b"\n\n")[:-1]]
    columns, latin, ids = b"# sent_id = bad\n1\tw\t_\n\n", b"1\tl\xe9t%s\n\n\n" % (8 * b"\t_"), b"2\tw%s\r\n\r\n" % (8 * b"\t_")
    path, out, rejects = folder / "bad.conllu", folder / "rest.conllu", folder / "rejects.conllu.gz"
    path.write_bytes(columns + b"".join(blocks[:5]) + latin + ids + b"".join(blocks[5:]) + b"\t\n1\tend")
    done = mh4("parse", "--model", model, str(path), "-o", str(out), "--rejects", str(rejects))
    said = "mh4: 4 blocks are not CoNLL-U; they were written to %s, each with the reason\n" % rejects
    assert done.returncode == 0 and WRITTEN.sub("", done.stderr.decode()) == said
    assert out.read_bytes() == succeeds("parse", "--model", model, str(given))
    line = 4 + b"".join(blocks[:5]).count(b"\n")
    last = line + 5 + b"".join(blocks[5:]).count(b"\n")
    expected = [
        (b"line 2, sentence 1 (bad): 3 columns, expected 10 separated by tabs", columns),
        (b"line %d: not UTF-8 (byte 0xe9)" % line, latin),
        (b"line %d, sentence 8: ID is '2', expected 1" % (line + 3), ids),
        (b"line %d, sentence 14: 2 columns, expected 10 separated by tabs" % last, b"\t\n1\tend\n\n"),
    ]
    comment = b"# rejected = %s, " % bytes(path)
    assert gzip.decompress(rejects.read_bytes()) == b"".join(comment + why + b"\n" + block for why, block in expected)
    assert "sentence 1 (bad): 3 columns" in refuses("parse", "--model", model, str(path))
    assert succeeds("parse", "--model", model, str(given), "-o", str(out), "--rejects", str(rejects)) == b""
    assert gzip.decompress(rejects.read_bytes()) == b""  # the old rejects are gone


@pytest.mark.slow
def test_rejects_of_finished_files_stay_if_another_fails(given, model, tmp_path):
    block, bad = given.read_bytes().split(b"\n\n")[0] + b"\n\n", b"1\tx\ty\n\n"
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.conllu").write_bytes(block + bad)
    (tmp_path / "in" / "b.conllu.gz").write_bytes(gzip.compress(bad + block * 50)[:-20])
    command = ["parse", "--model", model, str(tmp_path / "in"), "-o", str(tmp_path / "out"), "--rejects", str(tmp_path / "r")]
    done = mh4(*command)
    said = done.stderr.decode().splitlines()
    assert done.returncode == 2 and len(said) == 2 and "b.conllu.gz" in said[1]
    assert said[0] == "mh4: 1 block is not CoNLL-U; it was written to %s with the reason" % (tmp_path / "r")
    kept = b"# rejected = %s, line " % bytes(tmp_path / "in" / "a.conllu")
    assert (tmp_path / "r").read_bytes().startswith(kept) and (tmp_path / "r").read_bytes().count(bad) == 1
    assert os.listdir(tmp_path / "out") == ["a.conllu"]
    (tmp_path / "in" / "a.conllu").unlink()
    done = mh4(*command)
    # A command that fails replaces none of its outputs.
    assert done.returncode == 2 and (tmp_path / "r").read_bytes().startswith(kept)


@pytest.mark.slow
def test_rejects_that_cannot_be(folder, given, model):
    out = str(folder / "same")
    assert "is both" in refuses("parse", "--model", model, str(given), "-o", out, "--rejects", str(folder / "." / "same"))
    assert "would overwrite" in refuses("parse", "--model", model, str(given), "--rejects", str(given))
    assert not os.path.exists(out)


@pytest.mark.slow
def test_compressed_files(folder, given, model):
    """Every command reads compressed files; a damaged one leaves no partial output."""
    plain = succeeds("parse", "--model", model, str(given))
    assert succeeds("parse", "--model", model, str(given), str(given)) == plain  # each file once
    packed, out = folder / "pac.conllu.gz", folder / "out.conllu.xz"
    packed.write_bytes(gzip.compress(given.read_bytes()))
    assert succeeds("parse", "--model", model, str(packed), "-o", str(out)) == b""
    assert subprocess.run(["xz", "-dc", str(out)], stdout=-1, check=True).stdout == plain
    evaluating = [["evaluate", str(given)], ["compare", str(given), str(given)]]
    for command in (["coverage"], *evaluating, ["view"], ["test", "--model", model]):
        assert succeeds(*command, str(packed)).replace(b"pac.conllu.gz", b"sample.conllu") == succeeds(*command, str(given))
    assert succeeds("ensemble", "--vote", str(packed), str(packed)) == succeeds("ensemble", "--vote", str(given), str(given))
    assert succeeds("parse", "--model", model, str(packed), str(given), "-o", str(folder / "both")) == b""
    assert gzip.decompress((folder / "both" / packed.name).read_bytes()) == (folder / "both" / given.name).read_bytes() == plain
    packed.write_bytes(packed.read_bytes()[:-30])
    before = out.read_bytes()
    said = refuses("parse", "--model", model, str(packed), "-o", str(out))
    assert said == "mh4: %s: cannot be read: the archive ends early, so a part of it is lost" % packed
    assert out.read_bytes() == before and not list(folder.glob(".*.part"))


@pytest.mark.parametrize("form", ["conllu", "vertical"])
def test_sentences_come_out_as_they_come_in(given, model, form):
    expected = read(given.read_bytes())[:3]
    blocks = [block + b"\n\n" for block in given.read_bytes().split(b"\n\n")[:3]]
    if form == "vertical":
        blocks = ["".join(word + "\n" for word in [*sentence.words, ""]).encode() for sentence in expected]
    command = [*COMMAND, "parse", "--model", model, "--input", form, "--flush", "-"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        got = b""
        for block in blocks:
            process.stdin.write(block)
            process.stdin.flush()
            while True:  # the parse arrives before the next sentence is sent
                line = process.stdout.readline()
                got += line
                if line == b"\n":
                    break
        process.stdin.close()
        assert process.stdout.read() == b""
    assert process.returncode == 0
    assert [sentence.words for sentence in read(got)] == [sentence.words for sentence in expected]
    assert all((sentence.heads >= -1).all() for sentence in read(got))


def read(content):
    return [block.sentence for block in conllu.parsed(content.decode("utf-8").splitlines(keepends=True), "text")]


def test_probabilities_of_other_arcs_go(folder, given, model):
    """Old probabilities are deleted from MISC, and nothing else is."""
    lines = given.read_text(encoding="utf-8").split("\n")
    words = [k for k, line in enumerate(lines) if line.split("\t")[0].isdigit()]
    for k, misc in zip(words, ("ArcProb=0.5", "A=1|ArcProb=0.5|B", "ArcProbable=1", "_||A", "B")):
        lines[k] = "\t".join([*lines[k].split("\t")[:9], misc])
    (folder / "probable.conllu").write_text("\n".join(lines), encoding="utf-8")
    out = succeeds("parse", "--model", model, str(folder / "probable.conllu"), "--quiet").decode("utf-8").split("\n")
    found = [line.split("\t")[9] for line in out if line.split("\t")[0].isdigit()]
    assert found[:5] == ["_", "A=1|B", "ArcProbable=1", "_||A", "B"] and len(found) == len(words)


def test_tags_that_nobody_predicts(folder, given):
    few = config.with_settings(toy.SMALL, ["training.%s_weight=0" % tags for tags in ("upos", "xpos", "feats")])
    toy.untrained("mst", toy.sentences(folder), folder / "untagged", few)
    untagged = ["--model", str(folder / "untagged"), "--tags", str(given)]
    said = "mh4: tags: none are predicted, as none were learned"
    assert refuses("parse", *untagged) == said
    assert refuses("ensemble", *untagged) == said
    assert refuses("corpus", "parse", *untagged, "-o", str(folder / "corpus")) == said
    assert succeeds("ensemble", "--model", str(folder / "mst"), *untagged, "--quiet")


@pytest.mark.slow
def test_text_that_is_split_into_words(model, folder):
    """Text in lines or columns, from a file or a folder, is parsed like lists of words in Python."""
    words = [["ta", "zenita", "wibonit"], ["mosuro"]]
    horizontal = "".join(" ".join(sentence) + "\n" for sentence in words).encode()
    vertical = horizontal.replace(b"\n", b"\n\n").replace(b" ", b"\n")
    command = ["parse", "--model", model, "--tags", "--input"]
    out = succeeds(*command, "horizontal", stdin=horizontal)
    assert out == succeeds(*command, "vertical", "--flush", stdin=vertical)
    parsed = mh4_package.load(model).parse(words, tags=True)
    text = [line for line in out.decode().splitlines(keepends=True) if line[0] != "#"]
    assert "".join(text) == "".join(sentence.to_conllu() for sentence in parsed)
    (folder / "verses").mkdir()
    (folder / "verses" / "one.txt").write_bytes(horizontal)
    succeeds(*command, "horizontal", str(folder / "verses"), "-o", str(folder / "parsed verses"))
    assert (folder / "parsed verses" / "one.conllu").read_bytes() == out
    assert "\t_\t_\t_\t" in succeeds("parse", "--model", model, "--input", "horizontal", stdin=horizontal).decode()


@pytest.mark.parametrize(
    "options, said",
    [
        ("--input presegmented", "--input presegmented needs --segmenter FILE"),
        ("--text", "--text needs --segmenter FILE"),
        ("--input vertical --segmenter x", "--segmenter is for raw text: it needs --text or --input presegmented"),
        ("--text --input vertical", "--text is the same as --input text, so it excludes --input vertical"),
        ("--input vertical --rejects x", "--rejects is for CoNLL-U, and not for --input vertical"),
        ("--text --segmenter x --flush", "--flush is not for raw text, whose sentences end where later text says"),
        ("--flush --jobs 2", "--flush parses one sentence at a time, so --jobs 2 does not make sense with it"),
    ],
)
def test_options_that_do_not_fit(model, options, said):
    assert refuses("parse", "--model", model, *options.split(), stdin=b"ta\n") == "mh4: " + said
