"""The official scores of small files counted by hand, and of unusual but valid files."""

import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from running import mh4, refuses, succeeds

from mh4.analysis import evaluation, measures
from mh4.analysis.attachment import attachment_scores
from mh4.data import conllu
from mh4.errors import InputError

GOLD = [
    ("Az", "DET", 2, "det"),
    ("ember", "NOUN", 3, "nsubj"),
    ("lát", "VERB", 0, "root"),
    ("két", "NUM", 5, "nummod"),
    ("kutyát", "NOUN", 3, "obj:det"),
]


def as_conllu(rows, sent_id="s1"):
    lines = ["# sent_id = " + sent_id]
    for i, (form, upos, head, deprel) in enumerate(rows, start=1):
        lines.append("\t".join([str(i), form, form.lower(), upos, "_", "_", str(head), deprel, "_", "_"]))
    return "\n".join(lines) + "\n\n"


def as_tokens(text):
    """Return a sentence of space-separated tokens, each a word or token=word+word; the first word is the root."""
    lines, number = [], 0
    for token in text.split():
        form, multiword, words = token.partition("=")
        words = words.split("+") if multiword else [form]
        if multiword:
            lines.append("%d-%d\t%s" % (number + 1, number + len(words), form) + 8 * "\t_")
        for word in words:
            number += 1
            lines.append("%d\t%s\t_\t_\t_\t_\t%d\tdep\t_\t_" % (number, word, int(number > 1)))
    return "\n".join(lines) + "\n\n"


def changed(rows, **changes):
    """Return the rows with other heads and relations: word4=(head, deprel)."""
    rows = list(rows)
    for name, (head, deprel) in changes.items():
        i = int(name[4:]) - 1
        rows[i] = rows[i][:2] + (head, deprel)
    return rows


@pytest.fixture
def write(tmp_path):
    def write(name, *blocks):
        path = tmp_path / name
        path.write_text("".join(blocks), encoding="utf-8")
        return str(path)

    return write


def evaluated(gold, system):
    """Return the results for files that fit into a single chunk."""
    ((chunk, (of_system,)),) = evaluation.chunks(gold, [system])
    return evaluation.evaluate(chunk, of_system)


SYSTEM = changed(GOLD, word1=(3, "det"), word4=(5, "amod"), word5=(3, "obj"))  # one head wrong, one label wrong


def test_sentences_with_several_roots_are_scored_as_others(write):
    gold = write("gold", as_conllu(GOLD), as_conllu(changed(GOLD, word5=(0, "root"))))
    system = write("system", as_conllu(changed(GOLD, word2=(0, "nsubj"))), as_conllu(GOLD, "s2"))
    with pytest.warns(RuntimeWarning, match="1 sentence with several roots, which the official scorer refuses without") as said:
        scores = evaluation.official(gold, system)
    assert len(said) == 2
    piped = mh4("evaluate", gold, stdin=Path(system).read_text(encoding="utf-8")).stderr
    assert b"mh4: standard input: 1 sentence with several roots" in piped
    by_ours = attachment_scores(conllu.read(gold), conllu.read(system))
    assert {"uas": scores["UAS"].f1, "las": scores["LAS"].f1} == by_ours == {"uas": 80.0, "las": 80.0}


def test_scores(write):
    gold, system = write("gold", as_conllu(GOLD)), write("system", as_conllu(SYSTEM))
    scores = evaluation.official(gold, system)
    assert list(scores) == evaluation.METRICS
    assert scores["UAS"] == pytest.approx((80.0, 80.0, 80.0, 80.0))
    assert scores["LAS"] == pytest.approx((60.0, 60.0, 60.0, 60.0))
    # Content words: all but "Az". Of them, két is wrong; so are ember and lát, as their functional child "Az" moved.
    assert scores["CLAS"] == pytest.approx((75.0, 75.0, 75.0, 75.0))
    assert scores["MLAS"] == pytest.approx((25.0, 25.0, 25.0, 25.0))
    assert scores["BLEX"] == pytest.approx((75.0, 75.0, 75.0, 75.0))
    assert scores["Words"].f1 == scores["UPOS"].f1 == scores["Sentences"].f1 == 100.0
    assert scores["Sentences"].aligned_accuracy is None
    las = attachment_scores(conllu.read(gold), conllu.read(system))
    assert las == pytest.approx({"uas": scores["UAS"].f1, "las": scores["LAS"].f1})


def test_another_segmentation(write):
    """With kutyát split, 4 of 5 gold words align with 4 of 6 system words; of these, only két has a wrong head."""
    split = GOLD[:4] + [("kutyá", "NOUN", 3, "obj"), ("t", "ADP", 5, "case")]
    scores = evaluation.official(write("gold", as_conllu(GOLD)), write("system", as_conllu(split)))
    assert scores["Words"][:3] == pytest.approx((100 * 4 / 6, 100 * 4 / 5, 100 * 8 / 11))
    assert scores["UAS"] == pytest.approx((100 * 3 / 6, 100 * 3 / 5, 100 * 6 / 11, 100 * 3 / 4))


@pytest.mark.parametrize(
    "gold, system, partners",
    [
        ("a b c", "a b c", [0, 1, 2]),
        ("abc", "a b c", [-1, -1, -1]),
        ("abc d", "a b c d", [-1, -1, -1, 1]),
        ("abc=a+b+c", "a b c", [0, 1, 2]),
        ("abc=a+BX+c def=d+EX+f", "ab=a+b cd=c+d ef=e+f", [0, -1, 2, 3, -1, 5]),
        ("ab=a+b cd=bc+d", "a bc d", [0, -1, 3]),
    ],
)
def test_aligned_words(write, gold, system, partners):
    """Spans of multiword tokens (token=word+word) are aligned by the longest common subsequence of forms."""
    paths = write("gold", as_tokens(gold)), write("system", as_tokens(system))
    counts, gold_words = evaluated(*paths)
    assert gold_words.tolist() == partners
    assert counts["Words"].correct == sum(partner >= 0 for partner in partners)


@pytest.mark.parametrize("gold, system", [(499, 499), (502, 499), (499, 502)])
def test_long_multiword_tokens(write, gold, system):
    """Too many words in multiword tokens are rejected, because the scorer compares all their pairs."""
    first, second = ("a b " + "x" * 1000 + "=" + "+".join(["x"] * count) + " c d" for count in (gold, system))
    paths = write("gold", as_tokens("b"), as_tokens(first)), write("system", as_tokens("b"), as_tokens(second))
    if gold == system:
        assert evaluated(*paths)[0]["Words"].correct == gold + 5
        return
    found = "system, line 3, sentence 2: multiword tokens cover %d words here and %d in .*gold, line 3, sentence 2, too many"
    with pytest.raises(InputError, match=found % (system, gold)):
        evaluated(*paths)


def test_multiword_tokens_that_overlap(write):
    gold = "aa=" + "+".join("a" * 300) + " bb=" + "+".join("b" * 300) + " c"
    system = "a ab=" + "+".join("a" * 300) + " bc=" + "+".join("b" * 150)
    with pytest.raises(InputError, match="cover 451 words here and 600 in"):
        evaluated(write("gold", as_tokens(gold)), write("system", as_tokens(system)))


def test_a_scorer_that_does_not_compare_tags(write, monkeypatch):
    from udtools import udeval

    path = write("gold", as_conllu(GOLD))
    ((gold, (system,)),) = evaluation.chunks(path, [path])
    scores = udeval.evaluate(gold.representation, system.representation)
    monkeypatch.setattr(udeval, "evaluate", lambda gold, system: scores)
    with pytest.raises(InputError, match="does not show which words it aligns"):
        evaluation.evaluate(gold, system)


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text[:-1],
        lambda text: text.rstrip("\n"),
        lambda text: "\ufeff\n\n" + text + "\n\n" + text.replace("\n", "\r\n"),
        lambda text: text + "\ufeff" + text,
        lambda text: text.replace("\n2\t", "\n# between\n2\t"),
        lambda text: text.replace("\n2\t", "\n1.1\te\te" + "\t_" * 5 + "\tnonsense\t_\n2\t"),
        *(lambda text, deps=deps: text.replace("\t_\t_\n", "\t%s\t_\n" % deps) for deps in ("none", "99:dep", "x:y", "|")),
        lambda text: text.replace("\t3\t", "\t03\t"),
    ],
)
def test_what_our_reader_accepts_is_scored(write, change):
    path = write("odd", change(as_conllu(GOLD)))
    assert {name: score.f1 for name, score in evaluation.official(path, path).items()} == dict.fromkeys(evaluation.METRICS, 100)


def test_deep_trees_are_scored(write):
    chain = [("w", "X", i + 2, "dep") for i in range(3000)] + [("w", "X", 0, "root")]
    path = write("deep", as_conllu(chain))
    assert evaluation.official(path, path)["LAS"].f1 == 100


def test_threads_leave_the_process_as_it_was(write):
    """Scoring in threads restores the hook for warnings and the recursion limit."""
    roots = [("w", "X", 0, "root")] * 2
    path = write("deep", as_conllu([("w", "X", i + 2, "dep") for i in range(300)] + roots))
    with pytest.warns(RuntimeWarning, match="several roots"):
        before = warnings.showwarning, sys.getrecursionlimit()
        with ThreadPoolExecutor(4) as threads:
            found = list(threads.map(measures.evaluate, [path] * 16, [path] * 16))
        assert (warnings.showwarning, sys.getrecursionlimit()) == before
    assert all(scores["LAS"].f1 == 100 for scores in found)


def test_without_packages_under_the_gpl(write, monkeypatch):
    """Only `evaluate` and `view` on a terminal need udtools and udapi; the messages name them."""
    path = write("gold", as_conllu(GOLD))
    for name in ("udtools", "udapi", "udapi.core.root", "udapi.block.write.textmodetrees"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, "mh4.viewing.terminal", raising=False)
    for command, message in (
        (["evaluate", path, path], "the official scorer needs udtools, which is not installed: pip install "),
        (["view", path], "drawing trees as text needs udapi, which is not installed: pip install "),
    ):
        assert refuses(*command).startswith("mh4: " + message)
    assert succeeds("view", path, "--html", path + ".html") == b""
