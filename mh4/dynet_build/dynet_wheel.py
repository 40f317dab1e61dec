"""Find a wheel of DyNet for this Python and this processor in the cache, or build it from source into the cache.

The wheels on PyPI end at Python 3.8 and are compiled for any processor. On a later Python, pip would build the source
distribution, which downloads a version of Eigen that today's compilers reject. Here DyNet is built by the steps of its
own manual (cmake, make, setup.py) with Eigen from PyPI, in a dedicated build environment. The C++ library, which takes
most of the time, is the same for every Python; it is cached, too.
"""

import glob
import hashlib
import os
import platform
import re
import shutil
import sys
import sysconfig
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from mh4.dynet_build.compilers import clean_environment, find_compiler, processes
from mh4.dynet_build.console import Console
from mh4.errors import InputError
from mh4.util import cpu
from mh4.util.files import atomic_path, lock, make_folder

VERSION = "2.1.2"
FAILURE = "DyNet %s could not be built" % VERSION

# dynet.patch changes DyNet's source so that
# - the Python bindings pass arrays directly. As lists of Python numbers, they often took longer than the computation;
# - the bindings raise MemoryError when memory runs out. DyNet would abort, or print a table of its memory;
# - the memory that a graph needs can be determined and allocated before anything is computed (graph-memory.h);
# - the bindings have the C++ trainers' moving averages, and save and restore the state of the optimizer;
# - this state is binary. As text, it took a hundred megabytes for a parser;
# - the order in which the gradients of embeddings are summed depends on the last update only;
# - Cython 3 compiles the bindings, which are written for Python 2.
# speed.patch and the other sources make it faster: a bi-LSTM layer is one node, and products of small matrices are ours.
FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "dynet")
PATCHES = ["dynet.patch", "speed.patch"]
SOURCES = ["graph-memory.h", "nodes-bilstm.cc", "nodes-bilstm.h", "products.cc", "products.h"]
_CHANGES = b"".join(Path(FOLDER, name).read_bytes() for name in [*PATCHES, *SOURCES, "bindings.pyx"])
BUILD = "%s-%s" % (VERSION, hashlib.sha256(_CHANGES).hexdigest()[:6])  # the version, and a hash of what changes results

# Checks that DyNet not only loads but works: code that was compiled for another processor fails when it computes.
CHECK = """
import numpy, dynet as dy
dy.renew_cg()
x = dy.inputTensor(numpy.arange(64 * 64).reshape(64, 64) / 4096)
value = dy.sum_elems(dy.tanh(x * x)).scalar_value()
assert 0 < value < 4096, value
matrix = numpy.arange(6.0).reshape(2, 3)
assert (dy.inputTensor(matrix).npvalue() == matrix).all()
parameters = dy.ParameterCollection()
trainer = dy.AdamTrainer(parameters)
trainer.populate(trainer.save())
assert hasattr(dy, "bilstm")
"""


def march() -> str:
    """Return the processors to compile for, as in the compiler's option -march: MH4_MARCH, or this processor."""
    # Not every compiler of macOS has -march=native for ARM, where all processors have the same vectors.
    return os.environ.get("MH4_MARCH") or ("armv8-a" if sys.platform == "darwin" and platform.machine() == "arm64" else "native")


def processor() -> str:
    """Return a short name for the processors to compile for; if that is this one, a hash of its instruction sets."""
    if march() != "native":
        return "%s-%s" % (platform.machine(), march())
    text, fields = cpu.model(), cpu.fields()
    if fields:
        # A new kernel may list additional flags; only those for instruction sets matter.
        relevant = r"\b(?:mmx|s?sse|pni|avx|amx|fma|f16c|bmi|abm|popcnt|movbe|adx|aes|sha|gfni)\w*"
        flags = re.findall(relevant, fields.pop("flags", ""))
        text = repr((sorted(fields.items()), sorted(set(flags))))
    return platform.machine() + "-" + hashlib.sha256(text.encode()).hexdigest()[:10]


def wheel_folder() -> str:
    """Return the folder of the matching wheel, named after DyNet's version, our changes, the Python and processor."""
    return _cache("dynet-%s-%s" % (BUILD, sysconfig.get_config_var("SOABI")))


def library_folder(env: Mapping[str, str]) -> str:
    """Return the folder of the matching C++ library.

    Its name also depends on the compiler and its options, since the bindings must have the same standard library. The
    library is in a zip file, whose checksums show damage.
    """
    compiler = " ".join(env.get(name, "") for name in ("CXX", "CXXFLAGS"))
    return _cache("libdynet-%s-%s" % (BUILD, hashlib.sha256(os.fsencode(compiler)).hexdigest()[:6]))


def _cache(name: str) -> str:
    cache = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(cache):  # to be ignored, by the XDG specification
        home = os.environ.get("HOME", os.path.expanduser("~"))  # without HOME, "~" is the folder in the list of users
        if not os.path.isabs(home):
            raise InputError(
                "there is no place for the cache, as HOME is not the absolute path of a folder: "
                "set HOME, or XDG_CACHE_HOME to the absolute path of a writable folder."
            )
        cache = os.path.join(home, ".cache")
    return os.path.join(cache, "mh4", "%s-%s" % (name, processor()))


@contextmanager
def locked(folder: str, console: Console) -> Iterator[None]:
    """Make a folder of the cache, and lock it so that no other process fills it at the same time."""
    try:
        os.makedirs(folder, exist_ok=True)
        file = open(os.path.join(folder, "lock"), "w")
    except OSError as error:
        raise InputError("the cache folder is not writable (%s): set XDG_CACHE_HOME to a writable folder." % error) from None
    with file:
        lock(file.fileno(), console.waits)
        yield


def _files(folder: str, pattern: str) -> list[str]:
    return sorted(glob.glob(os.path.join(glob.escape(folder), pattern)))


def _archives(folder: str) -> list[str]:
    return _files(folder, "*.whl") + _files(folder, "*.zip")


def cached(folder: str) -> str | None:
    """Return the path of the intact archive in the folder, or None. Damaged archives are removed."""
    for path in _archives(folder):
        with suppress(zipfile.BadZipFile, EOFError, OSError), zipfile.ZipFile(path) as archive:
            if archive.testzip() is None:
                return path
        os.unlink(path)
    return None


def place(archive: str, folder: str) -> str:
    """Copy an archive into the folder, whole or not at all, and return its path there."""
    make_folder(folder)
    path = os.path.join(folder, os.path.basename(archive))
    with atomic_path(path) as temporary:
        shutil.copyfile(archive, temporary)
    return path


def forget(wheel: str, console: Console, env: Mapping[str, str]) -> None:
    """Remove a wheel that does not work from the cache, and the library that it was built from with the compiler in `env`."""
    for folder in (os.path.dirname(wheel), library_folder(env)):
        with locked(folder, console):
            for path in _archives(folder):
                os.unlink(path)


def install(python: str, wheel: str, console: Console, env: Mapping[str, str]) -> None:
    """Install a wheel with the pip of `python`.

    Raises InputError if the wheel does not work. It is then removed from the cache, so that it is built again.
    """
    console.step("DyNet %s: installing the wheel for this machine" % VERSION)
    pip = [python, "-m", "pip", "--disable-pip-version-check", "--no-input", "install"]
    failure = "DyNet could not be installed from %s" % wheel
    console.run(pip + ["--no-deps", "--no-index", "--force-reinstall", wheel], env, failure=failure)
    try:
        console.run([python, "-c", CHECK], env, failure="DyNet was built but does not run; the next attempt builds it again")
    except InputError:
        forget(wheel, console, env)
        raise


def install_here(jobs: int | None = None) -> None:
    """Install DyNet for the Python that runs this, for `mh4 install-dynet`, with `jobs` compilers at a time.

    Raises InputError, leaving nothing half-installed.
    """
    jobs = processes(jobs)
    env = find_compiler(clean_environment(os.environ))
    work = os.path.join(wheel_folder(), "build")
    console = Console(os.path.join(work, "log"))
    with locked(work, console):  # two installations at once would also disturb each other in pip
        install(sys.executable, wheel(console, jobs, work, env), console, env)
        console.done()


def wheel(console: Console, jobs: int, work: str, env: Mapping[str, str]) -> str:
    """Return the path of the wheel, which is built if it is not in the cache. Only one setup at a time builds it."""
    folder = wheel_folder()
    with locked(folder, console):
        return cached(folder) or build(console, jobs, work, env, folder)


def library(console: Console, jobs: int, binaries: str, env: Mapping[str, str], folder: str) -> None:
    """Put the C++ library into the build folder `binaries`, from the folder `folder` of the cache.

    If it is not in the cache, it is compiled, and copied to the cache.
    """
    target = os.path.join(binaries, "dynet")
    with locked(folder, console):
        path = cached(folder)
        if path is not None:
            with zipfile.ZipFile(path) as archive:
                archive.extractall(target)
            return
        console.step("DyNet %s: compiling (takes minutes, once per machine)" % VERSION)
        console.run(["make", "-j%d" % jobs, "compiled"], env, binaries, FAILURE)
        path = os.path.join(binaries, "libdynet.zip")
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for part in _files(target, "libdynet.*"):
                archive.write(part, os.path.basename(part))
        place(path, folder)


def build(console: Console, jobs: int, work: str, env: Mapping[str, str], folder: str) -> str:
    """Build the wheel in a temporary folder in `work`, and copy it to `folder`."""
    for leftover in _files(work, "dynet-*"):  # of a killed build
        shutil.rmtree(leftover, ignore_errors=True)
    temporary = tempfile.mkdtemp(prefix="dynet-", dir=work)
    tools, source = os.path.join(temporary, "tools"), os.path.join(temporary, "dyNET-" + VERSION)
    python, binaries = os.path.join(tools, "bin", "python"), os.path.join(source, "build")
    cached_library = library_folder(env)  # its name depends on CXXFLAGS, which change below
    packages = sysconfig.get_path("purelib", "venv", {"base": tools})
    env = dict(
        env,
        PATH=os.path.join(tools, "bin") + os.pathsep + env.get("PATH", os.defpath),
        CXXFLAGS=(env.get("CXXFLAGS", "") + " -w").strip(),  # 40,000 lines of warnings otherwise
        CMAKE_POLICY_VERSION_MINIMUM="3.5",  # otherwise CMake 4 rejects files as old as DyNet's
        EIGEN3_INCLUDE_DIR=os.path.join(packages, "cmeel.prefix", "include", "eigen3"),
    )

    def run(*command: str, cwd: str | None = None) -> None:
        console.run(command, env, cwd, FAILURE)

    pip = [python, "-m", "pip", "--disable-pip-version-check", "--no-input", "--retries", "2"]
    console.step("DyNet %s: tools to build it" % VERSION)
    run(sys.executable, "-m", "venv", tools)
    run(*pip, "install", "--no-compile", "-r", os.path.join(FOLDER, "tools.txt"))
    options = ["--no-binary=:all:", "--no-deps", "--no-build-isolation", "-d", temporary]
    run(*pip, "download", *options, "-r", os.path.join(FOLDER, "source.txt"))
    with tarfile.open(_files(temporary, "*.tar.gz")[0]) as archive:
        archive.extractall(temporary)
    for name in PATCHES:
        run(python, "-m", "patch_ng", "--directory=" + source, os.path.join(FOLDER, name))
    for name in SOURCES:
        shutil.copy(os.path.join(FOLDER, name), os.path.join(source, "dynet"))
    for name, path in (("bindings.pyx", "python/_dynet.pyx"), ("additions.cmake", "dynet/CMakeLists.txt")):
        with open(os.path.join(source, path), "ab") as file:
            file.write(Path(FOLDER, name).read_bytes())

    run(python, "-m", "cython", "--cplus", os.path.join(source, "python", "_dynet.pyx"))
    os.mkdir(binaries)
    paths = "-DMH4=" + FOLDER, "-DPYTHON=" + python, "-DPYTHON_HEADERS=" + sysconfig.get_path("include")
    run("cmake", source, "-DCMAKE_BUILD_TYPE=Release", "-DMARCH=" + march(), *paths, cwd=binaries)
    library(console, jobs, binaries, env, cached_library)

    console.step("DyNet %s: Python bindings" % VERSION)
    run("make", "bindings", cwd=binaries)  # does nothing if they were compiled with the library
    shutil.copy(os.path.join(FOLDER, "setup.py"), source)
    run(python, "setup.py", "bdist_wheel", "--dist-dir=" + temporary, cwd=source)
    path = place(_files(temporary, "*.whl")[0], folder)
    console.done()
    shutil.rmtree(temporary, ignore_errors=True)
    return path
