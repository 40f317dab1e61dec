"""Do a task in a worker process: read its data, parse the sentences, and write the result."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from mh4.data.block import Block
from mh4.data.cells import TAGS
from mh4.data.segmenter import Segmenter
from mh4.data.sentence import Sentence
from mh4.drawing.svg import picture, sheet
from mh4.errors import InputError, collected_warnings, counted
from mh4.parser import checksums, parallel, writing
from mh4.parser.base import check_parsed
from mh4.parser.parsing import Parser
from mh4.serving import formats
from mh4.serving.tasks import OF_TREES, PAGE, SVG, Abilities, Task
from mh4.util import reading
from mh4.viewing import analyses
from mh4.viewing.page import page

Files = tuple[str, str | None]  # the folder of a model, and the file of its segmenter, if it has one

_parsers: dict[str, Parser] = {}  # loaded in this process, by name
_segmenters: dict[str, Segmenter] = {}


class TooManyWords(InputError):
    """A request has more words than allowed."""


@dataclass(frozen=True)
class Answer:
    """The result in the requested format, the numbers of sentences and words in the data, and warnings for the log."""

    result: str
    sentences: int
    words: int
    warnings: list[str] = field(default_factory=list)


def checksums_of(models: Iterable[Files]) -> list[str]:
    """Return the checksums of models and segmenters. Raises InputError if one cannot be read."""
    found = []
    for folder, segmenter in models:
        found.append(checksums.of_model(folder))
        found += [reading.sha256(segmenter)] if segmenter else []
    return found


def load(models: Mapping[str, Files], expected: Sequence[str]) -> Abilities:
    """Load the models into this process, by name, and return the abilities of each.

    expected: the result of `checksums_of` for these models when the server started. Raises InputError as Parser.load
    and Segmenter do, if a model needs contextual vectors and therefore cannot parse, and if the checksums differ from
    `expected`.
    """
    abilities = {}
    for name, (folder, segmenter) in models.items():
        _parsers[name] = Parser.load(folder)
        _parsers[name].parse([["."]])
        if segmenter:
            _segmenters[name] = Segmenter(segmenter)
        can = {"tokenizer": name in _segmenters, "tagger": bool(_parsers[name].model.predicted_tags), "parser": True}
        abilities[name] = [ability for ability, has in can.items() if has]
    if checksums_of(models.values()) != expected:  # other processes may have loaded the earlier model
        raise InputError("a model or segmenter has changed since the server was started: start it again")
    return abilities


def answer(task: Task, most_words: int) -> Answer:
    """Do a task. Raises TooManyWords for more than `most_words // task.best` words.

    Raises InputError as formats.read and Parser.parse do.
    """
    with collected_warnings() as warned:
        blocks = list(_limited(formats.read(task, _segmenters.get(task.models[0])), most_words // task.best, task.best))
        result = _drawn(task, blocks) if task.output in (PAGE, SVG) else _written(task, blocks)
    return Answer(result, len(blocks), sum(len(block.sentence) for block in blocks), warned)


def too_many(most_words: int) -> str:
    """Return the message for data with more than `most_words` words."""
    return "more than %s, which is the most that one request may have" % counted(most_words, "word")


def _limited(blocks: Iterator[Block], most_words: int, best: int) -> Iterator[Block]:
    words = 0
    for block in blocks:
        words += len(block.sentence)
        if words > most_words:
            raise TooManyWords(too_many(most_words) + (" with best=%d" % best if best > 1 else "") + ": send several")
        yield block


def _parsed(task: Task, name: str, blocks: Sequence[Block], tags: bool, transitions: bool = False) -> list[Sentence]:
    """Return the sentences parsed by the model called `name`, in the same minibatches as `mh4 parse`.

    Raises InputError if the output needs trees and a sentence has no tree.
    """
    system = _parsers[name].model.system
    parses = parallel.parse(
        _parsers.__getitem__,
        (name,),
        blocks,
        confidence=task.confidence and (system.marginals is not None or not task.if_possible),
        transitions=transitions,
        tags=tags,
        keep_heads=task.heads,
        best=task.best,
    )
    found = [sentence for _, sentence in parses]
    return [check_parsed(sentence, task.heads) for sentence in found] if task.output in OF_TREES else found


def _written(task: Task, blocks: Sequence[Block]) -> str:
    if not (task.tagger or task.parser):
        return formats.write("".join(block.text({}) for block in blocks), task.output)
    texts = []
    for block, parsed in zip(blocks, _parsed(task, task.models[0], blocks, task.tagger), strict=True):
        if task.parser:
            texts.append(writing.text_of(block, parsed, task.tagger, task.keep_deps))
        else:
            columns = block.parsed_columns(parsed, tags=True)
            texts.append(block.text({column: columns[column] for column in TAGS if column in columns}))
    return formats.write("".join(texts), task.output)


def _drawn(task: Task, blocks: Sequence[Block]) -> str:
    by_model = [
        _parsed(task, name, blocks, bool(_parsers[name].model.predicted_tags), task.output == PAGE) for name in task.models
    ]
    views = [
        analyses.shown(number, block, parses)
        for number, (block, *parses) in enumerate(zip(blocks, *by_model, strict=True), start=1)
    ]
    if task.output == SVG:
        drawn = [(shown.words, tree) for shown in views for tree in shown.analyses]
        return sheet([picture(words, tree.heads, tree.deprels, tree.probabilities) for words, tree in drawn])
    return page(views, task.models)
