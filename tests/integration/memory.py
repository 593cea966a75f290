"""Devices that can't hold what a program needs."""

from harness import main

PASSES = 8
KINDS = 2  # of launches: saxpy takes its arrays in two halves, the second with an offset


def device_without_room_is_left_out(bench):
    """The others go on, and nothing is tried again and again."""
    size = ("--size", "65536", "--iterations", str(PASSES))
    small = bench.build / "doors" / "libdoor_small_device.so"
    for policy in ("static:0.2,0.4,0.4", "fixed-point", "dynamic"):
        for separate in ("0", "1"):
            command = bench.sample("saxpy", "--device", "0.1", *size)
            devices = {"POCL_DEVICES": "basic pthread pthread"}
            native = bench.native(command, env=devices, dump=True)
            run = bench.run(command, "preload",
                            {"POLICY": policy, "SEPARATE_NODES": separate, "WAIT_ANALYSIS": "1", "LOG": "info"},
                            env={**devices, "OPENCL_LAYERS": str(small), "SMALL_DEVICE": "basic"}, dump=True)
            run.require_success()
            run.require(run.dump == native.dump, "the output differs")
            kernel = run.kernel("saxpy")
            # With found shares a launch so short may go to one device.
            least = KINDS * PASSES if policy.startswith("static") else 1
            run.require(kernel["split_launches"] >= least, f"{kernel['split_launches']} launches were split")
            run.require(kernel["last_shares"][0] == 0, f"shares are {kernel['last_shares']}")
            refused = run.stderr.count("has no room for a buffer")
            run.require(1 <= refused <= KINDS, f"{refused} buffers were refused")


def device_holds_parts_of_buffers(bench):
    """What does not fit into the memory that a device may use is held as far as the device touches it."""
    for sample, size, memory in (("saxpy", 65536, "400K"), ("jacobi2d", 256, "400K"), ("matmul_tiled", 256, "600K")):
        command = bench.sample(sample, "--size", str(size), "--device", "0.1")
        native = bench.native(command, dump=True)
        for options in ({"POLICY": "static:0.5,0.5"}, {"POLICY": "static:0.4,0.6", "VERIFY": "1"}):
            run = bench.run(command, "preload", options | {"SEPARATE_NODES": "1", "WAIT_ANALYSIS": "1", "LOG": "info",
                                                           "DEVICE_MEMORY": memory}, dump=True)
            run.require_success()
            run.require(run.dump == native.dump, "the output differs")
            run.require("device 0.0 holds bytes [" in run.stderr, "no copy is a part of a buffer")
            kernel = run.kernel(sample)
            run.require(kernel["split_launches"] == kernel["launches"], f"not split: {kernel['reasons']}")


def device_too_small_for_a_group_is_left_out(bench):
    """Work-groups that only the program's own device can run stay there, and are not tried elsewhere."""
    small = bench.build / "doors" / "libdoor_small_groups.so"
    for sample, limit in (("matmul_tiled", "LOCAL_MEMORY"), ("matmul_tiled", "ITEMS"), ("convolution2d", "CONSTANTS")):
        command = bench.sample(sample, "--device", "0.1")
        native = bench.native(command, dump=True)
        for policy in ("static:0.5,0.5", "dynamic"):
            for separate in ("0", "1"):
                for most in (4, 1 << 20):
                    run = bench.run(command, "preload",
                                    {"POLICY": policy, "SEPARATE_NODES": separate, "WAIT_ANALYSIS": "1"},
                                    env={"OPENCL_LAYERS": str(small), "SMALL_DEVICE": "basic", limit: str(most)},
                                    dump=True)
                    run.require_same_as(native)
                    kernel = run.kernel(sample)
                    if most == 4:
                        run.require(kernel["split_launches"] == 0, f"split beyond {limit}")
                        run.require("no other device has room" in kernel["reason"], f"reason {kernel['reason']!r}")
                    elif policy.startswith("static"):
                        run.require(kernel["split_launches"] > 0, f"not split: {kernel['reason']}")


main({"device_too_small_for_a_group_is_left_out": device_too_small_for_a_group_is_left_out,
      "device_holds_parts_of_buffers": device_holds_parts_of_buffers,
      "device_without_room_is_left_out": device_without_room_is_left_out})
