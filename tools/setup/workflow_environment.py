"""Makes .venv-workflow, the environment of Snakemake: `make paper` runs it when it is missing.

Like the rest of the setup, it is skipped if it is up to date.
"""

import os
import shutil
import subprocess
import sys

from environment import ROOT, exit_code

from mh4.dynet_build.compilers import clean_environment
from mh4.dynet_build.console import SetupError

FOLDER = os.path.join(ROOT, ".venv-workflow")
REQUIREMENTS = ["snakemake>=9.27,<10", "snakemake-executor-plugin-slurm>=2.8,<3"]
OLDEST = (3, 11)
DONE = os.path.join(FOLDER, "mh4-requirements.txt")  # written last


def is_ready():
    try:
        with open(DONE) as file:
            return file.read().split("\n") == REQUIREMENTS and os.access(os.path.join(FOLDER, "bin", "snakemake"), os.X_OK)
    except OSError:
        return False


def find_python():
    """The first Python that runs, is new enough and can make environments."""
    check = "import sys, ensurepip, venv; sys.exit(sys.version_info < %r)" % (OLDEST,)
    for name in (os.environ.get("PYTHON"), sys.executable, "python3", "python3.13", "python3.12", "python3.11"):
        # The name may be a stand-in that only says which versions there are.
        if name and shutil.which(name) and not subprocess.run([name, "-c", check], stderr=subprocess.DEVNULL).returncode:
            return name
    raise SetupError(
        "Snakemake needs Python %d.%d or later: install one, or select it as in `make paper PYTHON=python3.12`." % OLDEST
    )


def set_up(console):
    if is_ready():  # by now
        return
    open(console.log, "w").close()
    env = clean_environment(os.environ)
    python = find_python()
    console.step("Environment .venv-workflow with Snakemake")
    shutil.rmtree(FOLDER, ignore_errors=True)
    failure = "Snakemake could not be installed"
    console.run([python, "-m", "venv", FOLDER], env, failure=failure)
    pip = [os.path.join(FOLDER, "bin", "python"), "-m", "pip", "--disable-pip-version-check", "--no-input", "--retries", "2"]
    console.run(pip + ["install"] + REQUIREMENTS, env, failure=failure)
    with open(DONE, "w") as file:
        file.write("\n".join(REQUIREMENTS))
    console.done()


if __name__ == "__main__":
    sys.exit(0 if is_ready() else exit_code("setup-workflow.log", set_up))
