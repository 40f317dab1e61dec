"""Builds the exact decoders (Cython, C++); everything else is in pyproject.toml.

MH4_MARCH selects the processors to compile for, like the compiler's option -march. The default is `native`, this processor;
for a wheel to distribute, MH4_MARCH=x86-64-v3 requires AVX2, and MH4_MARCH= (empty) only what every processor of the
architecture has. This changes the speed of the decoders, but not a bit of their results. MH4_CFLAGS has further options for
the compiler and the linker, such as -fsanitize=address.
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
further = os.environ.get("MH4_CFLAGS", "").split()
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
                # No fused multiply-add: it would round differently from a multiplication and an addition.
                extra_compile_args=["-O3", "-ffp-contract=off"] + (["-march=" + march] if march else []) + further,
                extra_link_args=further,
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
