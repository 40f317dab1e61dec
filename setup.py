"""Build the exact decoders (Cython, C++); everything else is in pyproject.toml.

One build is for all processors. The charts of an algorithm (mh4/decoders/charts/ALGORITHM/charts.cc) are compiled once
for each entry of VARIANTS, and all variants are linked into the extension of the algorithm. mh4/decoders/sentences.pyx
chooses one at import. Results of the variants are the same to the bit. All other code is compiled once, for any
processor of the architecture. An extension depends on the headers in its folder and in charts/shared/, so a change of
one decoder does not recompile the others.

MH4_CFLAGS adds options for the compiler and the linker, such as -fsanitize=address. With MH4_COMPILED=1, nothing is
compiled: `make setup` sets it for pip, and compiles the decoders in parallel.
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
# The compiler's options for the variants, from the oldest processors to the newest. If several variants contain the same
# function of the standard library, the linker takes that of the first, which has to run on all processors.
if platform.machine() in ("x86_64", "AMD64"):
    VARIANTS = {"baseline": ["-march=x86-64-v2"], "avx2": ["-march=x86-64-v3"], "avx512": ["-march=x86-64-v4"]}
else:  # all models of the architecture have the same vectors
    VARIANTS = {"baseline": []}
# Cython's code for arrays, compiled once instead of in every module, which halves the time of compilation and the size.
SHARED = "mh4.decoders.cython_shared"
DIRECTIVES = {
    "language_level": 3,
    "boundscheck": False,  # the arguments' shapes are checked in Python before a kernel runs
    "wraparound": False,
    "cdivision": True,
    "initializedcheck": False,
    "annotation_typing": False,  # annotations are for readers and type checkers
}
# No fused multiply-add: it would round differently from a multiplication and an addition.
OPTIONS = ["-O3", "-g0", "-ffp-contract=off"]
FROM_USER = shlex.split(os.environ.get("MH4_CFLAGS", ""))


def path_of(name, extension):
    return name.replace(".", "/") + extension


def chart_folder(name):
    """Return the folder of a module's charts, which only algorithms have."""
    return os.path.join(CHARTS, name.rpartition(".")[2])


def make_extension(name):
    """Return the extension of a module. All are C++ but Cython's code for arrays, whose language Cython sets itself."""
    folder = chart_folder(name)
    language, suffix, standard = (None, ".c", []) if name == SHARED else ("c++", ".cpp", ["-std=c++17"])
    return Extension(
        name,
        [path_of(name, suffix)],
        include_dirs=[CHARTS, CHARTS + "/shared"],
        depends=sorted(glob(folder + "/*.h*") + glob(folder + "/*.cc") + glob(CHARTS + "/shared/*.h*")),
        extra_compile_args=OPTIONS + standard + FROM_USER,
        extra_link_args=(["-s"] if "bdist_wheel" in sys.argv and sys.platform == "linux" else []) + FROM_USER,
        language=language,
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
        cythonize([make_extension(SHARED), *modules], compiler_directives=DIRECTIVES, shared_utility_qualified_name=SHARED)
        with ThreadPoolExecutor(self.parallel) as pool:
            # In reverse order, oneec, which takes longest, comes early.
            compiled = [
                (extension, pool.submit(self.compile_charts, extension, variant))
                for extension in reversed(self.extensions)
                for variant in VARIANTS
            ]
        for extension, objects in compiled:
            extension.extra_objects += objects.result()
        super().build_extensions()
        self.remove_leftovers()

    def remove_leftovers(self):
        """Remove extensions whose source is gone: each would hide a Python module of the same name."""
        for folder in ("", self.build_lib + os.sep):
            for path in glob(folder + "mh4/*/*.so"):
                name = path[len(folder) :].split(".")[0].replace(os.sep, ".")
                if name not in (*names, SHARED):
                    os.unlink(path)

    def compile_charts(self, extension, variant):
        """Return the names of the objects of a module's charts, if it has any and is to be built."""
        source = os.path.join(chart_folder(extension.name), "charts.cc")
        path = self.get_ext_fullpath(extension.name)
        changed = self.force or newer_group([*extension.depends, *extension.sources], path, "newer")
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
    patterns = [r"import .*", r"from (?!.* cimport ).*", r"[A-Z0-9_]{2,}: \S[^=\n]*", r"cdef class \w+", r"def [a-z](?:.|\n)*?:$"]
    lines = ["from typing import Any"]
    for found in re.findall("^(?:%s)" % "|".join(patterns), source, re.MULTILINE):
        if found.startswith("cdef class "):
            lines.append("%s: Any" % found.split()[2])
        else:
            lines.append(found + " ..." if found.endswith(":") else found)
    with open(path[:-1] + "i", "w") as file:
        file.write("\n".join(lines) + "\n")


names = [path[:-4].replace(os.sep, ".") for path in sorted(glob("mh4/*/*.pyx"))]
extensions = []
if "MH4_COMPILED" not in os.environ:
    for name in names:
        write_stub(path_of(name, ".pyx"))
    extensions = [make_extension(name) for name in [*names, SHARED]]
setup(ext_modules=extensions, cmdclass={"build_ext": BuildDecoders})
