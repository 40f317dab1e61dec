"""`mh4 evaluate`, `mh4 compare` and `mh4 coverage` in Python, for CoNLL-U files or sentences.

A treebank is the path of a file, which may be compressed, or an iterable of sentences: Sentence or conllu's
TokenList. A Sentence has no multiword tokens, so compare it only with files that have none.
"""

import os
import re
import tempfile
import warnings
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any

from conllu.models import TokenList

from mh4.analysis import comparison, evaluation
from mh4.analysis.comparison import Comparison
from mh4.analysis.coverage import Coverage, measure_coverage
from mh4.analysis.evaluation import Score
from mh4.data import conllu
from mh4.data.conllu import Sentence
from mh4.errors import InputError, collected_warnings, shown
from mh4.util.reading import path_of

Treebank = str | os.PathLike[str] | Iterable[Sentence | TokenList]
Runs = Sequence[str | os.PathLike[str]]
_PATH = (str, bytes, os.PathLike)


def evaluate(gold: Treebank, system: Treebank) -> dict[str, Score]:
    """Return the scores of the CoNLL 2018 shared task's scorer, in percent, by metric, such as "UAS" and "LAS".

    Words may differ: the scorer aligns them. Labels are compared without subtypes. Raises InputError for files that the scorer rejects.
    """
    with _files(("gold", gold), ("system", system)) as paths:
        return evaluation.official(*paths)


def compare(gold: Treebank, a: Treebank | Runs, b: Treebank | Runs) -> Comparison:
    """Measure where parses `a` are better than parses `b`, and whether that may be due to chance. Raises InputError as `evaluate` does.

    a, b: a treebank, or a list of paths, one for each run of the parser. Sentences have "gold", "a" or "b" as their path.
    """
    given = [("gold", gold), *(("a", one) for one in _runs(a)), *(("b", one) for one in _runs(b))]
    with _files(*given) as paths:
        number = 1 + len(_runs(a))
        found = comparison.compare(paths[0], paths[1:number], paths[number:])
    path, *named = (path if isinstance(treebank, _PATH) else name for (name, treebank), path in zip(given, paths, strict=True))
    one, other = found.systems
    systems = (replace(one, paths=tuple(named[: number - 1])), replace(other, paths=tuple(named[number - 1 :])))
    return replace(found, path=path, systems=systems)


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
    """Yield the files of treebanks; sentences are written to temporary ones, as the scorer reads text.

    Temporary files are named after the arguments, for messages.
    """
    with ExitStack() as stack:
        paths: list[str] = []
        temporary: dict[str, tuple[str, list[int]]] = {}
        for argument, treebank in treebanks:
            if isinstance(treebank, _PATH):
                paths.append(path_of(treebank, argument + " cannot be %s, expected the path of a file, or sentences"))
                continue
            if isinstance(treebank, (Sentence, TokenList)) or not isinstance(treebank, Iterable):
                raise InputError("cannot measure %s: expected the path of a file, or sentences" % shown(treebank))
            file = stack.enter_context(tempfile.NamedTemporaryFile("w", encoding="utf-8", newline="\n", suffix=".conllu"))
            starts = [1]  # the first line of each sentence
            for number, sentence in enumerate(treebank, start=1):
                text = _text(sentence, "sentence %d of %s" % (number, argument))
                file.write(text)
                starts.append(starts[-1] + text.count("\n"))
            file.flush()
            paths.append(file.name)
            temporary[file.name] = argument, starts
        try:
            with collected_warnings() as warned:
                yield paths
        except InputError as error:
            raise type(error)(_by_arguments(str(error), temporary)) from None
        for text in warned:
            warnings.warn(_by_arguments(text, temporary), RuntimeWarning, stacklevel=4)


def _by_arguments(message: str, temporary: Mapping[str, tuple[str, Sequence[int]]]) -> str:
    """Replace files and lines in a message by arguments and sentence numbers."""
    for name, (argument, starts) in temporary.items():
        line = re.compile(re.escape(name) + ", line ([0-9]+)(, sentence [0-9]+)?")
        given = "the sentences given as %s" % argument
        message = line.sub(lambda found: "%s, sentence %d" % (given, bisect_right(starts, int(found[1]))), message)  # noqa: B023
        message = message.replace(name, given)
    return message


def _text(given: Any, where: str) -> str:
    if not isinstance(given, (Sentence, TokenList)):
        raise InputError("cannot measure %s, %s: expected a Sentence or a TokenList" % (shown(given), where))
    try:
        return given.serialize() if isinstance(given, TokenList) else given.to_conllu()
    except InputError as error:
        raise InputError("cannot measure %s: %s" % (where, error)) from None
