"""Jacobi's traffic, to the byte: halo rows each step, the first distribution, the last gathering."""

from harness import main

SIDE = 256
STEPS = 50
GROUP = 16  # rows
FLOAT = 4


def expected_bytes(remote_rows):
    """Bytes between nodes for STEPS steps on a SIDE x SIDE grid of which the device that is not home
    owns `remote_rows` rows at one edge.

    The kernel reads, of its own rows and of one halo row at each inner side, the neighbours of inner
    cells: so a halo row counts SIDE - 2 cells, as does the outermost row. It writes inner cells only.
    Where only a boundary cell lies between a row and the next bytes that travel, it travels too.

    step 1     the remote device gets its part of the first grid: the halo row, its rows in full, and
               the inner cells of its outermost row, with the boundary cell on either side of those in full
    step 2     it gets what no kernel wrote of the second grid: two boundary cells of each of its rows
               and the inner cells of the outermost one, with the boundary cells after the halo row and before
               that one; from now on halo rows go both ways
    step 3..   one halo row each way
    the end    the rows that it wrote come home, with the two boundary cells between one and the next,
               which home has as well: but for the halo row, which went there as always. And it was
               sent one for a step that never comes
    """
    inner = SIDE - 2
    written_rows = remote_rows - 1
    first = inner + 1 + written_rows * SIDE + 1 + inner
    second = inner + 1 + written_rows * 2 + 1 + inner + inner
    others = (STEPS - 2) * 2 * inner
    gathering = inner + (written_rows - 1) * inner + (written_rows - 2) * 2
    ahead = inner
    return FLOAT * (first + second + others + gathering + ahead)


def exact_traffic(bench):
    """Both homes, several shares: exactly those bytes."""
    groups = SIDE // GROUP
    for home in (0, 1):
        for first_share in (0.5, 0.25, 0.8125):
            command = bench.sample("jacobi2d", "--device", f"0.{home}", "--size", str(SIDE), "--iterations",
                                   str(STEPS))
            run = bench.run(command, "preload", {
                "POLICY": f"static:{first_share},{1 - first_share}", "SEPARATE_NODES": "1", "WAIT_ANALYSIS": "1"})
            run.require_success()
            shares = (first_share, 1 - first_share)
            expected = expected_bytes(round(shares[1 - home] * groups) * GROUP)
            moved = run.total("bytes_between_nodes")
            run.require(moved == expected, f"{moved} bytes between nodes, expected {expected}")


def more_steps_cost_halo_rows_alone(bench):
    """Ten more steps cost twenty more halo rows and nothing else."""

    def moved(steps):
        command = bench.sample("jacobi2d", "--size", str(SIDE), "--iterations", str(steps))
        run = bench.run(command, "preload", {
            "POLICY": "static:0.5,0.5", "SEPARATE_NODES": "1", "WAIT_ANALYSIS": "1"})
        run.require_success()
        return run, run.total("bytes_between_nodes")

    _, before = moved(10)
    run, after = moved(20)
    run.require(after - before == 10 * 2 * (SIDE - 2) * FLOAT, f"ten steps cost {after - before} bytes")


def nothing_moves_on_one_node(bench):
    """Where all devices share the host's memory, no byte moves."""
    for policy in ("static:0.5,0.5", "auto"):
        run = bench.run(bench.sample("jacobi2d"), "preload", {
            "POLICY": policy, "WAIT_ANALYSIS": "1", "MIN_LAUNCH": "0"})
        run.require_success()
        run.require(run.total("bytes_between_nodes") == 0, "bytes moved within one node")


if __name__ == "__main__":
    main({
        "exact_traffic": exact_traffic,
        "more_steps_cost_halo_rows_alone": more_steps_cost_halo_rows_alone,
        "nothing_moves_on_one_node": nothing_moves_on_one_node,
    })
