"""Writing parsed sentences as CoNLL-U."""

import re
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import dataclass, field
from typing import TextIO

from mh4.data.block import SKIPPED, Block
from mh4.data.sentence import Sentence
from mh4.errors import counted

Parses = Generator[tuple[Block, Sentence], None, None]  # blocks, each with its parse
Progress = Callable[[int], None]  # called with each number of words that are done

_SENT_ID, _OF_TREE = re.compile(r"^# *sent_?id *= *\S.*", re.MULTILINE), re.compile(r"-tree\d+\Z")
_BEGINNING = re.compile(r"^# *new(doc|par)\b.*\n", re.MULTILINE)


@dataclass
class Written:
    """The numbers of sentences, words and trees that were written.

    noted: the number of sentences that were not parsed as the others, for each way in which they were parsed.
    """

    sentences: int = 0
    words: int = 0
    trees: int = 0
    noted: Counter[str] = field(default_factory=Counter)

    def notes(self) -> str:
        """Return a message that counts the noted sentences."""
        counts = ("%d %s%s" % (count, "" if how == SKIPPED else "by ", how) for how, count in sorted(self.noted.items()))
        total, were = self.noted.total(), "were not parsed as the others, as comments in them say"
        if total == 1:
            were = "was not parsed as the others, as a comment in it says"
        return "%d of %s %s: %s" % (total, counted(self.sentences, "sentence"), were, ", ".join(counts))


def write(
    parses: Parses, output: TextIO, *, tags: bool, keep_deps: bool, flush: bool = False, progress: Progress = lambda words: None
) -> Written:
    """Write each block with its parse, and close `parses` even after an error.

    tags, keep_deps: see Sentence.columns. flush: write each sentence out at once. progress: called with the number of
    words of each sentence.
    """
    written = Written()
    with closing(parses):
        for block, parsed in parses:
            output.write(text_of(block, parsed, tags, keep_deps))
            if flush:
                output.flush()
            progress(len(parsed))
            written.sentences += 1
            written.words += len(parsed)
            written.trees += 1 + len(parsed.alternatives or ())
            if parsed.note and parsed.alternatives is None:
                written.noted[parsed.note.partition(",")[0]] += 1
    return written


def text_of(block: Block, parsed: Sentence, tags: bool, keep_deps: bool) -> str:
    """Return the text of a block with its parse, each alternative as a sentence of its own. tags, keep_deps: see Sentence.columns."""
    trees = [block.parsed_columns(tree, tags, keep_deps) for tree in (parsed, *(parsed.alternatives or ()))]
    if len(trees) == 1:
        return block.text(trees[0], parsed.note)
    texts = [block.alone(columns, tree.note) for columns, tree in zip(trees, (parsed, *parsed.alternatives), strict=True)]
    return "".join(_renamed(text, number) for number, text in enumerate(texts, start=1))


def _renamed(text: str, number: int) -> str:
    """Return the text of a block for one of several trees of its sentence.

    Comments that begin a document or a paragraph are kept for the first tree only. The number of the tree is added to
    the sent_ids of later trees as "-treeN". It is added to that of the first tree only if this ends like them already,
    since the sentence may be such a tree itself.
    """

    def of_tree(found: re.Match[str]) -> str:
        line = found[0].rstrip(" \r")
        return "%s-tree%d%s" % (line, number, found[0][len(line) :]) if number > 1 or _OF_TREE.search(line) else found[0]

    return _SENT_ID.sub(of_tree, text if number == 1 else _BEGINNING.sub("", text))
