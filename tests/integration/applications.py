"""The applications of benchmarks/apps at small sizes: split, they give the very bytes that they give natively."""

from harness import main

# Arguments, and the kernels that must be split when shares are static.
APPLICATIONS = {
    "ep": (["--size", "17", "--iterations", "2"], ["ep"]),
    "aes": (["--size", "5000"], ["aes_ctr"]),
    "monte_carlo": (["--size", "16384"], ["monte_carlo"]),
    "spmv": (["--size", "6000"], ["spmv_csr"]),
    "nbody": (["--size", "1024"], ["nbody"]),
    "jacobi1d": (["--size", "20001"], ["jacobi1d", "copy_back"]),
    "jacobi1d_swap": (["--size", "20001", "--variant", "swap"], ["jacobi1d"]),
    "jacobi2d": (["--size", "130"], ["jacobi_plane", "copy_back"]),
    "jacobi2d_swap": (["--size", "130", "--variant", "swap"], ["jacobi_plane"]),
    "merge_sort": (["--size", "14"], ["sort_blocks", "merge_pass"]),
}

CONFIGURATIONS = (
    {"POLICY": "static:0.5,0.5"},
    {"POLICY": "static:0.3,0.7", "SEPARATE_NODES": "1"},
    {"POLICY": "auto", "MIN_LAUNCH": "0"},
    {"POLICY": "auto", "MIN_LAUNCH": "0", "SEPARATE_NODES": "1"},
    {"POLICY": "fixed-point", "SEPARATE_NODES": "1"},
    {"POLICY": "broyden"},
)


def application(bench, name):
    arguments, kernels = APPLICATIONS[name]
    program = bench.build / "benchmarks" / "apps" / name.removesuffix("_swap")
    for home in ("0.0", "0.1"):
        command = [str(program), "--device", home, *arguments]
        native = bench.native(command, dump=True)
        native.require_success()
        native.require(native.dump, "the program wrote no output")
        for configuration in CONFIGURATIONS:
            run = bench.run(command, "preload", {"WAIT_ANALYSIS": "1", **configuration}, dump=True)
            run.require_same_as(native)
            if configuration["POLICY"].startswith("static"):
                for kernel in kernels:
                    stats = run.kernel(kernel)
                    run.require(stats["split_launches"] > 0, f"{kernel} was not split: {stats['reason']}")
        # A difference that verification found would stand on stderr.
        bench.run(command, "preload", {"WAIT_ANALYSIS": "1", "VERIFY": "1", **CONFIGURATIONS[1]},
                  dump=True).require_same_as(native)


if __name__ == "__main__":
    main({"application": application})
