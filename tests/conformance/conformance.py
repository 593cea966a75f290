"""Every entry point of OpenCL, natively and under libsplit: what a program observes is the same.

    conformance.py --build build/release table

writes conformance.md into the build folder: a row per entry point; a column per way in and state of the objects. It
fails where a run differs from the native one, or a row has a column without a call. What a driver answers by ending
the process is left out, and named in the table."""

import re
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TESTS / "integration"))
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


def observe(bench, program, door, state, skipped):
    """{entry point: [lines]}; what ends the process natively joins `skipped`."""
    calls, split = {}, 0
    for which in (("--without", ",".join(STEPPING_ASIDE)), ("--only", ",".join(STEPPING_ASIDE))):
        while True:
            command = [str(bench.build / "conformance" / f"conformance_{program}"), "--state", state, *which,
                       "--skip", ";".join(sorted(skipped))]
            run = bench.run(command, door, OPTIONS if door else {}, timeout=300)
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


def table(bench):
    skipped = {f"{name}/{what}" for name, whats in ENDS_THE_PROCESS.items() for what in whats}
    known = -1
    while known < len(skipped):
        known = len(skipped)
        natives = {(program, state): observe(bench, program, None, state, skipped)
                   for program in ("linked", "opened") for state in STATES}
    runs = {(way, state): observe(bench, program, door, state, skipped)
            for way, program, door in WAYS for state in STATES}
    names = entry_points()
    wrong = [f"{len(names)} entry points in api.inc"] if len(names) < 100 else []
    rows = []
    for name in names:
        ended = [each.split("/", 1)[1] for each in sorted(skipped) if each.startswith(name + "/")]
        cells = []
        for way, program, _ in WAYS:
            for state in STATES:
                native, lines = natives[program, state].get(name, []), runs[way, state].get(name, [])
                differ = [line for line, other in zip(lines, native) if line != other]
                if not lines and "valid" not in ended or len(lines) != len(native):
                    wrong.append(f"{name}, {way}, {state}: {len(lines)} calls, natively {len(native)}")
                wrong += [f"{way}, {state}: {line}, natively {other.split(chr(9))[-1]}"
                          for line, other in zip(lines, native) if line != other]
                cells.append(f"{len(lines)} calls, {'identical' if not differ else f'{len(differ)} DIFFER'}")
        rows.append(f"| {name} | {' | '.join(cells)} | {other_tests(name)} | {', '.join(ended)} |")
    heads = [f"{way}, {state} objects" for way, _, _ in WAYS for state in STATES]
    total = sum(len(lines) for run in runs.values() for lines in run.values())
    text = ["# Every entry point of OpenCL, natively and under libsplit", "",
            f"{total} calls under libsplit, each compared with the native one: return code, answers, events, callbacks, "
            "and all bytes after a launch that follows.", "",
            f"| entry point | {' | '.join(heads)} | tests that call it, too | left out: ends the process natively |",
            "|" + " --- |" * (len(heads) + 3), *rows, ""]
    (bench.build / "conformance.md").write_text("\n".join(text))
    print(f"{len(rows)} entry points, {total} calls under libsplit, {len(wrong)} differ; {bench.build / 'conformance.md'}")
    if wrong:
        raise Failure("\n".join(wrong[:40]))


if __name__ == "__main__":
    main({"table": table})
