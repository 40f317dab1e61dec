"""Read the data of a task into sentences with their CoNLL-U lines, and write such lines in the output format.

CoNLL-U keeps every byte. The other output formats are UDPipe's, and ufal.udpipe writes them; it also reads raw text.
"""

import io
from collections.abc import Iterator
from typing import Any

from mh4.data import conllu, split_text
from mh4.data.block import Block
from mh4.data.segmenter import Segmenter, for_udpipe, segmented, udpipe_sentences
from mh4.drawing.svg import valid_xml
from mh4.parser.choices import SPLIT
from mh4.serving.tasks import CONLLU, EPE, MATXIN, Task

_DATA = "data"  # what messages call the parameter


def read(task: Task, segmenter: Segmenter | None) -> Iterator[Block]:
    """Yield the sentences of a task: none for white space only. Raises InputError for data in another format."""
    try:
        if task.tokenizer is not None:
            assert segmenter
            yield from segmenter.blocks_of(task.data, _DATA, task.tokenizer)
        elif task.input in SPLIT:
            yield from split_text.parsed(io.StringIO(task.data, newline="\n"), _DATA, task.input)
        elif not _is_conllu(task.input):
            yield from segmented(io.StringIO(task.data, newline="\n"), _DATA, _reader(task.input))
        else:
            # Check the trees that UDPipe will write: its errors do not say which tree is wrong.
            trees = task.heads or not (task.parser or _is_conllu(task.output))
            yield from conllu.parsed(io.StringIO(task.data, newline="\n"), _DATA, trees=trees, partial=trees)
    except conllu.NoSentences:
        return


def write(text: str, output: str) -> str:
    """Return the CoNLL-U `text` in the format `output`."""
    if _is_conllu(output):
        return text
    import ufal.udpipe as udpipe

    writer = udpipe.OutputFormat.newOutputFormat(output)
    text = for_udpipe(valid_xml(text) if output in (MATXIN, EPE) else text)  # EPE is JSON: no control characters
    written = [writer.writeSentence(one) for one in udpipe_sentences(_reader(CONLLU), text, "%s cannot be read" % _DATA)]
    return "".join([*written, writer.finishDocument()]) if written else ""


def _is_conllu(given: str) -> bool:
    return given.partition("=")[0] == CONLLU


def _reader(source: str) -> Any:
    import ufal.udpipe as udpipe

    return udpipe.InputFormat.newInputFormat(source)
