"""mh4 as a component of spaCy pipelines: `nlp.add_pipe("mh4", config={"model": FOLDER})`.

spaCy finds the component by the entry point `spacy_factories` of the package.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import cast

import numpy as np

from mh4.conversions import check_sentences, is_known
from mh4.data.cells import WHITE_SPACE
from mh4.data.sentence import Sentence
from mh4.errors import InputError, needs
from mh4.parser.choices import Decoding
from mh4.parser.parsing import Parser

with needs("mh4.spacy", "spacy", "spaCy"):
    from spacy.attrs import DEP, HEAD
    from spacy.language import Language
    from spacy.tokens import Doc, Span, Token
    from spacy.util import minibatch

_OF_SPACE = "dep"  # the relation of white space tokens, which are not words in a treebank


@Language.factory(
    "mh4", default_config={"tags": False, "decode": None}, assigns=["token.head", "token.dep"], requires=["doc.sents"]
)
class Component:
    """A component that sets head and relation of each token, and with `tags` those tags that the model predicts.

    model: the folder of a model, as for mh4.load. decode: see Parser.load. An earlier component has to find the
    sentences of the Doc. White space tokens are not parsed. They depend on the word before them, or on the first word
    of the sentence. The root is its own head, with the label ROOT, as usual in spaCy. Crossing arcs are set correctly,
    though spaCy's `subtree`, in the order of the text, then has gaps.

    Raises InputError as Parser.load does, and for `tags` if the model predicts none. The component raises InputError
    for a Doc without sentences, for several roots, and for UPOS and FEATS that spaCy does not have.
    """

    def __init__(self, nlp: Language, name: str, model: str, tags: bool, decode: str | None) -> None:
        self.name = name
        self._parser = Parser.load(model, cast(Decoding | None, decode))
        self._tags = self._parser.model.predicted_tags if tags else []
        if tags and not self._tags:
            raise InputError("%s predicts no tags, so they cannot be set" % model)

    def __call__(self, doc: Doc) -> Doc:
        self._annotate([doc])
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 64) -> Iterator[Doc]:
        """Yield the Docs of a stream, parsed `batch_size` at a time."""
        for docs in minibatch(stream, batch_size):
            self._annotate(docs)
            yield from docs

    def _annotate(self, docs: Sequence[Doc]) -> None:
        docs = [doc for doc in docs if len(doc)]
        sentences = [[[token for token in span if _word(token)] for span in _sentences(doc)] for doc in docs]
        unparsed = [
            Sentence([_word(token) for token in words], name="sentence %d" % number)
            for doc_sentences in sentences
            for number, words in enumerate(doc_sentences, start=1)
            if words
        ]
        parsed = iter(self._parser.parse(unparsed, tags=bool(self._tags)))
        for doc, doc_sentences in zip(docs, sentences, strict=True):
            parses = [next(parsed) if words else None for words in doc_sentences]
            _set_trees(doc, doc_sentences, parses)
            for words, parse in zip(doc_sentences, parses, strict=True):
                if parse is not None:
                    self._set_tags(words, parse)

    def _set_tags(self, words: Sequence[Token], parsed: Sentence) -> None:
        for column in self._tags:
            for token, tag in zip(words, getattr(parsed, column), strict=True):
                value = "" if tag == "_" else tag
                if not is_known(column.upper(), value):
                    raise InputError("the model has predicted %s %s, which spaCy does not have" % (column.upper(), tag))
                if column == "upos":
                    token.pos_ = value
                elif column == "xpos":
                    token.tag_ = value
                else:
                    token.set_morph(value)


def _word(token: Token) -> str:
    """Return the text of a token without white space and byte order marks, which spaCy leaves in tokens."""
    return WHITE_SPACE.sub("", token.text).strip()


def _sentences(doc: Doc) -> Iterable[Span]:
    if len(doc) > 1 and not doc.has_annotation("SENT_START"):
        raise InputError(
            "the Doc has no sentences, and mh4 parses one at a time: "
            'add a component that finds them before mh4, such as nlp.add_pipe("sentencizer", before="mh4")'
        )
    return doc.sents


def _set_trees(doc: Doc, sentences: Sequence[Sequence[Token]], parses: Sequence[Sentence | None]) -> None:
    heads = np.arange(len(doc))
    labels = np.full(len(doc), doc.vocab.strings.add(_OF_SPACE), dtype=np.uint64)
    for span, words, parsed in zip(doc.sents, sentences, parses, strict=True):
        if parsed is None:
            heads[span.start : span.end] = span.start
            labels[span.start] = doc.vocab.strings.add("ROOT")
            continue
        if (parsed.heads[1:] == 0).sum() > 1:
            raise InputError("the model gives a sentence several roots, each of which spaCy takes for a sentence of its own")
        before = words[0].i
        for token in span:
            heads[token.i] = before
            before = before if token.is_space else token.i
        for token, head, label in zip(words, parsed.heads[1:].tolist(), parsed.deprels, strict=True):
            heads[token.i] = words[head - 1].i if head else token.i
            labels[token.i] = doc.vocab.strings.add(label if head else "ROOT")
    doc.from_array([HEAD, DEP], np.stack([(heads - np.arange(len(doc))).astype(np.uint64), labels], axis=1))
    check_sentences(doc, len(sentences))
