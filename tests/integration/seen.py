"""What libsplit shows on stderr when asked to, and that it shows nothing else."""

import os
import pty
import re
import subprocess

from harness import main

SPLIT = {"LIBSPLIT_POLICY": "static:0.25,0.75", "LIBSPLIT_WAIT_ANALYSIS": "1"}
JACOBI = ("jacobi2d", "--size", "256", "--iterations", "7")


def asked(bench, flags, command, options, **how):
    """Runs `command` by splitrun with `flags`."""
    env = {"LIBSPLIT_CACHE_DIR": str(bench.tmp / "cache"), "LIBSPLIT_STATS": str(bench.tmp / "stats.json"), **options}
    return bench.run([str(bench.build / "bin" / "splitrun"), *flags, "--", *command], None, {}, env=env, **how)


def summary(bench):
    """The table's figures are those of the statistics, and the program's own output is untouched."""
    native = bench.native(bench.sample(*JACOBI), dump=True)
    run = asked(bench, ["--summary"], bench.sample(*JACOBI), {**SPLIT, "LIBSPLIT_SEPARATE_NODES": "1"}, dump=True)
    run.require(run.stdout == native.stdout and run.dump == native.dump, "the program's output changed")
    head, columns, row, *rest = run.stderr.splitlines()
    moved = re.search(r"7 of 7 launches split, ([\d.]+) (B|kB|MB) between memories", head)
    run.require(head.startswith("libsplit: ") and moved, f"the table begins with {head}")
    factor = {"B": 1, "kB": 1e3, "MB": 1e6}[moved[2]]
    run.require(abs(float(moved[1]) * factor - run.total("bytes_between_nodes")) <= 0.1 * factor, "other bytes moved")
    run.require(columns.split() == ["kernel", "launches", "split", "0.0", "took", "0.1", "took", "gain"], columns)
    cells = row.split()
    run.require(cells[:5] == ["jacobi2d", "7", "7", "25", "%"] and "75 %" in row, f"the row is {row}")
    run.require(cells[-1] == "-", f"a gain was told that nobody measured: {row}")
    run.require(sum("the program's own device" in line for line in rest) == 1, f"devices are {rest}")


def summary_of_the_unsplit(bench):
    """Each reason with the number of launches that it kept whole; no device has a share."""
    run = asked(bench, ["--summary"], bench.sample("printf_kernel"), SPLIT)
    kernel = run.stats["kernels"][0]
    line = f"  {kernel['name']}: 2 of 2 not split: {kernel['reason']}"
    run.require("printf" in kernel["reason"] and line in run.stderr.splitlines(), f"no line says {line}")
    run = asked(bench, ["--summary"], ["/bin/true"], SPLIT)
    run.require(run.stderr == "", "a program without OpenCL got a table")


def summary_without_preparation(bench):
    """Under `auto`, of what is not even analysed: who is alone is told so; else what was lacking, and where to ask further."""
    auto = {"LIBSPLIT_POLICY": "auto", "LIBSPLIT_WAIT_ANALYSIS": "0"}
    run = asked(bench, ["--summary"], bench.sample(*JACOBI), auto | {"POCL_DEVICES": "pthread"})
    run.require("jacobi2d: 7 of 7 not split: there is no second device" in run.stderr, "it is not told to be alone")
    run.require("--explain" not in run.stderr, "longer launches would be no help")
    for devices in ("0.0", "0.0,0.0", "0.1"):
        run = asked(bench, ["--summary", "--devices", devices], bench.sample(*JACOBI), auto)
        run.require(("there is no second device" in run.stderr) == ("0.1" not in devices), f"with {devices}")
    run = asked(bench, ["--summary"], bench.sample(*JACOBI), auto)
    run.require(re.search("jacobi2d: . of 7 not split: how long its launches take was not known yet", run.stderr),
                "the first launch could not be timed")
    run.require("splitrun --explain jacobi2d tells" in run.stderr, "nobody is told where to ask")


def gain_is_measured(bench):
    """Where launches were timed both at home and split, the gain is their quotient."""
    for _ in range(2):
        run = asked(bench, ["--summary"], bench.sample("nbody", "--iterations", "40"),
                    {"LIBSPLIT_POLICY": "auto", "LIBSPLIT_WAIT_ANALYSIS": "1", "LIBSPLIT_MIN_LAUNCH": "0",
                     "LIBSPLIT_PERSIST": "0"})
        kernel = run.kernel("nbody")
        timed = [each for each in kernel["ndranges"] if each["home_seconds"] and each["split_launches"]]
        row = next(line for line in run.stderr.splitlines() if line.startswith("  nbody "))
        run.require(kernel["gain"] is None or timed, f"timed {timed}, gain {kernel['gain']}")
        run.require(row.endswith(f"{kernel['gain']:.2f} x" if kernel["gain"] is not None else "-"), f"the row is {row}")
        run.require(len(kernel["all_seconds"]) == 2 and min(kernel["all_seconds"]) > 0, f"{kernel['all_seconds']}")


def explain(bench):
    """The kernel's source, as it is launched; once, and only of the kernel that was asked about."""
    run = asked(bench, ["--explain", "jacobi2d"], bench.sample(*JACOBI), SPLIT)
    run.require_success()
    lines = run.stderr.splitlines()
    run.require(sum(line.startswith("kernel jacobi2d(") for line in lines) == 1, "not told once")
    at = next(i for i, line in enumerate(lines) if "out[i] = " in line)
    run.require(any("^ writes out bytes [4*(y*width + x), +4)" in line for line in lines[at:at + 7]),
                "the write is not told below its line")
    run.require("split at 256x256/16x16, width = 256" in run.stderr, "not the launch that there was")
    run.require("\033" not in run.stderr, "coloured, and it is no terminal")
    run = asked(bench, ["--explain", "printf_kernel"], bench.sample("printf_kernel"), SPLIT)
    run.require("^ can't be split: printf" in run.stderr, "the obstacle is not marked")
    run = asked(bench, ["--explain", "another"], bench.sample(*JACOBI), SPLIT)
    run.require(run.code == 0 and run.stderr == "", "told of another kernel")


def on_a_terminal(bench, flags, options):
    """stderr of a run of jacobi2d whose stderr is a terminal."""
    ours, theirs = pty.openpty()
    environment = bench.environment({"LIBSPLIT_CACHE_DIR": str(bench.tmp / "cache"), **SPLIT, **options})
    with subprocess.Popen([str(bench.build / "bin" / "splitrun"), *flags, "--", *bench.sample(*JACOBI)],
                          env=environment, stdout=subprocess.DEVNULL, stderr=theirs) as process:
        os.close(theirs)
        said = b""
        while True:
            try:
                block = os.read(ours, 65536)
            except OSError:  # Linux: nobody has the other end any more
                break
            if not block:
                break
            said += block
    os.close(ours)
    assert process.returncode == 0, said
    return said.decode().replace("\r\n", "\n")


def terminal(bench):
    """One line while a program is analysed for the first time, and colours; in a file neither."""
    said = on_a_terminal(bench, [], {})
    assert said.count("\n") == 1 and said.startswith("libsplit: analyses"), said
    assert on_a_terminal(bench, [], {}) == "", "told in the second run"
    said = on_a_terminal(bench, ["--explain", "jacobi2d"], {})
    assert "\033[32m" in said and "writes out" in said, said
    said = on_a_terminal(bench, [], {"LIBSPLIT_PROGRESS": "0", "LIBSPLIT_CACHE_DIR": str(bench.tmp / "another")})
    assert said == "", said
    run = asked(bench, [], bench.sample(*JACOBI), {**SPLIT, "LIBSPLIT_CACHE_DIR": str(bench.tmp / "third")})
    run.require(run.stderr == "", "told where there is no terminal")


if __name__ == "__main__":
    main({
        "summary": summary,
        "summary_of_the_unsplit": summary_of_the_unsplit,
        "summary_without_preparation": summary_without_preparation,
        "gain_is_measured": gain_is_measured,
        "explain": explain,
        "terminal": terminal,
    })
