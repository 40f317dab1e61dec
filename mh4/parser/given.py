"""Check and convert the inputs of a parser: words, Sentences, TokenLists, raw text, and treebanks to test on."""

from collections.abc import Iterable
from copy import copy
from dataclasses import fields, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

from conllu.models import TokenList

from mh4.data import token_lists
from mh4.data.cells import check_word
from mh4.data.sentence import Sentence
from mh4.decoders import arguments
from mh4.errors import InputError, shown
from mh4.parser import kept_heads
from mh4.util.reading import Path, path_of

if TYPE_CHECKING:
    from mh4.data.segmenter import Segmenter

Unparsed = Iterable[Sentence | TokenList | Iterable[str]]  # Iterable[str]: words of a sentence, or a string of raw text
Gold = Path | Iterable[Sentence | TokenList]  # a CoNLL-U file, or its sentences


def as_sentences(
    given: Unparsed, segmenter: "Segmenter | Path | None" = None, allow_empty: bool = False, partial: bool = False
) -> tuple[list[Any], list[Sentence]]:
    """Return the items of the input, with raw text split into sentences, and the same items as Sentences.

    partial: whether TokenLists may have heads for some words only, and the heads of Sentences are checked.

    Raises InputError, with the number of the sentence, for a sentence without words unless `allow_empty`, for raw text
    without a segmenter, and for items of other types.
    """
    items = [given] if isinstance(given, str) and segmenter is not None else given_items(given, "parse")
    if segmenter is not None:
        from mh4.data.segmenter import Segmenter

        if not isinstance(segmenter, Segmenter):
            segmenter = Segmenter(path_of(segmenter, "segmenter cannot be %s, expected the path of a segmenter"))
        segment = segmenter.sentences
        items = list(chain.from_iterable(segment(item) if isinstance(item, str) else [item] for item in items))
    return items, [_as_sentence(sentence, number, allow_empty, partial) for number, sentence in enumerate(items, start=1)]


def _as_sentence(given: Sentence | TokenList | Iterable[str], number: int, allow_empty: bool, partial: bool) -> Sentence:
    if isinstance(given, TokenList):
        given = token_lists.sentence_of(given, number, partial)
    name, words = (given.name, given.words) if isinstance(given, Sentence) else ("", given)
    name, found = name or "sentence %d" % number, items_of(words)
    if not (found or found == [] and allow_empty) or not all(isinstance(word, str) and word for word in found):
        how = "; raw text needs a segmenter: segmenter=FILE, from `mh4 segmenter train`" if isinstance(words, str) else ""
        how = "; with allow_empty=True, a sentence without words gets an empty tree" if found == [] else how
        raise InputError("%s: cannot parse %s: expected a list of words, each a non-empty string%s" % (name, shown(words), how))
    for place, word in enumerate(found, start=1):
        check_word(word, "%s: word %d cannot be parsed" % (name, place))
    if isinstance(given, Sentence):
        given = kept_heads.checked(given, name) if partial else given
        own = {field.name: copy(getattr(given, field.name)) for field in fields(given)}  # the result is the caller's to edit
        return replace(given, **own)
    return Sentence(list(map(str, found)), name=name)  # numpy's strings are of a type of its own


def with_tree(given: Sentence | TokenList, number: int) -> Sentence:
    sentence = token_lists.sentence_of(given, number) if isinstance(given, TokenList) else given
    name = (isinstance(sentence, Sentence) and sentence.name) or "sentence %d" % number
    if isinstance(sentence, Sentence) and sentence.heads is not None and sentence.deprels is not None:
        if len(sentence.heads) - 1 == len(sentence.deprels) == len(sentence):
            try:
                return replace(sentence, heads=arguments.tree(sentence.heads))
            except ValueError as error:
                raise InputError("%s: cannot test on what is not a tree: %s" % (name, error)) from None
    raise InputError("%s: cannot test on %s: expected a sentence with a head and a relation for each word" % (name, shown(given)))


def given_items(given: Any, doing: str) -> list[Any]:
    items = None if isinstance(given, (Sentence, TokenList)) else items_of(given)
    if items is None:
        raise InputError("cannot %s %s: expected a list of sentences" % (doing, shown(given)))
    return items


def items_of(given: Any) -> list[Any] | None:
    """Return the items of a list, an iterator, an array or the like; None for a string or anything not iterable."""
    try:
        items = None if isinstance(given, (str, bytes)) else iter(given)
    except TypeError:
        return None
    return None if items is None else list(items)  # outside the try: errors here come from the user's code
