"""Builds the exact decoders (Cython, C++); everything else is in pyproject.toml.

A wheel is compiled for every processor of its architecture. The modules whose speed depends on vector instructions (as measured by
benchmarks/variants.py) are in it several times: for AVX-512 and AVX2 in folders that mh4/decoders/shared/variants.py puts in front
of the search path. A whole module is the unit, since its inner loops are C++ templates for one vector width: there is no dispatch in
the code, and the modules agree on everything that they share, which has no vectors in it. All else, such as `make setup`, builds for
this processor. An extension depends on the headers in its own folder and in shared/, so that a change of one decoder leaves the
others as they are.

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
VECTORISED = ["mh4.full_chart", "mh4.inside_outside", "mh5.full_chart", "oneec.chart", "oneec.inside_outside"]
SHARED = "shared.cython_shared"  # Cython's own code for arrays, once instead of in every module: twice as fast to compile, half the size
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
# Other processors than those of PCs have the same vectors in all models, and not every compiler has this option for them.
march = os.environ.get("MH4_MARCH", "" if wheel or platform.machine() != "x86_64" else "native")
further = os.environ.get("MH4_CFLAGS", "").split()


def extension(name, variant=None):
    """The extension of a module, such as mh4.decoder, or of one of its variants."""
    folder, module = name.split(".")
    # No fused multiply-add: it would round differently from a multiplication and an addition.
    options = ["-O3", "-g0", "-ffp-contract=off"] + (["-march=" + march] if march else [])
    options += VARIANTS[variant] if variant else []
    options += [] if name == SHARED else ["-std=c++17"]  # without it, compilers differ
    return Extension(
        ".".join(["mh4.decoders", folder] + ([variant] if variant else []) + [module]),
        ["mh4/decoders/%s/%s.%s" % (folder, module, "c" if name == SHARED else "cpp")],
        include_dirs=["mh4/decoders/shared"],
        depends=sorted({*glob("mh4/decoders/%s/*.h*" % folder), *glob("mh4/decoders/shared/*.h*")}),
        define_macros=[("MH4_VARIANTS", None)] if has_variants and module == "processor" else [],
        extra_compile_args=options + further,
        extra_link_args=(["-s"] if wheel and sys.platform == "linux" else []) + further,
        language=None if name == SHARED else "c++",
    )


def write_recurrences():
    """Generate the C++ of oneec, without importing these packages: they need numpy, and what is to be compiled here."""
    for name in ("mh4.decoders", "mh4.decoders.oneec"):
        package = types.ModuleType(name)
        package.__path__ = [os.path.join(ROOT, *name.split("."))]
        sys.modules[name] = package
    sys.path.insert(0, ROOT)
    from mh4.decoders.oneec import generate

    generate.write("mh4/decoders/oneec/recurrences.hpp")


class BuildDecoders(build_ext):
    """Generates the C++ before it is compiled (an sdist needs none), in parallel, and keeps the object files of variants apart."""

    def finalize_options(self):
        super().finalize_options()
        self.parallel = self.parallel or True  # here, since an editable installation forgets the option

    def build_extensions(self):
        write_recurrences()
        sources = [(name, "mh4/decoders/%s.pyx" % name.replace(".", "/")) for name in names]
        modules = [Extension("mh4.decoders." + name, [path], language="c++") for name, path in sources]
        cythonize(
            [extension(SHARED), *modules], compiler_directives=DIRECTIVES, shared_utility_qualified_name="mh4.decoders." + SHARED
        )
        super().build_extensions()
        for path in glob("mh4/decoders/*/*.so"):  # of modules that are now Python, which would be found before it
            if ".".join(path.split(".")[0].split(os.sep)[-2:]) not in [SHARED, *names]:
                os.unlink(path)

    def build_extension(self, extension):
        own = copy.copy(self)  # several are built in parallel
        own.build_temp = os.path.join(self.build_temp, extension.name)
        build_ext.build_extension(own, extension)


names = sorted(".".join(os.path.splitext(path)[0].split(os.sep)[-2:]) for path in glob("mh4/decoders/*/*.pyx"))
extensions = [extension(name) for name in [SHARED, *names]]
if has_variants:
    extensions += [extension(name, variant) for variant in VARIANTS for name in VECTORISED]

setup(ext_modules=extensions, cmdclass={"build_ext": BuildDecoders})
