"""Programs of a build inside a Debian of another release, in a folder of its own: with its drivers and its LLVM."""

import json
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "integration"))
from harness import Failure, Run  # noqa: E402

# Drivers of two vendors, and what splitc needs.
PACKAGES = ("pocl-opencl-icd", "mesa-opencl-icd", "ocl-icd-libopencl1", "clinfo", "libllvm19", "libclang-cpp19",
            "llvm-spirv-19")
# Where the build and the runs' own files stand in the folder.
BUILD, SCRATCH = "/srv/build", "/srv/scratch"
# Run in a mount namespace of its own, so that nothing stays mounted.
ENTER = f"""
set -e; root=$1; build=$2; work=$3; shift 3
mount -t proc proc "$root/proc"; mount --rbind /sys "$root/sys"; mount --rbind /dev "$root/dev"
mkdir -p "$root{BUILD}" "$root{SCRATCH}"
mount --bind "$build" "$root{BUILD}"; mount --bind "$work" "$root{SCRATCH}"
exec chroot "$root" "$@"
"""


class Debian:
    """Needs root, and debootstrap where the folder is empty. `work`: a folder for what the runs write."""

    def __init__(self, root, build, work, release="trixie"):
        self.root, self.build, self.work, self.release = root, build, Path(work), release

    def make(self, packages):
        if not (self.root / "etc/debian_version").exists():
            subprocess.run(["debootstrap", "--variant=minbase", "--include=" + ",".join(packages), self.release,
                            str(self.root)], check=True)

    def run(self, command, options=None, *, env=None, door="preload", timeout=300):
        """`command` (its first word a file of the build) natively, or with libsplit's `options`; names as in Workbench.
        What it writes to SCRATCH/dump is the run's dump."""
        for leftover in ("dump", "stats.json"):
            (self.work / leftover).unlink(missing_ok=True)
        variables = {"PATH": "/usr/bin:/bin", "HOME": SCRATCH, "RUSTICL_ENABLE": "llvmpipe",
                     "POCL_CACHE_DIR": f"{SCRATCH}/pocl", "MESA_SHADER_CACHE_DIR": f"{SCRATCH}/mesa"} | (env or {})
        if options is not None:
            variables |= {"LD_PRELOAD" if door == "preload" else "OPENCL_LAYERS": f"{BUILD}/lib/libsplit.so",
                          "LIBSPLIT_CACHE_DIR": f"{SCRATCH}/cache", "LIBSPLIT_STATS": f"{SCRATCH}/stats.json",
                          "LIBSPLIT_WAIT_ANALYSIS": "1"}
            variables |= {f"LIBSPLIT_{name}": value for name, value in options.items()}
        inside = ["env", "-i", "-C", SCRATCH, *(f"{name}={value}" for name, value in variables.items()),
                  "timeout", str(timeout), f"{BUILD}/{command[0]}", *command[1:]]
        process = subprocess.run(["unshare", "--mount", "bash", "-c", ENTER, "enter", self.root, self.build, self.work,
                                  *inside], stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
        if process.returncode == 124:
            raise Failure(f"no end after {timeout} s\nTo repeat: chroot {self.root} {' '.join(inside)}")
        dump, stats = self.work / "dump", self.work / "stats.json"
        return Run(f"chroot {self.root} " + " ".join(inside), process.returncode, process.stdout, process.stderr,
                   dump.read_bytes() if dump.exists() else b"",
                   json.loads(stats.read_text() or "{}") if stats.exists() else {})
