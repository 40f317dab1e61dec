"""mh4: exact global transition-based non-projective dependency parsing.

The reference implementation of Gómez-Rodríguez, Shi & Lee, "Global Transition-based Non-projective Dependency Parsing"
(ACL 2018). ``mh4.load(folder).parse(sentences)`` parses; ``mh4.decoders`` are the exact chart parsers.
"""

from typing import List, Optional, Tuple, Union, overload

from mh4.ensemble import Ensemble
from mh4.parsing import Parser
from mh4.systems import BEAM

__version__ = "0.1.0"


@overload
def load(folder: str, decode: Optional[str] = None, beam: int = BEAM) -> Parser: ...
@overload
def load(folder: Union[List[str], Tuple[str, ...]], *, tree: str = "mst") -> Ensemble: ...
def load(
    folder: Union[str, List[str], Tuple[str, ...]], decode: Optional[str] = None, beam: int = BEAM, *, tree: str = "mst"
) -> Union[Parser, Ensemble]:
    """The parser that ``mh4 train --model folder`` made. Raises mh4.errors.InputError if there is none.

    decode: "exact", "greedy" or "beam" (of width `beam`); if None, exact for global models and greedy for greedy ones.
    Of several folders, the ensemble of their parsers, with trees of the class `tree`: "mst" (any), "mh4" or "1ec".
    """
    return Parser.load(folder, decode, beam) if isinstance(folder, str) else Ensemble.load(folder, tree)
