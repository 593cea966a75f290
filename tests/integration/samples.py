"""Every sample, by every door and with several shares: the same for its user as natively."""

import os
import re
import subprocess
from dataclasses import dataclass, field

from harness import Failure, main


@dataclass
class Expectation:
    split: tuple = ()  # kernels that must be split when shares are static
    whole: tuple = ()  # kernels that must not be, and the stats must say why
    launches: dict = field(default_factory=dict)  # exact counts
    homes: tuple = ("0.0", "0.1")


SAMPLES = {
    "vector_add": Expectation(("vector_add",), launches={"vector_add": 3}),
    "saxpy": Expectation(("saxpy",), launches={"saxpy": 8}),
    "matmul_naive": Expectation(("matmul_naive",), launches={"matmul_naive": 2}),
    "matmul_tiled": Expectation(("matmul_tiled",), launches={"matmul_tiled": 2}),
    "convolution2d": Expectation(("convolution2d",), launches={"convolution2d": 2}),
    "jacobi2d": Expectation(("jacobi2d",), launches={"jacobi2d": 50}),
    "transpose": Expectation(("transpose_naive", "transpose_tiled"), launches={"transpose_naive": 2}),
    "nbody": Expectation(("nbody",), launches={"nbody": 5}),
    "black_scholes": Expectation(("black_scholes",), launches={"black_scholes": 3}),
    "mandelbrot": Expectation(("mandelbrot",), launches={"mandelbrot": 4}),
    "reduction": Expectation(("reduction",), launches={"reduction": 3}),
    "spmv_csr": Expectation(("spmv_csr",), launches={"spmv_csr": 3}),
    "histogram": Expectation(("histogram_direct", "histogram_local"), launches={"histogram_direct": 3}),
    "extremes": Expectation(("extremes",), launches={"extremes": 3}),
    "breadth_first": Expectation(("breadth_first",)),
    "float_sum": Expectation(whole=("float_sum",), launches={"float_sum": 2}),
    "scatter": Expectation(("scatter", "scatter_onto"), launches={"scatter": 4, "scatter_onto": 4}),
    "printf_kernel": Expectation(whole=("printf_kernel",), launches={"printf_kernel": 2}),
    # Where devices share a memory images stay at home.
    "images": Expectation(launches={"blur": 4}),
    "two_queues": Expectation(launches={"scale": 8, "add": 4}),
    # Launches from callbacks, which PoCL's basic device runs inside other calls.
    "many_threads": Expectation(("triple", "scatter", "gather"), launches={"triple": 48, "tally": 96},
                                homes=("0.1",)),
    # PoCL's basic device deadlocks natively on a closed user event.
    "user_events": Expectation(launches={"scale": 6}, homes=("0.1",)),
    "api_coverage": Expectation(("advance",)),
    "api_programs": Expectation(),
    "locked_callback": Expectation(("add",), launches={"add": 6}),
    "dropped_context": Expectation(("advance",), launches={"advance": 16}),
    "built_by_threads": Expectation(homes=("0.1",)),
    "rebuilt": Expectation(("multiples",), launches={"multiples": 6}),
    "odd_launches": Expectation(("plus", "optional_input", "quotient")),
    "changing_index": Expectation(("gather_rows", "scatter", "fill_blocks", "rotate_index")),
    "nested_index": Expectation(("gather_nested", "sum_rows", "fill_blocks", "scatter_products", "scatter_present",
                                 "scatter_looked_up"), launches={"gather_nested": 2}),
    "distinct_places": Expectation(("assemble", "push", "raise", "scale_rows", "drop"), launches={"assemble": 6, "push": 3}),
    "late_migration": Expectation(("stir",), launches={"stir": 12}),
    # PoCL reads samplers late: on a device with a thread of its own this fails natively as well.
    "late_release": Expectation(("slow",), launches={"look": 4}, homes=("0.0",)),
    "short_map": Expectation(("short_map",), launches={"short_map": 8}),
    "image_reader": Expectation(),
    "image_writer": Expectation(whole=("halve",)),
    "host_access": Expectation(("advance", "fill_columns", "tally", "scatter")),
    "shared_virtual": Expectation(whole=("add",), launches={"add": 1}),
    "two_devices": Expectation(homes=("0.0",)),
    # Its macros are asked of the device, and its second build has options that Clang does not know.
    "vendor_macros": Expectation(("place_by_macros",), launches={"place_by_macros": 6}),
    # From source and from binaries, twice each.
    "denormals": Expectation(("halve",), launches={"halve": 12}),
    "reference_counts": Expectation(("add",), launches={"add": 41}),
    # Two threads on PoCL's basic device abort natively.
    "asked_by_threads": Expectation(("add",), homes=("0.1",)),
    "handle_values": Expectation(("add_number", "add_halves"), launches={"add_number": 12, "add_halves": 12}),
}

CHECKED = {"VERIFY": "1", "WAIT_ANALYSIS": "1"}

CONFIGURATIONS = {
    "preload": (
        {"POLICY": "static:0.5,0.5"},
        {"POLICY": "static:0.3,0.7"},
        {"POLICY": "static:0.3,0.7", "SEPARATE_NODES": "1"},
        {"POLICY": "static:0.3,0.7", "SEPARATE_NODES": "home"},
        {"POLICY": "static:0,1", "SEPARATE_NODES": "1"},
        {"POLICY": "auto", "MIN_LAUNCH": "0"},
        {"POLICY": "dynamic"},
        {"POLICY": "dynamic", "SEPARATE_NODES": "1"},
        {"POLICY": "auto", "SEPARATE_NODES": "1", "MIN_LAUNCH": "0"},
    ),
    "layer": (
        {"POLICY": "static:0.5,0.5"},
        {"POLICY": "profile"},
        {"POLICY": "auto", "SEPARATE_NODES": "1", "MIN_LAUNCH": "0"},
    ),
    "splitrun": ({"POLICY": "static:0.6,0.4", "SEPARATE_NODES": "1"},),
}


def sample(bench, name, door, full=False):
    """Byte for byte as natively on the same home device, silent, and split where it can be. A configuration has one of the
    homes, or if `full` each."""
    expected = SAMPLES[name]
    for number, home in enumerate(expected.homes):
        command = bench.sample(name, "--device", home)
        native = bench.native(command, dump=True)
        native.require_success()
        for configuration in CONFIGURATIONS[door] if full else CONFIGURATIONS[door][number :: len(expected.homes)]:
            run = bench.run(command, door, {**CHECKED, **configuration}, dump=True)
            run.require_same_as(native)
            run.require(run.stats, "no stats were written")
            check_stats(run, expected, must_split="static:0," not in configuration["POLICY"]
                        and configuration["POLICY"] not in ("auto", "dynamic"))
        # As users run it: nothing verified, analysis behind the program's back.
        bench.run(command, door, {}, dump=True).require_same_as(native)


def check_stats(run, expected, must_split):
    for kernel, launches in expected.launches.items():
        counted = run.kernel(kernel)["launches"]
        run.require(counted == launches, f"{counted} launches of {kernel} counted, expected {launches}")
    for kernel in run.stats["kernels"]:
        run.require(sum(kernel["reasons"].values()) == kernel["launches"] - kernel["split_launches"],
                    f"{kernel['name']}: {kernel['launches']} launches, {kernel['split_launches']} split, and the "
                    f"reasons are {kernel['reasons']}")
        run.require("" not in kernel["reasons"], f"{kernel['name']}: a reason is empty")
        for launch in kernel["ndranges"]:
            run.require(sum(launch["reasons"].values()) == launch["launches"] - launch["split_launches"],
                        f"{kernel['name']}, {launch['ndrange']}: not one reason for each launch that was not split")
            longest = max(launch["seconds"], default=0)
            run.require(longest == 0 or launch["wall_seconds"] >= longest,
                        f"a launch of {kernel['name']} took less time than one of its devices")
    for kernel in expected.whole:
        stats = run.kernel(kernel)
        run.require(stats["split_launches"] == 0, f"{kernel} was split")
        run.require(stats["reason"], f"the stats do not say why {kernel} is not split")
    if must_split:
        for kernel in expected.split:
            stats = run.kernel(kernel)
            run.require(stats["split_launches"] > 0, f"{kernel} was not split: {stats['reason']}")


def splits_without_waiting(bench):
    """The analysis comes while the program runs: late launches are split, none of the early waits."""
    def runs(iterations):
        command = bench.sample("jacobi2d", "--iterations", str(iterations), "--size", "128")
        run = bench.run(command, "preload", {"POLICY": "static:0.5,0.5"}, dump=True)
        run.require_same_as(bench.native(command, dump=True))
        return run
    cold = runs(20000)
    cold.require(cold.kernel("jacobi2d")["launches"] == 20000, "launches got lost")
    for iterations in (20000, 80000, 320000):  # how long it takes to build is the machine's to say
        warm = runs(iterations)
        if warm.kernel("jacobi2d")["split_launches"] > 0:
            break
    warm.require(warm.kernel("jacobi2d")["split_launches"] > 0, "not split with a warm cache")
    reasons = warm.kernel("jacobi2d")["reasons"]
    warm.require("it is not built for the other devices yet" in reasons, f"what it waits for is not the analysis: {reasons}")


def short_first_run_stays_native(bench):
    """Nothing is analysed, and no kernel compiled but those that the program would have compiled itself."""
    command = [str(bench.build / "benchmarks" / "six_kernels"), "--size", "8192", "--iterations", "8"]
    for home in ("0.0", "0.1"):
        built = {}
        for split in (False, True):
            pocl = bench.tmp / f"pocl-{home}-{split}"
            cache = bench.tmp / f"cache-{home}"
            run = bench.run([*command, "--device", home], "preload" if split else None, {"CACHE_DIR": str(cache)},
                            env={"POCL_CACHE_DIR": str(pocl)}, dump=True)
            run.require_success()
            built[split] = len(list(pocl.rglob("*.so")))
        run.require(built[True] == built[False] > 0, f"{built[True]} kernels compiled, natively {built[False]}")
        analysed = list(cache.glob("*.summary"))
        run.require(not analysed, f"{len(analysed)} programs were analysed")
        for kernel in run.stats["kernels"]:
            run.require(re.search("did not take long enough|was not known yet|too short to be split", kernel["reason"]),
                        f"the reason is {kernel['reason']!r}")


MERGED = {"histogram": (4, ("histogram_direct", "histogram_local")), "extremes": (4, ("extremes",)),
          "breadth_first": (3, ("breadth_first",))}


def merges(bench):
    """Bytes that several memories change: two and three devices, and what the stats say of it."""
    three = {"POCL_DEVICES": "basic pthread pthread"}
    for name, (rung, kernels) in MERGED.items():
        for env, nodes, shares in (({}, "1", "0.37,0.63"), (three, "1", "0.2,0.5,0.3"), (three, "1", "0.6,0,0.4"),
                                   ({}, "home", "0.37,0.63"), (three, "home", "0.2,0.5,0.3"),
                                   (three, "all-but-last", "0.4,0.5,0.1")):
            for home in ("0.0", "0.1"):
                command = bench.sample(name, "--device", home)
                native = bench.native(command, env=env, dump=True)
                native.require_success()
                run = bench.run(command, "preload", {**CHECKED, "SEPARATE_NODES": nodes, "POLICY": "static:" + shares},
                                env=env, dump=True)
                run.require_same_as(native)
                for kernel in kernels:
                    stats = run.kernel(kernel)
                    run.require(stats["rung"] == rung, f"{kernel} got rung {stats['rung']}: {stats['reason']}")
                run.require(run.total("bytes_merged") > 0, "no bytes were merged")
                run.require(run.total("verified_launches") > 0, "nothing was verified")
                run.require(run.total("differing_launches") == 0, "split and unsplit results differ")
    run = bench.run(bench.sample("float_sum"), "preload",
                    {**CHECKED, "SEPARATE_NODES": "1", "POLICY": "static:0.4,0.6", "RELAXED_FP": "1"})
    run.require_success()
    run.require(run.kernel("float_sum")["rung"] == 4, "floats were not summed up by parts")
    run = bench.run(bench.sample("histogram"), "preload", {**CHECKED, "POLICY": "static:0.5,0.5"})
    run.require(run.total("bytes_merged") == 0, "bytes were merged in one memory")
    run.require(run.kernel("histogram_direct")["rung"] == 0, "not split in place")


def callbacks_that_launch(bench):
    """A driver's thread launches while others plan: nobody waits for that driver with a lock held."""
    three = {"POCL_DEVICES": "basic pthread pthread"}
    command = bench.sample("many_threads", "--device", "0.2")
    native = bench.native(command, env=three, dump=True)
    native.require_success()
    for policy in ("auto", "static:0.2,0.5,0.3"):
        for _ in range(4):
            options = {"WAIT_ANALYSIS": "1", "MIN_LAUNCH": "0", "PERSIST": "0", "POLICY": policy}
            run = bench.run(command, "preload", options, env=three, dump=True, timeout=60)
            run.require_same_as(native)


def threads_that_share_a_buffer(bench):
    """Each verified launch is compared and undone in its own bytes, beside those of others."""
    command = bench.sample("many_threads", "--device", "0.1", "--variant", "slices")
    native = bench.native(command, dump=True)
    native.require_success()
    for configuration in CONFIGURATIONS["preload"]:
        run = bench.run(command, "preload", {**CHECKED, **configuration}, dump=True)
        run.require_same_as(native)
        run.require(run.total("differing_launches") == 0, "split and unsplit results differ")
    run = bench.run(command, "preload", {**CHECKED, "POLICY": "static:0.5,0.5"})
    run.require(run.total("verified_launches") > 0, "nothing was verified")


def passes_through_programs_with_several_devices(bench):
    run = bench.run(bench.sample("two_devices"), "preload", {**CHECKED, "POLICY": "static:0.5,0.5"})
    run.require_success()
    run.require(run.stderr == "", "not silent")
    run.require(run.total("split_launches") == 0, "a program that uses both devices itself was split")


def never_waits(bench):
    """What a program enqueues as fast as it can does not pile up, as it does not natively: not in memory either. Beside
    others, who keep what is in libsplit's queues from being seen to."""
    command = bench.sample("never_waits", "--iterations", "200000")
    native = bench.native(command, dump=True)
    native.require_success()
    others = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(os.cpu_count())]
    try:
        for _ in range(3):  # the second begins with what the first has learnt
            bench.run(command, "preload", {}, dump=True).require_same_as(native)
    finally:
        for other in others:
            other.kill()
            other.wait()


def policy_off_and_single(bench):
    """`off` splits nothing; `single:1` has everything run on the other device."""
    command = bench.sample("nbody")
    native = bench.native(command, dump=True)
    run = bench.run(command, "preload", {**CHECKED, "POLICY": "off"}, dump=True)
    run.require_same_as(native)
    if run.stats:
        run.require(run.total("split_launches") == 0, "split although the policy is off")
    run = bench.run(command, "preload", {**CHECKED, "POLICY": "single:1"}, dump=True)
    run.require_same_as(native)
    shares = run.kernel("nbody")["last_shares"]
    run.require(shares == [0, 1], f"shares are {shares}")
    # Its last pass is one work-item's.
    command = [str(bench.build / "benchmarks" / "apps" / "merge_sort"), "--size", "12"]
    native = bench.native(command, dump=True)
    for separate in ("0", "1"):
        run = bench.run(command, "preload", {"WAIT_ANALYSIS": "1", "POLICY": "single:1", "SEPARATE_NODES": separate},
                        dump=True)
        run.require_same_as(native)
        for each in run.kernel("merge_pass")["ndranges"]:
            run.require(each["split_launches"] == each["launches"] > 0 and each["last_shares"] == [0, 1],
                        f"{each['ndrange']} work-items: {each['split_launches']} of {each['launches']} elsewhere")


def speeds_are_kept_between_runs(bench):
    """What was learnt is kept for the next run, unless the user does not want that."""
    command = bench.sample("nbody", "--size", "4096", "--iterations", "8")
    native = bench.native(command, dump=True)
    learning = {"WAIT_ANALYSIS": "1", "MIN_LAUNCH": "0"}
    speeds = bench.tmp / "cache" / "speeds"
    run = bench.run(command, "preload", {**learning, "PERSIST": "0"}, dump=True)
    run.require(not speeds.exists(), f"{speeds} was written although LIBSPLIT_PERSIST=0")
    bench.run(command, "preload", learning, dump=True).require_same_as(native)
    run.require(speeds.exists(), f"{speeds} was not written")
    for text in (b"", b"nonsense", speeds.read_bytes()[:100], bytes(5000)):
        kept = speeds.read_bytes()
        speeds.write_bytes(text)
        bench.run(command, "preload", learning, dump=True).require_same_as(native)
        speeds.write_bytes(kept)


def what_nobody_can_write_to_is_verified(bench):
    """A buffer over memory of the program's that is only to be read keeps its bytes while launches are verified."""
    for home in ("0.0", "0.1"):
        for separate in ("0", "1"):
            command = bench.sample("profiled", "--device", home)
            native = bench.native(command, dump=True)
            run = bench.run(command, "preload", {"POLICY": "static:0.5,0.5", "SEPARATE_NODES": separate,
                                                 "WAIT_ANALYSIS": "1", "VERIFY": "1"}, dump=True)
            run.require_same_as(native)
            run.require_split("add")


def images_are_copied(bench):
    """Where each device has a memory of its own, kernels that only read images run on all."""
    for home, variant in (("0.0", ""), ("0.1", ""), ("0.0", "random"), ("0.1", "random")):
        command = bench.sample("image_reader", "--device", home, "--size", "64", "--variant", variant)
        native = bench.native(command, dump=True)
        native.require_success()
        for policy in ("static:0.5,0.5", "static:0.2,0.8", "dynamic"):
            for verify in ("0", "1"):
                run = bench.run(command, "preload", {"POLICY": policy, "SEPARATE_NODES": "1", "WAIT_ANALYSIS": "1",
                                                     "VERIFY": verify}, dump=True)
                run.require_same_as(native)
                for kernel in ("look", "look_through") if not variant and policy != "dynamic" else ():
                    run.require_split(kernel)


def images_are_written_in_parts(bench):
    """Where each device has a memory of its own, kernels run on all that write pixels which nobody else writes; images of
    all kinds, pixels of all sizes."""
    devices = {"POCL_DEVICES": "pthread pthread", "OPENCL_LAYERS": str(bench.build / "doors" / "libdoor_as_gpus.so"),
               "AS_GPUS": "pthread"}
    for home, variant, env in (("0.0", "", {}), ("0.1", "", {}), ("0.1", "", devices), ("0.0", "random", {}),
                               ("0.1", "random", {}), ("0.1", "random", devices)):
        command = bench.sample("image_writer", "--device", home, "--variant", variant, "--seed", "7")
        native = bench.native(command, env=env, dump=True)
        native.require_success()
        for options in ({"POLICY": "static:0.5,0.5"}, {"POLICY": "static:0.2,0.8", "STAGING": "1K"},
                        {"POLICY": "static:0.5,0.5", "VERIFY": "1"}, {"POLICY": "dynamic"}, {"POLICY": "auto", "MIN_LAUNCH": "0"}):
            run = bench.run(command, "preload", {"SEPARATE_NODES": "1", "WAIT_ANALYSIS": "1", **options}, env=env, dump=True)
            run.require_same_as(native)
            if variant or "static" not in options["POLICY"]:
                continue
            for kernel in ("mix_pixels", "flip", "quads", "columns", "where_even", "volume", "pictures", "lines"):
                run.require_split(kernel)
            for kernel, why in (("in_rows", "coordinates of `out` that are read from a buffer"),
                                ("corner", "may write the same pixels of `out`"), ("halve", "are the same image")):
                counted = run.kernel(kernel)
                run.require(counted["split_launches"] == 0, f"{kernel} was split")
                run.require(all(why in reason for reason in counted["reasons"]), f"{kernel}: {counted['reasons']}")


def preparation_goes_on_in_the_next_run(bench):
    """A kernel that had paid for its analysis when the program ended is analysed from the next run's start on."""
    asked = bench.tmp / "asked"
    splitc = bench.tmp / "splitc"
    splitc.write_text(f"#!/bin/sh\necho >> {asked}\nexec sleep 1000\n")  # it ends with the program
    splitc.chmod(0o755)
    options = {"SPLITC": str(splitc)}

    def run(iterations):
        asked.unlink(missing_ok=True)
        command = bench.sample("nbody", "--device", "0.1", "--size", "8192", "--iterations", str(iterations))
        done = bench.run(command, "preload", options, dump=True)
        done.require_same_as(bench.native(command, dump=True))
        return done

    short = run(1)
    short.require(not asked.exists(), "a program was analysed whose launches had not paid for it")
    for _ in range(5):
        long = run(60)
        if asked.exists():
            break
    long.require(asked.exists(), "nothing was analysed in a program that ran for long")
    long.require(long.total("split_launches") == 0, "it was analysed after all")
    for _ in range(5): # which ends at once, and may do so before a compiler has begun
        done = run(1)
        if asked.exists():
            break
    done.require(asked.exists(), "the next run did not go on with the analysis")


def drivers_compile_before_a_launch_is_split(bench):
    """What PoCL would compile when a launch is first split it has by then: another process saw to that."""
    for home in ("0.0", "0.1"):
        pocl = bench.tmp / f"pocl{home}"
        pocl.mkdir()
        env = {"POCL_CACHE_DIR": str(pocl)}

        def compiled():
            return set(pocl.rglob("*.so"))

        def done():  # not what a run that ended broke off, which is noted as well
            return {note for note in bench.tmp.rglob("*.compiled") if note.read_text().endswith("\nit was\n")}

        def run(command, native, **options):
            ran = bench.run(command, "preload", options, env=env, dump=True)
            ran.require_same_as(native)
            return ran

        command = bench.sample("nbody", "--device", home, "--size", "4096", "--iterations", "150")
        native = bench.native(command, env=env, dump=True)
        noted = done()
        for _ in range(20):  # until it was prepared, and went on until that was over
            long = run(command, native)
            if done() - noted:
                break
        long.require(done() - noted, "nothing was compiled for launches that are split")
        before = compiled()
        split = run(command, native, POLICY="static:0.5,0.5", WAIT_ANALYSIS="1")
        split.require_split("nbody")
        split.require(compiled() == before, f"PoCL compiled {compiled() - before} all the same")


def fails_the_same(bench):
    """A kernel that does not compile: same error code, status and build log."""

    def without_random_names(run):
        run.stdout = re.sub(r"tempfile_\w+", "tempfile", run.stdout)
        return run

    for home in ("0.0", "0.1"):
        command = bench.sample("bad_kernel", "--device", home)
        native = without_random_names(bench.native(command))
        native.require_success()
        native.require("undeclared_variable" in native.stdout, "the native build log names no culprit")
        for door in ("preload", "layer", "splitrun"):
            for options in ({}, {"WAIT_ANALYSIS": "1"}):
                without_random_names(bench.run(command, door, options)).require_same_as(native)


def detects_a_wrong_program(bench):
    """The comparison itself can fail: another size gives another dump."""
    small = bench.native(bench.sample("vector_add", "--size", "1024"), dump=True)
    large = bench.native(bench.sample("vector_add", "--size", "2048"), dump=True)
    try:
        large.require_same_as(small)
    except Failure:
        return
    raise Failure("two different outputs pass for the same")


if __name__ == "__main__":
    main({
        "sample": sample,
        "sample_full": lambda bench, name, door: sample(bench, name, door, full=True),
        "merges": merges,
        "splits_without_waiting": splits_without_waiting,
        "short_first_run_stays_native": short_first_run_stays_native,
        "passes_through_programs_with_several_devices": passes_through_programs_with_several_devices,
        "never_waits": never_waits, "policy_off_and_single": policy_off_and_single,
        "speeds_are_kept_between_runs": speeds_are_kept_between_runs,
        "images_are_copied": images_are_copied,
        "what_nobody_can_write_to_is_verified": what_nobody_can_write_to_is_verified,
        "images_are_written_in_parts": images_are_written_in_parts,
        "preparation_goes_on_in_the_next_run": preparation_goes_on_in_the_next_run,
        "drivers_compile_before_a_launch_is_split": drivers_compile_before_a_launch_is_split,
        "callbacks_that_launch": callbacks_that_launch,
        "threads_that_share_a_buffer": threads_that_share_a_buffer,
        "fails_the_same": fails_the_same,
        "detects_a_wrong_program": detects_a_wrong_program,
    })
