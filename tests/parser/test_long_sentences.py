"""Sentences that are too long are decoded by another search, in windows, or not at all; all others as usual."""

import re

import conllu as conllu_package
import numpy as np
import pytest
import toy

from mh4 import trees
from mh4.analysis.attachment import attachment_scores
from mh4.data.sentence import Sentence
from mh4.decoders import arguments
from mh4.errors import InputError, OutOfMemory
from mh4.parser import long_sentences
from mh4.parser.ensemble import Ensemble, SentenceWithVotes
from mh4.parser.long_sentences import BEYOND_BEAM
from mh4.parser.parsing import Parser


@pytest.fixture(scope="module")
def sentences(sentences):
    return sentences[:40]


@pytest.fixture(scope="module")
def models(sentences):
    """Untrained models."""
    several = toy.small("scorer.single_root=false")
    made = {name: toy.untrained(name, sentences) for name in ("mh4-hybrid", "mst", "1ec", "greedy-mh4")}
    return {**made, "several roots": toy.untrained("mst", sentences, settings=several)}


def long(sentences, n):
    words = [word for sentence in sentences for word in sentence.words][:n]
    return Sentence(words, upos=["X"] * n, xpos=["_"] * n, feats=["_"] * n, name="long")


def test_longer_sentences_are_decoded_otherwise(models, sentences):
    n = 8
    for name, how in (("mh4-hybrid", "beam"), ("1ec", None), ("1ec", "mst"), ("greedy-mh4", "beam")):
        parser = Parser(models[name])
        found = long_sentences.parse(parser, sentences, n, how)
        expected = parser.parse(sentences)
        if how == "beam":
            others, said = Parser(models[name], "beam", BEYOND_BEAM).parse(sentences), "beam %d" % BEYOND_BEAM
        else:
            others, said = expected, "mst"
        assert {len(s) > n for s in sentences} == {True, False}
        for k, sentence in enumerate(sentences):
            if len(sentence) <= n:
                assert found[k] == expected[k]
            else:
                assert found[k].note == "%s, %d words are more than the limit of %d" % (said, len(sentence), n)
                assert name == "1ec" or (found[k].heads == others[k].heads).all()
                arguments.tree(found[k].heads, len(sentence))


@pytest.mark.filterwarnings("ignore:.*temperature 1")
@pytest.mark.parametrize("options", [{}, {"best": 2}, {"longest": 2}, {"longest": 2, "beyond": "skip"}, "windows"], ids=str)
def test_nothing_of_an_earlier_parse_stays(models, sentences, monkeypatch, options):
    """A sentence from a parse gets the same results as its words alone, also from an ensemble."""
    parser, words = Parser(models["mh4-hybrid"]), [sentences[0].words]
    (best,) = parser.parse(words, best=3, transitions=True)
    (probable,) = parser.parse(words, confidence=True)
    assert len(best.alternatives) == 2 and best.transitions is not None and probable.label_probabilities is not None
    if options == "windows":
        options = {"longest": 2}
        monkeypatch.setattr(long_sentences, "window", lambda parser: 3)
        monkeypatch.setattr(long_sentences, "_SHORTEST", 1)
    for again in (parser, *(() if "best" in options else [Ensemble([parser])])):
        expected = again.parse(words, **options)
        for earlier in (best, probable):
            assert again.parse([earlier], **options) == expected


@pytest.mark.parametrize("size", [30, 47, 1000])
@pytest.mark.parametrize("name", ["mh4-hybrid", "mst", "several roots", "greedy-mh4"])
def test_windows(models, sentences, monkeypatch, name, size):
    """Each window is parsed like a sentence. A single root is that of the first window."""
    monkeypatch.setattr(long_sentences, "window", lambda parser: size)
    sentence, parser = long(sentences, 141), Parser(models[name])
    (found,) = long_sentences.parse(parser, [sentence], 20, tags=True)
    arguments.tree(found.heads, 141)
    assert found.words == sentence.words and len(found.deprels) == len(found.upos) == 141
    assert ("in windows of up to %d words" % size in found.note) == (size < 141)
    number = -(-141 // size)
    _, other = long_sentences._otherwise(parser, None)
    starts = [141 * k // number for k in range(number + 1)]
    pieces = other.parse([Sentence(sentence.words[a:b]) for a, b in zip(starts, starts[1:])], tags=True)
    assert found.upos == [tag for piece in pieces for tag in piece.upos]
    assert max(map(len, pieces)) <= size and max(map(len, pieces)) - min(map(len, pieces)) <= 1
    (first, *_) = np.flatnonzero(pieces[0].heads[1:] == 0) + 1
    for start, piece in zip(starts, pieces):
        for m, head in enumerate(piece.heads[1:].tolist(), start=1):
            attached = head == 0 and start and name != "several roots"
            assert found.heads[start + m] == (first if attached else head and start + head)
            assert found.deprels[start + m - 1] == ("dep" if attached else piece.deprels[m - 1])
    if name != "several roots":
        assert (found.heads[1:] == 0).sum() == 1


def test_python_has_the_same_rule(models, sentences, monkeypatch):
    """Parser.parse has the same trees and notes as long_sentences.parse, and Parser.test their scores."""
    parser, ensemble = Parser(models["mh4-hybrid"]), Ensemble([Parser(models["mh4-hybrid"]), Parser(models["mst"])])
    done = []
    for either in (parser, ensemble):
        for beyond in (None, "beam", "skip") if either is parser else (None, "skip"):
            expected = long_sentences.parse(either, sentences, 8, beyond)
            assert {s.note == "" for s in expected} == {True, False}
            assert either.parse(sentences, longest=8, beyond=beyond, progress=done.append) == expected
    assert sum(done) == 5 * sum(map(len, sentences))
    monkeypatch.setattr(long_sentences, "default", lambda parser, confidence=False: 8)
    long = sum(len(s) > 8 for s in sentences)
    with pytest.warns(RuntimeWarning, match=r"%d of %d sentences were decoded otherwise" % (long, len(sentences))):
        scores = parser.test(sentences)
    assert scores == attachment_scores(sentences, long_sentences.parse(parser, sentences, 8))
    for wrong, said in (
        ({"longest": 0}, "longest is 0, expected"),
        ({"longest": True}, "longest is True, expected"),
        ({"beyond": "never"}, "no way to decode long"),
    ):
        with pytest.raises(InputError, match=said):
            parser.parse(sentences[:1], **wrong)


def test_a_skipped_token_list_is_as_it_was(models):
    text = "# mh4 = mst, once\n1\ta\t_\tX\t_\t_\t0\tgold\t0:gold\tArcProb=0.5\n1.1\tb" + 8 * "\t_" + "\n\n"
    (given,) = conllu_package.parse(text)
    (found,) = Parser(models["mst"]).parse([given], longest=1)
    assert "ArcProb" not in found.serialize() and "1.1" not in found.serialize()
    (given,) = conllu_package.parse(text.replace("1.1\t", "2\tc" + 4 * "\t_" + "\t1\tx\t_\t_\n2.1\t"))
    (found,) = Parser(models["mst"]).parse([given], longest=1, beyond="skip", tags=True, keep_deps=True)
    skipped = given.serialize().replace("mst, once", "skipped, 2 words are more than the limit of 1")
    assert found.serialize() == skipped
    (found,) = Parser(models["mst"]).parse([given], longest=1, beyond="skip")
    assert found.serialize() == re.sub(r"2\.1\t.*\n", "", skipped).replace("0:gold", "_")


@pytest.mark.parametrize(
    "name, how, said",
    [
        ("mst", "beam", "no beam search, which beyond=beam needs: choose mst or skip"),
        ("1ec", "beam", "no beam search, which beyond=beam needs: choose mst or skip"),
        ("mh4-hybrid", "mst", "no scores of arcs, which beyond=mst needs: choose beam or skip"),
        ("greedy-mh4", "mst", "no scores of arcs, which beyond=mst needs: choose beam or skip"),
    ],
)
def test_what_a_system_cannot_do_is_refused(models, sentences, name, how, said):
    """The error does not depend on the length of sentences."""
    for given in (sentences, sentences[:1]):
        with pytest.raises(InputError, match="%s has %s" % (name, said)):
            long_sentences.parse(Parser(models[name]), given, None, how)


def test_what_is_decoded_as_usual_is_not_called_too_long(models, sentences):
    """Long sentences that are decoded by the usual search have a note only if they lack probabilities."""
    mh4_hybrid, spanning, greedy = models["mh4-hybrid"], models["mst"], models["greedy-mh4"]
    for model, decode, width, said in (
        (mh4_hybrid, "greedy", None, "greedy"),
        (mh4_hybrid, "beam", 3, "beam 3"),
        (spanning, None, None, "mst"),
        (greedy, None, None, "greedy"),
    ):
        parser = Parser(model, decode, width)
        expected = parser.parse(sentences[:5])
        for given in (parser, Ensemble([parser])):
            found = long_sentences.parse(given, sentences[:5], 1)
            assert all((a.heads == b.heads).all() and not a.note for a, b in zip(found, expected))
        if model is not greedy:
            found = long_sentences.parse(parser, sentences[:5], 1, confidence=True)
            assert all((a.heads == b.heads).all() for a, b in zip(found, expected))
            assert all(s.note.startswith(said + ", ") and s.probabilities is None for s in found)
    found = long_sentences.parse(Ensemble([Parser(spanning)], "mh4"), sentences[:5], 1)  # not by votes for trees of MH4
    assert all(s.note.startswith("mst, ") for s in found)
    votes = [SentenceWithVotes(s.words, votes=[parsed]) for s, parsed in zip(sentences[:5], expected)]
    assert not any(s.note for s in long_sentences.parse(Ensemble([]), votes, 1))


class Forgetful(Parser):
    """A parser that has memory for sentences of up to `room` words."""

    room = 0

    def parse_as_usual(self, sentences, **options):
        if max(map(len, sentences), default=0) > Forgetful.room:
            raise OutOfMemory("a sentence is too long")
        return super().parse_as_usual(sentences, **options)


@pytest.mark.parametrize("room", [10_000, 40, 12])
def test_memory_that_runs_out(models, sentences, monkeypatch, room):
    """If memory runs out, sentences are parsed in windows as long as memory allows."""
    monkeypatch.setattr(Forgetful, "room", room)
    monkeypatch.setattr(long_sentences, "_SHORTEST", 5)
    short, parser = [s for s in sentences if len(s) <= 12], Forgetful(models["mh4-hybrid"])
    given = [*short[:5], long(sentences, 150), *short[5:]]
    found = long_sentences.parse(parser, given)
    expected = Parser(models["mh4-hybrid"]).parse(short)
    assert len(found) == len(given) and [s.words for s in found] == [s.words for s in given]
    assert [*found[:5], *found[6:]] == expected
    if room == 10_000:
        assert not found[5].note
        return
    size = int(
        re.fullmatch(r"beam 64 in windows of up to (\d+) words, there was not enough memory for 150 words", found[5].note)[1]
    )
    assert size <= room < 2 * size + 2
    arguments.tree(found[5].heads, 150)


def test_no_memory_at_all(models, sentences, monkeypatch):
    monkeypatch.setattr(Forgetful, "room", 0)
    found = long_sentences.parse(Forgetful(models["mh4-hybrid"]), sentences[:3])
    assert all(s.heads is None and s.note.startswith("skipped, there was not enough memory for") for s in found)
    assert [s.note for s in Forgetful(models["mh4-hybrid"]).parse(sentences[:3], beyond="skip")] == [s.note for s in found]
    with pytest.raises(
        OutOfMemory, match=re.escape("%s: not enough memory to parse %d words" % (sentences[0].name, len(sentences[0])))
    ):
        Forgetful(models["mh4-hybrid"]).parse(sentences[:3])


# ----------------------------------------------------------------------------------------------------------- ensembles


def test_ensembles(models, sentences, monkeypatch):
    ensemble = Ensemble([Parser(models[name]) for name in ("mh4-hybrid", "mst")])
    found = long_sentences.parse(ensemble, sentences, 8)
    expected = ensemble.parse(sentences)
    members = [Parser(models["mh4-hybrid"], "beam", BEYOND_BEAM), Parser(models["mst"])]
    others = Ensemble(members).parse(sentences)
    for k, sentence in enumerate(sentences):
        note = "beam 64 and mst, %d words are more than the limit of 8" % len(sentence) if len(sentence) > 8 else ""
        assert found[k].note == note and (found[k].heads == (others if note else expected)[k].heads).all()
    monkeypatch.setattr(long_sentences, "window", lambda parser: 50)
    (whole,) = long_sentences.parse(ensemble, [long(sentences, 120)], 60)
    arguments.tree(whole.heads, 120)
    assert whole.note.startswith("beam 64 and mst in windows of up to 50 words, ")


def test_votes_are_for_whole_sentences(monkeypatch):
    """Votes are combined without windows. Sentences for which memory runs out are skipped."""
    heads = np.arange(-1, 100, dtype=np.int32)
    vote = Sentence(["w"] * 100, heads=heads, deprels=["x"] * 100)
    given = SentenceWithVotes(["w"] * 100, upos=["_"] * 100, xpos=["_"] * 100, feats=["_"] * 100, votes=[vote])
    (found,) = long_sentences.parse(Ensemble([]), [given])
    assert found.note == "" and (found.heads == heads).all()
    monkeypatch.setattr(long_sentences, "window", lambda parser: 30)
    (found,) = long_sentences.parse(Ensemble([]), [given], 50)
    assert found.note == "" and (found.heads == heads).all()
    (found,) = long_sentences.parse(Ensemble([], "mh4"), [given], 50)
    assert found.note == "votes, 100 words are more than the limit of 50" and (found.heads == heads).all()

    def none(*arguments, **options):
        raise MemoryError

    monkeypatch.setattr(trees, "best", none)
    (found,) = long_sentences.parse(Ensemble([]), [given])
    assert found.heads is None and found.note == "skipped, there was not enough memory for 100 words"
