#!/usr/bin/env python3
"""Fails when a folder includes what it must not.

The layers, lowest first; a folder may include itself, what its line names, and the standard library
with POSIX. Third-party headers are named by their folder, or by their file where they have none.
"""

import re
import sys
from pathlib import Path

LAYERS = {
    "analysis-pass/summary": set(),
    "analysis-pass/pass": {"analysis-pass/summary", "llvm", "clang", "xxhash.h", "spirv-tools", "spirv",
                           "opencl_c_base_header.inc"},  # the last is generated
    "solver": {"Eigen"},
    # The runtime's rooms; runtime/README.md says what each is for.
    "runtime/core": {"CL", "xxhash.h", "sanitizer"},
    "runtime/trace": {"runtime/core", "CL", "nlohmann"},
    "runtime/plan": {"analysis-pass/summary"},
    "runtime/cost": {"solver", "runtime/core", "runtime/plan", "analysis-pass/summary", "nlohmann"},
    "runtime/device": {"runtime/core", "runtime/plan", "runtime/trace", "analysis-pass/summary", "CL", "nlohmann"},
    "runtime/program": {"runtime/core", "runtime/plan", "runtime/cost", "runtime/device", "analysis-pass/summary",
                        "CL", "nlohmann", "xxhash.h"},
    "runtime/session": {"runtime/core", "runtime/plan", "runtime/cost", "runtime/device", "runtime/program",
                        "runtime/trace", "solver", "analysis-pass/summary", "CL", "nlohmann"},
    "libsplit": {"runtime/session", "runtime/core", "CL"},
    "tools": {"solver", "runtime/core", "runtime/plan", "runtime/cost", "runtime/device", "runtime/trace", "analysis-pass/summary",
              "analysis-pass/pass", "CL", "CLI", "nlohmann", "netdb.h", "report_parts.h"},  # the last is generated
    # Programs for tests and benchmarks know nothing of libsplit. `kernels` is generated.
    "tests/samples": {"CL", "kernels"},
    "tests/doors": {"CL", "execinfo.h", "libsplit"},  # the table of the API's names
    "tests/conformance": {"CL", "libsplit"},  # the list of entry points
    "tests/corpus": {"CL"},
    "tests/programs": {"boost", "viennacl", "clblast_c.h"},
    "benchmarks": {"tests/samples", "CL", "kernels"},
}
# Tests of our own code may include anything.
FREE = ("analysis-pass/tests", "tests/unit", "tests/property", "tests/simulator", "tests/fake_opencl", "tests/fuzz",
        "benchmarks/micro")

POSIX = {"dlfcn.h", "fcntl.h", "link.h", "netinet", "poll.h", "pthread.h", "sched.h", "signal.h", "spawn.h", "unistd.h", "sys"}

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)


def owner(path, names):
    """The longest of `names` that is a folder around `path`, or nothing."""
    around = [name for name in names if path.startswith(name + "/")]
    return max(around, key=len, default=None)


def named(quote, target):
    """What LAYERS calls an included file; nothing for the standard library and POSIX."""
    ours = owner(target, LAYERS)
    if ours:
        return ours
    first = target.split("/")[0]
    standard = quote == "<" and ("/" not in target and "." not in target or first in POSIX)
    return None if standard else first


def violations(root):
    """One line of text per forbidden include below `root`."""
    found = []
    files = sorted(path for folder in ("analysis-pass", "solver", "runtime", "libsplit", "tools", "tests", "benchmarks")
                   for path in (root / folder).rglob("*") if path.suffix in (".h", ".cpp", ".def", ".inc"))
    for path in files:
        name = path.relative_to(root).as_posix()
        if owner(name, FREE):
            continue
        layer = owner(name, LAYERS)
        if not layer:
            found.append(f"{name}: lies in no folder that tools/dependency_check.py knows")
            continue
        text = path.read_text()
        for match in INCLUDE.finditer(text):
            what = named(*match.groups())
            if what and what != layer and what not in LAYERS[layer]:
                line = text.count("\n", 0, match.start()) + 1
                found.append(f"{name}:{line}: {layer} must not include {match[2]}")
    return found


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent)
    found = violations(root)
    for violation in found:
        print(violation)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
