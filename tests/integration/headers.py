"""Headers that change between a program's build and its launches."""

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
    run = bench.run(bench.sample("stale_header"), "preload", {"POLICY": "static:0.5,0.5", "WAIT_ANALYSIS": "1"})
    reasons = [kernel["reason"] for kernel in run.stats["kernels"]]
    run.require(any("config.h" in reason and "changed" in reason for reason in reasons), f"the reasons are {reasons}")


if __name__ == "__main__":
    main({test.__name__: test for test in (first_program_keeps_its_header, says_why)})
