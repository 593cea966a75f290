"""Launches whose addresses an inspector has to follow: what moves, how they are split, how often it runs."""

from harness import Failure, main
from indirection import SPLIT, WORD, random_bits

SIZE = 8192
GROUP = 64

# Kernels of the sample whose work-groups write places of their own, as nothing but following the indices tells.
SCATTERS = ("fill_blocks", "scatter_products", "scatter_present", "scatter_looked_up")


def shuffled(n, run, seed):
    """As the sample does it."""
    values = list(range(n))
    for i in range(n):
        first = i - i % run
        j = first + random_bits(i, seed) % (i - first + 1)
        values[i], values[j] = values[j], values[i]
    return values


def hull(values):
    values = list(values)
    return max(values) - min(values) + 1


def gather_nested(rows):
    """Words that go elsewhere, for the elements `rows`: once, and in each step."""
    order, near = shuffled(SIZE, SIZE, 1), shuffled(SIZE, 16, 2)
    # order, the part of column that it names, the part of x that these name; y comes back
    return len(rows) + hull(order[i] for i in rows) + hull(near[i] for i in rows), len(rows)


def fill_blocks(rows):
    groups = range(rows.start // GROUP, rows.stop // GROUP)
    block, near = shuffled(SIZE // GROUP, SIZE // GROUP, 8), shuffled(SIZE // GROUP, 2, 9)
    written = GROUP * hull(near[g] for g in groups)
    # block, the part of start that it names, what was there before; what is there then comes back
    return len(groups) + hull(block[g] for g in groups) + written, written


def scatter_looked_up(rows):
    entry, near = shuffled(SIZE, SIZE, 13), shuffled(SIZE, 32, 14)
    present = [i for i in rows if random_bits(i, 15) % 4 != 0]
    written = hull(near[i] for i in present)
    return len(rows) + hull(entry[i] for i in present) + written, written


EXPECTED = {"gather_nested": gather_nested, "fill_blocks": fill_blocks, "scatter_looked_up": scatter_looked_up}


def nested_index(bench, variant, home, share, steps, **options):
    command = bench.sample("nested_index", "--device", f"0.{home}", "--size", str(SIZE), "--iterations", str(steps))
    run = bench.run(command + (["--variant", variant] if variant else []), "preload",
                    {**SPLIT, "POLICY": f"static:{share},{1 - share}", **options})
    run.require_success()
    return run


def nothing_moves_but_what_is_touched(bench):
    for variant, words in EXPECTED.items():
        for home in (0, 1):
            for share in (0.5, 0.25):
                for steps in (1, 4):
                    run = nested_index(bench, variant, home, share, steps)
                    run.require(run.kernel(variant)["split_launches"] == steps, "not every launch was split")
                    cut = round(share * SIZE)
                    once, each = words(range(cut, SIZE) if home == 0 else range(cut))
                    moved, expected = run.total("bytes_between_nodes"), WORD * (once + steps * each)
                    run.require(moved == expected, f"{variant}: {moved} bytes between nodes, expected {expected}")


def places_of_their_own_need_no_merge(bench):
    for home in (0, 1):
        inspected = nested_index(bench, "", home, 0.5, 2)
        without = nested_index(bench, "", home, 0.5, 2, INSPECT="0")
        inspected.require(inspected.total("bytes_merged") == 0, "something was merged")
        for kernel in SCATTERS:
            for run, rung in ((inspected, 2), (without, 3)):
                run.require(run.kernel(kernel)["split_launches"] == 2, f"{kernel}: not every launch was split")
                run.require(run.kernel(kernel)["rung"] == rung, f"{kernel}: rung {run.kernel(kernel)['rung']}, "
                                                                f"expected {rung}")
        without.require(without.total("inspections") == 0, "there were inspections though they are off")


def unchanged_indices_are_inspected_once(bench):
    runs = [nested_index(bench, "", 0, 0.5, steps).total("inspections") for steps in (1, 20)]
    if runs[0] != runs[1] or runs[0] == 0:
        raise Failure(f"{runs} inspections in 1 and 20 steps")


def one_memory_needs_no_inspection(bench):
    run = nested_index(bench, "", 0, 0.5, 1, SEPARATE_NODES="0")
    run.require(run.total("inspections") == 0, "addresses were inspected though nothing depends on them")


def changed_in_place(bench, variant, **options):
    run = bench.run(bench.sample("distinct_places", "--variant", variant), "preload",
                    {**SPLIT, "POLICY": "static:0.5,0.5", **options})
    run.require_success()
    return run, ("assemble", "push", "raise", "scale_rows", "drop")


def places_of_their_own_are_changed_by_all_devices(bench):
    run, kernels = changed_in_place(bench, "", VERIFY="1")
    for kernel in kernels:
        run.require_split(kernel)
        run.require(run.kernel(kernel)["rung"] == 3, f"{kernel}: rung {run.kernel(kernel)['rung']}, expected 3")
    for variant, options in (("shared", {}), ("", {"INSPECT": "0"})):
        run, kernels = changed_in_place(bench, variant, **options)
        for kernel in kernels:
            run.require(run.kernel(kernel)["split_launches"] == 0, f"{kernel}: was split")
            run.require("each from what it found there" in run.kernel(kernel)["reason"], f"{kernel}: says not why")


def the_result_is_verified(bench):
    command = bench.sample("nested_index", "--size", str(SIZE))
    native = bench.native(command, dump=True)
    for policy in ("static:0.5,0.5", "static:0.37,0.63", "auto", "dynamic"):
        run = bench.run(command, "preload", {**SPLIT, "POLICY": policy, "VERIFY": "1", "MIN_LAUNCH": "0"}, dump=True)
        run.require_same_as(native)


if __name__ == "__main__":
    main({
        "nothing_moves_but_what_is_touched": nothing_moves_but_what_is_touched,
        "places_of_their_own_need_no_merge": places_of_their_own_need_no_merge,
        "unchanged_indices_are_inspected_once": unchanged_indices_are_inspected_once,
        "one_memory_needs_no_inspection": one_memory_needs_no_inspection,
        "places_of_their_own_are_changed_by_all_devices": places_of_their_own_are_changed_by_all_devices,
        "the_result_is_verified": the_result_is_verified,
    })
