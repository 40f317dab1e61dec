"""Loading parsers, what they parse, and the labels, tags and errors of a parse."""

import os
from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest
import toy
from conllu.models import TokenList

import mh4
from mh4.data.sentence import Sentence
from mh4.errors import InputError, OutOfMemory
from mh4.parser.parsing import Parser
from mh4.parser.systems import SYSTEMS


def test_untrained_parsers_label_roots_too(tmp_path):
    """Dependents of the root, and only these, are labelled root, also if there may be several."""
    sentences = toy.sentences(tmp_path)[:20]
    for several in (False, True):
        settings = toy.small("scorer.single_root=%s" % str(not several).lower())
        model = toy.untrained("mst", sentences, settings=settings)
        parsed = Parser(model).parse(sentences)
        for sentence in parsed:
            assert [deprel == "root" for deprel in sentence.deprels] == (sentence.heads[1:] == 0).tolist()
        assert any((sentence.heads[1:] == 0).sum() > 1 for sentence in parsed) == several


def test_running_out_of_memory_names_the_sentence(tmp_path, monkeypatch):
    """The error names the sentence that a decoder had no memory for, or the longest sentence of the network."""
    sentences = toy.sentences(tmp_path)[:40]
    parser = Parser(toy.untrained("mst", sentences))
    decode, unlucky = parser.decode, sentences[17]

    def limited(arcs, single_root):
        if len(arcs) == len(unlucky) + 1:
            raise MemoryError("a sentence of %d words needs 5 MB" % len(unlucky))
        return decode(arcs=arcs, single_root=single_root)

    parser.decode = limited
    first = next(s for s in sentences if len(s) == len(unlucky))
    with pytest.raises(OutOfMemory) as error:
        parser.parse_as_usual(sentences)
    n = len(unlucky)
    assert str(error.value) == "%s: not enough memory to parse %d words: a sentence of %d words needs 5 MB" % (first.name, n, n)
    assert isinstance(error.value, InputError) and isinstance(error.value, MemoryError)

    parser.decode = decode
    with monkeypatch.context() as patch:
        most = max(map(len, sentences))
        for message, said in (("the network needs 5 MB", ": the network needs 5 MB"), ("std::bad_alloc", ""), ("", "")):
            patch.setattr(parser.model, "encoder", raising(MemoryError(message)))
            with pytest.raises(OutOfMemory, match="not enough memory to parse %d words%s$" % (most, said)):
                parser.parse_as_usual(sentences)
        patch.setattr(parser.model, "encoder", raising(RuntimeError("something else")))
        with pytest.raises(RuntimeError, match="something else"):
            parser.parse_as_usual(sentences)
    assert len(parser.parse_as_usual(sentences)) == len(sentences)
    assert parser.parse([]) == []


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """The folder of a parser."""
    folder = tmp_path_factory.mktemp("saved")
    toy.untrained("mst", toy.sentences(folder)[:30], folder)
    return folder


@pytest.mark.slow
def test_paths_of_models(saved, tmp_path, monkeypatch):
    """Paths may be of any type. An empty path, which is not the current folder, is an error."""

    class Elsewhere:
        def __fspath__(self):
            return os.fsencode(saved)

    for path in (str(saved), saved, bytes(saved), Elsewhere()):
        assert isinstance(mh4.load(path), Parser) and isinstance(Parser.load(path), Parser)
        for several in ([path, saved], (path,), iter([path, path])):
            assert isinstance(mh4.load(several), mh4.Ensemble)
    monkeypatch.chdir(saved)
    for path in ("", b"", "a\0", b"\0", None, 1, 1.5, bytearray(b"x"), [""], [None], [[saved]], [], {}, object()):
        with pytest.raises(InputError, match="^no model (can be loaded from|to load)"):
            mh4.load(path)
    with pytest.raises(InputError, match="config.toml: damaged, or not a model: expected the folder of one"):
        mh4.load(saved / "config.toml")
    for path in ("a\nb", b"\xff", "config.toml/x"):
        with pytest.raises(InputError, match="no config.toml there"):
            mh4.load(path)
    (tmp_path / "loop").symlink_to("loop")
    for path, why in (("x" * 10_000, "File name too long"), (tmp_path / "loop", "Too many levels of symbolic links")):
        with pytest.raises(InputError, match="cannot be read: " + why):  # as in the folder of another user
            mh4.load(path)


def test_options_of_load(saved):
    for how in ("best", "", 1, ["exact"], b"exact", "mbr "):
        with pytest.raises(InputError, match="no decoding"):
            mh4.load(saved, how)
    for tree in ("", "any", 1, ["mst"]):
        with pytest.raises(InputError, match="no class of trees"):
            mh4.load([saved], tree=tree)
    with pytest.raises(InputError, match="tree is for an ensemble"):
        mh4.load(saved, tree="mst")
    with pytest.raises(InputError, match="an ensemble decode by their defaults"):
        mh4.load([saved], "exact")


@pytest.mark.parametrize(
    "system, decoding, has",
    [
        ("mst", "beam", "exact or mbr"),
        ("mh5-hybrid", "mbr", "exact or greedy or beam"),
        ("greedy-mh4", "exact", "greedy or beam"),
    ],
)
def test_a_decoding_that_the_system_does_not_have(system, decoding, has):
    with pytest.raises(InputError, match="^%s has no %s decoding, only %s$" % (system, decoding, has)):
        SYSTEMS[system].decoder(decoding)


def test_anything_with_words_is_parsed(saved):
    """Sentences and words may be in lists, tuples, iterators, generators and arrays."""
    words = [["ta", "kaluma", "."], ["ta", "zenita", "."]]
    for parser in (mh4.load(saved), mh4.load([saved])):
        expected = [(s.words, s.heads.tolist(), s.deprels) for s in parser.parse(words)]
        assert [found[0] for found in expected] == words
        for given in (
            iter(words),
            map(iter, words),
            (list(sentence) for sentence in words),
            ((word for word in sentence) for sentence in words),
            tuple(map(tuple, words)),
            np.array(words),
            np.array(words, dtype=object),
            [np.array(sentence) for sentence in words],
            dict.fromkeys(map(tuple, words)),
            [dict.fromkeys(sentence) for sentence in words],
            [Sentence(sentence) for sentence in words],
            map(Sentence, map(tuple, words)),
            [words[0], Sentence(words[1])],
        ):
            parsed = parser.parse(given)
            assert [(list(s.words), s.heads.tolist(), s.deprels) for s in parsed] == expected
            assert all(type(word) is str for sentence in parsed for word in sentence.words)
        for nothing in ([], (), iter([]), np.zeros((0, 3), str), {}, set()):
            assert parser.parse(nothing) == []


NO_WORDS = [
    [], (), "", "ta", b"ta", bytearray(b"ta"), None, 1, [""], ["ta", ""], ["ta", None], ["ta", 1], ["ta", ["."]], [b"ta"], iter([]),
    np.array([]), np.array([1, 2]), np.array("ta"), np.array([["ta"]]), np.array([["ta"], ["."]]), object(), type, 1.5, [["ta"]],
    Sentence([]), Sentence([""]), Sentence(["ta", None]), Sentence("ta"), Sentence(None), Sentence([1]), Sentence(["ta"] * 9 + [1]),
]  # fmt: skip


@pytest.mark.parametrize("place", range(len(NO_WORDS)))
def test_what_is_no_sentence(saved, place):
    """What is no sentence, alone or among others, is an error of one line."""
    for parser in (mh4.load(saved), mh4.load([saved]), mh4.Ensemble([])):
        for given in ([NO_WORDS[place]], [["ta"], NO_WORDS[place]], (each for each in [NO_WORDS[place]])):
            with pytest.raises(InputError, match="cannot parse .*: expected a list of words, each a non-empty string") as error:
                parser.parse(given)
            assert "\n" not in str(error.value) and len(str(error.value)) < 200


@pytest.mark.parametrize("given", ["ta kaluma", "", b"ta", Sentence(["ta"]), None, 1, np.array("ta")])
def test_what_are_no_sentences(saved, given):
    with pytest.raises(InputError, match="cannot parse "):
        mh4.load(saved).parse(given)
    with pytest.raises(InputError, match="^sentences cannot be read from '', expected the path of a CoNLL-U file or folder$"):
        mh4.load(saved).test("")


@pytest.mark.parametrize("bad", [[], None, ["ta", ""], Sentence([]), TokenList([])])
def test_the_message_says_which_sentence_it_is(saved, bad):
    for parser in (mh4.load(saved), mh4.load([saved])):
        with pytest.raises(InputError, match="^sentence 5001: cannot parse "):
            parser.parse([["ta"]] * 5000 + [bad] + [["ta"]] * 10)
    with pytest.raises(InputError, match="^sentence 3: cannot test on "):
        parser.test([Sentence(["ta"], deprels=["root"], heads=np.array([-1, 0], dtype=np.int32))] * 2 + [bad])


@pytest.mark.parametrize("name", ["confidence", "transitions", "tags", "allow_empty", "keep_deps", "keep_heads"])
def test_what_is_neither_true_nor_false(saved, name):
    """Only booleans, also of numpy, are accepted: the string "no" would be true."""
    parser = mh4.load(saved)
    assert len(parser.parse([["a"]], None, **{name: np.bool_(False)})) == 1
    for wrong in ("no", "", 0, 1, None, [], np.ones(2)):
        with pytest.raises(InputError, match="^%s is .*, expected True or False$" % name):
            parser.parse([["a"]], **{name: wrong})


@pytest.mark.parametrize("wrong", ["x", 3, 0, ""])
def test_progress_that_cannot_be_called(saved, wrong):
    """What cannot be called is an error before anything is parsed."""
    for use in (mh4.load(saved).parse, mh4.load([saved]).parse, mh4.load(saved).test):
        with pytest.raises(InputError, match="^progress cannot be %r, expected a function$" % wrong):
            use([Sentence(["ta"], deprels=["root"], heads=np.array([-1, 0], dtype=np.int32))], wrong)


def test_sentences_without_words_can_be_allowed(saved):
    """With allow_empty, sentences without words have empty trees."""
    for parser in (mh4.load(saved), mh4.load([saved])):
        given = [[], ["ta", "kaluma"], Sentence([]), TokenList([]), iter([])]
        parsed = parser.parse(given, allow_empty=True)
        assert list(map(len, parsed)) == [0, 2, 0, 0, 0] and parsed[3] == TokenList([])
        assert [parsed[k].heads.tolist() for k in (0, 2, 4)] == [[-1]] * 3 and parsed[1].heads.tolist().count(0) == 1
        assert parser.parse([[], []], allow_empty=True)[1].deprels == []
        assert parser.parse([Sentence([], note="mst")], allow_empty=True)[0].note == ""
        for sentence in parser.parse([[], ["ta"]], allow_empty=True, confidence=True):
            assert sentence.probabilities.shape == sentence.label_probabilities.shape == (len(sentence) + 1,)
            assert sentence.probabilities[0] == sentence.label_probabilities[0] == 1
        if isinstance(parser, mh4.Parser):
            assert parser.parse([[]], allow_empty=True, keep_heads=True)[0].heads.tolist() == [-1]
        with pytest.raises(InputError, match="^sentence 1: cannot be written as CoNLL-U: it has no words"):
            parsed[0].to_conllu()
        with pytest.raises(InputError, match="^sentence 2: cannot parse "):
            parser.parse([[], [""]], allow_empty=True)


@pytest.mark.parametrize("options", [{}, {"keep_heads": True}, {"longest": 1, "beyond": "skip"}])
def test_the_result_can_be_edited_without_what_was_given(saved, options):
    given = Sentence(["ta", "kaluma"], ["A", "B"], ["C", "D"], ["E=1", "F=1"], ["det", "root"], np.array([-1, 2, 0]))
    before = deepcopy(given)
    for parser in (mh4.load(saved), *(() if "keep_heads" in options else [mh4.load([saved])])):
        (parsed,) = parser.parse([given], **options)
        tree = () if parsed.heads is None else (parsed.heads, parsed.deprels)
        for column in (parsed.words, parsed.upos, parsed.xpos, parsed.feats, *tree):
            column[0] = column[-1]
        assert given == before


def test_tags_stay_unless_predicted_ones_are_wanted(saved):
    given = Sentence(["ta", "kaluma"], ["A", "B"], ["C", "D"], ["E=1", "F=1"])
    for parser in (mh4.load(saved), mh4.load([saved])):
        (kept, untagged), (predicted, tagged) = parser.parse([given, given.words]), parser.parse([given, given.words], tags=True)
        assert (kept.upos, kept.xpos, kept.feats) == (given.upos, given.xpos, given.feats)
        assert (untagged.upos, untagged.xpos, untagged.feats) == (None, None, None)
        assert predicted.upos == tagged.upos and not {*predicted.upos} & {"A", "B"} and len(tagged.feats) == 2
        assert kept.heads.tolist() == predicted.heads.tolist()


@pytest.mark.parametrize("word", ["a\fb", "\u2028", "\ufeffta", "a\n", "a\tb", "a\rb", "a\x85", " "])
def test_no_word_has_other_white_space_than_spaces_or_half_characters(saved, word):
    for given in (["ta", word], Sentence(["ta", word]), TokenList([{"id": 1, "form": "ta"}, {"id": 2, "form": word}])):
        with pytest.raises(InputError, match="^sentence 1: word 2 cannot be parsed: "):
            mh4.load(saved).parse([given])


def raising(error):
    def fail(*arguments):
        raise error

    return fail


def test_labels_of_a_treebank_without_root(tmp_path):
    """Without a label root, or with root_label = false, dependents of the root have other labels, also in ensembles."""
    given = toy.sentences(tmp_path)[:20]
    shouted = [replace(one, deprels=[label.upper() for label in one.deprels]) for one in given]
    for sentences, free in ((shouted, False), (given, True)):
        settings = toy.small("scorer.root_label=%s" % str(not free).lower())
        parser = Parser(toy.untrained("mst", sentences, settings=settings))
        alone = parser.parse(sentences)
        known = {label for one in sentences for label in one.deprels}
        assert {label for one in alone for label in one.deprels} <= known and ("root" in known) == free
        of_roots = {label for one in alone for label, head in zip(one.deprels, one.heads[1:].tolist()) if head == 0}
        assert of_roots != {"root"}  # as the weights are random
        assert [one.deprels for one in mh4.Ensemble([parser, parser]).parse(sentences)] == [one.deprels for one in alone]


def test_only_trees_are_tested_on(saved):
    for heads in ([-1, 2, 1], [-1, 0, 3], [-1, 0, 1, 1]):
        with pytest.raises(InputError, match="^sentence 1: cannot test on"):
            mh4.load(saved).test([Sentence(["a", "b"], heads=np.array(heads), deprels=["x", "y"])])
