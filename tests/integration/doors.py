"""Each way in which a program comes by OpenCL: caught, and each launch counted once."""

from pathlib import Path

from harness import DOORS, main

LAUNCHES = 5  # of tests/doors/triple.h and through_ctypes.py


def command_of(bench, program):
    doors = bench.build / "doors"
    if program == "plugin":
        return [str(doors / "door_plugin_host"), str(doors / "libdoor_plugin.so")]
    if program == "ctypes":
        return ["/usr/bin/python3", str(Path(__file__).parent.parent / "doors" / "through_ctypes.py")]
    return [str(doors / f"door_{program}")]


def door(bench, program):
    check(bench, program, DOORS, {})


def plain_loader(bench, program):
    """With a loader that knows no layers, which only preloading can serve."""
    check(bench, program, ["preload", "splitrun"], {"LD_LIBRARY_PATH": str(bench.build / "doors" / "plain")})


def forked(bench):
    """The child of a fork is native: it writes none of the parent's files, and waits for none of its threads."""
    command = command_of(bench, "forked")
    native = bench.native(command)
    native.require_success()
    for way in DOORS:
        run = bench.run(command, way, {"POLICY": "static:0.5,0.5", "WAIT_ANALYSIS": "1"})
        run.require_same_as(native)
        run.require(not run.stats, "the child wrote the parent's statistics")


def users_preload(bench):
    """A tool that the user preloads sees what the program calls, as natively, and nothing of libsplit's."""
    counts = bench.tmp / "counts"
    tool = {"LD_PRELOAD": str(bench.build / "doors" / "libdoor_counting.so"), "COUNTING_FILE": str(counts)}
    command = command_of(bench, "linked")
    bench.native(command, env=tool).require_success()
    natively = counts.read_text()
    counts.unlink()
    run = bench.run(command, "splitrun", {"POLICY": "static:0.5,0.5", "WAIT_ANALYSIS": "1"}, env=tool)
    run.require_success()
    run.require(run.kernel("triple")["split_launches"] == LAUNCHES, "not split")
    run.require(counts.read_text() == natively, f"the tool saw {counts.read_text()!r}, natively {natively!r}")


def check(bench, program, ways, environment):
    command = command_of(bench, program)
    native = bench.native(command, env=environment)
    native.require_success()
    for way in ways:
        run = bench.run(command, way, {"POLICY": "static:0.5,0.5", "WAIT_ANALYSIS": "1", "VERIFY": "1"},
                        env=environment)
        run.require_same_as(native)
        run.require(run.stats, "no stats were written: the program was not caught")
        kernel = run.kernel("triple")
        run.require(kernel["launches"] == LAUNCHES, f"{kernel['launches']} launches counted by {way}")
        run.require(kernel["split_launches"] == LAUNCHES, f"not split: {kernel['reason']}")


if __name__ == "__main__":
    main({"door": door, "forked": forked, "plain_loader": plain_loader, "users_preload": users_preload})
