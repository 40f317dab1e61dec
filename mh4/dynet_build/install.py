"""`mh4 install-dynet`: DyNet for an mh4 that was installed by pip."""

import os
import sys

from mh4.dynet_build import dynet_wheel
from mh4.dynet_build.compilers import clean_environment, find_compiler, processes
from mh4.dynet_build.console import Console


def install(jobs: int | None = None) -> None:
    """Install DyNet for the Python that runs this, from a wheel that is in the cache or built now, with `jobs` compilers at a time.

    Raises InputError, leaving nothing half-installed.
    """
    jobs = processes(jobs)
    env = clean_environment(os.environ)
    compiler = find_compiler(env)
    work = os.path.join(dynet_wheel.wheel_folder(), "build")
    console = Console(os.path.join(work, "log"))
    with dynet_wheel.locked(work, console):  # two at once would also get into each other's way in pip
        try:
            wheel = dynet_wheel.wheel(console, compiler, jobs, work, env)
            dynet_wheel.install(sys.executable, wheel, console, env)
            console.done()
        finally:
            console.stop()
