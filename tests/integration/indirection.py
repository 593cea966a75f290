"""Launches whose regions depend on index arrays: what moves, what is looked up, and how often."""

from harness import main

ROWS = 20000
MANY_ROWS = 80000  # their columns fill more than the megabyte from which devices look through arrays themselves
GROUP = 64
WORD = 4
MASK = 2**64 - 1

SPLIT = {"SEPARATE_NODES": "1", "WAIT_ANALYSIS": "1"}


def random_bits(index, seed):
    """The samples' source of numbers."""
    z = ((seed << 32) + (index + 1) * 0x9E3779B97F4A7C15) & MASK
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & MASK
    return z ^ (z >> 31)


def spmv_bytes(rows, first_row, last_row, steps):
    """Bytes between nodes for `steps` steps of spmv_csr, rows [first_row, last_row) elsewhere.

    Once: these rows' bounds, and the columns and values between. Each step: the part of x that
    these columns name goes there, the rows' part of y comes back for the program's copy.
    """
    begin = [0]
    for row in range(rows):
        begin.append(begin[-1] + random_bits(row, 1) % 32)
    columns = [random_bits(index, 2) % rows for index in range(begin[first_row], begin[last_row])]
    once = (last_row - first_row + 1) + 2 * len(columns)
    each = max(columns) + 1 - min(columns) + (last_row - first_row)
    return WORD * (once + steps * each)


def require_partitioned(bench, rows, home, share, steps):
    """Each device gets the rows' elements that it needs, once, and nothing else but x."""
    run = bench.run(bench.sample("spmv_csr", "--device", f"0.{home}", "--size", str(rows), "--iterations", str(steps)),
                    "preload", {**SPLIT, "POLICY": f"static:{share},{1 - share}"})
    run.require_success()
    run.require(run.kernel("spmv_csr")["split_launches"] == steps, "not every launch was split")
    cut = round(run.kernel("spmv_csr")["last_shares"][0] * ((rows + GROUP - 1) // GROUP)) * GROUP
    remote = (cut, rows) if home == 0 else (0, cut)
    expected = spmv_bytes(rows, *remote, steps)
    moved = run.total("bytes_between_nodes")
    run.require(moved == expected, f"{moved} bytes between nodes, expected {expected}")
    return run


def matrix_is_partitioned(bench):
    for home in (0, 1):
        for share in (0.5, 0.25):
            for steps in (1, 4):
                run = require_partitioned(bench, ROWS, home, share, steps)
                run.require(run.total("contents_on_device") == 0, "a short array was looked through on a device")


def long_arrays_are_looked_through_where_they_lie(bench):
    for home in (0, 1):
        run = require_partitioned(bench, MANY_ROWS, home, 0.5, 2)
        run.require(run.total("contents_on_device") > 0, "no array was looked through on a device")


def unchanged_contents_are_looked_up_once(bench):
    """As long as the index arrays are not written, later launches rest on what the first found out."""
    run = bench.run(bench.sample("spmv_csr", "--iterations", "30"), "preload", {**SPLIT, "POLICY": "static:0.5,0.5"})
    run.require_success()
    fetched = run.total("contents_fetched")
    run.require(fetched == 1, f"contents were looked up {fetched} times")


def one_memory_needs_no_contents(bench):
    run = bench.run(bench.sample("spmv_csr"), "preload", {"WAIT_ANALYSIS": "1", "POLICY": "static:0.5,0.5"})
    run.require_success()
    run.require(run.kernel("spmv_csr")["split_launches"] == 3, "not every launch was split")
    run.require(run.total("contents_fetched") == 0, "contents were looked up though nothing depends on them")


def changed_contents_are_looked_up_again(bench):
    """Every way of writing the index arrays is noticed; the sample checks its results itself."""
    for home in (0, 1):
        command = bench.sample("changing_index", "--device", f"0.{home}")
        native = bench.native(command, dump=True)
        for policy in ("static:0.5,0.5", "static:0.25,0.75", "auto"):
            run = bench.run(command, "preload", {**SPLIT, "POLICY": policy, "VERIFY": "1", "MIN_LAUNCH": "0"}, dump=True)
            run.require_same_as(native)
            if policy != "auto":
                run.require(run.total("contents_fetched") > 20, "hardly any contents were looked up")
                for kernel in ("gather_rows", "scatter", "fill_blocks"):
                    run.require(run.kernel(kernel)["split_launches"] > 0, f"{kernel} was never split")


if __name__ == "__main__":
    main({
        "matrix_is_partitioned": matrix_is_partitioned,
        "long_arrays_are_looked_through_where_they_lie": long_arrays_are_looked_through_where_they_lie,
        "unchanged_contents_are_looked_up_once": unchanged_contents_are_looked_up_once,
        "one_memory_needs_no_contents": one_memory_needs_no_contents,
        "changed_contents_are_looked_up_again": changed_contents_are_looked_up_again,
    })
