"""Convert TokenLists, the sentences of the package conllu, to Sentences, and add parses to copies of them."""

from typing import Any

import numpy as np
from conllu.models import Metadata, Token, TokenList
from conllu.parser import DEFAULT_FIELDS, parse_dict_value, parse_nullable_value
from conllu.serializer import serialize_field

from mh4.data.block import NOTE
from mh4.data.cells import check_columns
from mh4.data.conllu import NO_PLUS
from mh4.data.sentence import PROBABILITIES, Sentence
from mh4.errors import InputError, shown

_WHOLE = (int, np.integer)


def sentence_of(tokens: TokenList, number: int, partial: bool = False) -> Sentence:
    """Return the words of a TokenList, without multiword tokens and empty nodes, with their tags, labels and heads.

    The heads are None unless every word has one. partial: return heads anyway, -1 for words without one.
    number: the number of the sentence, from 1, which messages give if it has no sent_id. Raises InputError if the ids
    of the words are not 1, 2, 3, ..., as in a filtered list, and for values that cannot be written as CoNLL-U.
    """
    words = [token for token in tokens if _is_word(token)]
    heads = [token.get("head") for token in words]
    sent_id = tokens.metadata.get("sent_id")
    name = "sentence %s" % (sent_id or number)
    if tuple(tokens.default_fields or DEFAULT_FIELDS)[: len(DEFAULT_FIELDS)] != DEFAULT_FIELDS:
        raise InputError("%s: %s" % (name, NO_PLUS))
    for token in tokens:
        cells = {column.upper(): _cell(value) for column, value in token.items() if column != "form" or not _is_word(token)}
        check_columns(cells, "%s: token %s" % (name, cells.get("ID", "without an id")))
    comments = {"comment %s" % key: "%s=%s" % (key, value) for key, value in tokens.metadata.items()}
    check_columns({key: text.replace("\t", " ") for key, text in comments.items()}, name)
    if tokens and not words:
        raise InputError("%s: no token has a whole number as its id, as words have" % name)
    for m, token in enumerate(words, start=1):
        if token["id"] != m:
            raise InputError("%s: word %d has the id %d, expected %d" % (name, m, token["id"], m))
    known = [isinstance(head, _WHOLE) and 0 <= head <= len(words) for head in heads]
    if partial:
        for m, (head, has_one) in enumerate(zip(heads, known, strict=True), start=1):
            if not has_one and head not in (None, "_"):
                raise InputError("%s: the head of word %d is %s, expected 0 to %d, or None" % (name, m, shown(head), len(words)))
        heads = [head if has_one else -1 for head, has_one in zip(heads, known, strict=True)]
    elif not all(known):
        heads = []
    tags = ([serialize_field(token.get(column)) for token in words] for column in ("upos", "xpos", "feats", "deprel"))
    upos, xpos, feats, deprels = tags
    array = np.array([-1, *heads], dtype=np.int32) if heads else None
    return Sentence([token.get("form") for token in words], upos, xpos, feats, deprels, array, name)  # type: ignore[arg-type]


def _is_word(token: Token) -> bool:
    return isinstance(token.get("id"), _WHOLE)


def _cell(value: Any) -> str:
    return value if isinstance(value, str) else serialize_field(value) if value else "_"


def parsed(tokens: TokenList, sentence: Sentence, tags: bool, keep_deps: bool) -> TokenList:
    """Return a copy with the columns that `mh4 parse` would replace, with `tags` as with --tags; all else is unchanged.

    DEPS and empty nodes are removed unless `keep_deps`, and the comment of an earlier parse is removed unless a
    complete tree was kept. A skipped sentence only gets the comment that it was skipped. A complete tree that was kept
    only gets its probabilities.
    """
    skipped, kept = sentence.heads is None, sentence.note is None
    probable = sentence.probable()
    copies, m = [], 0
    for token in completed(tokens):
        columns: dict[str, Any] = {} if keep_deps else {"deps": None}
        if columns and isinstance(token.get("id"), tuple) and token["id"][1] == ".":
            continue
        if _is_word(token) and not skipped and (probable or not kept):
            if tags:
                xpos, feats = parse_nullable_value(sentence.xpos[m]), parse_dict_value(sentence.feats[m])
                columns.update(upos=sentence.upos[m] or "_", xpos=xpos, feats=feats)
            columns.update(head=int(sentence.heads[m + 1]), deprel=sentence.deprels[m] or "_")
            given = token.get("misc")
            given = parse_dict_value(given) if isinstance(given, str) else given
            misc = {name: value for name, value in (given or {}).items() if name not in PROBABILITIES}
            misc.update({name: values[m] for name, values in probable.items()})
            if misc or given:
                columns["misc"] = misc or None
            m += 1
        copies.append(Token({**token, **columns}))
    metadata = Metadata({name: value for name, value in tokens.metadata.items() if kept or name != NOTE})
    if sentence.note:
        metadata[NOTE] = sentence.note
    return TokenList(copies, metadata=metadata, default_fields=tokens.default_fields)


def completed(tokens: TokenList) -> TokenList:
    """Return a copy whose tokens have all columns, as tokens made by hand may lack some that CoNLL-U needs."""
    first = dict.fromkeys([*(tokens.default_fields or ()), *DEFAULT_FIELDS])
    copies = [Token({**first, **token}) for token in tokens]
    return TokenList(copies, metadata=tokens.metadata, default_fields=tokens.default_fields)
