"""Sentences in the form of other libraries: CoNLL-U text, and objects of conllu, udapi and spaCy."""

import re
from typing import Any

from mh4.conllu import ARC_PROB, ARC_PROB_FORMAT, Sentence
from mh4.errors import InputError, shown

_NOT_IN_CONLLU = re.compile("[\t\n\r\ud800-\udfff]")  # the ends of columns and lines, and what is not in UTF-8


def to_conllu(sentence: Sentence) -> str:
    """The words of a sentence as CoNLL-U, with a blank line at the end; probabilities are in MISC, as those of `mh4 parse`.

    Raises InputError, naming the word, for what CoNLL-U cannot have: a word that is empty, or tabs, line breaks and lone surrogates in
    any column; also for a sentence without words.
    """
    where = sentence.name or "the sentence"
    if not sentence.words:
        raise InputError("%s: cannot be written as CoNLL-U: it has no words" % where)
    lines = []
    for word in sentence:
        misc = None if word.probability is None else "%s=%s" % (ARC_PROB, ARC_PROB_FORMAT % word.probability)
        cells = [word.id, word.form, None, word.upos, word.xpos, word.feats, word.head, word.deprel, None, misc]
        row = ["_" if cell is None or cell == "" else str(cell) for cell in cells]
        wrong = "an empty word" if word.form == "" else next((shown(cell) for cell in row if _NOT_IN_CONLLU.search(cell)), "")
        if wrong:
            raise InputError("%s: word %d cannot be written as CoNLL-U: %s" % (where, word.id, wrong))
        lines.append("\t".join(row) + "\n")
    return "".join(lines) + "\n"


def to_token_list(sentence: Sentence) -> Any:
    """A conllu.TokenList. Raises InputError if conllu is not installed."""
    try:
        from conllu import parse
    except ImportError:
        raise _missing("conllu") from None
    return parse(to_conllu(sentence))[0]


def to_udapi(sentence: Sentence) -> Any:
    """A udapi tree: a udapi.core.root.Root. Without a tree, all words depend on the root."""
    from udapi.core.root import Root

    root = Root()
    nodes = [root]
    for word in sentence:
        columns = {name: value for name, value in word._asdict().items() if name in ("form", "upos", "xpos", "feats", "deprel")}
        nodes.append(root.create_child(**{name: value for name, value in columns.items() if value}))
        if word.probability is not None:
            nodes[-1].misc[ARC_PROB] = ARC_PROB_FORMAT % word.probability
    if sentence.heads is not None:
        for node, head in zip(nodes[1:], sentence.heads[1:].tolist()):
            node.parent = nodes[head]
    return root


def to_spacy(sentence: Sentence, vocab: Any = None) -> Any:
    """A spacy.tokens.Doc with the words, tags and tree; vocab: a spacy.vocab.Vocab, by default a new one.

    Words are separated by single spaces, and spaCy's root, which is its own head, has the label ROOT. Raises InputError if spaCy is
    not installed.
    """
    try:
        from spacy.tokens import Doc
        from spacy.vocab import Vocab
    except ImportError:
        raise _missing("spacy") from None
    columns: dict[str, Any] = {"words": sentence.words}
    if sentence.heads is not None:
        columns["heads"] = [head - 1 if head else k for k, head in enumerate(sentence.heads[1:].tolist())]
        columns["deps"] = ["ROOT" if head == 0 else dep for head, dep in zip(sentence.heads[1:], sentence.deprels)]
    if sentence.upos:
        columns["pos"] = ["" if tag == "_" else tag for tag in sentence.upos]
    if sentence.xpos:
        columns["tags"] = sentence.xpos
    if sentence.feats:
        columns["morphs"] = ["" if feats == "_" else feats for feats in sentence.feats]
    return Doc(vocab or Vocab(), **columns)


def _missing(library: str) -> InputError:
    return InputError("this needs %s, which is not installed: pip install %s" % (library, library))
