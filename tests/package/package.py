"""The .deb that cpack makes: what is in it, that it is made again byte for byte, and that it runs from any folder."""

import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "integration"))
from harness import Failure, main  # noqa: E402

FILES = """
/etc/OpenCL/layers/libsplit.lay.disabled
/usr/bin/splitc
/usr/bin/splitrun
/usr/bin/splittrace
/usr/share/bash-completion/completions/splitc
/usr/share/bash-completion/completions/splitrun
/usr/share/bash-completion/completions/splittrace
/usr/share/doc/libsplit/README.Debian
/usr/share/doc/libsplit/copyright
/usr/share/doc/libsplit/docs/README.md
/usr/share/man/man1/splitc.1.gz
/usr/share/man/man1/splitrun.1.gz
/usr/share/man/man1/splittrace.1.gz
/usr/share/man/man7/libsplit.7.gz
"""


def packaged(bench, name="package"):
    """The .deb, made in a folder of its own."""
    if not shutil.which("dpkg-shlibdeps") or not shutil.which("cpack"):
        print("dpkg-dev is not installed")
        sys.exit(77)
    folder = bench.tmp / name
    run = subprocess.run(["cpack", "--config", str(bench.build / "CPackConfig.cmake"), "-B", str(folder)],
                         env={**os.environ, "SOURCE_DATE_EPOCH": "1700000000"}, capture_output=True, text=True,
                         check=False, cwd=bench.tmp)
    found = [*folder.glob("*.deb")]
    if run.returncode or len(found) != 1:
        raise Failure(f"cpack made {found}\n{run.stdout}{run.stderr}")
    return found[0]


def told(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def contents(bench):
    """Files, dependencies, and nothing that belongs to a build folder."""
    package = packaged(bench)
    lines = told("dpkg-deb", "--contents", str(package)).splitlines()
    files = {re.sub(r"^\.", "", line.split()[5]) for line in lines if not line.startswith("d")}
    missing = set(FILES.split()) - files
    odd = {file for file in files - set(FILES.split()) - {"/usr/lib/libsplit.so"}
           if not re.match(r"/usr/share/doc/libsplit/docs/|/usr/lib/[^/]+/libsplit.so", file)}
    if missing or odd:
        raise Failure(f"it lacks {missing}; nobody knows {odd}")
    if not any(file.endswith("/libsplit.so") for file in files):
        raise Failure("it lacks the library")
    if any(" root/root " not in line for line in lines):
        raise Failure("files are not root's")
    depends = told("dpkg-deb", "--field", str(package), "Depends")
    for name in ("libc6", "libstdc++6", "libllvm19", "ocl-icd-libopencl1"):
        if name not in depends:
            raise Failure(f"it does not depend on {name}: {depends}")
    root = bench.tmp / "root"
    told("dpkg-deb", "--raw-extract", str(package), str(root))
    if (root / "DEBIAN" / "conffiles").read_text() != "/etc/OpenCL/layers/libsplit.lay.disabled\n":
        raise Failure("the layer's file is not the administrator's")
    for program in (root / "usr" / "bin").iterdir():
        if re.search(r"\((RUNPATH|RPATH)\)", told("readelf", "--dynamic", str(program))):
            raise Failure(f"{program.name} looks for libraries where it was built")


def reproducible(bench):
    """The same bytes each time."""
    sums = {hashlib.sha256(packaged(bench, name).read_bytes()).hexdigest() for name in ("one", "two")}
    if len(sums) != 1:
        raise Failure("two packages of one build differ")


def relocated(bench):
    """Unpacked into a folder, splitrun finds library and splitc there."""
    root = bench.tmp / "some where"
    told("dpkg-deb", "--extract", str(packaged(bench)), str(root))
    env = {"LIBSPLIT_CACHE_DIR": str(bench.tmp / "cache"), "LIBSPLIT_WAIT_ANALYSIS": "1"}
    native = bench.native(bench.sample("jacobi2d", "--size", "256", "--iterations", "5"))
    run = bench.native([str(root / "usr" / "bin" / "splitrun"), "--summary", "--policy", "static:0.5,0.5", "--",
                        *bench.sample("jacobi2d", "--size", "256", "--iterations", "5")], env=env)
    run.require(run.code == 0 and run.stdout == native.stdout, "it runs differently")
    run.require("5 of 5 launches split" in run.stderr, "it is not split")


if __name__ == "__main__":
    main({"contents": contents, "reproducible": reproducible, "relocated": relocated})
