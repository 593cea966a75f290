"""PoCL devices that say they are GPUs: memories of their own, reached through pinned host memory."""

import resource

from harness import main

SAMPLES = ("vector_add", "saxpy", "matmul_tiled", "jacobi2d", "histogram", "scatter", "spmv_csr", "nested_index",
           "extremes", "two_queues", "many_threads", "odd_launches", "windows")


def two_gpus(bench):
    """The environment: libsplit's layer stands before the one that tells of GPUs."""
    return {"POCL_DEVICES": "pthread pthread", "OPENCL_LAYERS": str(bench.build / "doors" / "libdoor_as_gpus.so"),
            "AS_GPUS": "pthread"}


def samples_give_the_same(bench):
    """By every way of finding shares; by fixed ones at least one launch of each is split. On a busy machine the device that
    is served first may do all of a short one before the other comes to ask for some."""
    for sample in SAMPLES:
        command, devices = bench.sample(sample), two_gpus(bench)
        native = bench.native(command, env=devices, dump=True)
        native.require_success()
        for policy in ("static:0.4,0.6", "dynamic", "auto"):
            run = bench.run(command, "preload", {"POLICY": policy, "WAIT_ANALYSIS": "1", "MIN_LAUNCH": "0",
                                                 "PERSIST": "0"}, env=devices, dump=True)
            run.require_same_as(native)
            if policy.startswith("static"):
                run.require(run.total("split_launches") > 0, "nothing was split")


def halos_go_deeper(bench):
    """Devices that also run two work-groups of each other's exchange at every third launch what these read."""
    devices, moved = two_gpus(bench), []
    for iterations in (30, 60):
        command = bench.sample("jacobi2d", "--iterations", str(iterations))
        native = bench.native(command, env=devices, dump=True)
        run = bench.run(command, "preload", {"POLICY": "static:0.5,0.5", "WAIT_ANALYSIS": "1", "HALO_DEPTH": "2"},
                        env=devices, dump=True)
        run.require_same_as(native)
        moved.append(run.total("bytes_between_nodes"))
    cells = 2 * 30 // 3 * (2 * 16 * 256 + 254)  # and those at the ends of rows that lie between
    run.require(moved[1] - moved[0] == cells * 4, f"thirty launches cost {moved[1] - moved[0]} bytes")


def most_memory_so_far():
    """Of any program that this one has run, in bytes."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024


def transfers_take_little_host_memory(bench):
    """Launches that touch little of a buffer of 256 MiB: hardly more than the rings that bytes travel through."""
    command, devices = bench.sample("windows", "--size", str(1 << 26), "--iterations", "4"), two_gpus(bench)
    bench.native(command, env=devices).require_success()
    before = most_memory_so_far()
    run = bench.run(command, "preload", {"WAIT_ANALYSIS": "1", "POLICY": "static:0.5,0.5"}, env=devices)
    run.require_success()
    run.require(run.total("split_launches") == 4, "not all was split")
    rings, rest = 2 * (24 << 20), 96 << 20
    more = most_memory_so_far() - before
    run.require(more < rings + rest, f"{more >> 20} MiB more than natively")


main({test.__name__: test for test in (samples_give_the_same, halos_go_deeper, transfers_take_little_host_memory)})
