"""Try mh4 as installed by pip from a wheel, without DyNet, the official scorer and packages that tests need.

python tests/installed.py: prints the digests of the decoders' results, which have to be the same for all variants that
the processor can run.
"""

import os
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

import mh4
from mh4.decoders.sentences import VARIANTS
from mh4.dynet_build import dynet_wheel

ROOT = Path(__file__).resolve().parents[1]
DIGEST = ROOT / "tests" / "decoders" / "digest.py"
COMMAND = Path(sysconfig.get_path("scripts")) / "mh4"
GET_DYNET = "mh4: this needs DyNet, which pip cannot build by itself: run `mh4 install-dynet`"


def started(*command, code=0, **env):
    """Return what a command prints; check that it exits with this code."""
    done = subprocess.run([str(word) for word in command], env=dict(os.environ, **env), capture_output=True, text=True)
    assert done.returncode == code, "%s: exit code %d\n%s" % (" ".join(map(str, command)), done.returncode, done.stderr)
    return done.stdout if code == 0 else done.stderr


def check_decoders():
    """Check that the digests are the same for every variant, and print them."""
    found = [started(sys.executable, DIGEST, MH4_SIMD=variant).split() for variant in VARIANTS]
    assert [variant for variant, *_ in found] == list(VARIANTS), found
    assert len({tuple(digests) for _, *digests in found}) == 1, found
    assert "this processor can run: " in started(COMMAND, "coverage", os.devnull, code=2, MH4_SIMD="avx1")
    print("%s: the same results, digests %s" % (" ".join(VARIANTS), " ".join(found[0][1:])))


def check_commands(folder):
    """Check that commands without DyNet work, and that the others explain in one sentence how to install DyNet."""
    assert mh4.__version__ in started(COMMAND, "--version")
    assert started(COMMAND, "data", "toy").count("(generated)") == 3 and Path("data/toy").is_dir()
    assert "no treebank for language 'x', expected one of: " in started(COMMAND, "data", "x", code=2)
    train, dev = ("data/toy/toy-ud-%s.conllu" % split for split in ("train", "dev"))
    assert "well-nested" in started(COMMAND, "coverage", train)
    assert "scorer needs udtools, which is not installed: pip install" in started(COMMAND, "evaluate", dev, dev, code=2)
    (Path(folder) / "model").mkdir()
    for command in (
        ["train", "--system", "mh4-hybrid", "--train", train, "--dev", dev, "--model", "new"],
        ["parse", "--model", "model", dev],
        ["test", "--model", "model", dev],
        ["info", "model"],
    ):
        answer = started(COMMAND, *command, code=2)
        assert answer.startswith(GET_DYNET) and answer.count("\n") == 1, answer
    assert sorted(os.listdir(folder)) == ["data", "model"]


if __name__ == "__main__":
    installed = Path(mh4.__file__).parent
    assert Path(sysconfig.get_path("platlib")) in installed.parents, "%s is not installed from a wheel" % installed
    check_decoders()
    assert set(os.listdir(ROOT / "mh4" / "dynet_build" / "dynet")) <= {*os.listdir(dynet_wheel.FOLDER), "__pycache__"}
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        check_commands(folder)
