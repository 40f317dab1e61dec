"""mh4: exact global transition-based non-projective dependency parsing.

The reference implementation of Gómez-Rodríguez, Shi & Lee, "Global Transition-based Non-projective Dependency Parsing"
(ACL 2018). ``mh4.train`` trains; ``mh4.load(folder).parse(sentences)`` parses; ``mh4.decoders`` are the exact chart parsers.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from mh4.version import __version__ as __version__

if TYPE_CHECKING:
    from mh4.analysis.measures import compare, coverage, evaluate
    from mh4.parser.ensemble import Ensemble, load
    from mh4.parser.parsing import Parser
    from mh4.training.train import train

__all__ = ["Ensemble", "Parser", "compare", "coverage", "evaluate", "load", "train"]


def __dir__() -> list[str]:
    return sorted({*__all__, *globals()} - {"Any", "TYPE_CHECKING", "import_module"})


def __getattr__(name: str) -> Any:
    """Import the names in `__all__` on first use, so that other code starts without the compiled decoders."""
    if name not in __all__:
        raise AttributeError("module %r has no attribute %r" % (__name__, name))
    if name == "train":
        module = "mh4.training.train"
    elif name in ("compare", "coverage", "evaluate"):
        module = "mh4.analysis.measures"
    else:
        module = "mh4.parser.ensemble"
    return getattr(import_module(module), name)
