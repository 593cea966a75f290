"""Unmodified programs from the distribution, natively and under libsplit."""

import hashlib
import re
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "integration"))
from harness import main  # noqa: E402

SKIPPED = 77  # CTest's SKIP_RETURN_CODE
PYTHON = "/usr/bin/python3"  # the one that the distribution's pyopencl belongs to


def need(program):
    if not shutil.which(program):
        print(f"skipped: the package {program} is not installed")
        sys.exit(SKIPPED)


def clpeak(bench):
    """Measures the same things, and what can be split is split."""
    need("clpeak")
    command = ["clpeak", "-p", "0", "-d", "0", "--compute-sp", "--compute-integer", "--transfer-bandwidth",
               "--kernel-latency"]

    def without_readings(run):
        return re.sub(r": +([\d.]+|inf)( us)?$", ": reading", run.stdout, flags=re.MULTILINE)

    def complaints(run):  # PoCL counts warnings where it compiles, not where it finds the binary in its cache
        return re.sub(r"\d+ warnings? generated\.\n", "", run.stderr)

    native = bench.native(command, timeout=300)
    native.require_success()
    run = bench.run(command, "splitrun", {"POLICY": "static:0.5,0.5", "WAIT_ANALYSIS": "1"}, timeout=300)
    run.require_success()
    run.require(complaints(run) == complaints(native), f"stderr differs, natively it is {native.stderr!r}")
    run.require(without_readings(run) == without_readings(native), "it measured something else")
    run.require(run.total("split_launches") > 0, "nothing was split")


def pyopencl(bench):
    """Right and split; right and split again when pyopencl takes the program from its cache of binaries, also of one that
    was filled before it ever ran under libsplit."""
    if bench.native([PYTHON, "-c", "import pyopencl, numpy"]).code != 0:
        print("skipped: the packages python3-pyopencl and python3-numpy are not installed")
        sys.exit(SKIPPED)
    script = str(Path(__file__).parent / "numpy_on_opencl.py")
    native_file, file = bench.tmp / "native", bench.tmp / "results"
    native = bench.native([PYTHON, script, str(native_file)], env={"XDG_CACHE_HOME": str(bench.tmp / "native-cache")})
    native.require_success()
    attempts = [(door, f"{door}-cache", attempt) for door in ("preload", "layer")
                for attempt in ("fresh", "from the cache of binaries")]
    for door, folder, attempt in (*attempts, ("preload", "native-cache", "from a foreign cache")):
        cache = {"XDG_CACHE_HOME": str(bench.tmp / folder)}
        for policy in ("static:0.5,0.5", "static:0.2,0.8"):
            run = bench.run([PYTHON, script, str(file)], door, {
                "POLICY": policy, "WAIT_ANALYSIS": "1", "VERIFY": "1", "SEPARATE_NODES": "1"}, env=cache)
            run.require_same_as(native)
            run.require(file.read_bytes() == native_file.read_bytes(), f"other results, {attempt}")
            binaries = list((bench.tmp / folder).rglob("binary"))
            run.require(binaries, "pyopencl cached no binary: this test no longer tests what it says")
            for name in ("product", "mandelbrot"):
                kernel = run.kernel(name)
                run.require(kernel["launches"] == 3, f"{kernel['launches']} launches of {name}")
                run.require(kernel["split_launches"] > 0, f"{name} not split {attempt}: {kernel['reason']}")


def hashcat(bench):
    """Finds the one password. It opens OpenCL by dlopen, and may run unsplit."""
    need("hashcat")
    password = "wxq"
    digest = hashlib.md5(password.encode()).hexdigest()
    command = ["hashcat", "-m", "0", "-a", "3", "--force", "--opencl-device-types", "1", "--backend-devices", "2",
               "--potfile-disable", "--self-test-disable", "--quiet", "--backend-vector-width", "1",
               "--kernel-accel", "1", "--kernel-loops", "1", digest, "?l?l?l"]
    for number, (door, options) in enumerate([
            (None, {}), ("preload", {}), ("layer", {"POLICY": "static:0.5,0.5", "WAIT_ANALYSIS": "1"})]):
        home = bench.tmp / f"home-{number}"
        home.mkdir()
        env = {"HOME": str(home), "XDG_CACHE_HOME": str(home / "cache"), "XDG_DATA_HOME": str(home / "data")}
        run = bench.run(command, door, options, env=env, cwd=home, timeout=280)
        run.require_success()
        run.require(f"{digest}:{password}" in run.stdout, "the password was not found")
        if door:
            run.require(run.stats, "no stats were written: hashcat was not caught")


def hashcat_iterated(bench):
    """Finds the one password, whose hash is iterated: launches of the kernel that does that are split. Its programs name
    their headers by macros."""
    need("hashcat")
    digest = "$P$984478476IagS59wHZvyQMArzfx58u."
    words = bench.tmp / "words.txt"
    words.write_text("".join(f"word{number}\n" for number in range(127)) + "hashcat\n")
    command = ["hashcat", "-m", "400", "-a", "0", "--force", "--opencl-device-types", "1", "--backend-devices", "2",
               "--potfile-disable", "--self-test-disable", "--quiet", "--backend-vector-width", "1",
               "--kernel-accel", "64", "--kernel-loops", "256", digest, str(words)]
    env = {"HOME": str(bench.tmp), "XDG_CACHE_HOME": str(bench.tmp / "cache"), "XDG_DATA_HOME": str(bench.tmp / "data")}
    run = bench.run(command, "layer", {"POLICY": "static:0.5,0.5", "WAIT_ANALYSIS": "1", "SEPARATE_NODES": "1"}, env=env,
                    timeout=600)
    run.require_success()
    run.require(f"{digest}:hashcat" in run.stdout, "the password was not found")
    for kernel in ("m00400_init", "m00400_loop"):
        run.require_split(kernel)
    reasons = run.kernel("m00400_comp")["reasons"]
    run.require("atomic operation on `hashes_shown`" in str(reasons), f"m00400_comp stayed whole for another reason: {reasons}")


if __name__ == "__main__":
    main({"clpeak": clpeak, "pyopencl": pyopencl, "hashcat": hashcat, "hashcat_iterated": hashcat_iterated})
