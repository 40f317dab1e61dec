"""Evaluate, compare and measure CoNLL-U files or sentences, as `mh4 evaluate`, `mh4 compare` and `mh4 coverage` do.

A treebank is the path of a file, which may be compressed, or an iterable of sentences: Sentence or conllu's
TokenList. A Sentence has no multiword tokens, so compare it only with files that have none.
"""

import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from conllu.models import TokenList

from mh4.analysis import comparison, evaluation
from mh4.analysis.comparison import Comparison
from mh4.analysis.coverage import Coverage, measure_coverage
from mh4.analysis.evaluation import Score
from mh4.data import conllu, token_lists
from mh4.data.sentence import Sentence
from mh4.errors import InputError, collected_warnings, shown, warn
from mh4.util.reading import path_of

Treebank = str | os.PathLike[str] | Iterable[Sentence | TokenList]
Runs = Sequence[str | os.PathLike[str]]
_PATH = (str, bytes, os.PathLike)


def evaluate(gold: Treebank, system: Treebank) -> dict[str, Score]:
    """Return the scores of the CoNLL 2018 shared task's scorer, in percent, by metric, such as "UAS" and "LAS".

    Words may differ: the scorer aligns them. Labels are compared without subtypes. Raises InputError for files that the
    scorer rejects.
    """
    with _files(("gold", gold), ("system", system)) as paths:
        return evaluation.official(*paths)


def compare(gold: Treebank, a: Treebank | Runs, b: Treebank | Runs) -> Comparison:
    """Measure where parses `a` are better than parses `b`, and whether that may be due to chance.

    a, b: a treebank, or a list of paths, one for each run of the parser. In the result, the path of a treebank that was
    given as sentences is "gold", "a" or "b". Raises InputError as `evaluate` does.
    """
    given = [("gold", gold), *(("a", one) for one in _runs(a)), *(("b", one) for one in _runs(b))]
    of_a, of_b = slice(1, 1 + len(_runs(a))), slice(1 + len(_runs(a)), None)
    with _files(*given) as paths:
        found = comparison.compare(paths[0], paths[of_a], paths[of_b])
        names = [path if isinstance(one, _PATH) else name for (name, one), path in zip(given, paths, strict=True)]
    first, second = found.systems
    systems = replace(first, paths=tuple(names[of_a])), replace(second, paths=tuple(names[of_b]))
    return replace(found, path=names[0], systems=systems)


def _runs(given: Any) -> Sequence[Any]:
    return given if isinstance(given, (list, tuple)) and given and all(isinstance(one, _PATH) for one in given) else [given]


def coverage(treebank: Treebank) -> Coverage:
    """Count the trees in each class and the arcs that the nearest trees keep, and measure crossings and gaps (Table 3).

    Raises InputError for files that are not CoNLL-U or have no trees.
    """
    with _files(("treebank", treebank)) as (path,):
        return measure_coverage(block.sentence.heads for block in conllu.blocks(path))


@contextmanager
def _files(*treebanks: tuple[str, Any]) -> Iterator[list[str]]:
    """Yield the paths of treebanks. Sentences are written to temporary files, since the scorer reads text.

    Messages name temporary files after the arguments, and omit the line number if they contain the sentence number.
    """

    def told(text: str) -> str:
        return re.sub(re.escape(folder + os.sep) + r"(the sentences given as \w+)(, line [0-9]+(?=, sentence ))?", r"\1", text)

    with tempfile.TemporaryDirectory() as folder:
        paths: list[str] = []
        for argument, treebank in treebanks:
            if isinstance(treebank, _PATH):
                paths.append(path_of(treebank, argument + " cannot be %s, expected the path of a file, or sentences"))
                continue
            if isinstance(treebank, (Sentence, TokenList)) or not isinstance(treebank, Iterable):
                raise InputError("cannot measure %s: expected the path of a file, or sentences" % shown(treebank))
            paths.append(os.path.join(folder, "the sentences given as " + argument))
            with open(paths[-1], "w", encoding="utf-8", newline="\n") as file:
                for number, sentence in enumerate(treebank, start=1):
                    file.write(_text(sentence, "sentence %d of %s" % (number, argument)))
        try:
            with collected_warnings() as warned:
                yield paths
        except InputError as error:
            raise type(error)(told(str(error))) from None
        for text in warned:
            warn(told(text), stacklevel=4)


def _text(given: Any, where: str) -> str:
    if not isinstance(given, (Sentence, TokenList)):
        raise InputError("cannot measure %s, %s: expected a Sentence or a TokenList" % (shown(given), where))
    try:
        return token_lists.completed(given).serialize() if isinstance(given, TokenList) else given.to_conllu()
    except InputError as error:
        raise InputError("cannot measure %s: %s" % (where, error)) from None
