"""The inputs of commands: files, folders of files, and pipes."""

import gzip
import json
import os
import shutil
import subprocess
import warnings
from pathlib import Path

import pytest
from running import COMMAND, mh4, refuses, succeeds

from mh4.analysis import evaluation
from mh4.data import conllu


@pytest.fixture(scope="module")
def folder(treebank, tmp_path_factory):
    """A folder with two treebanks."""
    made = tmp_path_factory.mktemp("treebanks")
    for name, split in (("b.conllu", "test"), ("a.conllu", "dev")):
        (made / name).write_bytes((treebank / ("toy-ud-%s.conllu" % split)).read_bytes())
    (made / ".hidden.conllu").write_text("no treebank")
    return made


@pytest.fixture(scope="module")
def whole(folder, tmp_path_factory):
    """The files of the folder in one."""
    path = tmp_path_factory.mktemp("whole") / "whole.conllu"
    path.write_bytes(b"".join((folder / name).read_bytes() for name in ("a.conllu", "b.conllu")))
    return path


@pytest.fixture(scope="module")
def parsed(folder, tmp_path_factory):
    """The folder with other labels: all are "dep" except those of dependents of the root."""
    made = tmp_path_factory.mktemp("parsed")
    for name in ("a.conllu", "b.conllu"):
        rows = [line.split("\t") for line in (folder / name).read_text(encoding="utf-8").split("\n")]
        for row in rows:
            if row[0].isdigit() and row[6] != "0":
                row[7] = "dep"
        (made / name).write_text("\n".join("\t".join(row) for row in rows), encoding="utf-8")
    return made


@pytest.mark.slow
def test_a_folder_is_its_files(folder, whole, parsed):
    rows = succeeds("coverage", str(folder)).decode().splitlines()
    assert [row.split()[0] for row in rows[2:5]] == ["a.conllu", "b.conllu", "total"]
    assert rows[4].split()[1:] == succeeds("coverage", str(whole)).decode().splitlines()[2].split()[1:]
    scores = succeeds("evaluate", str(folder), str(parsed))
    assert scores == succeeds("evaluate", str(whole), str(parsed)) == succeeds("evaluate", str(folder), str(parsed))
    (las,) = (line for line in scores.decode().splitlines() if line.startswith("LAS"))
    assert 0 < float(las.split("|")[3]) < 100
    assert b"160 sentences" in succeeds("compare", str(folder), str(parsed), str(whole))
    assert succeeds("view", str(folder)).count(b"\n# ") == succeeds("view", str(whole)).count(b"\n# ") > 150


def test_what_is_written_of_a_folder_is_read_as_the_folder_is(treebank, tmp_path):
    """Outputs for a folder with all kinds of files are read in the same order as the folder."""
    given, out, text = tmp_path / "given", tmp_path / "out", (treebank / "toy-ud-test.conllu").read_text(encoding="utf-8")
    (given / "sub").mkdir(parents=True)
    for k, name in enumerate(("U.CONLLU", "a.CONLLU", "a.conllu", "sub/a.conllu", "z.conllu.gz")):
        content = "".join(block + "\n\n" for block in text.split("\n\n")[k : k + 2]).encode()
        (given / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    (given / "empty.conllu").write_text("\n")
    folders = str(given), str(out)
    for vote, to in zip(folders, (out, tmp_path / "again")):
        assert mh4("ensemble", "--vote", vote, str(given), "-o", str(to), "--quiet").stderr == b""
        names = ["U.conllu", "a-2.conllu", "a.conllu", "empty.conllu", "sub/a.conllu", "z.conllu.gz"]
        assert sorted(str(path.relative_to(to)) for path in to.rglob("*") if path.is_file()) == names
    for command in (["coverage"], ["evaluate", folders[0]], ["evaluate", folders[1]], ["compare", *folders], ["view"]):
        one, other = (mh4(*command, folder) for folder in folders)
        assert one.returncode == other.returncode == 0
        assert b"empty.conllu: no sentences in it" in one.stderr and b"/given" not in other.stderr.replace(b"given/empty", b"")
        rows = [done.stdout.replace(folders[0].encode(), folders[1].encode()).splitlines()[2:] for done in (one, other)]
        assert [row.split()[1:] for row in rows[0]] == [row.split()[1:] for row in rows[1]]
    las = next(line for line in mh4("evaluate", *folders).stdout.decode().splitlines() if line.startswith("LAS"))
    assert las.split("|")[1:4] == 3 * ["    100.00 "]
    assert "would overwrite" in refuses("parse", "--model", "m", "--rejects", str(given / "sub" / "a.conllu"), str(given))
    said = "new.conllu would be in %s, and be read the next time: choose another output" % given
    for option in ("--html", "--svg"):
        command = ["view", "--sentence", "1", str(given), option, str(tmp_path / "new.conllu")]
        assert "expected a name that ends in ." in refuses(*command)
    assert said in refuses("parse", "--model", "m", "--rejects", str(given / "new.conllu"), str(given), "-o", str(given / "out"))
    votes, to = out.rename(given / "votes"), tmp_path / "voted"  # votes inside the input folder are not input
    assert mh4("ensemble", "--vote", str(votes), str(given), "-o", str(to), "--quiet").returncode == 0
    assert sorted(str(path.relative_to(to)) for path in to.rglob("*") if path.is_file()) == names
    for path in filter(Path.is_file, given.rglob("*")):
        path.write_bytes(b"")
    assert "U.CONLLU: no sentences in it, expected CoNLL-U" in refuses("coverage", str(given))


def test_each_file_once(folder):
    """Each file is read once, however often it is given, by itself or in a folder."""
    several = str(folder), os.path.join(folder, "..", folder.name, "a.conllu"), str(folder)
    once, more = (json.loads(succeeds("coverage", "--json", *given)) for given in (several[:1], several))
    assert once == more and len(once["files"]) == 2


def test_the_output_may_be_a_folder_in_the_input(folder, tmp_path):
    """An output folder inside the input is not read the next time."""
    given = shutil.copytree(folder, tmp_path / "given")
    for _ in range(2):
        done = mh4("ensemble", "--vote", str(folder), str(given), "-o", str(given / "out"))
        assert done.returncode == 0, done.stderr
        assert sorted(path.name for path in (given / "out").iterdir()) == ["a.conllu", "b.conllu"]
    for command in ("evaluate", "compare"):
        names = [str(given / "out")] * (1 + (command == "compare"))
        one, other = (mh4(command, gold, *names) for gold in (str(given), str(folder)))
        assert one.returncode == other.returncode == 0 and one.stdout.splitlines()[1:] == other.stdout.splitlines()[1:]
    assert mh4("view", str(given), str(given / "out")).returncode == 0


def test_trees_of_skipped_sentences_are_not_passed_off_as_predicted(treebank, tmp_path):
    gold, parsed = treebank / "toy-ud-test.conllu", tmp_path / "parsed.conllu"
    note = "# mh4 = skipped, 500 words are more than the limit of 400\n"
    text = gold.read_text(encoding="utf-8")
    parsed.write_text(note + text.replace("\n\n", "\n\n" + note, 1), encoding="utf-8")
    said = "mh4: %s: 2 sentences were skipped by a parser, as the comment # mh4 = skipped says, and have the tree of its input\n"
    for command in (["evaluate", str(gold)], ["compare", str(gold), str(gold)], ["coverage"], ["view", str(gold)]):
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # as PYTHONWARNINGS=error: commands print messages, not Python's warnings
            done = mh4(*command, str(parsed))
        assert done.returncode == 0 and done.stderr.decode() == said % parsed
    done = mh4("ensemble", "--vote", str(parsed), str(gold))
    assert done.returncode == 0 and done.stderr.decode() == said % parsed
    with pytest.warns(RuntimeWarning, match="2 sentences were skipped"):
        evaluation.official(str(gold), str(parsed))


def test_members_of_an_ensemble_vote_on_text_that_is_split(treebank, tmp_path):
    gold, text, out = treebank / "toy-ud-test.conllu", tmp_path / "texts" / "toy-ud-test.txt", tmp_path / "out"
    text.parent.mkdir()
    (treebank / "votes").mkdir()
    shutil.copy(gold, treebank / "votes")
    text.write_text("".join(" ".join(sentence.words) + "\n" for sentence in conllu.read(str(gold))), encoding="utf-8")
    for vote, given, written in ((gold, text, out), (treebank / "votes", text.parent, out / "toy-ud-test.conllu")):
        done = mh4("ensemble", "--vote", str(vote), "--input", "horizontal", str(given), "-o", str(out))
        assert done.returncode == 0, done.stderr
        trees = [[sentence.heads.tolist() for sentence in conllu.read(str(file))] for file in (gold, written)]
        assert trees[0] == trees[1]
        out.unlink() if out.is_file() else None
    assert "--text needs --segmenter" in refuses("ensemble", "--vote", str(gold), "--text", str(text))


def test_what_is_left_out_of_a_folder_is_said(folder, tmp_path):
    copy = shutil.copytree(folder, tmp_path / "copy")
    for name in ("README", "a.conllu~", "d.conll", "e.txt", "f.txt"):
        (copy / name).touch()
    (copy / "c.conllu").mkdir()
    (copy / "c.conllu" / "c").touch()
    done = mh4("coverage", str(copy))
    assert done.returncode == 0 and done.stdout == succeeds("coverage", str(folder))
    left_out = "left out: README, a.conllu~, c.conllu/c, d.conll, e.txt, and 1 more"
    assert done.stderr.decode() == "mh4: %s: only .conllu files are read; %s\n" % (copy, left_out)


@pytest.mark.slow
def test_messages_name_the_file_in_the_folder(folder, tmp_path):
    copy = tmp_path / "copy"
    copy.mkdir()
    (copy / "a.conllu").write_bytes((folder / "a.conllu").read_bytes())
    assert "%s has no b.conllu, which is in %s" % (copy, folder) in refuses("evaluate", str(folder), str(copy))
    assert "%s has no b.conllu, which is in %s" % (copy, folder) in refuses("compare", str(copy), str(copy), str(folder))
    lines = (folder / "b.conllu").read_text(encoding="utf-8").split("\n")
    first = next(k for k, line in enumerate(lines) if line.startswith("1\t"))
    lines[first] = "\t".join(["1", "other", *lines[first].split("\t")[2:]])
    (copy / "b.conllu").write_text("\n".join(lines), encoding="utf-8")
    line = refuses("evaluate", str(folder), str(copy))
    assert "%s, line %d: 'other" % (copy / "b.conllu", first + 1) in line
    assert "%s, line %d: " % (folder / "b.conllu", first + 1) in line
    lines[first] = "1\tno word"
    (copy / "b.conllu").write_text("\n".join(lines), encoding="utf-8")
    for arguments in (["coverage", str(copy)], ["evaluate", str(folder), str(copy)], ["view", str(copy)]):
        done = mh4(*arguments)
        assert done.returncode == 2 and ("%s, line %d, " % (copy / "b.conllu", first + 1)).encode() in done.stderr
    (tmp_path / "none").mkdir()
    for command in ("coverage", "view"):
        assert "none: no .conllu files in this folder" in refuses(command, str(tmp_path / "none"))


def test_votes_for_a_folder_are_folders(folder, parsed, tmp_path):
    line = refuses("ensemble", "--vote", str(parsed / "a.conllu"), str(folder), "-o", str(tmp_path / "new"))
    assert "each --vote has to be a folder" in line and not (tmp_path / "new").exists()
    assert "name a folder for them, -o FOLDER" in refuses("ensemble", "--vote", str(parsed), str(folder))


TRAIN = "train --system mst --train no --dev no --model m --log"


@pytest.mark.parametrize(
    "command", [TRAIN, "review --model m no -o", "segmenter train no --dev no -o", "coverage no --plot", "compare no no --plot",
                "curves no -o", "view no --html", "view no --svg", "pack no -o", "serve no --model m -o"]
)  # fmt: skip
def test_outputs_that_cannot_be_written_are_named_before_work_starts(command, tmp_path):
    said = refuses(*command.split(), str(tmp_path / "none" / "new.html"))
    assert "new.html: cannot be written: its folder does not exist" in said


@pytest.mark.parametrize("command", [TRAIN, "segmenter train no --dev no -o", "pack no -o"])
def test_outputs_that_cannot_be_compressed(command, tmp_path):
    assert "new.GZ: cannot be compressed, so choose another name" in refuses(*command.split(), str(tmp_path / "new.GZ"))


@pytest.mark.slow
@pytest.mark.parametrize("command", [["coverage"], ["view"], ["evaluate", "GOLD"], ["ensemble", "--vote", "GOLD"]])
def test_what_is_piped_in_needs_no_name(command, folder, parsed):
    command = [str(folder / "a.conllu") if word == "GOLD" else word for word in command]
    piped = parsed / "a.conllu"
    named = succeeds(*command, "-", stdin=piped.read_bytes())
    assert named == succeeds(*command, stdin=piped.read_bytes())  # a pipe
    with open(piped, "rb") as file:
        assert subprocess.run(COMMAND + command, stdin=file, stdout=-1, check=True).stdout == named
    if command[0] != "evaluate":
        assert succeeds(*command, str(piped), stdin=b"not read") == succeeds(*command, str(piped))
    done = subprocess.run(COMMAND + command, stdin=subprocess.DEVNULL, stdout=-1, stderr=-1)
    assert done.returncode == 2 and b"Name a file or a folder, or pipe a file in." in done.stderr


def test_options_of_data_that_would_have_no_effect(treebank, tmp_path):
    ud, to = str(treebank), str(tmp_path / "to")
    assert "--ud uses files where they are" in refuses("data", "hu", "--ud", ud, "--to", to)
    assert "nothing is fetched, so --source lindat has no effect" in refuses("data", "toy", "--source", "lindat")
    assert "cannot be taken from %s" % ud in refuses("data", "toy", "--ud", ud)
    assert not Path(to).exists()
