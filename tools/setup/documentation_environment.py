"""Makes .venv-docs, the environment of Sphinx: `make docs` runs it when it is missing.

It has an environment of its own, so that neither `make setup` nor the tests need Sphinx and the dozens of packages that come with it,
and so that these never decide which version of click or numpy mh4 runs with. But Sphinx imports mh4, with its compiled decoders and
DyNet: so it is made with the Python of .venv, and sees the packages of .venv behind its own.

Like the rest of the setup, it is skipped if it is up to date.
"""

import glob
import os
import shutil
import sys

from environment import ROOT, exit_code

from mh4.dynet_build.compilers import clean_environment
from mh4.dynet_build.console import SetupError

FOLDER = os.path.join(ROOT, ".venv-docs")
REQUIREMENTS = ["sphinx>=8,<10", "myst-parser>=4,<6", "furo>=2024.8", "sphinx-click>=6,<7", "nbformat>=5.1,<6"]
DONE = os.path.join(FOLDER, "mh4-requirements.txt")  # written last


def record():
    """What the environment is made from."""
    return "\n".join([*REQUIREMENTS, os.path.realpath(sys.executable)])


def is_ready():
    try:
        with open(DONE) as file:
            return file.read() == record() and os.access(os.path.join(FOLDER, "bin", "sphinx-build"), os.X_OK)
    except OSError:
        return False


def set_up(console):
    if is_ready():  # by now
        return
    if os.path.realpath(sys.prefix) != os.path.realpath(os.path.join(ROOT, ".venv")):
        raise SetupError("the documentation is made with the Python of .venv: use `make docs`.")
    open(console.log, "w").close()
    env = clean_environment(os.environ)
    console.step("Environment .venv-docs with Sphinx")
    shutil.rmtree(FOLDER, ignore_errors=True)
    failure = "Sphinx could not be installed"
    console.run([sys.executable, "-m", "venv", FOLDER], env, failure=failure)
    pip = [os.path.join(FOLDER, "bin", "python"), "-m", "pip", "--disable-pip-version-check", "--no-input", "--retries", "2"]
    console.run(pip + ["install"] + REQUIREMENTS, env, failure=failure)
    (packages,) = glob.glob(os.path.join(glob.escape(FOLDER), "lib", "python*", "site-packages"))
    (of_mh4,) = glob.glob(os.path.join(glob.escape(ROOT), ".venv", "lib", "python*", "site-packages"))
    with open(os.path.join(packages, "mh4.pth"), "w") as file:  # unlike a plain path, this follows the .pth files there
        file.write("import site; site.addsitedir(%r)\n" % of_mh4)
    with open(DONE, "w") as file:
        file.write(record())
    console.done()


if __name__ == "__main__":
    sys.exit(0 if is_ready() else exit_code("setup-docs.log", set_up))
