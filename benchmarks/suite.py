#!/usr/bin/env python3
"""The applications of benchmarks/apps: sizes, where they come from, what is hard about them, and how each of their
kernels is split. Prints all of it as the table of apps/README.md; with --write, puts it there.

A test holds the table against what libsplit does.
"""

import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

README = Path(__file__).resolve().parent / "apps" / "README.md"
BEGIN, END = "<!-- table: begin -->\n", "<!-- table: end -->\n"

# How a kernel is split over devices with memories of their own, as `rung` in what LIBSPLIT_STATS writes. All else said
# of a kernel is why it stays whole.
EXACT, POSSIBLE, MERGED, ATOMICS = 1, 2, 3, 4
MARKS = {EXACT: "", POSSIBLE: " (b)", MERGED: " (c)", ATOMICS: " (d)"}
ONE_GROUP = "it is one work-group's"

# Where the applications come from.
ADAPTIVE = "001: splitting with adapted shares"
SUBSET = "000: partitioning in software"
HALOS = "002: halos for stencils"
RECURSIVE = "003: divide and conquer"
TREES = "004: shares by decision trees"
OURS = "–"


@dataclass
class Application:
    kernels: dict  # name: EXACT, POSSIBLE, MERGED or ATOMICS, or why it is not split
    small: int  # --size for tests …
    cores: int  # … for a few CPU cores: 5 ms and more per launch there …
    gpus: int  # … and for large GPUs
    source: str
    hard: str
    program: str = ""  # if it is not called as the application is
    variant: str = ""  # empty: it has none
    iterations: int = 3  # in tests
    options: dict = field(default_factory=dict)  # of libsplit, without prefix, that more is split with, …
    more: dict = field(default_factory=dict)  # … and how that is
    moved: object = None  # the fewest bytes that must go between two devices of equal shares in an iteration, by size


def rows(count, element=4):
    """Bytes of `count` rows of a square, by its side."""
    return lambda side: count * element * side


def planes(count, element=4):
    return lambda side: count * element * side * side


def inner_rows(count, element=4):
    """Of those that never change at their ends."""
    return lambda side: count * element * (side - 2)


def variants(program, *applications):
    """name: Application for several of one program, which are named by their variant."""
    return {f"{program}_{each.variant}": each for each in applications if not setattr(each, "program", program)}


APPLICATIONS = {
    "ep": Application({"ep": EXACT}, 16, 21, 32, ADAPTIVE, "nothing: no input, hardly any output"),
    "aes": Application({"aes_ctr": EXACT}, 5000, 1 << 19, 1 << 27, ADAPTIVE,
                       "tables that all read; a result that the next launch takes up"),
    "monte_carlo": Application({"monte_carlo": EXACT}, 16384, 1 << 16, 1 << 27, ADAPTIVE,
                               "the host reads and draws anew between launches"),
    "black_scholes": Application({"black_scholes": EXACT}, 4000, 1 << 18, 1 << 26, SUBSET,
                                 "nothing; written with the C++ bindings, local sizes left open"),
    "mandelbrot": Application({"mandelbrot": EXACT}, 128, 1024, 32768, OURS, "work that differs by row, a lot"),
    "nbody": Application({"nbody": EXACT}, 512, 4096, 131_072, ADAPTIVE,
                         "each device needs all of what the others have just computed",
                         moved=lambda bodies: 16 * bodies),
    "tree_gravity": Application({"walk": EXACT}, 600, 1 << 14, 1 << 20, ADAPTIVE + " (OTOO)",
                                "work that is uneven along the NDRange and moves from launch to launch; walks through "
                                "a tree, all of which each device needs", iterations=4),
    "spmv": Application({"spmv_csr": EXACT}, 6000, 400_000, 4_000_000, ADAPTIVE,
                        "uneven rows; where the work lies stands in a buffer"),
    **variants("matrix_products",
        Application({"gemm": EXACT}, 40, 512, 8192, ADAPTIVE, "all need all of `b`", variant="gemm"),
        Application({"blocked": EXACT}, 40, 512, 8192, SUBSET, "tiles by way of local memory", variant="blocked"),
        Application({"product": EXACT, "gemm": EXACT}, 40, 384, 8192, ADAPTIVE,
                    "two kernels of one shape, the second reading what the first wrote", variant="2mm"),
        Application({"product": EXACT}, 40, 384, 8192, ADAPTIVE,
                    "one kernel with three meanings; half of a product goes to each device", variant="3mm"),
        Application({"syrk": EXACT}, 40, 512, 8192, ADAPTIVE, "rows of `a` by row and by column", variant="syrk"),
        Application({"syr2k": EXACT}, 40, 384, 4096, ADAPTIVE, "the same of two matrices", variant="syr2k")),
    **variants("matrix_vector",
        Application({"times": EXACT, "transposed_times": EXACT}, 150, 3072, 32768, ADAPTIVE,
                    "short launches over much data, by rows and by columns", variant="atax"),
        Application({"times": EXACT, "transposed_times": EXACT}, 150, 3072, 32768, ADAPTIVE,
                    "the same, with nothing between the two", variant="bicg"),
        Application({"add_times": EXACT, "add_transposed_times": EXACT}, 150, 3072, 32768, ADAPTIVE,
                    "the same, in place", variant="mvt"),
        Application({"gesummv": EXACT}, 150, 3072, 32768, ADAPTIVE, "two matrices for one launch", variant="gesummv")),
    **variants("statistics",
        Application({"mean": EXACT, "centre": EXACT, "products": EXACT}, 40, 512, 4096, ADAPTIVE,
                    "a triangle of work, whose elements are written to two places", variant="covar"),
        Application({"mean": EXACT, "deviation": EXACT, "normalise": EXACT, "products": EXACT}, 40, 512, 4096, ADAPTIVE,
                    "the same, behind three short kernels", variant="corr")),
    "gram_schmidt": Application({"norm": ONE_GROUP, "normalise": EXACT, "project": EXACT}, 70, 512, 2048, ADAPTIVE,
                                "three kernels a column, one of them whole; columns of a row-major matrix; less work "
                                "with each", iterations=1),
    "lu": Application({"divide": EXACT, "subtract": EXACT}, 40, 512, 8192, ADAPTIVE,
                      "in place; an NDRange that begins later each time", iterations=1),
    "adi": Application({"explicit_columns": EXACT, "explicit_rows": EXACT, "solve_rows": EXACT, "solve_columns": EXACT},
                       60, 1024, 16384, ADAPTIVE, "rows, then columns: all of the data moves, or one of them is slow"),
    "fdtd2d": Application({"electric_x": EXACT, "electric_y": EXACT, "magnetic": EXACT}, 60, 2048, 16384, ADAPTIVE,
                          "three fields with halos up or down, in place", moved=lambda side: 8 * (side - 1)),
    **variants("convolution",
        Application({"plane": EXACT}, 70, 4096, 32768, ADAPTIVE, "halos; weights in constant memory", variant="plane"),
        Application({"volume": EXACT}, 90, 4096, 32768, ADAPTIVE, "three dimensions", variant="volume"),
        Application({"square": EXACT}, 60, 768, 16384, SUBSET, "halos of 8 rows, edges by clamped indices",
                    variant="square"),
        Application({"rows": EXACT, "columns": EXACT}, 60, 1536, 16384, SUBSET,
                    "two kernels, of which one needs halos", variant="separable"),
        Application({"rows_local": EXACT, "columns_local": EXACT}, 60, 1536, 16384, SUBSET,
                    "the same by way of local memory: halos of whole tiles", variant="separable_local")),
    "red_black": Application({"relax": EXACT}, 60, 2048, 16384, SUBSET,
                             "in place; what a launch writes has a hole at every second element",
                             moved=lambda side: 4 * 4 * (side - 3)),  # and the other colour's points between
    "multigrid": Application({"smooth": EXACT, "begin": EXACT, "residual": EXACT, "coarsen": EXACT, "correct": EXACT},
                             6, 11, 13, HALOS, "a cycle of some 80 launches, most of them too short to be split; a "
                             "level's data is read by the next, twice as coarse", iterations=4),
    "bitonic_sort": Application({"compare": EXACT}, 9, 16, 24, SUBSET,
                                "hundreds of short launches in place; partners that are far apart by a scalar argument",
                                iterations=1),
    "radix_sort": Application({"count_digits": EXACT, "scan": ONE_GROUP, "scatter": MERGED}, 10, 18, 24, SUBSET,
                              "keys are scattered anywhere", iterations=1),
    "cyclic_reduction": Application({"reduce": EXACT, "substitute": EXACT}, 9, 20, 26, SUBSET,
                                    "half as many work-items and twice the stride with each launch, and back"),
    "jacobi_svd": Application({"rotate_pairs": POSSIBLE}, 16, 128, 2048, SUBSET,
                              "a work-group's two columns are others in each launch, and are often left as they are",
                              iterations=8),
    **variants("jacobi1d",
        Application({"jacobi1d": EXACT, "copy_back": EXACT}, 20001, 1 << 23, 1 << 30, ADAPTIVE,
                    "two kernels that should have the same shares", variant="copy", moved=lambda size: 8),
        Application({"jacobi1d": EXACT}, 20001, 1 << 23, 1 << 30, ADAPTIVE, "halos of one element, buffers exchanged",
                    variant="swap", moved=lambda size: 8)),
    **variants("jacobi2d",
        Application({"jacobi_plane": EXACT, "copy_back": EXACT}, 130, 3072, 32_768, ADAPTIVE,
                    "halos of one row; two kernels", variant="copy", moved=inner_rows(2)),
        Application({"jacobi_plane": EXACT}, 130, 3072, 32_768, ADAPTIVE, "halos of one row, buffers exchanged",
                    variant="swap", moved=inner_rows(2)),
        Application({"jacobi_plane": EXACT}, 160, 6144, 16_384, ADAPTIVE,
                    "the same with a quarter of the rows: as long a halo beside less work", variant="wide",
                    moved=inner_rows(2))),
    "jacobi3d": Application({"jacobi_cube": EXACT}, 20, 192, 768, HALOS, "halos of whole planes",
                            moved=lambda side: 8 * ((side - 2) * side - 2)),  # and the ends between its rows
    **variants("game_of_life",
        Application({"life_periodic": EXACT}, 70, 4096, 32768, HALOS + "; 004",
                    "bytes; the first row needs the last", variant="periodic", moved=rows(4, 1)),
        Application({"life_bounded": EXACT}, 70, 4096, 32768, TREES, "neighbours that each have a guard of their own",
                    variant="bounded", moved=rows(2, 1))),
    "reverse_edge": Application({"find_edges": EXACT, "reverse_edges": EXACT}, 50, 2048, 16384, HALOS,
                                "the first row needs the last", moved=rows(4)),
    "hyperthermia": Application({"heat": EXACT}, 18, 128, 512, HALOS, "eleven fields, nine of which never change",
                                moved=planes(4)),
    "himeno": Application({"relax": EXACT}, 18, 96, 512, HALOS,
                          "fourteen fields; sums by work-group that the host reads"),
    "swim": Application({"fluxes": EXACT, "leap": EXACT, "smooth": EXACT}, 40, 1024, 8192, HALOS,
                        "thirteen fields, halos of seven; indices modulo the side", moved=rows(14)),
    "tricubic": Application({"tricubic": EXACT}, 18, 64, 384, HALOS, "64 points; reaches one plane down and two up",
                            moved=planes(6)),
    "cloudsim": Application({"clouds": EXACT}, 50, 768, 8192, TREES, "vectors; edges by clamped indices",
                            moved=rows(2, 16)),
    "fast_corners": Application({"detect": EXACT, "thin": EXACT}, 150, 2048, 8192, TREES,
                                "work that depends on the picture; a table of offsets; a guard that is data",
                                moved=lambda side: 4 * (side + 1)),
    "merge_sort": Application({"sort_blocks": EXACT, "merge_pass": EXACT}, 12, 19, 20, RECURSIVE,
                              "half as many work-items with each launch: the last is one's"),
    "tree_sum": Application({"add_halves": EXACT}, 12, 22, 28, RECURSIVE,
                            "the same, with less work than the data takes to move"),
    "histogram": Application({"histogram_direct": ATOMICS, "histogram_local": ATOMICS}, 8000, 1 << 22, 1 << 28, OURS,
                             "atomic additions to what others add to"),
    **variants("bfs",
        Application({"expand_flags": MERGED}, 3000, 1 << 19, 1 << 24, OURS,
                    "a frontier that anybody may extend, and a flag that many set", variant="flags"),
        Application({"expand_queue": "a queue is filled in the order of an atomic counter, which is one device's"},
                    3000, 1 << 19, 1 << 24, OURS, "a queue that work-items append to", variant="queue")),
    "kmeans": Application({"assign_points": EXACT, "sum_clusters": EXACT}, 8000, 1 << 17, 1 << 24, OURS,
                          "the host moves the centres between launches"),
    **variants("lattice_boltzmann",
        Application({"stream_collide": EXACT}, 12, 48, 320, OURS,
                    "19 populations, of which five need halos in each direction; a torus", variant="two_buffers",
                    moved=planes(20)),
        Application({"even_step": EXACT, "odd_step": EXACT}, 12, 48, 320, OURS,
                    "every second step writes into the neighbours' planes, round the torus", variant="in_place",
                    moved=planes(20)),
        Application({"even_step": EXACT, "odd_step": EXACT}, 12, 48, 512, OURS,
                    "the same in 16 bits", variant="in_place_half", moved=planes(20, 2))),
    "fft": Application({"fft_pass": EXACT}, 9, 18, 26, OURS, "every pass needs half of what the other devices have"),
    "conjugate_gradient": Application({"apply": EXACT, "advance": EXACT, "turn": EXACT}, 40, 1024, 8192, OURS,
                                      "two sums a step for which the host waits"),
    "image_pipeline": Application({"grey": EXACT, "smooth_rows": EXACT, "smooth_columns": EXACT, "gradient": EXACT,
                                   "outline": EXACT}, 150, 1536, 16384, OURS,
                                  "five short kernels; bytes; each frame comes and goes"),
    "attention": Application({"project": EXACT, "score": EXACT, "softmax": EXACT, "blend": EXACT}, 40, 512, 4096, OURS,
                             "seven launches of four shapes; later rows take longer"),
    "triangular_solve": Application({"solve_level": POSSIBLE}, 4000, 1 << 18, 1 << 24, OURS,
                                    "which elements are written stands in a buffer; reads the array that it writes"),
    "particle_in_cell": Application({"clear": EXACT, "relax": EXACT, "push": EXACT,
                                     "deposit": "sums of floats depend on their order; with `LIBSPLIT_RELAXED_FP=1` it "
                                                "is split (d)"}, 16, 128, 2048, OURS,
                                    "particles add to any cell, and read from any",
                                    options={"RELAXED_FP": "1"}, more={"deposit": ATOMICS}),
    "md5_search": Application({"search": MERGED}, 600, 1 << 14, 1 << 22, OURS,
                              "what is written, and where, depends on what is found"),
    **variants("saxpy_once",
        Application({"add_multiple": EXACT}, 5000, 1 << 22, 1 << 27, OURS,
                    "every kernel is used once, on data that the host has just written", variant="saxpy"),
        Application({"relax": EXACT}, 5000, 1 << 15, 1 << 26, OURS, "the same with work that is worth moving it",
                    variant="relax")),
}

for name, each in APPLICATIONS.items():
    each.program = each.program or name


def command(application, folder, size, iterations):
    """What runs it; `folder` has the programs."""
    each = APPLICATIONS[application]
    line = [str(Path(folder) / each.program), "--size", str(size), "--iterations", str(iterations)]
    return line + (["--variant", each.variant] if each.variant else [])


def markdown():
    lines = ["| application | from | what is hard about it | kernels |", "| --- | --- | --- | --- |"]
    for name, each in APPLICATIONS.items():
        kernels = "; ".join(f"`{kernel}`{MARKS[how]}" if how in MARKS else f"**not** `{kernel}`: {how}"
                            for kernel, how in each.kernels.items())
        lines.append(f"| {name} | {each.source} | {each.hard} | {kernels} |")
    return "\n".join(lines) + "\n"


def readme_with_table():
    before, rest = README.read_text().split(BEGIN)
    return before + BEGIN + markdown() + END + rest.split(END)[1]


if __name__ == "__main__":
    if "--write" in sys.argv:
        README.write_text(readme_with_table())
    else:
        print(markdown(), end="")
