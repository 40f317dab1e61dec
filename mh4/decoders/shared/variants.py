"""The modules that a wheel has for several processors: the fastest variant that this one can run, or the one that MH4_SIMD names."""

import os

from mh4.decoders.shared.processor import variants
from mh4.errors import InputError

VARIANTS = variants()
CHOSEN = os.environ.get("MH4_SIMD", VARIANTS[0]) if VARIANTS else ""
if CHOSEN and CHOSEN not in VARIANTS:
    raise InputError("MH4_SIMD=%s: expected one of: %s" % (CHOSEN, " ".join(VARIANTS)))


def search_path(path: list[str]) -> list[str]:
    """The search path of a package with such modules: those of the variant first."""
    return [os.path.join(path[0], CHOSEN), *path] if CHOSEN else path
