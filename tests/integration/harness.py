"""Runs programs with and without libsplit and compares what they leave behind.

Everything runs on two one-core PoCL devices: 0.0 is `basic`, which executes inside the thread that
submits, 0.1 is `pthread`, which has a thread of its own.
"""

import argparse
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

TWO_DEVICES = {"POCL_DEVICES": "basic pthread", "POCL_MAX_PTHREAD_COUNT": "1"}

# The ways in. `both` must not count a call twice.
DOORS = ("preload", "layer", "both", "splitrun")


class Failure(Exception):
    """The program under test did something wrong; the text says what and how to repeat it."""


@dataclass
class Run:
    """What one run of a program left behind."""

    command: str  # as one would type it, environment included
    code: int
    stdout: str
    stderr: str
    dump: bytes
    stats: dict  # empty without libsplit

    def require(self, condition, what):
        if not condition:
            raise Failure(f"{what}\nTo repeat: {self.command}\n" + streams(self.stdout, self.stderr))

    def ending(self):
        return f"exit code {self.code}" if self.code >= 0 else signal.strsignal(-self.code)

    def require_success(self):
        self.require(self.code == 0, self.ending())

    def require_same_as(self, native, stderr=True):
        """The same for an observer of the program: exit code, both streams (`stderr`: that one too), every output byte."""
        self.require(self.code == native.code, f"{self.ending()}, natively {native.ending()}")
        self.require(not stderr or self.stderr == native.stderr, f"stderr differs, natively it is {native.stderr!r}")
        self.require(self.stdout == native.stdout, f"stdout differs, natively it is {native.stdout!r}")
        if self.dump != native.dump:
            self.require(False, "the output differs: " + first_difference(self.dump, native.dump))

    def kernel(self, name):
        """The counters of a kernel, added up over the programs that have one of this name."""
        found = [kernel for kernel in self.stats.get("kernels", []) if kernel["name"] == name]
        self.require(found, f"the stats hold no kernel named {name}")
        added = {key: sum(kernel[key] for kernel in found) for key in ("launches", "split_launches")}
        return {**found[0], **added}

    def require_split(self, name):
        """All launches of a kernel were split."""
        counted = self.kernel(name)
        self.require(counted["split_launches"] == counted["launches"], f"{name} was not split: {counted['reasons']}")

    def total(self, key):
        self.require(self.stats, "no stats were written")
        return self.stats["totals"][key]

    def require_one_complaint(self, *words):
        """Exactly one line on stderr, by libsplit, that holds all `words`."""
        lines = self.stderr.splitlines()
        self.require(len(lines) == 1, f"{len(lines)} lines on stderr, expected one")
        self.require(lines[0].startswith("libsplit: "), "the line is not libsplit's")
        for word in words:
            self.require(word in lines[0], f"the line does not name {word}")


def streams(stdout, stderr):
    """What a program said, its last lines only."""
    shown = ""
    for name, text in (("stderr", stderr), ("stdout", stdout)):
        if text:
            lines = text.splitlines()
            shown += f"--- {name}" + (", last lines" if len(lines) > 20 else "") + "\n"
            shown += "\n".join(lines[-20:]) + "\n"
    return shown


def first_difference(actual, expected):
    if len(actual) != len(expected):
        return f"{len(actual)} bytes instead of {len(expected)}"
    differing = [i for i, (a, b) in enumerate(zip(actual, expected)) if a != b]
    return f"{len(differing)} of {len(expected)} bytes, the first at {differing[0]}, the last at {differing[-1]}"


# Where the thread-local objects of a library that was opened at run time are given back by the thread that joins or
# by the next one on that stack, ThreadSanitizer does not see that this is later.
SUPPRESSED = "race:_dl_deallocate_tls\n"


# What a program that a sanitizer complains of ends with: no program's own exit code.
SANITIZER_FOUND = 66


class Workbench:
    """A build folder, and a temporary folder that vanishes at the end (use `with`). A sanitized build uses the `compilers`
    (a folder with splitc and fake_cc) of another; nothing can be preloaded there."""

    def __init__(self, build, compilers=None):
        self.build = Path(build).resolve()
        self.library = self.build / "lib" / "libsplit.so"
        self.compilers = Path(compilers).resolve() if compilers else None
        self.tmp = None

    def sanitizing(self):
        """Variables of all programs of a sanitized build."""
        if not self.compilers:
            return {}
        suppressions = self.tmp / "suppressions"
        suppressions.write_text(SUPPRESSED)
        return {"FAKE_OPENCL_CC": str(self.compilers / "fake_cc"),
                "ASAN_OPTIONS": f"exitcode={SANITIZER_FOUND}",
                "TSAN_OPTIONS": f"exitcode={SANITIZER_FOUND}:suppressions={suppressions}:atexit_sleep_ms=50"}

    def __enter__(self):
        self.tmp = Path(tempfile.mkdtemp(prefix="libsplit-test-"))
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.tmp, ignore_errors=True)

    def sample(self, name, *arguments):
        return [str(self.build / "samples" / name), *arguments]

    def environment(self, extra):
        """The caller's environment without anything that steers OpenCL, then `extra`."""
        steering = ("LIBSPLIT_", "POCL_", "OCL_ICD_", "LD_PRELOAD", "OPENCL_LAYERS")
        clean = {name: value for name, value in os.environ.items() if not name.startswith(steering)}
        # PoCL's own cache is shared between tests: compiling is most of what a sample does.
        clean["POCL_CACHE_DIR"] = str(self.build / "tests" / "pocl-cache")
        return {**clean, **TWO_DEVICES, **extra}

    def native(self, command, **how):
        return self.run(command, None, {}, **how)

    def run(self, command, door, options, *, env=None, cwd=None, dump=False, stats=True, timeout=120):
        """Runs `command` (a list) through `door` (None: natively) with libsplit's `options`, names
        without the prefix: {"VERIFY": "1"}. With `dump` the sample writes its output."""
        command = list(command)
        dump_file = self.tmp / "dump"
        stats_file = self.tmp / "stats.json"
        for leftover in (dump_file, stats_file):
            leftover.unlink(missing_ok=True)
        if dump:
            command += ["--dump", str(dump_file)]
        steering = self.sanitizing()
        if door:
            steering |= {"LIBSPLIT_CACHE_DIR": str(self.tmp / "cache")}
            if self.compilers:
                steering["LIBSPLIT_SPLITC"] = str(self.compilers / "splitc")
            if stats:
                steering["LIBSPLIT_STATS"] = str(stats_file)
            steering |= {f"LIBSPLIT_{name}": value for name, value in options.items()}
            if door in ("preload", "both"):
                steering["LD_PRELOAD"] = str(self.library)
            if door in ("layer", "both"):
                steering["OPENCL_LAYERS"] = str(self.library)
            if door == "splitrun":
                command = [str(self.build / "bin" / "splitrun"), "--", *command]
        steering |= env or {}
        shown = " ".join(f"{name}={shlex.quote(value)}" for name, value in {**TWO_DEVICES, **steering}.items())
        process = subprocess.Popen(command, env=self.environment(steering), cwd=cwd or self.tmp, text=True,
                                   errors="replace", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, start_new_session=True)
        try:
            stdout, stderr = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            stdout, stderr = process.communicate()
            raise Failure(f"no end after {timeout} s\nTo repeat: {shown} {shlex.join(command)}\n"
                          + streams(stdout, stderr)) from None
        # Said once of any program that changes stacks, which the fake OpenCL does with care.
        stderr = re.sub(r"==\d+==WARNING: ASan doesn't fully support makecontext.*\n", "", stderr)
        run = Run(f"{shown} {shlex.join(command)}", process.returncode, stdout, stderr,
                  dump_file.read_bytes() if dump_file.exists() else b"",
                  json.loads(stats_file.read_text()) if stats_file.exists() else {})
        complaint = re.search(r".*(Sanitizer: |: runtime error: )", stderr)
        if self.compilers and (complaint or run.code == SANITIZER_FOUND):
            lines = stderr[complaint.start() if complaint else 0:].splitlines()
            raise Failure("\n".join(["a sanitizer complains", f"To repeat: {run.command}", *lines[:80]]))
        return run


def main(tests):
    """Command line of a test script: --build DIR TEST [ARGUMENT...]; `tests` maps names to functions
    that take a Workbench and the arguments."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True, help="build folder, such as build/release")
    parser.add_argument("--compilers", help="bin folder of another build, for a sanitized one")
    parser.add_argument("test", choices=tests)
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    parsed = parser.parse_args()
    try:
        with Workbench(parsed.build, parsed.compilers) as bench:
            tests[parsed.test](bench, *parsed.arguments)
    except Failure as failure:
        sys.exit(f"FAILED: {failure}")
