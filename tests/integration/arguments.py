"""What a kernel gets, where only the kernel's parameter tells what it is."""

from harness import main

KERNELS = ("add_number", "add_halves")


def numbers_that_equal_handles(bench):
    """Also where the driver does not describe parameters: until the analysis does, launches run at home,
    and every byte that they might use is there."""
    silent = {"OPENCL_LAYERS": str(bench.build / "doors" / "libdoor_no_argument_info.so")}
    for home in ("0.0", "0.1"):
        command = bench.sample("handle_values", "--device", home, "--iterations", "20")
        native = bench.native(command, dump=True)
        native.require_success()
        for separate in ("0", "1"):
            for wait in ("1", "0"):
                run = bench.run(command, "preload",
                                {"POLICY": "static:0.5,0.5", "SEPARATE_NODES": separate, "WAIT_ANALYSIS": wait},
                                env=silent, dump=True)
                run.require_same_as(native)
                for name in KERNELS if wait == "1" else ():
                    stats = run.kernel(name)
                    run.require(stats["split_launches"] == stats["launches"], f"{name}: {stats['reason']}")
        # No analysis at all.
        run = bench.run(command, "preload", {"POLICY": "static:0.5,0.5", "SPLITC": "/bin/false", "LOG": "error"},
                        env=silent, dump=True)
        run.require_same_as(native)


if __name__ == "__main__":
    main({"numbers_that_equal_handles": numbers_that_equal_handles})
