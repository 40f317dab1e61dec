"""Formats: what is read becomes sentences with their lines of CoNLL-U, and what is written is made from these.

All but CoNLL-U, which keeps every byte, are UDPipe's and are read and written by it (ufal.udpipe).
"""

import io
from collections.abc import Iterator
from typing import Any

from mh4.data import conllu, split_text
from mh4.data.conllu import Block
from mh4.data.segmenter import Segmenter, for_udpipe, udpipe_sentences
from mh4.drawing.svg import valid_xml
from mh4.errors import InputError, shown
from mh4.parser.choices import SPLIT
from mh4.serving.tasks import CONLLU, MATXIN, Task

_DATA = "data"  # what messages call the parameter


def read(task: Task, segmenter: Segmenter | None) -> Iterator[Block]:
    """Yield the sentences of a task, none if there is only white space. Raises InputError for data that is not in the task's format."""
    try:
        if task.tokenizer is not None:
            assert segmenter
            yield from segmenter.blocks_of(task.data, _DATA, task.tokenizer)
        elif task.input in SPLIT:
            yield from split_text.parsed(io.StringIO(task.data, newline="\n"), _DATA, task.input)
        else:
            text, as_given = task.data, _is_conllu(task.input)
            if not as_given:
                text = _converted(split_text.with_line_ends(text.removeprefix("\ufeff")), task.input, CONLLU)
            # Trees that UDPipe writes are checked here, as it does not say where a wrong one is.
            trees = task.heads or not (task.parser or _is_conllu(task.output))
            lines = io.StringIO(text, newline="\n")
            for number, block in enumerate(conllu.parsed(lines, _DATA, trees=trees, partial=trees), start=1):
                if not as_given:
                    block.sentence.name = "%s, sentence %d" % (_DATA, number)  # its line is none of the data
                yield block
    except conllu.NoSentences:
        return


def write(text: str, output: str) -> str:
    """Return CoNLL-U in one of UDPipe's formats."""
    text = valid_xml(text) if output == MATXIN else text
    return text if _is_conllu(output) else _converted(for_udpipe(text), CONLLU, output)


def _is_conllu(given: str) -> bool:
    return given.partition("=")[0] == CONLLU


def _converted(text: str, source: str, target: str) -> str:
    import ufal.udpipe as udpipe

    reader: Any = udpipe.InputFormat.newInputFormat(source)
    writer: Any = udpipe.OutputFormat.newOutputFormat(target)
    if not (reader and writer):
        raise InputError("no format %s" % shown(target if reader else source))
    written = [writer.writeSentence(sentence) for sentence in udpipe_sentences(reader, text, "%s cannot be read" % _DATA)]
    return "".join([*written, writer.finishDocument()]) if written else ""
