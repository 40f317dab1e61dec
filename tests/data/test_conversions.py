"""Convert sentences to words, to CoNLL-U and to objects of conllu, udapi and spaCy."""

import importlib
import sys
from dataclasses import replace
from types import SimpleNamespace

import conllu as library
import numpy as np
import pytest
import toy

from mh4 import conversions
from mh4.data import conllu
from mh4.data.sentence import Sentence, Word
from mh4.errors import InputError, NotInstalled, shown
from mh4.parser.ensemble import SentenceWithVotes

PARSED = Sentence(
    ["folko", "berodo", "."],
    upos=["ADJ", "NOUN", "PUNCT"],
    xpos=["JJ", "_", "."],
    feats=["Case=Acc", "Case=Acc|Number=Sing", "_"],
    heads=np.array([-1, 2, 0, 2], dtype=np.int32),
    deprels=["amod", "root", "punct:x"],
    probabilities=np.array([1, 0.25, 1, 0.99999]),
    label_probabilities=np.array([1, 0.5, 1, 1]),
)
AS_CONLLU = (
    "1\tfolko\t_\tADJ\tJJ\tCase=Acc\t2\tamod\t_\tArcProb=0.2500|LabelProb=0.5000\n"
    "2\tberodo\t_\tNOUN\t_\tCase=Acc|Number=Sing\t0\troot\t_\tArcProb=1.0000|LabelProb=1.0000\n"
    "3\t.\t_\tPUNCT\t.\t_\t2\tpunct:x\t_\tArcProb=1.0000|LabelProb=1.0000\n\n"
)


@pytest.fixture
def fake_spacy(monkeypatch):
    """A stand-in for the parts of spaCy that conversions imports."""
    doc = SimpleNamespace(Doc=lambda vocab, **columns: SimpleNamespace(sents=[0], **columns))
    monkeypatch.setitem(sys.modules, "spacy", SimpleNamespace())
    monkeypatch.setitem(sys.modules, "spacy.tokens", doc)
    monkeypatch.setitem(sys.modules, "spacy.vocab", SimpleNamespace(Vocab=object))


def test_words():
    assert list(PARSED)[0] == Word(1, "folko", "ADJ", "JJ", "Case=Acc", 2, "amod", 0.25, 0.5)
    assert [word.head for word in PARSED] == [2, 0, 2] and [word.deprel for word in PARSED] == PARSED.deprels
    assert list(Sentence(["a"])) == [Word(1, "a", None, None, None, None, None, None)]


def test_sentences_are_equal_if_all_is():
    assert replace(PARSED) == PARSED and PARSED in [Sentence(["a"]), replace(PARSED, heads=PARSED.heads.copy())]
    for other in (
        replace(PARSED, heads=np.array([-1, 0, 1, 2])),
        replace(PARSED, heads=None),
        replace(PARSED, xpos=None),
        "folko",
    ):
        assert PARSED != other
    votes = [SentenceWithVotes(PARSED.words, votes=[replace(PARSED, name=name)]) for name in ("", "", "x")]
    assert votes[0] == votes[1] != votes[2] and votes[0] != Sentence(PARSED.words)


def test_conllu_text(tmp_path):
    assert PARSED.to_conllu() == AS_CONLLU
    assert Sentence(["a"]).to_conllu() == "1\ta\t_\t_\t_\t_\t_\t_\t_\t_\n\n"
    path = tmp_path / "again.conllu"
    sentences = toy.sentences(tmp_path)[:20]
    toy.write_conllu(path, sentences)
    for sentence, again in zip(sentences, conllu.read(str(path))):
        assert list(sentence) == list(again)


def sentence(**changed):
    columns = {"words": ["a", "b"], "upos": ["X", "Y"], "xpos": ["_", "_"], "feats": ["_", "_"], "deprels": ["root", "dep"]}
    return Sentence(**{**columns, "heads": np.array([-1, 0, 1], dtype=np.int32), **changed})


def test_probabilities_as_a_list():
    given = {"probabilities": [1, 0.25, 0.5], "label_probabilities": (1, 1, 0.25)}
    assert "ArcProb=0.5000|LabelProb=0.2500" in sentence(**given).to_conllu()
    for wrong in ("abc", [1], 5, [1, "x", 2], {}, [1, 2, 3, 4]):
        with pytest.raises(InputError, match="^the sentence: its probabilities are .*, expected 3 numbers$"):
            sentence(probabilities=wrong).to_conllu()


@pytest.mark.parametrize("column", ["words", "upos", "xpos", "feats", "deprels"])
@pytest.mark.parametrize("text", ["\t", "a\tb", "a\n", "\n\n", "a\rb", "\r\n", "a\ud800"])
def test_what_would_break_a_row(column, text):
    broken = sentence(**{column: ["x", text]})
    with pytest.raises(InputError) as error:
        broken.to_conllu()
    assert str(error.value).startswith("the sentence: word 2 cannot be written as CoNLL-U: ") and repr(text) in str(error.value)
    with pytest.raises(InputError, match="^FILE, line 7: word 2 cannot be written"):
        replace(broken, name="FILE, line 7").to_conllu()


def test_words_that_are_empty_or_missing():
    """An empty tag is written as _; an empty word is rejected, as it would be read as the word _."""
    with pytest.raises(InputError, match="the sentence: word 1 cannot be written as CoNLL-U: FORM is empty, expected a word"):
        sentence(words=["", "b"]).to_conllu()
    with pytest.raises(InputError, match="the sentence: cannot be written as CoNLL-U: it has no words"):
        Sentence([]).to_conllu()
    assert sentence(upos=["", "Y"]).to_conllu() == sentence(upos=["_", "Y"]).to_conllu()


@pytest.mark.parametrize("field, given", [
    ("upos", ["X"]), ("deprels", ["x"] * 3), ("upos", 5), ("xpos", "XY"), ("words", [1, 2]), ("words", ["a", None]), ("deprels", [1, "x"]),
    ("feats", [{"Case": "Nom"}, None]),  # as in the conllu library
])  # fmt: skip
def test_columns_that_are_not_a_string_for_each_word(field, given):
    """No word is dropped silently, and no column is written as Python's repr."""
    for use in (list, Sentence.to_conllu, conversions.to_udapi):
        with pytest.raises(InputError) as error:
            use(sentence(**{field: given}))
        assert str(error.value) == "the sentence: its %s are %s, expected 2 strings" % (field, shown(given))


def test_columns_of_numpy():
    columns = {"words": ["a", "b"], "upos": ["X", "Y"], "deprels": ["root", "x"]}
    assert (
        sentence(**{field: np.array(column) for field, column in columns.items()}).to_conllu() == sentence(**columns).to_conllu()
    )


@pytest.mark.parametrize("heads", [[-1, 0], [-1, 0, 3], [-1, 0, -2], [0, 0, 1], [-1, 0, 1.0], [-1, 0, "1"], [-1, 0, [1]], 5])
def test_heads_out_of_range(heads):
    """Heads that could not be read again are not written."""
    for use in (list, Sentence.to_conllu, conversions.to_udapi):
        with pytest.raises(InputError, match="the sentence: its heads are .*, expected -1 and then one of 0 to 2 for each word"):
            use(sentence(heads=heads))
    assert sentence(heads=[-1, 0, None]).to_conllu() == sentence(heads=[-1, 0, -1]).to_conllu()


@pytest.mark.parametrize(
    "text", ["_", " ", "#", "a b", "\u2028", "\x85", "\x0b", "\x0c", "\x1b[31m", "\x00", "\ufeff", "a\u00a0b"]
)
def test_what_looks_odd_but_breaks_no_row(tmp_path, text):
    path = tmp_path / "again.conllu"
    is_word = bool(text.strip(" ")) and text not in "\u2028\x85\v\f\ufeff\0"
    is_label = is_word and text.isprintable() and " " not in text or "\x1b" in text
    odd = sentence(words=[text if is_word else "a", "b"], deprels=["root", text if is_label else "x"])
    if not is_word:
        with pytest.raises(InputError, match="^the sentence: word 2 cannot be written as CoNLL-U: "):
            sentence(words=["a", text]).to_conllu()
    if not is_label:
        with pytest.raises(InputError, match="^the sentence: word 2 cannot be written as CoNLL-U: DEPREL is "):
            sentence(deprels=["root", text]).to_conllu()
    path.write_bytes(odd.to_conllu().encode("utf-8"))
    (again,) = conllu.read(str(path))
    assert list(again) == list(odd)


def test_objects_of_conllu():
    tokens = conversions.to_token_list(PARSED)
    assert tokens.serialize() == AS_CONLLU
    assert tokens[0]["head"] == 2 and tokens[0]["misc"] == {"ArcProb": "0.2500", "LabelProb": "0.5000"}
    assert tokens == library.parse(AS_CONLLU)[0]
    spaced = conversions.to_token_list(sentence(words=["10  000", "a\u3000b"], deprels=["root", "x"]))
    assert [token["form"] for token in spaced] == ["10  000", "a\u3000b"] and spaced[1]["deprel"] == "x"


def test_objects_of_udapi():
    root = conversions.to_udapi(PARSED)
    assert [node.form for node in root.descendants] == PARSED.words
    assert [node.parent.ord for node in root.descendants] == [2, 0, 2]
    assert [node.deprel for node in root.descendants] == PARSED.deprels
    assert root.descendants[1].feats["Number"] == "Sing" and root.descendants[0].misc["ArcProb"] == "0.2500"
    assert [node.parent.ord for node in conversions.to_udapi(Sentence(["a", "b"])).descendants] == [0, 0]


@pytest.mark.parametrize("convert", [conversions.to_udapi, conversions.to_spacy])
@pytest.mark.parametrize("heads", [[-1, -1, 0, 2], [-1, None, 0, 2], [-1, 2, 1, 0]])
@pytest.mark.usefixtures("fake_spacy")
def test_heads_that_are_no_tree(convert, heads):
    """A missing head is rejected, and not used as index -1, the last word."""
    with pytest.raises(InputError, match="^the sentence cannot be converted, as it is no tree: heads: "):
        convert(Sentence(["a", "b", "c"], heads=heads))


@pytest.mark.parametrize("convert", [conversions.to_udapi, conversions.to_spacy])
@pytest.mark.parametrize("field, text", [
    ("words", ""), ("words", " "), ("words", "\u3000"), ("words", "a\tb"), ("words", "a\n"), ("words", "a\ud800"), ("upos", "A\tB"),
    ("xpos", "a b"), ("feats", "A=\n"), ("deprels", "a\tb"),
])  # fmt: skip
@pytest.mark.usefixtures("fake_spacy")
def test_what_no_library_takes_for_a_word(convert, field, text):
    """Values that break a row are rejected, even where a library would write rows that it cannot read."""
    with pytest.raises(InputError, match="^FILE, line 7: word 2 cannot be converted: "):
        convert(sentence(name="FILE, line 7", **{field: ["x", text]}))


def test_what_is_no_sentence():
    """A TokenList, which parse returns for a TokenList, is rejected."""
    for convert in (conversions.to_token_list, conversions.to_udapi):
        with pytest.raises(InputError, match="^cannot convert TokenList<a>: expected a Sentence of mh4$"):
            convert(library.TokenList([{"id": 1, "form": "a"}]))


def test_the_component_without_spacy(monkeypatch):
    for name in ("spacy", "spacy.attrs"):  # earlier tests may have loaded them
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, "mh4.spacy", raising=False)
    with pytest.raises(NotInstalled, match=r"^mh4\.spacy needs spaCy, which is not installed: pip install 'spacy>=3\.\d+'$"):
        importlib.import_module("mh4.spacy")


def test_objects_of_spacy():
    pytest.importorskip("spacy", reason="spaCy is not installed")
    doc = conversions.to_spacy(PARSED)
    assert [token.text for token in doc] == PARSED.words
    assert [token.head.i for token in doc] == [1, 1, 1] and [token.dep_ for token in doc] == ["amod", "ROOT", "punct:x"]
    assert [token.pos_ for token in doc] == PARSED.upos and str(doc[1].morph) == "Case=Acc|Number=Sing"


def test_a_new_vocabulary_of_spacy_is_used():
    pytest.importorskip("spacy", reason="spaCy is not installed")
    from spacy.tokens import Doc
    from spacy.vocab import Vocab

    vocab = Vocab()
    assert not vocab  # because it is empty
    docs = [conversions.to_spacy(PARSED, vocab) for _ in range(2)]
    assert docs[0].vocab is vocab and len(Doc.from_docs(docs)) == 2 * len(PARSED)


@pytest.mark.usefixtures("fake_spacy")
def test_a_tree_without_labels_for_spacy():
    with pytest.raises(InputError, match="^the sentence has several roots"):
        conversions.to_spacy(Sentence(["a", "b"], heads=np.array([-1, 0, 0], dtype=np.int32)))
    assert conversions.to_spacy(Sentence(["a"], xpos=["_"])).tags == [""]
    doc = conversions.to_spacy(Sentence(["a", "b"], heads=[-1, 2, 0]))
    assert vars(doc) == {"sents": [0], "words": ["a", "b"], "heads": [1, 1], "deps": ["dep", "ROOT"]}


def test_spacy_that_is_not_installed(monkeypatch):
    for module in ("spacy.tokens", "spacy.vocab"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(InputError, match=r"this needs spacy, which is not installed: pip install 'spacy>=3.7'"):
        conversions.to_spacy(PARSED)
