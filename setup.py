"""Build the exact decoders (Cython, C++); everything else is in pyproject.toml.

One build is for all processors. The charts of an algorithm (mh4/decoders/charts/ALGORITHM/charts.cc) are compiled once
for each entry of VARIANTS, into the extension of its module. mh4/decoders/sentences.pyx chooses a variant at import.
All other code is compiled for any processor of the architecture. Results of the variants are the same to the bit. An
extension depends on the headers in its folder and in charts/shared/, so that a change of one decoder does not recompile
the others.

MH4_CFLAGS has further options for the compiler and the linker, such as -fsanitize=address. With MH4_COMPILED=1, nothing
is compiled: `make setup` runs pip in this way while it compiles the decoders by itself.
"""

import os
import platform
import re
import shlex
import sys
import types
from concurrent.futures import ThreadPoolExecutor
from glob import glob

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.modified import newer_group

ROOT = os.path.dirname(os.path.abspath(__file__))
CHARTS = "mh4/decoders/charts"
# The compiler's options for the variants. If several variants contain the same function of the standard library, the
# linker takes that of the first. So each variant has to run on all processors that run a later one. Processors other
# than x86 have the same vectors in all models.
VARIANTS = {"baseline": []}
if platform.machine() in ("x86_64", "AMD64"):
    VARIANTS = {"baseline": ["-march=x86-64-v2"], "avx2": ["-march=x86-64-v3"], "avx512": ["-march=x86-64-v4"]}
# Cython's code for arrays, once instead of in every module: this halves the time of compilation and the size.
SHARED = "mh4.decoders.cython_shared"
DIRECTIVES = {
    "language_level": 3,
    "boundscheck": False,  # the arguments' shapes are checked in Python before a kernel runs
    "wraparound": False,
    "cdivision": True,
    "initializedcheck": False,
    "annotation_typing": False,  # annotations are for readers and type checkers
}
further = shlex.split(os.environ.get("MH4_CFLAGS", ""))
# No fused multiply-add: it would round differently from a multiplication and an addition.
OPTIONS = ["-O3", "-g0", "-ffp-contract=off"]


def path_of(name, extension):
    return name.replace(".", "/") + extension


def extension(name):
    """Return the extension of a module."""
    c = name == SHARED
    folder = os.path.join(CHARTS, name.rpartition(".")[2])
    return Extension(
        name,
        [path_of(name, ".c" if c else ".cpp")],
        include_dirs=[CHARTS, CHARTS + "/shared"],
        depends=sorted(glob(folder + "/*.h*") + glob(folder + "/*.cc") + glob(CHARTS + "/shared/*.h*")),
        extra_compile_args=OPTIONS + ([] if c else ["-std=c++17"]) + further,  # compilers have different defaults
        extra_link_args=(["-s"] if "bdist_wheel" in sys.argv and sys.platform == "linux" else []) + further,
        language=None if c else "c++",
    )


def write_recurrences():
    """Generate the C++ of oneec.

    Empty packages replace mh4 and mh4.decoders, which need numpy and the modules that are compiled here.
    """
    for name in ("mh4", "mh4.decoders"):
        package = types.ModuleType(name)
        package.__path__ = [os.path.join(ROOT, *name.split("."))]
        sys.modules[name] = package
    sys.path.insert(0, ROOT)
    from mh4.decoders.charts.oneec import generate

    generate.write(CHARTS + "/oneec/recurrences.hpp")


class BuildDecoders(build_ext):
    """Generate the C++ and compile it in parallel, with the variants of the charts. An sdist has no generated C++."""

    def finalize_options(self):
        super().finalize_options()
        self.parallel = self.parallel or os.cpu_count()  # here, since an editable installation forgets the option

    def build_extensions(self):
        write_recurrences()
        modules = [Extension(name, [path_of(name, ".pyx")], language="c++") for name in names]
        cythonize([extension(SHARED), *modules], compiler_directives=DIRECTIVES, shared_utility_qualified_name=SHARED)
        with ThreadPoolExecutor(self.parallel) as pool:
            # oneec, which takes longest, comes early.
            pairs = [(built, variant) for built in self.extensions[::-1] for variant in VARIANTS]
            charts = [(built, pool.submit(self.compile_charts, built, variant)) for built, variant in pairs]
        for built, objects in charts:
            built.extra_objects += objects.result()
        super().build_extensions()
        for folder in ("", self.build_lib + os.sep):
            for path in glob(folder + "mh4/*/*.so"):
                name = path[len(folder) :].split(".")[0].replace(os.sep, ".")
                if name not in (*names, SHARED):  # a leftover would hide a Python module of the same name
                    os.unlink(path)

    def compile_charts(self, extension, variant):
        """Compile the charts of a module, if it has any and is to be built, and return the names of the objects."""
        source = os.path.join(CHARTS, extension.name.rpartition(".")[2], "charts.cc")
        built = self.get_ext_fullpath(extension.name)
        changed = self.force or newer_group([*extension.depends, *extension.sources], built, "newer")
        if not (changed and os.path.exists(source)):
            return []
        return self.compiler.compile(
            [source],
            output_dir=os.path.join(self.build_temp, variant),
            macros=[("VARIANT", variant)],
            include_dirs=extension.include_dirs,
            extra_postargs=extension.extra_compile_args + VARIANTS[variant],
        )


def write_stub(path):
    """Write the stub (.pyi) of a module: its imports, functions, constants with a type, and the names of classes."""
    with open(path) as file:
        source = file.read()
    found = [r"import .*", r"from (?!.* cimport ).*", r"[A-Z0-9_]{2,}: \S[^=\n]*", r"cdef class \w+", r"def [a-z](?:.|\n)*?:$"]
    lines = ["from typing import Any"]
    for line in re.findall("^(?:%s)" % "|".join(found), source, re.MULTILINE):
        name = re.match(r"cdef class (\w+)", line)
        lines.append("%s: Any" % name[1] if name else line + " ..." * line.endswith(":"))
    with open(path[:-1] + "i", "w") as file:
        file.write("\n".join(lines) + "\n")


names, extensions = [path[:-4].replace(os.sep, ".") for path in sorted(glob("mh4/*/*.pyx"))], []
if "MH4_COMPILED" not in os.environ:
    for name in names:
        write_stub(path_of(name, ".pyx"))
    extensions = [extension(name) for name in [*names, SHARED]]
setup(ext_modules=extensions, cmdclass={"build_ext": BuildDecoders})
