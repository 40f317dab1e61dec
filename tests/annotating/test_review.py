"""`mh4 review`: find improbable heads and labels in a treebank."""

import csv
import gzip
import io
import json
import os
import shutil
import signal
import subprocess
from dataclasses import replace
from unittest import mock

import numpy as np
import pytest
import toy
from running import COMMAND, mh4, on_a_terminal, refused, refuses

from mh4.annotating import review
from mh4.data import conllu
from mh4.data.cells import DEPREL, HEAD, MISC
from mh4.parser.parsing import Parser
from mh4.training.trainer import Trainer
from mh4.util import files, reading

CHANGED = 5  # heads, and as many labels, that `damaged` changes


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A folder with a parser that has memorised 40 sentences."""
    folder = tmp_path_factory.mktemp("reviewed")
    sentences = toy.sentences(folder)[:40]
    (folder / "model").mkdir()
    settings = replace(toy.SMALL, training=replace(toy.SMALL.training, max_updates=150))
    Trainer("mh4-hybrid", settings, sentences, sentences[:5], str(folder / "model")).run()
    return folder


def damaged(folder):
    """Write the first 40 sentences with some heads and labels changed; return these as (sentence, word, column)."""
    rng, changed, texts = np.random.default_rng(1), set(), []
    for number, block in enumerate(conllu.blocks(str(folder / "toy-ud-train.conllu"))):
        if number == 40:
            break
        heads, deprels = (block.column(column) for column in (HEAD, DEPREL))
        if number < 2 * CHANGED:
            leaves = [m for m in range(1, len(heads) + 1) if str(m) not in heads and heads[m - 1] != "0"]
            word = int(rng.choice(leaves))
            column = "HEAD" if number < CHANGED else "DEPREL"
            if column == "HEAD":
                others = [m for m in range(1, len(heads) + 1) if m != word and str(m) != heads[word - 1]]
                heads[word - 1] = str(rng.choice(others))
            else:
                deprels[word - 1] = "obj" if deprels[word - 1] != "obj" else "det"
            changed.add((block.sent_id, word, column))
        texts.append(block.text({HEAD: heads, DEPREL: deprels}))
    (folder / "damaged.conllu").write_text("".join(texts), encoding="utf-8")
    return changed


def test_what_was_changed_comes_first(trained):
    changed = damaged(trained)
    blocks = [("d", k, block) for k, block in enumerate(conllu.blocks(str(trained / "damaged.conllu")), start=1)]
    reviewed = list(review.review(Parser.load(str(trained / "model")), blocks))
    doubts = review.worst_first(reviewed, set())
    found = [(doubt.sentence, doubt.word, doubt.column) for doubt in doubts]
    assert set(found[: 2 * CHANGED]) >= {one for one in changed if one[2] == "HEAD"} and set(found) >= changed
    assert [doubt.probability for doubt in doubts] == sorted(doubt.probability for doubt in doubts)
    gold = {b.sent_id: b.sentence for b in conllu.blocks(str(trained / "toy-ud-train.conllu"))}
    for doubt in doubts[:CHANGED]:
        if doubt.column == "DEPREL" and (doubt.sentence, doubt.word, "HEAD") in changed:
            continue  # the label is judged on a wrong arc
        known = gold[doubt.sentence]
        right = str(known.heads[doubt.word]) if doubt.column == "HEAD" else known.deprels[doubt.word - 1]
        assert doubt.proposed == right and doubt.form == known.words[doubt.word - 1]
    assert not review.worst_first(reviewed, {doubt.key for doubt in doubts})


def test_probabilities_are_those_of_the_decoder_and_the_labeller(tmp_path):
    """Probabilities equal those of the decoder and the labeller, for sentences of several minibatches."""
    sentences = toy.sentences(tmp_path)
    parser = Parser(toy.untrained("mst", sentences[:60]))
    parser.model.label_temperature = 0.5
    path = str(tmp_path / "toy-ud-train.conllu")
    blocks = [("f", k, block) for k, block in enumerate(conllu.blocks(path), start=1)][:60]
    with pytest.warns(RuntimeWarning, match="temperature 1"):
        reviewed = list(review.review(parser, blocks))
    assert [one.number for one in reviewed] == list(range(1, 61))
    for one in reviewed[::7]:
        sentence, words = one.block.sentence, np.arange(1, len(one.block.sentence) + 1)
        with parser.model.lock:
            ((_, scores),) = parser.model.score([sentence])
            (tensors,) = scores.trees.arrays()
            labels = scores.labels([sentence.heads]).npvalue().reshape((len(parser.model.vocabulary.labels), -1)).astype(float)
        arcs = parser.model.system.marginals(**tensors, single_root=True).arcs
        np.testing.assert_allclose(one.heads[1:], arcs[sentence.heads[1:], words], atol=1e-4)
        assert (one.best_heads[1:] == arcs[:, 1:].argmax(axis=0)).all()
        for m, (head, label) in enumerate(zip(sentence.heads[1:], sentence.deprels)):
            strings = parser.model.vocabulary.labels.strings
            possible = {k: s for k, s in enumerate(strings) if k and (s == "root") == (head == 0)}
            weights = {s: np.exp(labels[k, m] / 0.5) for k, s in possible.items()}
            assert one.deprels[m + 1] == pytest.approx(weights[label] / sum(weights.values()), abs=1e-4)
            assert one.best_deprels[m] == max(weights, key=weights.get)


def test_labels_that_the_parser_does_not_know_are_not_judged(trained):
    (block, *_) = conllu.blocks(str(trained / "toy-ud-train.conllu"))
    other = replace(block, sentence=replace(block.sentence, deprels=["new:label"] * len(block.sentence)))
    (found,) = review.review(Parser.load(str(trained / "model")), [("f", 1, other)])
    assert not [doubt for doubt in found.doubts() if doubt.column == "DEPREL"]
    assert "DeprelProb" not in review.annotated(other, found, [])


def test_names_that_the_treebank_has_itself(trained):
    """Doubts stay distinct if a sent_id equals another sentence's number; MISC may already contain Head and Deprel."""
    damaged(trained)
    (block, *_) = conllu.blocks(str(trained / "damaged.conllu"))
    own = ["Deprel=x|Head=y"] * len(block.sentence)
    texts = [block.text({MISC: own}).replace(block.comment("sent_id"), name, 1) for name in ("2", "")]
    named = [("f", k, one) for k, one in enumerate(conllu.parsed("".join(texts).splitlines(keepends=True), "f"), start=1)]
    first, second = review.review(Parser.load(str(trained / "model")), named)
    keys = [{doubt.key for doubt in one.doubts()} for one in (first, second)]
    assert keys[0] and len(keys[0] | keys[1]) == 2 * len(keys[0])
    text = review.annotated(first.block, first, set(first.doubts()))
    assert text.count("\tDeprel=x|Head=y|HeadProb=") == len(own) and "|BestHead=" in text


def test_sentences_too_long_for_probabilities_stay(trained, monkeypatch):
    damaged(trained)
    lengths = [len(block.sentence) for block in conllu.blocks(str(trained / "damaged.conllu"))]
    monkeypatch.setattr(review.long_sentences, "default", lambda parser, confidence: sorted(lengths)[20])
    done = mh4("review", "--model", str(trained / "model"), str(trained / "damaged.conllu"), "-o", str(trained / "some.conllu"))
    assert done.returncode == 0 and b"too long for probabilities" in done.stderr
    marked = ["HeadProb=" in block.column(MISC)[0] for block in conllu.blocks(str(trained / "some.conllu"))]
    assert marked == [length <= sorted(lengths)[20] for length in lengths]


def test_a_table_that_might_never_end_is_not_read(tmp_path, monkeypatch):
    os.mkfifo(tmp_path / "fifo")
    for path in ("/dev/zero", str(tmp_path / "fifo")):
        assert refused(lambda path=path: review.known(path)) == path + ": cannot be read: not a file"
    monkeypatch.setattr(reading, "MOST", 1 << 10)
    path = str(tmp_path / "t.tsv.gz")
    with gzip.open(path, "wb") as file:
        file.write(b"a\n" * (1 << 10))
    assert refused(lambda: review.known(path)) == path + ": damaged: larger than 1 KB"


def test_quotation_marks_in_the_table(tmp_path):
    """Quotation marks and tabs are quoted as in CSV, so that a table saved by a spreadsheet has the same doubts."""
    forms = ['"', '"a', 'a"', "a", '"', "''"]
    doubts = [review.Doubt(0.1, 0.9, "HEAD", "1", "2", "f", "a\tb", m, form, '"') for m, form in enumerate(forms, start=1)]
    text, path = review.as_tsv(doubts), tmp_path / "t.tsv"
    assert [(row["form"], row["to"]) for row in table(text)] == [(form, '"') for form in forms]
    saved = io.StringIO(newline="")
    csv.writer(saved, "excel-tab").writerows(csv.reader(text.splitlines(), "excel-tab"))
    for content in (text, "\ufeff" + saved.getvalue()):
        path.write_text(content, encoding="utf-8", newline="")
        assert review.known(str(path)) == {doubt.key for doubt in doubts}
    path.write_text(text.replace('\t"a"""\t', '\ta"\t"'))
    assert refused(lambda: review.known(str(path))).endswith(
        "t.tsv, line 4: expected cells separated by tabs, with quotation marks as in CSV"
    )


def test_a_long_word_in_the_table(tmp_path):
    doubt, path = review.Doubt(0.1, 0.9, "HEAD", "1", "2", "f", "s", 1, "w" * 200_000, "v"), tmp_path / "t.tsv"
    path.write_text(review.as_tsv([doubt]))
    assert review.known(str(path)) == {doubt.key}


def table(text):
    return list(csv.DictReader(text.splitlines(), dialect="excel-tab"))


@pytest.mark.slow
def test_the_command_with_a_model(trained):
    changed, given = damaged(trained), trained / "damaged.conllu"
    command = ["review", "--model", str(trained / "model"), str(given)]
    outputs = [trained / ("out" + kind) for kind in (".tsv", ".json", ".conllu", ".html")]
    options = [option for path in outputs for option in ("-o", str(path))]
    done = mh4(*command, *options)
    assert done.returncode == 0 and done.stdout == b""
    tsv, objects, annotated, page = (path.read_text(encoding="utf-8") for path in outputs)
    printed = mh4(*command, "--most", "3").stdout.decode()
    assert table(printed) == table(tsv)[:3]
    assert [
        {name: "%.4f" % v if isinstance(v, float) else str(v) for name, v in row.items()} for row in json.loads(objects)
    ] == table(tsv)
    assert {(row["sentence"], int(row["word"]), row["column"]) for row in table(tsv)} >= changed
    for block, before in zip(conllu.blocks(str(outputs[2])), conllu.blocks(str(given)), strict=True):
        assert block.column(HEAD) == before.column(HEAD)
        for row in (row for row in table(tsv) if row["sentence"] == block.sent_id):
            misc = block.column(MISC)[int(row["word"]) - 1].split("|")
            name = row["column"].capitalize()
            assert "Best%s=%s" % (name, row["proposed"]) in misc and "%sProb=%s" % (name, row["probability"]) in misc
    assert page.count('"probabilities"') >= 2 and table(tsv)[0]["sentence"] in page
    part = trained / "part.tsv"
    part.write_text("\n".join(tsv.split("\n")[:4]) + "\n", encoding="utf-8")
    rest = mh4(*command, "--since", str(part)).stdout.decode()
    assert table(rest) == table(tsv)[3:]
    given.write_text(given.read_text(encoding="utf-8").replace("# sent_id = ", "# sent_id = a\tb "), encoding="utf-8")
    assert mh4(*command, "-o", str(part)).returncode == 0 and not table(mh4(*command, "--since", str(part)).stdout.decode())
    part.write_bytes(b"\xef\xbb\xbf" + part.read_bytes().replace(b"\n", b"\r\n"))  # as a spreadsheet may save it
    done = mh4(*command, "--since", str(part))
    assert done.returncode == 0 and not table(done.stdout.decode())
    rest = trained / "rest.conllu"
    assert mh4(*command, "--since", str(part), "-o", str(rest)).returncode == 0
    assert "HeadProb=" in rest.read_text(encoding="utf-8") and "Best" not in rest.read_text(encoding="utf-8")
    (trained / "renamed.conllu").write_bytes(given.read_bytes())
    assert "part.tsv: has doubts of damaged.conllu, but of none of the files here" in refuses(
        *command[:-1], str(trained / "renamed.conllu"), "--since", str(part)
    )
    packed = [path.with_name(path.name + ".gz") for path in outputs]
    assert mh4(*command, *[option for path in packed for option in ("-o", str(path))]).returncode == 0
    assert b"BestHead=" in gzip.decompress(packed[2].read_bytes()) and gzip.decompress(packed[3].read_bytes()).startswith(b"<!")
    assert json.loads(gzip.decompress(packed[1].read_bytes()))
    done = mh4(*command, "--since", str(packed[0]))
    assert done.returncode == 0 and not table(done.stdout.decode())


@pytest.mark.slow
def test_parts_are_judged_by_parsers_of_the_others(trained):
    """Each part is judged by a parser trained on the others; a second run trains only parsers that are missing."""
    given, folder = damaged(trained) and trained / "damaged.conllu", trained / "bank" / "folds"
    folder.parent.mkdir()  # the folder of parsers may be inside the treebank
    given = given.rename(folder.parent / "damaged.conllu")
    config = trained / "small.toml"
    config.write_text(
        "[encoder]\nunits = 16\nchar_units = 8\n[training]\nmax_updates = 20\nevaluate_updates = 10\n", encoding="utf-8"
    )
    options = ["--folds", "3", "--system", "mst", "--config", str(config), "--jobs", "2"]
    command = ["review", "--folder", str(folder), *options, str(folder.parent)]
    first = mh4(*command)
    assert first.returncode == 0 and table(first.stdout.decode())
    assert "loss = 'likelihood'" in (folder / "1" / "model" / "config.toml").read_text(encoding="utf-8")
    names = [sentence.words for sentence in conllu.read(str(given))]
    for k in range(3):
        known = [s.words for name in ("train", "dev") for s in conllu.read(str(folder / str(k + 1) / (name + ".conllu")))]
        assert sorted(known + names[k::3]) == sorted(names)
    times = {path: path.stat().st_mtime_ns for path in folder.glob("*/model/weights.npz")}
    shutil.rmtree(folder / "2" / "model")
    assert mh4(*command).stdout == first.stdout
    after = {path: path.stat().st_mtime_ns for path in folder.glob("*/model/weights.npz")}
    assert len(times) == 3 and [times[path] == after[path] for path in sorted(times)] == [True, False, True]


def test_other_folds_than_those_begun_with(trained, monkeypatch):
    """An interrupted run is resumed only with the same number of folds and the same sentences."""
    damaged(trained)
    command = ["review", str(trained / "damaged.conllu"), "--folder", str(trained / "begun")]
    assert "--set nonsense: expected section.name=value" in refuses(*command, "--folds", "3", "--set", "nonsense")
    assert not (trained / "begun").exists()
    with monkeypatch.context() as stopping:
        stopping.setattr(files, "write_text", mock.Mock(side_effect=KeyboardInterrupt))
        assert mh4(*command, "--folds", "3").returncode == 130
    assert "begun: begun with --folds 3, not 4: name another --folder" in refuses(*command, "--folds", "4")
    (trained / "begun" / "1" / "dev.conllu").write_text("other")
    assert "begun: begun with other sentences: name another --folder" in refuses(*command, "--folds", "3")
    assert (trained / "begun" / "1" / "dev.conllu").read_text() == "other"


@pytest.mark.slow
def test_a_review_that_is_interrupted(trained, ending_signals):
    """A review prints the progress and the warnings of its trainings, and ends at once when interrupted."""
    damaged(trained)
    names = ("damaged.conllu", "copy.conllu", "copied.conllu")  # three copies: all parts have the same sentences
    for name in names[1:]:
        shutil.copy(trained / "damaged.conllu", trained / name)
    command = [*COMMAND, "review", "--folder", str(trained / "endless"), "--folds", "3", "--system", "mst", "--jobs", "2"]
    for setting in ("max_updates=1000000", "evaluate_updates=1", "patience=1000000"):
        command += ["--set", "training." + setting]
    command += [str(trained / name) for name in names]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        said = [process.stderr.readline()]
        while "model: evaluation 2, epoch " not in said[-1]:
            said.append(process.stderr.readline())
            assert said[-1], said
        process.send_signal(signal.SIGINT)
        *_, last = process.stderr.read().splitlines()
        assert process.wait(timeout=20) == 130 and last == "mh4: interrupted; run the same command again to resume"
    assert any(line.startswith("mh4: ") and "/model: train also has " in line for line in said)


@pytest.mark.parametrize(
    "said, options",
    [
        ("choose --model", []), ("choose --model", ["--model", "model", "--folder", "x"]),
        *(("%s is for training" % option, ["--model", "model", option, value])
          for option, value in {"--jobs": "1", "--system": "mst", "--set": "training.loss=hinge"}.items()),
        ("expected a name that ends in .tsv or .json or", ["--model", "model", "-o", "out.txt"]),
        ("expected the names of the columns", ["--model", "model", "--since", "damaged.conllu"]),
        ("cut.tsv, line 2: 2 columns, expected 10", ["--model", "model", "--since", "cut.tsv"]),
        ("is the folder of the treebank: name another --folder", ["--folder", "."]),
        ("damaged.conllu: this file is given twice", ["--model", "model", "link.conllu"]),
        ("found only 40 sentences", ["--folder", "f", "--folds", "50"]),
        ("greedy-mh4 gives no probabilities of arcs", ["--folder", "f", "--system", "greedy-mh4"]),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(trained, said, options):
    damaged(trained)
    (trained / "cut.tsv").write_text("\t".join(review.NAMES) + "\n1\t2\n", encoding="utf-8")
    if "link.conllu" in options:
        (trained / "link.conllu").symlink_to("damaged.conllu")
    paths = ("model", "f", "x", "damaged.conllu", "link.conllu", "cut.tsv", ".")
    given = "." if options == ["--folder", "."] else "damaged.conllu"
    options = [str(trained / option) if option in paths else option for option in options]
    assert said in refuses("review", *options, str(trained / given)) and not (trained / "f").exists()


def test_empty_files_and_control_characters(trained):
    """One of several files may be empty, words cannot control a terminal, and the end of a file ends its sentence."""
    damaged(trained)
    given, empty, out = trained / "damaged.conllu", trained / "empty.conllu", trained / "joined.conllu"
    command = ["review", "--model", str(trained / "model")]
    empty.write_text("")
    (trained / "cut.conllu").write_text(
        given.read_text(encoding="utf-8").rstrip("\n").replace("1\t", "1\t\x9b", 1), encoding="utf-8"
    )
    other, model = given.rename(trained / os.fsdecode(b"\xff.conllu")), str(trained / "model")
    outputs = ["-o", str(trained / "o.tsv"), "-o", str(trained / "o.json")]
    assert mh4("review", "--model", model, str(other), *outputs).returncode == 0
    assert table((trained / "o.tsv").read_text(encoding="utf-8"))[0]["file"] == r"\udcff.conllu"
    assert not table(mh4("review", "--model", model, str(other), "--since", str(trained / "o.tsv")).stdout.decode())
    other.rename(given)
    files = [str(trained / "cut.conllu"), str(empty), str(given)]
    done = mh4(*command, *files)
    assert done.returncode == 0 and b"empty.conllu: no sentences in it" in done.stderr
    assert mh4(*command, *files, "-o", str(trained / "o.tsv")).returncode == 0
    assert done.stdout == (trained / "o.tsv").read_bytes() and "\t\x9b" in done.stdout.decode()
    code, shown = on_a_terminal(*command, *files, streams=("stdout",))
    assert code == 0 and b"\t\\x9b" in shown and "\x9b".encode() not in shown
    assert mh4(*command, *files, "-o", str(out)).returncode == 0
    assert len(conllu.read(str(out))) == 2 * len(conllu.read(str(given)))
    assert "no sentences in it" in refuses(*command, str(empty))


def test_two_files_of_the_same_name(trained):
    """Files of the same name are distinguished by their folders, also with --since."""
    damaged(trained)
    (trained / "a").mkdir()
    files = [str(shutil.copy(trained / "damaged.conllu", trained / "a")), str(trained / "damaged.conllu")]
    command = ["review", "--model", str(trained / "model"), *files]
    assert mh4(*command, "-o", str(trained / "both.tsv")).returncode == 0
    first, *others = (trained / "both.tsv").read_text(encoding="utf-8").splitlines(keepends=True)
    assert {line.split("\t")[5] for line in others} == set(files)
    (trained / "both.tsv").write_text(first + "".join(line for line in others if files[0] in line), encoding="utf-8")
    rest = table(mh4(*command, "--since", str(trained / "both.tsv")).stdout.decode())
    assert len(rest) == len(others) // 2 and {row["file"] for row in rest} == {files[1]}
