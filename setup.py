"""Builds the exact decoders (Cython, C++); everything else is in pyproject.toml.

A wheel is compiled for every processor of its architecture. The modules whose speed depends on vector instructions (as measured by
benchmarks/variants.py) are in it several times: for AVX-512 and AVX2 in folders that mh4/decoders/__init__.py puts in front of
the search path. A whole module is the unit, since its inner loops are C++ templates for one vector width: there is no dispatch
in the code, and the modules agree on everything that they share, which has no vectors in it. All else, such as `make setup`, builds
for this processor.

MH4_MARCH selects the processors to compile for instead, like the compiler's option -march: MH4_MARCH=x86-64-v3 requires AVX2.
This changes the speed of the decoders, but not a bit of their results. MH4_CFLAGS has further options for the compiler and
the linker, such as -fsanitize=address.
"""

import copy
import os
import platform
import sys
import types
from glob import glob

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = os.path.dirname(os.path.abspath(__file__))
VARIANTS = {  # the compiler's options, by folder
    "avx512": ["-mavx512f", "-mavx512bw", "-mavx512dq", "-mavx512vl"],
    "avx2": ["-mavx2"],
}
VECTORISED = ["mh4_full", "mh4_marginals", "mh5_full", "oneec"]
SHARED = "cython_shared"  # Cython's own code for arrays, once instead of in every module: twice as fast to compile, half the size
DIRECTIVES = {
    "language_level": 3,
    "boundscheck": False,  # the arguments' shapes are checked in Python before a kernel runs
    "wraparound": False,
    "cdivision": True,
    "initializedcheck": False,
    "annotation_typing": False,  # annotations are for readers and type checkers
}

wheel = "bdist_wheel" in sys.argv and "MH4_MARCH" not in os.environ
has_variants = wheel and platform.machine() == "x86_64"
march = os.environ.get("MH4_MARCH", "" if wheel else "native")
further = os.environ.get("MH4_CFLAGS", "").split()


def extension(name, variant=None):
    """The extension of a module, or of one of its variants."""
    # No fused multiply-add: it would round differently from a multiplication and an addition.
    options = ["-O3", "-g0", "-ffp-contract=off"] + (["-march=" + march] if march else [])
    options += VARIANTS[variant] if variant else []
    return Extension(
        ".".join(["mh4.decoders"] + ([variant] if variant else []) + [name]),
        ["mh4/decoders/%s.%s" % (name, "c" if name == SHARED else "cpp")],
        depends=glob("mh4/decoders/*.h*"),
        define_macros=[("MH4_VARIANTS", None)] if has_variants and name == "processor" else [],
        extra_compile_args=options + further,
        extra_link_args=(["-s"] if wheel and sys.platform == "linux" else []) + further,
        language=None if name == SHARED else "c++",
    )


def write_recurrences():
    """Generate the C++ of oneec, without importing the package mh4.decoders: it needs numpy, and what is to be compiled here."""
    package = types.ModuleType("mh4.decoders")
    package.__path__ = [os.path.join(ROOT, "mh4", "decoders")]
    sys.modules["mh4.decoders"] = package
    sys.path.insert(0, ROOT)
    from mh4.decoders import oneec_generate

    oneec_generate.write("mh4/decoders/oneec_recurrences.hpp")


class BuildDecoders(build_ext):
    """Generates the C++ before it is compiled (an sdist needs none), and keeps the object files of variants apart."""

    def build_extensions(self):
        write_recurrences()
        modules = [extension(SHARED), Extension("mh4.decoders.*", ["mh4/decoders/*.pyx"], language="c++")]
        cythonize(modules, compiler_directives=DIRECTIVES, shared_utility_qualified_name="mh4.decoders." + SHARED)
        super().build_extensions()

    def build_extension(self, extension):
        own = copy.copy(self)  # several are built in parallel
        own.build_temp = os.path.join(self.build_temp, extension.name)
        build_ext.build_extension(own, extension)


names = sorted(os.path.splitext(os.path.basename(path))[0] for path in glob("mh4/decoders/*.pyx"))
extensions = [extension(name) for name in [SHARED, *names]]
if has_variants:
    extensions += [extension(name, variant) for variant in VARIANTS for name in VECTORISED]

setup(ext_modules=extensions, cmdclass={"build_ext": BuildDecoders}, options={"build_ext": {"parallel": True}})
