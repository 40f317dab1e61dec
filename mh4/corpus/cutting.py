"""Cut files into shards of whole portions (see mh4.data.text_lines.PORTION), each defined by its position in the file.

Nothing is copied: a shard of an uncompressed file is a range of bytes, which its worker reads from the file.
"""

import hashlib
import re
from collections.abc import Iterator
from itertools import chain
from typing import BinaryIO, NamedTuple

from mh4.data import text_lines
from mh4.errors import InputError
from mh4.util import reading

_MARK = b"\xef\xbb\xbf"
_GAP, _LINE_END = re.compile(b"\n\n+"), re.compile(b"\n+")


# Bytes that take a core about a minute. The driver sends the content of compressed files to the workers, so shards of
# these should be small.
_MOST, _MOST_TEXT, MOST_COMPRESSED = 64 << 20, 6 << 20, 8 << 20
_SHARDS_PER_WORKER = 16  # at least, so that all workers end at about the same time


def shard_bytes(total: int, workers: int, text: bool) -> int:
    """Return the minimum size of a shard in bytes, for a corpus of `total` bytes parsed by `workers` workers."""
    return max(1, min(_MOST_TEXT if text else _MOST, total // (_SHARDS_PER_WORKER * workers)))


class Shard(NamedTuple):
    """A part of a file, between sentences.

    file: the number of the file; number: that of the shard in the file; both from 0. offset, length: in bytes,
    uncompressed. line, sentence: the numbers of lines and sentences before the shard in the file. lines, sentences:
    their numbers in the shard. In raw text, whose sentences are not known yet, paragraphs are counted instead. sha256:
    of its bytes, in hexadecimal.
    """

    file: int
    number: int
    offset: int
    length: int
    line: int
    lines: int
    sentence: int
    sentences: int
    sha256: str

    @property
    def end(self) -> int:
        """Return the offset at which the next shard begins."""
        return self.offset + self.length


def after(last: Shard | None) -> tuple[int, int, int, int]:
    """Return the number, offset, line and sentence of the shard after `last`; None stands for the start of a file."""
    if last is None:
        return 0, 0, 0, 0
    return last.number + 1, last.end, last.line + last.lines, last.sentence + last.sentences


def cut(
    stream: BinaryIO, name: str, file: int, size: int, last: Shard | None = None, by_line: bool = False
) -> Iterator[tuple[Shard, bytes]]:
    """Yield the shards of the rest of a file with their content. All but the last have at least `size` bytes.

    name: the name of the file in messages. last: the shard after which the stream is; by default, it is at the start of
    the file. by_line: whether each line is a sentence. Raises InputError as `portions` does.
    """
    number, offset, line, sentence = after(last)
    parts: list[bytes] = []
    for portion in chain(portions(stream, name, line, by_line), [b""]):
        parts.append(portion)
        length = sum(map(len, parts))
        if length >= size or not portion and (length or not offset):  # an empty file has an empty shard
            content = b"".join(parts)
            lines, sentences = content.count(b"\n"), _sentences(content, by_line)
            digest = hashlib.sha256(content).hexdigest()
            shard = Shard(file, number, offset, length, line, lines, sentence, sentences, digest)
            yield shard, content
            number, offset, line, sentence = after(shard)
            parts = []


def content_of(stream: BinaryIO, path: str, shard: Shard) -> bytes:
    """Return the bytes of a shard from its open file. Raises InputError if they have changed since the file was cut."""
    stream.seek(shard.offset)
    content = stream.read(shard.length)
    if hashlib.sha256(content).hexdigest() != shard.sha256:
        raise InputError("%s: changed since it was cut into shards (%d bytes from byte %d)" % (path, shard.length, shard.offset))
    return content


def _sentences(content: bytes, by_line: bool) -> int:
    """Return the number of runs of lines that are not blank or, with by_line, of lines that are not blank."""
    runs = content.replace(_MARK, b"").translate(None, b" \r").strip(b"\n")
    return len((_LINE_END if by_line else _GAP).findall(runs)) + 1 if runs else 0


def _is_blank(lines: bytes) -> bool:
    """Return whether all these lines are blank, as defined by mh4.data.block.is_blank."""
    return not lines.replace(_MARK, b"").strip(b" \r\n")


def portions(stream: BinaryIO, name: str, before: int = 0, by_line: bool = False) -> Iterator[bytes]:
    """Yield the portions of the rest of file `name`. The stream is at the start of a portion, after `before` lines.

    Portions end between sentences. A sentence ends with a blank line or, with by_line, with each line.
    Raises InputError for a line or a sentence that is longer than allowed.
    """
    line = before  # the number of lines read
    begin = reading.line(stream, name, line + 1)
    while begin:
        data = begin
        if len(begin) < text_lines.PORTION:  # the rest of a line makes it large enough, unless the file ends
            data += stream.read(text_lines.PORTION - 1 - len(begin))
            data += reading.line(stream, name, line + data.count(b"\n") + 1)
        first, size = line + 1, len(data) - text_lines.PORTION
        line += data.count(b"\n")
        last = data[data.rfind(b"\n", 0, len(data) - 1) + 1 :]
        begun = not _is_blank(data)
        ended = by_line or begun and _is_blank(last)
        parts = [data]
        while (begin := reading.line(stream, name, line + 1)) and not (ended and (by_line or not _is_blank(begin))):
            line += 1
            size += len(begin)
            reading.check_size(size, name, first)
            text_lines.check_lines(len(parts), name, first)
            begun = begun or not _is_blank(begin)
            ended = begun and _is_blank(begin)
            parts.append(begin)
        yield b"".join(parts)
