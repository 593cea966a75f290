"""Programs that are compiled in units and linked."""

from harness import main

SPLIT = {"POLICY": "static:0.4,0.6", "WAIT_ANALYSIS": "1", "VERIFY": "1"}
# The second asks for its group through another unit, the third calls a kernel there.
KERNELS = ("scale", "scale_and_add_group", "scale_there")
# … twice as well by an object that was made in a callback.
MADE_IN_CALLBACK = "scale"


def split_launches(result, name):
    """By program, in the order in which the sample made them."""
    return [kernel["split_launches"] for kernel in result.stats["kernels"] if kernel["name"] == name]


def units_from_source_are_split(bench):
    """From source, from the binary of that, and with a library; a unit from a binary stays native."""
    for home in ("0.0", "0.1"):
        command = bench.sample("linked_program", "--device", home)
        native = bench.native(command, dump=True)
        native.require_success()
        for door in ("preload", "layer"):
            for memories in ("0", "1"):
                run = bench.run(command, door, {**SPLIT, "SEPARATE_NODES": memories}, dump=True)
                run.require_same_as(native)
                run.require(run.total("differing_launches") == 0, "split and unsplit results differ")
                for name in KERNELS:
                    counts = split_launches(run, name)
                    expected = [2, 2, 4, 2, 0] if name == MADE_IN_CALLBACK else [2, 2, 2, 0]
                    run.require(counts == expected, f"split launches of {name}, by program: {counts}")


def on_a_small_device(bench):
    """What has a kernel of another unit called can't be made to find parts of buffers."""
    command = bench.sample("linked_program")
    native = bench.native(command, dump=True)
    bench.run(command, "preload", {**SPLIT, "SEPARATE_NODES": "1", "DEVICE_MEMORY": "50K"},
              dump=True).require_same_as(native)


def without_waiting(bench):
    command = bench.sample("linked_program", "--iterations", "200")
    native = bench.native(command, dump=True)
    for _ in range(2):
        bench.run(command, "preload", {"POLICY": "static:0.5,0.5"}, dump=True).require_same_as(native)


if __name__ == "__main__":
    main({test.__name__: test for test in (units_from_source_are_split, on_a_small_device, without_waiting)})
