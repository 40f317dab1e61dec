"""mh4: exact global transition-based non-projective dependency parsing.

The reference implementation of Gómez-Rodríguez, Shi & Lee, "Global Transition-based Non-projective Dependency Parsing"
(ACL 2018). ``mh4.load(folder).parse(sentences)`` parses; ``mh4.decoders`` are the exact chart parsers.
"""

__version__ = "0.1.0"


def load(folder: str) -> "mh4.parsing.Parser":
    """The parser that ``mh4 train --model folder`` made. Raises mh4.errors.InputError if there is none."""
    from mh4.parsing import Parser  # only now: DyNet takes a moment to start

    return Parser.load(folder)
