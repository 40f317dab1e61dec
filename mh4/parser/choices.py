"""The names that users choose from: ways to decode, and classes of trees for ensembles. The command line imports this for `--help`."""

from dataclasses import dataclass
from typing import Literal, get_args

Decoding = Literal["exact", "greedy", "beam", "mbr"]
TreeClass = Literal["mst", "mh4", "1ec"]
Beyond = Literal["beam", "mst", "skip"]  # how sentences beyond --longest are decoded
# The names of the systems in mh4.parser.systems.SYSTEMS.
SystemName = Literal[
    "mh3", "mst", "mh4-two", "mh4-hybrid", "1ec", "mh3-arcs", "mh4-arcs", "mh5-hybrid", "mh5-arcs", "greedy-mh3", "greedy-mh4",
    "greedy-mh4-two", "greedy-mh4-three",
]  # fmt: skip

DECODING_METHODS: tuple[Decoding, ...] = get_args(Decoding)
# Forms of text: split into words, or in need of a segmenter.
SPLIT, SEGMENTED = ("horizontal", "vertical"), ("text", "presegmented")
INPUTS = ("conllu", *SPLIT, *SEGMENTED)
BEAM = 8  # the default width of a beam
MAX_BEAM = 10_000  # any sentence fits into memory with this width
BEYOND: tuple[Beyond, ...] = get_args(Beyond)
BEYOND_BEAM = 64  # the width of the beam for sentences beyond --longest
# The classes of an ensemble's trees, and their names in mh4.trees.
TREES: dict[TreeClass, str] = {"mst": "any", "mh4": "mh4", "1ec": "1ec"}


@dataclass(frozen=True)
class Wanted:
    """Options of BaseParser.parse: what to find besides the best tree, and whether with the given heads."""

    confidence: bool = False
    transitions: bool = False
    tags: bool = False
    keep_heads: bool = False
    best: int = 1


ONLY_TREES = Wanted()
