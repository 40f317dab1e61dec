"""Convert sentences to objects of other libraries: conllu, udapi and spaCy."""

from typing import Any

from conllu.models import Token, TokenList
from conllu.parser import DEFAULT_FIELD_PARSERS, DEFAULT_FIELDS

from mh4.data.cells import check_columns, check_word
from mh4.data.sentence import Sentence, Word, checked_heads
from mh4.decoders import arguments
from mh4.errors import InputError, needs, shown


def to_token_list(sentence: Sentence) -> TokenList:
    """Return a conllu.TokenList as from conllu.parse, which, however, would split a word at two spaces."""
    _require(sentence)
    rows = [line.split("\t") for line in sentence.to_conllu().rstrip("\n").split("\n")]
    read = [(name, DEFAULT_FIELD_PARSERS.get(name, list.__getitem__)) for name in DEFAULT_FIELDS]
    return TokenList(
        [Token({name: value(row, i) for i, (name, value) in enumerate(read)}) for row in rows], default_fields=DEFAULT_FIELDS
    )


def to_udapi(sentence: Sentence) -> Any:
    """Return a udapi tree: a udapi.core.root.Root. Without heads, all words depend on the root.

    Raises InputError for heads that are not a tree, and as `Sentence.to_conllu` does; NotInstalled without udapi.
    """
    with needs("this", "evaluate", "udapi"):
        from udapi.core.root import Root

    words, root = _words(sentence), Root()
    nodes, probable = [root], sentence.probable()
    for word in words:
        columns = {name: getattr(word, name) for name in ("form", "upos", "xpos", "feats", "deprel")}
        nodes.append(root.create_child(**{name: value for name, value in columns.items() if value}))
        nodes[-1].misc.update({name: values[word.id - 1] for name, values in probable.items()})
    for node, word in zip(nodes[1:], words, strict=True):
        node.parent = nodes[word.head or 0]
    return root


def to_spacy(sentence: Sentence, vocab: Any = None) -> Any:
    """Return a spacy.tokens.Doc with the words, tags and tree; vocab: a spacy.vocab.Vocab, by default a new one.

    Words are separated by single spaces. The root is its own head, with the label ROOT, as usual in spaCy. Raises
    InputError for several roots, for UPOS and FEATS that spaCy does not accept, and as `to_udapi` does; NotInstalled
    without spaCy.
    """
    with needs("this", "spacy", "spacy"):
        from spacy.tokens import Doc
        from spacy.vocab import Vocab
    words, where = _words(sentence), sentence.name or "the sentence"
    columns: dict[str, Any] = {"words": [word.form for word in words]}
    if sentence.heads is not None:
        heads = [word.head for word in words]
        if heads.count(0) > 1:
            raise InputError("%s has several roots, each of which spaCy takes for a sentence of its own" % where)
        columns["heads"] = [head - 1 if head else k for k, head in enumerate(heads)]
        # "dep" is spaCy's label for an unknown relation.
        columns["deps"] = ["ROOT" if word.head == 0 else word.deprel or "dep" for word in words]
    for name, column in (("pos", "UPOS"), ("tags", "XPOS"), ("morphs", "FEATS")):
        tags = [getattr(word, column.lower()) or "_" for word in words]
        if getattr(sentence, column.lower()) is not None:
            columns[name] = ["" if tag == "_" else tag for tag in tags]
            for tag in columns[name]:
                if not is_known(column, tag):
                    raise InputError("%s has %s %s, which spaCy does not have" % (where, column, shown(tag)))
    doc = Doc(Vocab() if vocab is None else vocab, **columns)  # an empty Vocab is false
    if columns.get("heads"):
        check_sentences(doc, 1)
    return doc


def _require(sentence: Sentence) -> None:
    if not isinstance(sentence, Sentence):
        raise InputError("cannot convert %s: expected a Sentence of mh4" % shown(sentence))


def _words(sentence: Sentence) -> list[Word]:
    """Return the words of a sentence.

    Raises InputError for other types, for heads that are not a tree, and for cells that `Sentence.to_conllu` rejects.
    """
    _require(sentence)
    name = sentence.name or "the sentence"
    if sentence.heads is not None:
        try:
            arguments.tree(checked_heads(sentence, name))
        except ValueError as error:
            raise InputError("%s cannot be converted, as it is no tree: %s" % (name, error)) from None
    for word in sentence:
        place = "%s: word %d cannot be converted" % (name, word.id)
        check_word(word.form, place)
        columns = ("FORM", "UPOS", "XPOS", "FEATS", "DEPREL")
        check_columns({column: getattr(word, column.lower()) or "_" for column in columns}, place)
    return list(sentence)


def is_known(column: str, tag: str) -> bool:
    """Return whether spaCy accepts a tag in a column: UPOS of its list, FEATS that are all NAME=VALUE, and any XPOS."""
    if column == "UPOS":
        from spacy.parts_of_speech import IDS

        return tag in IDS
    return column == "XPOS" or not tag or all(feature.count("=") == 1 for feature in tag.split("|"))


def check_sentences(doc: Any, expected: int) -> None:
    """Raise InputError unless a spacy.tokens.Doc has `expected` sentences. spaCy splits trees with many crossings."""
    if sum(1 for _ in doc.sents) != expected:
        raise InputError("spaCy cannot keep a tree in one sentence in which so many arcs cross")
