"""Tries mh4 on other systems, each in a chroot of its own: `make machines-test [MACHINES="trixie arm64"]`.

    python tools/machines.py [--folder FOLDER] [--decoders] [--tests PATHS] [MACHINE ...]

A chroot has a Debian made by debootstrap, which stays in the folder for the next time, and a clean checkout of the current
commit. The two commands of the README are run in it. 64-bit ARM is emulated by qemu, except for compilation, which is
done by a cross-compiler. For other compilers, only the decoders are tried. The outcome is a row of the table in
docs/reference/machines.md. Rows of machines that are not tried remain.
"""

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from glob import glob
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "reference" / "machines.md"
BEGIN, END = "<!-- machines: written by make machines-test -->\n", "<!-- end of machines -->"
TITLES = "machine|system|processor|Python|compiler|C library|digest|toy LAS|tests|commit".split("|")
HOURS = 3  # at most, for each command
PACKAGES = "python3,python3-venv,python3-dev,make,git,ca-certificates,ccache"
# ALL: the two commands of the README. DECODERS: the decoders alone, without DyNet, and what their tests need.
ALL = "make reproduce LANG=toy PYTHON=%s"
ALL_TESTS = "make test PYTEST=\"-q -m 'not slow' -p no:cacheprovider %s\""
DECODERS = """%s -m venv .venv && .venv/bin/pip install -q setuptools 'cython>=3.1' numpy click rich conllu &&
.venv/bin/pip install -q pytest hypothesis ufal.chu_liu_edmonds &&
.venv/bin/python setup.py -q build_ext --inplace && echo /mh4 >"$(echo .venv/lib/*/site-packages)/mh4.pth\""""
DECODERS_TESTS = ".venv/bin/python -m pytest -q -m 'not slow' -p no:cacheprovider %s"
# Installs the wheels in dist/, which `make package DYNET=1` made on this machine, on a system without a compiler.
WHEELS = """! command -v g++ && %s -m venv .venv && .venv/bin/pip install -q --find-links dist mh4 dynet &&
.venv/bin/mh4 data toy && .venv/bin/mh4 train --system mh4-hybrid --config experiments/toy.toml --model model \
    --train data/toy/toy-ud-train.conllu --dev data/toy/toy-ud-dev.conllu"""
# apt does not install this machine's cross-compiler in a system of another architecture, so dpkg unpacks it.
FOREIGN = """dpkg --add-architecture amd64 && apt-get update -o Acquire::Check-Valid-Until=false &&
apt-get install -y --no-install-recommends ccache:amd64 libmpc3:amd64 libisl23:amd64 libzstd1:amd64 libsframe1:amd64 libjansson4:amd64 &&
apt-get download binutils-aarch64-linux-gnu:amd64 $(printf "%s-aarch64-linux-gnu:amd64 " cpp cpp-14 gcc gcc-14 g++ g++-14) \\
    $(printf "%s-arm64-cross " libgcc-14-dev libstdc++-14-dev libc6-dev libc6 linux-libc-dev libgcc-s1 libstdc++6 libgomp1 libatomic1) &&
for deb in *.deb; do dpkg -x $deb / || exit 1; done"""


@dataclass
class Machine:
    """A system to try: a suite of Debian, further packages, a compiler, and the commands that set up and test mh4."""

    suite: str
    packages: str = "g++"
    compiler: str = "g++"
    python: str = "python3"
    architecture: str = "amd64"
    foreign: bool = False  # has another architecture, and a cross-compiler that needs no emulation
    variables: str = ""
    set_up: str = ALL
    tests: str = ALL_TESTS


def of_clang(library):
    compiler = "clang++ -stdlib=" + library
    packages, variables = "clang libc++-dev libc++abi-dev", "CC=clang CXX='%s'" % compiler
    return Machine("sid", packages, compiler, variables=variables, set_up=DECODERS, tests=DECODERS_TESTS)


CROSS = "aarch64-linux-gnu-g++"
VARIABLES = "CC=aarch64-linux-gnu-gcc CXX=%s MH4_MARCH=armv8-a OPENBLAS_CORETYPE=ARMV8" % CROSS
MACHINES = {  # the part of a name before the hyphen names the chroot
    "bookworm": Machine("bookworm"),
    "trixie": Machine("trixie"),
    "sid": Machine("sid", "g++ python3.15-dev python3.15-venv"),
    "sid-python3.15": Machine("sid", "g++ python3.15-dev python3.15-venv", python="python3.15"),
    "arm64": Machine(
        "trixie", "", CROSS, "python3", "arm64", True, VARIABLES, ALL + " SYSTEMS=mh4-hybrid"
    ),  # the one in the table
    "clang-libstdc++": of_clang("libstdc++"),
    "clang-libc++": of_clang("libc++"),
    "plain": Machine("bookworm", "", "", set_up=WHEELS, tests=""),
}


def missing(machines):
    """Return a sentence on what this machine lacks to make these chroots, or None."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return "machines are tried in chroots, which takes Linux and root: run it as root."
    if not shutil.which("debootstrap", path=os.environ["PATH"] + ":/usr/sbin"):
        return "debootstrap is missing: on Debian or Ubuntu, `apt install debootstrap`."
    foreign = any(machine.foreign for machine in machines)
    if foreign and not os.path.exists("/proc/sys/fs/binfmt_misc/qemu-aarch64"):
        return (
            "programs for 64-bit ARM do not run here: on Debian or Ubuntu, `apt install qemu-user-static binfmt-support`, then "
            "`mount -t binfmt_misc none /proc/sys/fs/binfmt_misc` and `update-binfmts --enable qemu-aarch64`."
        )
    return None


def run(chroot, command, log, environment=()):
    """Run a shell command in the folder /mh4 of a chroot, log its output, and return its exit code and output.

    Mounts and processes are in separate namespaces, so that none remains, however the command ends.
    """
    script = """for folder in proc dev/shm dev/pts; do mkdir -p $0/$folder; done
mount -t proc proc $0/proc; mount -t tmpfs tmpfs $0/dev/shm; mount -t devpts -o newinstance,ptmxmode=0666 devpts $0/dev/pts
ln -sf pts/ptmx $0/dev/ptmx; exec timeout "$1" chroot $0 env -i "${@:3}" sh -c "cd /mh4 && $2" </dev/null"""
    passed = re.compile(r"PIP_|SSL_CERT|[a-z]+_proxy$", re.IGNORECASE)
    variables = ["%s=%s" % item for item in os.environ.items() if passed.match(item[0])]
    variables += [
        "HOME=/root",
        "PATH=/usr/lib/ccache:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
        "LC_ALL=C.UTF-8",
        "CCACHE_BASEDIR=/mh4",  # DyNet is compiled in a folder with another name each time
        *environment,
    ]
    with open(log, "ab") as file:
        file.write(b"\n$ %s\n" % command.encode())
        file.flush()
        begin = file.tell()
        alone = ["setpriv", "--pdeathsig=KILL", "unshare", "--mount", "--pid", "--fork", "--kill-child", "bash", "-c", script]
        code = subprocess.run([*alone, chroot, "%dh" % HOURS, command, *variables], stdout=file, stderr=file).returncode
    with open(log, "rb") as file:
        file.seek(begin)
        return code, file.read().decode(errors="replace")


def make_chroot(machine, chroot, log):
    """Make a chroot, unless it exists, and copy this machine's certificates and pip configuration into it."""
    if not chroot.exists():
        new = chroot.with_name(chroot.name + ".new")
        shutil.rmtree(new, ignore_errors=True)
        packages = ",".join([PACKAGES, *machine.packages.split()])
        options = ["--arch=" + machine.architecture, "--variant=minbase", "--include=" + packages]
        with open(log, "ab") as file:
            environment = dict(os.environ, PATH=os.environ["PATH"] + ":/usr/sbin:/sbin")
            subprocess.run(["debootstrap", *options, machine.suite, new], check=True, stdout=file, stderr=file, env=environment)
        (new / "mh4").mkdir()
        if machine.foreign:
            if run(new, FOREIGN, log)[0]:
                sys.exit("mh4: the cross-compiler could not be installed, see %s" % log)
        new.rename(chroot)
    own = glob("/etc/pip.conf") + glob("/etc/xdg/pip/*") + glob(os.path.expanduser("~/.config/pip/*"))
    certificates = [os.environ[name] for name in ("PIP_CERT", "SSL_CERT_FILE") if os.path.isfile(os.environ.get(name, ""))]
    for path in [*own, *certificates, "/etc/resolv.conf", "/etc/hosts"]:
        target = Path(str(chroot) + path)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)


def try_machine(name, folder, decoders, paths):
    """Try everything, or only the decoders, on a machine, and return its row. paths: of the tests; empty for all."""
    machine, chroot, log = MACHINES[name], folder / name.partition("-")[0], folder / (name + ".log")
    set_up, tests = (DECODERS, DECODERS_TESTS) if decoders else (machine.set_up, machine.tests)
    paths = paths or ("tests/decoders" if set_up == DECODERS else "")
    log.unlink(missing_ok=True)
    make_chroot(machine, chroot, log)
    checkout = chroot / "mh4"
    shutil.rmtree(checkout, ignore_errors=True)
    subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", ROOT, checkout], check=True)
    if machine.set_up == WHEELS:
        shutil.copytree(ROOT / "dist", checkout / "dist")

    def answer(command, pattern="(.+)"):
        """Return the last match in what a command prints; "failed" if there is none, or if the command fails."""
        code, output = run(chroot, command, log, shlex.split(machine.variables))
        found = re.findall(pattern, output.strip())
        return found[-1] if found and (code == 0 or "failed" in found[-1]) else "failed"

    row = [
        name,
        answer(". /etc/os-release && echo $PRETTY_NAME"),
        answer("uname -m"),
        answer(machine.python + " --version", "Python (.+)"),
        machine.compiler and machine.compiler + " " + answer(machine.compiler + " --version", r"\A.*? ([\d.]+)"),
        answer("ldd --version", r"\A.* ([\d.]+)"),
    ]
    toy = answer(set_up % machine.python, r"(?:mh4-hybrid +[\d ]+|LAS) +([\d.]+)(?: ±| after)" if set_up != DECODERS else "")
    row += [answer(".venv/bin/python tests/decoders/digest.py", r"\A\w+ (\w{8})"), toy]
    tested = tests and answer(tests % paths, r"(\d+ (?:passed|failed).*?) in [\d.]+s")
    row.append("%s in %s" % (tested, paths.replace("tests/", "")) if tests and paths else tested)
    return [*row, subprocess.run(["git", "-C", checkout, "rev-parse", "--short", "HEAD"], stdout=-1, text=True).stdout.strip()]


def write(row):
    """Write a row into the table of the page, in place of the machine's earlier row."""
    before, _, rest = PAGE.read_text().partition(BEGIN)
    table, _, after = rest.partition(END)
    rows = {line.split("|")[1].strip(): line for line in table.strip().split("\n")[2:]}
    rows[row[0]] = "| %s |" % " | ".join(row)
    lines = ["| %s |" % " | ".join(TITLES), "|" + " --- |" * len(TITLES), *(rows[name] for name in MACHINES if name in rows)]
    PAGE.write_text(before + BEGIN + "\n" + "\n".join(lines) + "\n\n" + END + after)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    parser.add_argument("--folder", type=Path, default=Path(cache, "mh4", "machines"), help="by default in the cache")
    parser.add_argument("--decoders", action="store_true", help="only the decoders, which takes minutes")
    parser.add_argument("--tests", metavar="PATHS", help="the tests to run, by default all that are not slow")
    parser.add_argument("machines", nargs="*", metavar="MACHINE", help="by default all: " + " ".join(MACHINES))
    options = parser.parse_args()
    names = options.machines or list(MACHINES)
    unknown = [name for name in names if name not in MACHINES]
    problem = "no machine %s, expected some of: %s" % (unknown[0], " ".join(MACHINES)) if unknown else None
    problem = problem or missing([MACHINES[name] for name in names])
    if problem:
        sys.exit("mh4: " + problem)
    options.folder.mkdir(parents=True, exist_ok=True)
    failed = []
    for name in names:
        print("%s: output goes to %s" % (name, options.folder / (name + ".log")), flush=True)
        row = try_machine(name, options.folder, options.decoders, options.tests)
        write(row)
        print(" | ".join(row), flush=True)
        failed += [name] if any("failed" in cell for cell in row) else []
    if failed:
        sys.exit("mh4: something failed on: " + " ".join(failed))


if __name__ == "__main__":
    main()
