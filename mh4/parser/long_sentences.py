"""Parse sentences that are too long for exact decoding in about a second, or for the memory (`--longest`, `--beyond`).

The time of exact decoding grows with up to the fifth power of the sentence length (mh5), and the size of the score
tensors, which all decoders read, with its square. So one long "sentence", such as a table that was taken for one, would
hold up a whole corpus, or end its parsing. Sentences beyond a limit are decoded by another search with the same scores.
Where even the scores are too large, the sentence is cut into windows of equal length, which are parsed as if they were
sentences. Then time is proportional to the length, and the memory for one window is enough.
"""

import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import accumulate, chain, pairwise
from math import isqrt
from typing import Any

import numpy as np

from mh4.data.block import SKIPPED
from mh4.data.sentence import PROBABILITIES, UNPARSED, Sentence
from mh4.decoders import arguments, mst
from mh4.decoders.derivation import Derivation
from mh4.errors import InputError, counted, shown, unknown
from mh4.parser import kept_heads
from mh4.parser.choices import BEYOND, BEYOND_BEAM, Wanted
from mh4.parser.contextual_vectors import Window
from mh4.parser.systems import Tensor
from mh4.parser.temperatures import at_temperature
from mh4.parser.vocabulary import TAGS

# The lengths, if below a window's, at which decoding takes a second on one core, as measured by benchmarks/longest.py.
EXACT = {"mh4-two": 400, "mh4-hybrid": 400, "1ec": 210, "mh4-arcs": 400, "mh5-hybrid": 220, "mh5-arcs": 160}
MARGINALS = {"mh3": 1300, "mst": 1600, "mh4-two": 260, "mh4-hybrid": 260, "1ec": 110, "mh3-arcs": 1300, "mh4-arcs": 260}

_SCORES = 64 << 20  # bytes of a window's scores
_VOTE = 6  # float32 numbers that an ensemble's vote needs for each pair of nodes
_SHORTEST = 20  # words of the shortest window; if memory does not suffice for it, there is no tree
PROBABLE = "mst of probabilities"
_ATTACHED = "dep"  # the label of a window's root that gets a head in the whole sentence
_NO_TREE: dict[str, Any] = {"heads": None, "deprels": None, **UNPARSED}

AnyParser = Any  # a Parser or an Ensemble, whose modules import this one
Progress = Callable[[int], object]  # called with each number of words that are done
Aside = tuple[str, AnyParser | None]  # why a sentence is not parsed as usual, and the parser for it, if any


def default(parser: AnyParser, confidence: bool = False, best: int = 1) -> int:
    """Return the number of words up to which sentences are decoded as usual.

    confidence: whether probabilities of arcs are computed, too. best: how many trees are found; if several, each takes
    up to one decode per word.
    """
    most = window(parser) if parser.members else sys.maxsize
    found = [most]
    for member in parser.members:
        name = member.model.system.name
        if member.decoding == "exact":
            found.append(EXACT.get(name, most))
        if member.decoding == "mbr" or confidence:
            found.append(MARGINALS.get(name, most))
        if member.decoding == "mbr":  # which ends with exact decoding of arcs
            found.append(_of_class(member.model.system.tree_class, most))
    if parser.vote_class:
        found.append(_of_class(parser.vote_class, most))
    return min(found) if best == 1 else max(1, int((min(found) ** 4 / best) ** 0.2))


def window(parser: AnyParser) -> int:
    """Return the number of words of a window: see `window_of`."""
    tensors = [tensor for member in parser.members for tensor in member.model.system.tensors]
    return window_of(tensors, _VOTE if parser.vote_class else 0)


def window_of(tensors: Sequence[Tensor], others: int = 0) -> int:
    """Return the number of words of a sentence for which these score tensors, with `others` more matrices, take 64 MB."""
    return isqrt(_SCORES // (4 * (others + sum(tensor.matrices or 1 for tensor in tensors)))) - 2


def parse(
    parser: AnyParser,
    sentences: Sequence[Sentence],
    longest: int | None = None,
    beyond: str | None = None,
    progress: Progress = lambda words: None,
    **options: Any,
) -> list[Sentence]:
    """Parse sentences as the parser does, but differently if they are too long for the limit or for the memory.

    longest: the number of words up to which sentences are decoded as usual; None: the result of `default`.
    beyond: how longer sentences are decoded. "beam": by beam search of width BEYOND_BEAM. "mst": the maximum spanning
    tree of the scores of arcs. "skip": not at all. None: as all sentences if the parser decodes greedily, by beam
    search or by mst; otherwise by beam search, or by mst in systems without beam search. If all sentences are decoded
    in the same way, `longest` only determines which sentences get no probabilities.
    options: as in Wanted. With keep_heads, sentences with heads that no tree of the class has are parsed like those
    beyond the limit. Sentences with heads that no tree has are skipped. For complete trees, only tags are predicted.

    Sentences that are parsed differently have a note about how and why, and no probabilities. Skipped sentences have no
    heads. Raises InputError as the parser's `parse` does, and if the system cannot be decoded in the way `beyond`;
    never OutOfMemory.
    """
    if longest is not None and not arguments.is_count(longest):
        raise InputError("longest is %s, expected a number of words from 1" % shown(longest))
    if beyond is not None and beyond not in BEYOND:
        raise InputError(unknown("way to decode long sentences", beyond, BEYOND))
    wanted = Wanted(**options)
    several = arguments.is_count(wanted.best, 2)  # the parser checks the number
    if longest is None:
        longest = default(parser, True, int(wanted.best)) if several else default(parser, wanted.confidence)
    how, other = _around_heads(parser, beyond) if wanted.keep_heads else _otherwise(parser, beyond)
    if other is parser and not wanted.confidence and not several:
        longest = max(longest, default(parser))
    complete: dict[int, Sentence] = {}  # by sentence number, as in `aside` and `found`
    aside: dict[int, Aside] = {}
    if wanted.keep_heads:
        sentences, complete, aside = _kept(parser, other, sentences, longest, wanted)
    for k, sentence in enumerate(sentences):
        if len(sentence) > longest and k not in complete and k not in aside:
            aside[k] = "%d words are more than the limit of %d" % (len(sentence), longest), other
    usual = [k for k in range(len(sentences)) if k not in complete and k not in aside]
    found = {**complete, **_parsed(parser, sentences, usual, progress, wanted)}
    for k in usual:
        if k not in found:
            aside[k] = "there was not enough memory for %s" % counted(len(sentences[k]), "word"), other
    for k, sentence in enumerate(sentences):
        if k in aside:
            found[k] = _beyond(sentence, *aside[k], how, wanted)
        if k in aside or k in complete:
            progress(len(sentence))
    return [found[k] for k in range(len(sentences))]


def _kept(
    parser: AnyParser, other: AnyParser | None, sentences: Sequence[Sentence], longest: int, wanted: Wanted
) -> tuple[list[Sentence], dict[int, Sentence], dict[int, Aside]]:
    """Return the sentences with the heads that follow from labels, the results for complete ones, and those to set aside.

    other: the parser of sentences with heads that no tree of the class has.
    """
    single_root, tree_class = parser.model.config.scorer.single_root, parser.model.system.tree_class
    rooted = list(map(kept_heads.rooted, sentences)) if parser.labels_roots else list(sentences)
    complete: dict[int, Sentence] = {}
    aside: dict[int, Aside] = {}
    for k, sentence in enumerate(rooted):
        heads = kept_heads.given(sentence)
        if why := kept_heads.obstacle(heads, single_root):
            aside[k] = why, None
        elif len(sentence) and kept_heads.complete(sentence) and not (wanted.tags and len(sentence) <= longest):
            fields: dict[str, Any] = {"note": None if sentence is sentences[k] else "", "alternatives": None}
            if wanted.confidence:
                fields |= dict.fromkeys(PROBABILITIES.values(), np.ones(len(heads)))
            complete[k] = replace(sentence, **fields)
        elif len(sentence) <= longest:
            with suppress(MemoryError):  # it will be raised again when the sentence is parsed
                if why := kept_heads.outside(heads, tree_class, single_root):
                    aside[k] = why, other
    if wanted.tags and complete:  # all of these are longer than `longest`: only their tags are parsed
        bare = [replace(sentence, **_NO_TREE) for sentence in complete.values()]
        for k, tagged in zip(complete, parse(parser, bare, longest, tags=True), strict=True):
            complete[k] = replace(complete[k], **{column: getattr(tagged, column) for column in TAGS})
    return rooted, complete, aside


def _parsed(
    parser: AnyParser, sentences: Sequence[Sentence], numbers: list[int], progress: Progress, wanted: Wanted
) -> dict[int, Sentence]:
    """Return the parses of the sentences with these numbers, except those that do not fit into memory even alone."""
    try:
        parsed = parser.parse_as_usual([sentences[k] for k in numbers], progress=progress, wanted=wanted)
        return dict(zip(numbers, parsed, strict=True))
    except MemoryError:
        pass  # leaving this block frees what the exception keeps in memory
    if len(numbers) == 1:
        return {}
    by_length = sorted(numbers, key=lambda k: len(sentences[k]))
    shorter, longer = by_length[: len(numbers) // 2], by_length[len(numbers) // 2 :]
    return {**_parsed(parser, sentences, shorter, progress, wanted), **_parsed(parser, sentences, longer, progress, wanted)}


def _beyond(sentence: Sentence, why: str, other: AnyParser | None, how: str, wanted: Wanted) -> Sentence:
    """Return the sentence with a tree from the parser `other`; without a tree if `other` is None or memory runs out.

    why, how: for the note, why `other` parses the sentence, and how it decodes.
    """
    uncut = bool(getattr(sentence, "votes", ()))  # windows of the voting trees would not be trees
    size = window(other) if other else 0
    if other and how == PROBABLE:
        size = default(other, confidence=True)
        if len(sentence) > size:
            size //= 2  # half the size takes an eighth of the time for the same number of words
    only = Wanted(tags=wanted.tags, keep_heads=wanted.keep_heads)
    while other and size >= _SHORTEST:
        whole = uncut or len(sentence) <= size
        try:
            parsed = other.parse_as_usual([sentence] if whole else _cut(sentence, size, wanted.keep_heads), wanted=only)
        except MemoryError:
            size = 0 if uncut else min(size, len(sentence)) // 2
            continue
        if whole:
            return replace(parsed[0], note="%s, %s" % (how, why))
        single_root = bool(other.vote_class) or other.model.config.scorer.single_root
        joined = _joined(sentence, parsed, single_root, wanted.keep_heads)
        return replace(joined, note="%s in windows of up to %d words, %s" % (how, size, why))
    return replace(sentence, **{**_NO_TREE, "note": "%s, %s" % (SKIPPED, why)})


def _cut(sentence: Sentence, size: int, keep_heads: bool) -> list[Window]:
    """Cut into windows of about the same number of words, at most `size`. With `keep_heads`, heads within one stay."""
    number = -(-len(sentence) // size)
    ends = [len(sentence) * k // number for k in range(number + 1)]
    columns: dict[str, Any] = {name: getattr(sentence, name) for name in ("words", *TAGS)}
    if keep_heads:
        columns["deprels"] = sentence.deprels
    windows = []
    for start, end in pairwise(ends):
        cut = {name: cells and cells[start:end] for name, cells in columns.items()}
        window = Window(name=sentence.name, whole=sentence, start=start, **cut)
        if keep_heads:
            heads = kept_heads.given(sentence)[start : end + 1]
            inside = np.where((heads > start) & (heads <= end), heads - start, np.where(heads == 0, 0, -1))
            window.heads = np.append(-1, inside[1:]).astype(np.int32)
        windows.append(window)
    return windows


def _joined(sentence: Sentence, windows: Sequence[Sentence], single_root: bool, keep_heads: bool) -> Sentence:
    """Return the sentence with the trees of its windows. With `single_root`, one of their roots heads the others.

    This is the root of the first window, unless kept heads determine another one.
    """
    starts = accumulate(map(len, windows), initial=0)
    of_windows = [np.where(parsed.heads > 0, parsed.heads + start, 0)[1:] for parsed, start in zip(windows, starts, strict=False)]
    heads = np.concatenate([[-1], *of_windows]).astype(np.int32)
    tree = kept_heads.joined(heads, kept_heads.given(sentence) if keep_heads else np.full_like(heads, -1), single_root)
    predicted = [tag for tag in (*TAGS, "deprels") if getattr(windows[0], tag) is not None]
    columns: dict[str, Any] = {tag: [*chain.from_iterable(getattr(parsed, tag) for parsed in windows)] for tag in predicted}
    for m in np.flatnonzero(tree != heads).tolist():
        columns["deprels"][m - 1] = _ATTACHED if tree[m] else "root"
    if keep_heads:
        columns["deprels"] = kept_heads.labelled(sentence, columns["deprels"])
    return replace(sentence, heads=tree, **UNPARSED, **columns)


def _otherwise(parser: AnyParser, beyond: str | None) -> tuple[str, AnyParser | None]:
    """Return how sentences beyond the limit are decoded, and the parser that does so, if any."""
    if beyond == "skip":
        return SKIPPED, None
    if not parser.vote_class:
        return _search(parser, beyond)
    pairs = [_search(member, beyond) for member in parser.members]
    others = [other for _, other in pairs]
    usual = others == parser.members and parser.vote_class == "any"
    return " and ".join(dict.fromkeys(how for how, _ in pairs)) or "votes", parser if usual else type(parser)(others)


def _search(parser: AnyParser, beyond: str | None) -> tuple[str, AnyParser]:
    """Return how the parser decodes sentences beyond the limit, and a parser of the same model that does so."""
    system = parser.model.system
    if beyond is None and parser.decoding in ("greedy", "beam"):
        return parser.decoding if parser.decoding == "greedy" else "beam %d" % parser.beam, parser
    if beyond != "beam" and parser.decode is mst.decode:
        return "mst", parser
    arcs = next((tensor.name for tensor in system.tensors if tensor.name in ("arcs", "arc")), None)
    if beyond == "beam" or beyond is None and "beam" in system.decoders:
        if "beam" not in system.decoders:
            others = "mst or skip" if arcs else "skip"
            raise InputError("%s has no beam search, which beyond=beam needs: choose %s" % (system.name, others))
        return "beam %d" % BEYOND_BEAM, type(parser)(parser.model, "beam", BEYOND_BEAM)
    if arcs is None:
        raise InputError("%s has no scores of arcs, which beyond=mst needs: choose beam or skip" % system.name)
    other = type(parser)(parser.model)
    # The tree with the highest sum of these scores, without the other scores of the system.
    other.decode = lambda *, single_root, heads=None, **tensors: mst.decode(tensors[arcs], heads=heads, single_root=single_root)
    return "mst", other


def _around_heads(parser: AnyParser, beyond: str | None) -> tuple[str, AnyParser | None]:
    """Return how sentences beyond the limit, or with heads that no tree of the class has, are decoded, and the parser for it."""
    if parser.vote_class:
        raise InputError("an ensemble cannot keep heads: choose a parser")
    if beyond == "beam":
        raise InputError("beam cannot keep heads: choose mst or skip")
    if beyond == "skip":
        return SKIPPED, None
    if any(tensor.name in ("arcs", "arc") for tensor in parser.model.system.tensors):
        return _search(parser, "mst")
    marginals = parser.model.system.marginals
    if marginals is None:
        if beyond:
            wrong = "%s has neither scores nor probabilities of arcs, for beyond=mst: choose skip"
            raise InputError(wrong % parser.model.system.name)
        return SKIPPED, None
    other = type(parser)(parser.model)

    def most_probable(*, single_root: bool, heads: Any = None, **tensors: np.ndarray) -> Derivation:
        """Return the tree of any class with the highest sum of probabilities of arcs."""
        found = marginals(**at_temperature(tensors, parser.model.temperature or 1), single_root=single_root)
        return mst.decode(found.arcs, heads=heads, single_root=single_root)

    other.decode = most_probable
    return PROBABLE, other


def _of_class(tree_class: str, otherwise: int) -> int:
    """Return the length up to which finding the best tree of a class by scores of arcs takes about a second.

    Returns `otherwise` if it takes less for all lengths.
    """
    return EXACT.get({"mh4": "mh4-arcs", "mh5": "mh5-arcs", "1ec": "1ec"}.get(tree_class, ""), otherwise)
