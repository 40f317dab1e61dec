"""Builds the exact decoders (Cython, C++); everything else is in pyproject.toml."""

import numpy
from Cython.Build import cythonize
from setuptools import Extension, setup

setup(
    ext_modules=cythonize(
        [
            Extension(
                "mh4.decoders.*",
                ["mh4/decoders/*.pyx"],
                depends=["mh4/decoders/lanes.h"],
                include_dirs=[numpy.get_include()],
                define_macros=[("NPY_NO_DEPRECATED_API", "NPY_1_7_API_VERSION")],
                extra_compile_args=["-O3", "-march=native"],
                language="c++",
            )
        ],
        language_level=3,
    ),
    options={"build_ext": {"parallel": True}},
)
