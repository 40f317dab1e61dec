"""mh4: exact global transition-based non-projective dependency parsing.

The reference implementation of Gómez-Rodríguez, Shi & Lee, "Global Transition-based Non-projective Dependency Parsing"
(ACL 2018). ``mh4.load(folder).parse(sentences)`` parses; ``mh4.decoders`` are the exact chart parsers.
"""

from typing import Optional

from mh4.parsing import Parser
from mh4.systems import BEAM

__version__ = "0.1.0"


def load(folder: str, decode: Optional[str] = None, beam: int = BEAM) -> Parser:
    """The parser that ``mh4 train --model folder`` made. Raises mh4.errors.InputError if there is none.

    decode: "exact", "greedy" or "beam" (of width `beam`); if None, exact for global models and greedy for greedy ones.
    """
    return Parser.load(folder, decode, beam)
