"""PoCL devices that say they are GPUs: memories of their own, reached through pinned host memory."""

from harness import main

SAMPLES = ("vector_add", "saxpy", "matmul_tiled", "jacobi2d", "histogram", "scatter", "spmv_csr", "nested_index",
           "extremes", "two_queues", "many_threads", "odd_launches", "windows")


def two_gpus(bench):
    """The environment: libsplit's layer stands before the one that tells of GPUs."""
    return {"POCL_DEVICES": "pthread pthread", "OPENCL_LAYERS": str(bench.build / "doors" / "libdoor_as_gpus.so"),
            "AS_GPUS": "pthread"}


def samples_give_the_same(bench):
    """By every way of finding shares; at least one launch of each is split."""
    for sample in SAMPLES:
        command, devices = bench.sample(sample), two_gpus(bench)
        native = bench.native(command, env=devices, dump=True)
        native.require_success()
        for policy in ("static:0.4,0.6", "dynamic", "auto"):
            run = bench.run(command, "preload", {"POLICY": policy, "WAIT_ANALYSIS": "1", "MIN_LAUNCH": "0",
                                                 "PERSIST": "0"}, env=devices, dump=True)
            run.require_same_as(native)
            if policy != "auto":
                run.require(run.total("split_launches") > 0, "nothing was split")


def short_launches_do_not_pay_for_memory(bench):
    """Under `auto`, launches that are nothing beside the host memory that they would need stay at home."""
    command, devices = bench.sample("windows", "--size", str(1 << 26), "--iterations", "20"), two_gpus(bench)
    native = bench.native(command, env=devices, dump=True)
    options = {"WAIT_ANALYSIS": "1", "MIN_LAUNCH": "0", "PERSIST": "0"}
    run = bench.run(command, "preload", options, env=devices, dump=True)
    run.require_same_as(native)
    run.require(run.total("split_launches") == 0, "launches were split")
    run.require("host memory" in run.kernel("window")["reason"], f"the reason is {run.kernel('window')['reason']}")

    run = bench.run(command, "preload", {**options, "POLICY": "static:0.5,0.5"}, env=devices, dump=True)
    run.require_same_as(native)
    run.require(run.total("split_launches") == 20, "launches were not split where the user asked for it")


main({test.__name__: test for test in (samples_give_the_same, short_launches_do_not_pay_for_memory)})
