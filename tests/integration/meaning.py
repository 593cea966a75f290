"""What a program's text means to its driver: headers, macros, options."""

from harness import main


def first_program_keeps_its_header(bench):
    """In the first run, and in a second one that finds the first one's analyses."""
    for home in ("0.0", "0.1"):
        command = bench.sample("stale_header", "--device", home)
        native = bench.native(command, dump=True)
        native.require_success()
        for separate in ("0", "1"):
            cache = bench.tmp / f"cache-{home}-{separate}"
            for wait in ("1", "0", "1"):
                run = bench.run(command, "preload",
                                {"POLICY": "static:0.5,0.5", "WAIT_ANALYSIS": wait, "CACHE_DIR": str(cache),
                                 "SEPARATE_NODES": separate}, dump=True)
                run.require_same_as(native)
                if wait == "1":
                    run.require(run.kernel("shift")["split_launches"] > 0, "the second program was not split either")


def says_why(bench):
    """Where the analysis comes too late to find the header that the driver saw."""
    late = bench.tmp / "splitc"
    late.write_text(f'#!/bin/sh\nsleep 1\nexec {bench.build / "bin" / "splitc"} "$@"\n')
    late.chmod(0o755)
    run = bench.run(bench.sample("stale_header"), "preload",
                    {"POLICY": "static:0.5,0.5", "WAIT_ANALYSIS": "1", "SPLITC": str(late)})
    reasons = [kernel["reason"] for kernel in run.stats["kernels"]]
    run.require(any("config.h" in reason and "changed" in reason for reason in reasons), f"the reasons are {reasons}")


def macros_are_asked_once(bench):
    """Every launch of both builds is split, and a second run asks the driver nothing."""
    options = {"POLICY": "static:0.5,0.5", "WAIT_ANALYSIS": "1", "LOG": "debug"}
    command = bench.sample("vendor_macros")
    native = bench.native(command, dump=True)
    asked = []
    for _ in range(2):
        run = bench.run(command, "preload", options, dump=True)
        run.require_success()
        run.require(run.dump == native.dump, "the output differs")
        kernel = run.kernel("place_by_macros")
        run.require(kernel["split_launches"] == kernel["launches"] == 6, f"not split: {kernel['reason']}")
        asked.append([line for line in run.stderr.splitlines() if "libsplit: macro " in line])
    run.require(any("__DEVICE_EMULATION__: not set" in line for line in asked[0]), f"asked {asked[0]}")
    run.require(not asked[1], f"asked again: {asked[1]}")


def standard_options_hide_nothing(bench):
    """An option that the driver accepts and Clang does not know keeps nothing from being split."""
    run = bench.run(bench.sample("vendor_macros"), "preload",
                    {"POLICY": "static:0.5,0.5", "WAIT_ANALYSIS": "1"})
    kernels = run.stats["kernels"]
    run.require(all(kernel["split_launches"] == kernel["launches"] for kernel in kernels),
                f"not split: {[kernel['reason'] for kernel in kernels]}")
    run.require(run.stderr == "", "not silent")


if __name__ == "__main__":
    main({test.__name__: test for test in (first_program_keeps_its_header, says_why, macros_are_asked_once,
                                                 standard_options_hide_nothing)})
