"""DyNet, set up once: automatic batching on, no banner on the terminal.

Everything that builds a computation graph imports ``dy`` from here, and nothing else in the package imports DyNet, so the
decoders and the commands that need no model start without it.
"""

import os
import sys
from contextlib import contextmanager
from typing import Iterator


@contextmanager
def _quiet_stderr() -> Iterator[None]:
    """DyNet writes its seed and memory to file descriptor 2 from C++; drop that, but nothing else."""
    sys.stderr.flush()
    kept = os.dup(2)
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(null)


with _quiet_stderr():
    import dynet_config

    dynet_config.set(autobatch=1, mem=512, random_seed=1)
    import dynet as dy

__all__ = ["dy"]
