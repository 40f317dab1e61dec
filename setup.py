"""Builds the exact decoders (Cython, C++); everything else is in pyproject.toml.

MH4_MARCH names the processors to compile for, as the compiler's option -march does. It is `native`, the one at hand,
unless it is set: for a wheel that others are to install, MH4_MARCH=x86-64-v3 asks for AVX2, and MH4_MARCH= (empty) for
no more than every processor of the architecture has. The decoders give the same results to the bit, at another speed.
"""

import os
import sys
from glob import glob

import numpy
from Cython.Build import cythonize
from setuptools import Extension, setup

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from mh4.decoders import oneec_generate  # noqa: E402

march = os.environ.get("MH4_MARCH", "native")
oneec_generate.write("mh4/decoders/oneec_recurrences.hpp")

setup(
    ext_modules=cythonize(
        [
            Extension(
                "mh4.decoders.*",
                ["mh4/decoders/*.pyx"],
                depends=glob("mh4/decoders/*.h*"),
                include_dirs=[numpy.get_include()],
                define_macros=[("NPY_NO_DEPRECATED_API", "NPY_1_7_API_VERSION")],
                # No multiply-add where there was a multiplication and an addition: its result would be another.
                extra_compile_args=["-O3", "-ffp-contract=off"] + (["-march=" + march] if march else []),
                language="c++",
            )
        ],
        compiler_directives={
            "language_level": 3,
            "boundscheck": False,  # the arguments' shapes are checked in Python before a kernel runs
            "wraparound": False,
            "cdivision": True,
            "initializedcheck": False,
            "annotation_typing": False,  # annotations are for readers and type checkers
        },
    ),
    options={"build_ext": {"parallel": True}},
)
