"""Scoring in chunks gives the counts and the alignment of the official scorer on whole files, for any segmentation."""

import os
import subprocess
import tempfile
import threading
from pathlib import Path

import pytest
import segmented
from hypothesis import given, settings
from hypothesis import strategies as st
from running import COMMAND, succeeds
from test_evaluation import as_tokens

from mh4.analysis import comparison, evaluation, significance
from mh4.errors import InputError


def official_counts(gold, system):
    """Return the counts of udtools on the whole files."""
    from udtools import udeval

    found = udeval.evaluate(udeval.load_conllu_file(gold), udeval.load_conllu_file(system))
    every = {name: found[name] for name in evaluation.METRICS}
    return {
        name: evaluation.Counts(one.gold_total, one.system_total, one.correct, one.aligned_total) for name, one in every.items()
    }


def scored(gold, *systems):
    """Return the counts of each system, its alignment, and the number of words in each chunk of gold."""
    counts, partners, sizes = [{} for _ in systems], [[] for _ in systems], []
    for chunk, of_systems in evaluation.chunks(gold, systems):
        for totals, aligned, system in zip(counts, partners, of_systems):
            found = evaluation.evaluate(chunk, system)
            evaluation.add(totals, found.counts)
            aligned += [word + sum(sizes) if word >= 0 else -1 for word in found.gold_words.tolist()]
        sizes.append(sum(map(len, chunk.sentences)))
    return counts, partners, sizes


@pytest.fixture
def small_chunks(monkeypatch):
    monkeypatch.setattr(evaluation, "_CHUNK", 1)


@st.composite
def texts(draw, systems):
    """Files with the same text, any segmentation and some empty nodes."""
    files = []
    for text in draw(segmented.same_text(systems)):
        lines = []
        for line in text.split("\n"):
            lines.append(line)
            number = line.partition("\t")[0]
            if number.isdigit() and draw(st.integers(0, 9)) == 0:
                lines.append("%s.1\te" % number + "\t_" * 8)
        files.append("\n".join(lines))
    return files


def written(folder, files):
    """Write these texts into a folder; return their paths."""
    paths = [str(Path(folder) / str(k)) for k in range(len(files))]
    for path, text in zip(paths, files):
        Path(path).write_text(text, encoding="utf-8")
    return paths


@pytest.mark.slow
@settings(max_examples=300)
@given(texts(systems=2), st.integers(1, 4))
def test_the_same_counts_and_alignment(files, words):
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        gold, *systems = written(folder, files)
        whole, partners, sizes = scored(gold, *systems)
        assert len(sizes) == 1 and whole == [official_counts(gold, system) for system in systems]
        patch.setattr(evaluation, "_CHUNK", words)
        assert scored(gold, *systems)[:2] == (whole, partners)


@pytest.mark.slow
@settings(max_examples=50)
@given(texts(systems=2), st.integers(1, 4))
def test_the_same_comparison(files, words):
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(significance.compare, "__defaults__", (50, significance.SEED))
        patch.setattr(significance, "FEWEST", 1)
        paths = written(folder, files)
        whole = comparison.record(comparison.compare(*paths))
        patch.setattr(evaluation, "_CHUNK", words)
        assert comparison.record(comparison.compare(*paths)) == whole


@pytest.mark.parametrize("gold, system", [("abc|d=x+c", "a b c|d"), ("a b c|d", "abc|d=x+c")])
def test_a_word_can_be_aligned_across_the_end_of_a_sentence(small_chunks, tmp_path, gold, system):
    """After "abc", the scorer aligns a word of the multiword token with one in the next sentence of the other file."""
    paths = written(tmp_path, ["".join(map(as_tokens, text.split("|"))) for text in (gold, system)])
    counts, _, sizes = scored(*paths)
    assert len(sizes) == 1 and counts == [official_counts(*paths)] and counts[0]["Words"].correct == 1


@pytest.mark.parametrize("tokens", ["a b c", "ab=a+b c", "c ab=a+b", "ab=a+b"])
def test_files_are_cut_where_they_can(small_chunks, tmp_path, tokens):
    """Files with the same tokens are cut after every sentence."""
    (path,) = written(tmp_path, [5 * as_tokens(tokens)])
    assert len(scored(path, path, path)[2]) == 5


def test_files_that_never_meet(small_chunks, tmp_path):
    """Files without a common sentence end are a single chunk, which is read in linear time."""
    gold = as_tokens("a") + 200 * as_tokens("a a")
    system = 200 * as_tokens("a a") + as_tokens("a")
    paths = written(tmp_path, [gold, system])
    counts, _, sizes = scored(*paths)
    assert sizes == [401] and counts == [official_counts(*paths)]


@pytest.mark.parametrize(
    "system, message",
    [
        (as_tokens("x y"), "SYSTEM, line 13: 'xyababab', but GOLD, line 13: 'abababab'"),
        (as_tokens("a xb"), "SYSTEM, line 14: 'xbababab', but GOLD, line 14: 'bababab'"),
        ("", "SYSTEM: the end, but GOLD, line 22: 'ab'"),
        (2 * as_tokens("a b"), "SYSTEM, line 25: 'ab', but GOLD: the end"),
        ("#\n\n" + as_tokens("a b"), "SYSTEM, line 13, sentence 5: the sentence has no words"),
        ("\n#\n" + as_tokens("x b"), "SYSTEM, line 15: 'xbababab', but GOLD, line 13: 'abababab'"),
        (as_tokens("a b").replace("\tdep", ""), "SYSTEM, line 13, sentence 5: 9 columns, expected 10"),
    ],
)
@pytest.mark.parametrize("words", [1, 1000])
def test_messages_have_the_place_in_the_file(tmp_path, monkeypatch, system, message, words):
    """An error in the fifth of eight sentences is reported with its line in the file, for any size of chunks."""
    monkeypatch.setattr(evaluation, "_CHUNK", words)
    paths = written(tmp_path, [8 * as_tokens("a b"), 4 * as_tokens("a b") + system + 3 * as_tokens("a b")])
    with pytest.raises(InputError) as error:
        scored(*paths)
    error.match("^" + message.replace("GOLD", paths[0]).replace("SYSTEM", paths[1]))


@pytest.mark.slow
@pytest.mark.parametrize("command", [["evaluate"], ["compare", "--json"]])
def test_gold_is_read_once(tmp_path, command):
    """Gold can be a pipe, even for several systems."""
    paths = written(tmp_path, [2000 * as_tokens("a b"), 1000 * as_tokens("a b ab"), 2000 * as_tokens("ab=a+b")])
    expected = succeeds(*command, *paths).replace(paths[0].encode(), b"GOLD")
    assert succeeds(*command, "-", *paths[1:], stdin=Path(paths[0]).read_bytes()).replace(b'"-"', b'"GOLD"') == expected
    pipe = str(tmp_path / "pipe")
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: Path(pipe).write_bytes(Path(paths[0]).read_bytes()))
    writer.start()
    done = subprocess.run([*COMMAND, *command, pipe, *paths[1:]], stdout=-1, stderr=-1, timeout=300)
    writer.join()
    assert done.stdout.replace(pipe.encode(), b"GOLD") == expected, done.stderr
