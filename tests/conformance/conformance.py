"""Every entry point of OpenCL, natively and under libsplit: what a program observes is the same.

    conformance.py --build build/release table
    conformance.py --build build/release debian13 FOLDER      with PoCL 6 and rusticl (../drivers/debian13)

writes conformance.md into the build folder: a row per entry point; a column per way in and state of the objects. It
fails where a run differs from the native one, or a row has a column without a call. What a driver answers by ending
the process is left out, and named in the table."""

import re
import sys
import tempfile
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TESTS / "integration"))
sys.path.insert(0, str(TESTS / "drivers"))
from chroot import PACKAGES, Debian  # noqa: E402
from harness import Failure, main  # noqa: E402

# Calls by which PoCL 3.1 ends the process, or means to have them behind a null pointer.
ENDS_THE_PROCESS = {
    "clBuildProgram": ("argument 1 one more",),
    "clCompileProgram": ("argument 1 one more", "argument 4 one more"),
    "clCreateContextFromType": ("argument 1 zero", "argument 1 huge"),
    "clCreateProgramWithBinary": ("argument 4 null",),
    "clCreateProgramWithBuiltInKernels": ("argument 1 one more",),
    "clCreateProgramWithSource": ("argument 2 null",),
    "clEnqueueCopyBufferRect": ("argument 1 null", "argument 2 null"),
    "clEnqueueCopyImageToBuffer": ("argument 2 null",),
    "clEnqueueNDRangeKernel": ("argument 1 null", "argument 7 null", "argument 6 one more"),
    "clEnqueueReadBufferRect": ("argument 9 huge",),
    "clEnqueueReadImage": ("argument 5 huge",),
    "clEnqueueSVMMemFill": ("argument 2 null", "argument 4 huge"),
    "clEnqueueTask": ("argument 1 null", "argument 3 null"),
    "clEnqueueWaitForEvents": ("valid",),
    "clEnqueueWriteBufferRect": ("argument 9 huge",),
    "clEnqueueWriteImage": ("argument 5 huge",),
    "clGetContextInfo": ("1082",),
    "clGetProgramInfo": ("1166",),
    "clLinkProgram": ("argument 4 one more",),
    "clSetKernelArg": ("argument 3 null",),
    "clSetKernelArgSVMPointer": ("argument 2 null",),
    "clSetProgramSpecializationConstant": ("valid", "argument 1 zero", "argument 1 one more", "argument 2 zero", "argument 2 one more", "argument 2 huge", "argument 3 null")}
# Copies a tebibyte, where the host's memory lets it.
ENDS_THE_PROCESS["clEnqueueNativeKernel"] = ("argument 3 huge",)
# libsplit splits nothing any more after these, so they have a process of their own.
STEPPING_ASIDE = ("clCreateSubDevices", "clGetExtensionFunctionAddress", "clGetExtensionFunctionAddressForPlatform")
# Name, the program, the door.
WAYS = (("linked", "linked", "preload"), ("dlopen", "opened", "preload"), ("layer", "linked", "layer"))
STATES = ("native", "split")
OPTIONS = {"POLICY": "static:0.5,0.5", "SEPARATE_NODES": "1", "WAIT_ANALYSIS": "1"}


def entry_points():
    text = (TESTS.parent / "libsplit/api.inc").read_text()
    return re.findall(r"^OPENCL_API\(.*?, (cl\w+),", text, re.MULTILINE)


def other_tests(name):
    """Tests that call it, too."""
    found = [path.stem for folder in ("samples", "doors") for path in sorted((TESTS / folder).glob("*.cpp"))
             if re.search(rf"\b{name}\b", path.read_text())]
    return ", ".join(found[:4]) + (", ..." if len(found) > 4 else "")


class Here:
    """PoCL 3.1, as installed."""

    name, known = "", ENDS_THE_PROCESS

    def __init__(self, bench):
        self.bench = bench

    def run(self, program, arguments, door, options):
        return self.bench.run([str(self.bench.build / "conformance" / f"conformance_{program}"), *arguments], door, options,
                              timeout=300)


class In:
    """One of the drivers of another Debian."""

    known = {"clEnqueueNativeKernel": ENDS_THE_PROCESS["clEnqueueNativeKernel"]}

    def __init__(self, debian, name, platform):
        self.debian, self.name, self.platform = debian, name, platform

    def run(self, program, arguments, door, options):
        return self.debian.run([f"conformance/conformance_{program}", "--platform", str(self.platform), *arguments],
                               options if door else None, door=door)


def observe(place, program, door, state, skipped):
    """{entry point: [lines]}; what ends the process natively joins `skipped`."""
    calls, split = {}, 0
    for which in (("--without", ",".join(STEPPING_ASIDE)), ("--only", ",".join(STEPPING_ASIDE))):
        while True:
            run = place.run(program, ["--state", state, *which, "--skip", ";".join(sorted(skipped))], door,
                            OPTIONS if door else {})
            if run.code == 0:
                break
            unfinished = run.stdout.rsplit("\n", 1)[-1].split("\t")
            run.require(not door and len(unfinished) > 1 and len(skipped) < 100, run.ending())
            skipped.add("/".join(unfinished[:2]))
        if door:
            run.require(not run.stderr, "libsplit complains")
            split += run.total("split_launches")
        for line in run.stdout.splitlines():
            calls.setdefault(line.split("\t")[0], []).append(line)
    if door and state == "split":
        run.require(split > 100, "next to nothing was split")
    return calls


def table(bench, place=None):
    place = place or Here(bench)
    skipped = {f"{name}/{what}" for name, whats in place.known.items() for what in whats}
    known = -1
    while known < len(skipped):
        known = len(skipped)
        natives = {(program, state): observe(place, program, None, state, skipped)
                   for program in ("linked", "opened") for state in STATES}
    runs = {(way, state): observe(place, program, door, state, skipped)
            for way, program, door in WAYS for state in STATES}
    # What is undefined is not the same twice natively: the bytes of a region that is mapped to be overwritten.
    unsteady = {(state, line.rsplit("\t", 1)[0]) for state in STATES for name, lines in natives["linked", state].items()
                for line, other in zip(lines, natives["opened", state].get(name, [])) if line != other}

    def told(state, line):
        call, answer = line.rsplit("\t", 1)
        return call + "\t" + (re.sub(r", bytes [0-9a-f ]+", "", answer) if (state, call) in unsteady else answer)

    names = entry_points()
    wrong = [f"{len(names)} entry points in api.inc"] if len(names) < 100 else []
    rows = []
    for name in names:
        ended = [each.split("/", 1)[1] for each in sorted(skipped) if each.startswith(name + "/")]
        cells = []
        for way, program, _ in WAYS:
            for state in STATES:
                native, lines = ([told(state, line) for line in observed.get(name, [])]
                                 for observed in (natives[program, state], runs[way, state]))
                differ = [line for line, other in zip(lines, native) if line != other]
                if not lines and "valid" not in ended or len(lines) != len(native):
                    wrong.append(f"{name}, {way}, {state}: {len(lines)} calls, natively {len(native)}")
                wrong += [f"{way}, {state}: {line}, natively {other.split(chr(9))[-1]}"
                          for line, other in zip(lines, native) if line != other]
                cells.append(f"{len(lines)} calls, {'identical' if not differ else f'{len(differ)} DIFFER'}")
        rows.append(f"| {name} | {' | '.join(cells)} | {other_tests(name)} | {', '.join(ended)} |")
    heads = [f"{way}, {state} objects" for way, _, _ in WAYS for state in STATES]
    total = sum(len(lines) for run in runs.values() for lines in run.values())
    text = ["# Every entry point of OpenCL, natively and under libsplit" + (f", on {place.name}" if place.name else ""), "",
            f"{total} calls under libsplit, each compared with the native one: return code, answers, events, callbacks, "
            "and all bytes after a launch that follows.", "",
            f"| entry point | {' | '.join(heads)} | tests that call it, too | left out: ends the process natively |",
            "|" + " --- |" * (len(heads) + 3), *rows, ""]
    file = bench.build / f"conformance{'-' + place.name.replace(' ', '_') if place.name else ''}.md"
    file.write_text("\n".join(text))
    print(f"{place.name or 'PoCL 3.1'}: {len(rows)} entry points, {total} calls under libsplit, {len(wrong)} differ, "
          f"{len(unsteady)} have bytes that differ natively; {file}", flush=True)
    if wrong:
        raise Failure("\n".join(wrong[:40]))


def debian13(bench, folder, *names):
    """On each driver of Debian 13, helped by the other."""
    failures = []
    with tempfile.TemporaryDirectory(prefix="libsplit-debian13-") as work:
        debian = Debian(Path(folder).resolve(), bench.build, work)
        debian.make(PACKAGES)
        for platform, name in enumerate(("PoCL 6", "rusticl")):
            try:
                if not names or name in names:
                    table(bench, In(debian, name, platform))
            except Failure as failure:
                failures.append(f"{name}: {failure}")
    if failures:
        raise Failure("\n".join(failures))


if __name__ == "__main__":
    main({"table": table, "debian13": debian13})
