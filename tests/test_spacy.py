"""mh4 as a component of spaCy pipelines with the blank Hungarian tokenizer: `make spacy-test` runs this."""

from dataclasses import replace

import numpy as np
import pytest
import toy

import mh4
from mh4.data.sentence import Sentence
from mh4.errors import InputError
from mh4.parser import config

spacy = pytest.importorskip("spacy", reason="spaCy is not installed: `make spacy-test` runs this")

TEXT = "Ta kaluma dorpit berodo. Ta kaluma dorpit!"


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """An untrained model of mst, whose trees have crossing arcs."""
    folder = tmp_path_factory.mktemp("spacy")
    toy.untrained("mst", toy.sentences(folder, "dev"), folder)
    return str(folder)


def pipeline(model, **options):
    nlp = spacy.blank("hu")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("mh4", config={"model": model, **options})
    return nlp


def heads(sentence):
    """Return the heads of a sentence without white-space tokens, as in mh4."""
    words = [token for token in sentence if not token.is_space]
    places = {token.i: m for m, token in enumerate(words, start=1)}
    return [-1, *(0 if token.head is token or token.head == token else places[token.head.i] for token in words)]


def test_trees_are_those_of_the_parser(model):
    parser = mh4.load(model)
    doc = pipeline(model)(TEXT)
    assert [sentence.text for sentence in doc.sents] == ["Ta kaluma dorpit berodo.", "Ta kaluma dorpit!"]
    assert doc.has_annotation("DEP") and not doc.has_annotation("TAG") and not doc.has_annotation("POS")
    for sentence, parsed in zip(doc.sents, parser.parse([[token.text for token in sentence] for sentence in doc.sents])):
        assert heads(sentence) == parsed.heads.tolist()
        labels = [label if head else "ROOT" for label, head in zip(parsed.deprels, parsed.heads[1:])]
        assert [token.dep_ for token in sentence] == labels and sentence.root.dep_ == "ROOT"


def test_crossing_arcs(model):
    """Trees with crossing arcs keep their sentences, and children are those of the tree."""
    rng = np.random.default_rng(1)
    words = ["ta", "kaluma", "dorpit", "berodo", "zenita", "wibonit", "mosuro", "gundet"]
    texts = [" ".join(rng.choice(words, 12)) + " ." for _ in range(40)]
    nlp, parser = pipeline(model), mh4.load(model)
    crossing = 0
    for doc, text in zip(nlp.pipe(texts, batch_size=7), texts):
        (parsed,) = parser.parse([text.split()])
        (sentence,) = doc.sents
        assert heads(sentence) == parsed.heads.tolist()
        for m, token in enumerate(sentence, start=1):
            assert [child.i + 1 for child in token.children] == np.flatnonzero(parsed.heads == m).tolist()
        crossing += mh4.trees.crossed_arcs(parsed.heads).any()
    assert crossing > 5


def test_several_roots_are_refused(model, monkeypatch):
    """Trees with several roots, each of which would become a sentence, are errors."""
    nlp = pipeline(model)
    rooted = Sentence(["w"] * 5, heads=np.array([-1, 0, 1, 0, 3, 3]), deprels=["x"] * 5)
    monkeypatch.setattr(nlp.get_pipe("mh4")._parser, "parse", lambda sentences, tags: [rooted for _ in sentences])
    with pytest.raises(InputError, match="several roots"):
        nlp("Ta kaluma dorpit berodo.")


def test_trees_that_spacy_would_split_are_refused():
    """Trees with so many crossing arcs that spaCy would split them into sentences are errors."""
    rng, refused = np.random.default_rng(0), 0
    for n in (4, 80):
        for _ in range(50):
            order, heads = rng.permutation(n) + 1, np.array([-1] + [0] * n)
            for k in range(1, n):
                heads[order[k]] = order[rng.integers(max(0, k - 3), k)]
            try:
                doc = mh4.conversions.to_spacy(Sentence(["w"] * n, heads=heads))
            except InputError as error:
                refused += "so many arcs cross" in str(error)
            else:
                assert len(list(doc.sents)) == 1
        assert (refused > 0) == (n > 4)


def test_tags_where_asked(model):
    doc = pipeline(model, tags=True)(TEXT)
    (parsed, _) = mh4.load(model).parse([[token.text for token in sentence] for sentence in doc.sents], tags=True)
    first = next(doc.sents)
    assert [token.pos_ for token in first] == parsed.upos
    assert [token.tag_ or "_" for token in first] == parsed.xpos and [str(token.morph) or "_" for token in first] == parsed.feats


def test_tags_that_spacy_does_not_have_are_refused(model, monkeypatch):
    nlp = pipeline(model, tags=True)
    component = nlp.get_pipe("mh4")
    parse = component._parser.parse
    for column, tag in (("upos", "V"), ("feats", "nom"), ("feats", "A=b=c")):
        strange = lambda given, tags: [replace(one, **{column: [tag] * len(one)}) for one in parse(given, tags=tags)]  # noqa: B023, E731
        monkeypatch.setattr(component._parser, "parse", strange)
        with pytest.raises(InputError, match="the model has predicted %s %s, which spaCy does not have" % (column.upper(), tag)):
            nlp(TEXT)


def test_white_space_is_no_word(model):
    nlp = pipeline(model)
    plain, spaced = nlp(TEXT), nlp(TEXT.replace(" ", "  ").replace("Ta", "\n\nTa"))
    assert any(token.is_space for token in spaced)
    assert [heads(sentence) for sentence in spaced.sents] == [heads(sentence) for sentence in plain.sents]
    for token in spaced:
        if token.is_space:
            assert token.dep_ == "dep" and not token.head.is_space and token.head.sent == token.sent
    assert [token.dep_ for token in nlp(" \n ")] == ["ROOT"] and len(nlp("")) == 0


def test_what_cannot_be_parsed(model, tmp_path):
    nlp = spacy.blank("hu")
    nlp.add_pipe("mh4", config={"model": model})
    with pytest.raises(
        InputError, match=r'no sentences, and mh4 parses one at a time: .* nlp.add_pipe\("sentencizer", before="mh4"\)'
    ):
        nlp(TEXT)
    with pytest.raises(InputError, match="none"):
        spacy.blank("hu").add_pipe("mh4", config={"model": str(tmp_path / "none")})
    with pytest.raises(InputError, match="no setting|decod"):
        spacy.blank("hu").add_pipe("mh4", config={"model": model, "decode": "quickly"})
    settings = config.with_settings(toy.SMALL, ["training.%s_weight=0" % column for column in ("upos", "xpos", "feats")])
    toy.untrained("mst", toy.sentences(tmp_path, "dev"), tmp_path / "untagged", settings)
    assert pipeline(str(tmp_path / "untagged"))(TEXT).has_annotation("DEP")
    with pytest.raises(InputError, match="untagged predicts no tags, so they cannot be set"):
        pipeline(str(tmp_path / "untagged"), tags=True)


def test_pipelines_are_kept(model, tmp_path):
    """A pipeline that is saved and loaded has the same results."""
    nlp = pipeline(model, tags=True)
    nlp.to_disk(tmp_path / "pipeline")
    again = spacy.load(tmp_path / "pipeline")
    assert again(TEXT).to_json() == nlp(TEXT).to_json()
