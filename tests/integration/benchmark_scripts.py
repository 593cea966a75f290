"""benchmarks/run and its search do what they say; no test looks at a time."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

from harness import Failure, main

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))
sys.dont_write_bytecode = True

from oracle import search  # noqa: E402


def require(condition, what):
    if not condition:
        raise Failure(what)


def finds_the_best_shares(_):
    """On devices of known speeds and costs the search comes within 2 % of the best, whatever it starts from."""

    def machine(speeds, setup):
        # A device takes its share by its speed and, if it does anything, a fixed time besides.
        return lambda shares: max((share / speed + cost if share else 0)
                                  for share, speed, cost in zip(shares, speeds, setup))

    for speeds, setup, best in (((1, 1), (0, 0), 1 / 2), ((1, 9), (0, 0), 1 / 10), ((1, 3), (0, 0), 1 / 4),
                                ((1, 20), (1, 0), 1 / 20),  # the first costs more than it gives
                                ((1, 3, 12), (0, 0, 0), 1 / 16), ((5, 5, 5, 1), (0, 0, 0, 0), 1 / 16),
                                ((1, 4, 4), (0.5, 0, 0), 1 / 8)):
        time_of = machine(speeds, setup)
        alone = [time_of([float(other == device) for other in range(len(speeds))]) for device in range(len(speeds))]
        for noise in (1, 1.3):
            found = search(time_of, [alone[0] * noise, *alone[1:]], 200)
            took = time_of(found.best()[0])
            require(took <= 1.02 * best, f"{speeds}: {found.best()[0]} takes {took}, the best {best}")


def keeps_to_its_budget(_):
    runs = []
    search(lambda shares: runs.append(shares) or 1.0, [1, 1 / 2, 1 / 3], 7)
    require(len(runs) == len(set(runs)) == 7, f"{len(runs)} runs")


def spends_nothing_on_the_hopeless(_):
    """A device a hundred times slower than the other is given small shares only."""
    runs = []
    search(lambda shares: runs.append(shares) or max(shares[0], 100 * shares[1]), [1, 100], 40)
    require(max(shares[1] for shares in runs) < 0.1, f"tried {max(runs, key=lambda shares: shares[1])}")


def lives_with_failures(_):
    """Where runs fail the search goes on, and what failed is never the best."""
    found = search(lambda shares: None if shares[0] > 0 else 1.0, [None, 1.0], 40)
    require(found.best()[0] == (0, 1), f"best is {found.best()}")
    found = search(lambda shares: None, [1.0, 1.5], 40)
    require(found.best(9) == [(1, 0), (0, 1)], f"best are {found.best(9)}")


def compares(bench):
    """From a bare folder that holds only what the script asks for: JSON and Markdown with every way's figures, and a
    program that hangs costs its time limit and is named."""
    bundle = bench.tmp / "bundle"
    for part in ("bin/splitrun", "bin/splitc", "lib/libsplit.so", "benchmarks/apps/ep", "benchmarks/apps/spmv"):
        (bundle / part).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(bench.build / part, bundle / part)
    hanging = bundle / "benchmarks/apps/nbody"
    hanging.write_text("#!/bin/sh\nexec sleep 1000\n")
    hanging.chmod(0o755)
    out = bench.tmp / "out"
    command = [sys.executable, "-B", str(BENCHMARKS / "run"), "--build", str(bundle), "--out", str(out),
               "--only", "ep,spmv,nbody", "--size", "ep=16", "--size", "spmv=5000", "--rounds", "1",
               "--launches", "7", "--sweep-launches", "3", "--sweep-budget", "2", "--time-limit", "30"]
    environment = bench.environment({"HOME": str(bench.tmp)})
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=500)
    require(done.returncode == 0, f"exit code {done.returncode}: {done.stderr}")
    document = json.loads((out / "run.json").read_text())
    require(document["devices"] == ["0.0", "0.1"], f"devices are {document['devices']}")
    for name in ("ep", "spmv"):
        figures = document["figures"][name]
        require(not figures["errors"], f"{name}: {figures['errors']}")
        require(abs(sum(document["oracles"][name]) - 1) < 1e-3, f"{name}: no oracle")
        for way in ("uniform", "fixed-point", "broyden", "auto", "auto again"):
            require(figures["by_oracle"][way] > 0, f"{name}: no figure for {way}")
        require(document["alone"][name]["0.0"] > 0 and document["alone"][name]["0.1"] > 0, f"{name}: no time alone")
        shares = figures["shares"]["uniform"][{"ep": "ep", "spmv": "spmv_csr"}[name]]
        require(shares == [0.5, 0.5] or abs(shares[0] - 0.5) < 0.02, f"{name}: uniform shares are {shares}")
    require("no end after" in document["unusable"].get("nbody", ""), "the program that hangs is not named")
    require(not document["bars"]["applications with runs that failed"]["holds"], "a failure passes")
    split = document["figures"]["ep"]["split"]
    require(split["launches"] >= 7 and set(document["figures"]["ep"]["moved"]) >= {"auto", "oracle"}, f"split: {split}")
    text = (out / "run.md").read_text()
    require(text.strip() in done.stdout and "| ep" in text, f"the table lacks a program:\n{text}")

    # Goes on where it stopped: another round, no other search.
    done = subprocess.run([*command, "--resume", "--rounds", "2"], env=environment, capture_output=True, text=True,
                          timeout=500)
    require(done.returncode == 0, f"exit code {done.returncode}: {done.stderr}")
    resumed = json.loads((out / "run.json").read_text())
    require(len(resumed["rounds"]) == 2 and resumed["rounds"][0] == document["rounds"][0], "it began anew")
    require(resumed["sweeps"] == document["sweeps"], "it searched again")
    done = subprocess.run([*command, "--resume", "--launches", "9"], env=environment, capture_output=True, text=True,
                          timeout=500)
    require(done.returncode == 1 and "launches" in done.stderr, f"other options were not noticed: {done.stderr}")


def recorded(speedups, settling=1):
    """What benchmarks/run would write of two rounds, of programs that run so many times as fast as one device."""
    def result(seconds):
        return {"launches": [1.0] * settling + [seconds] * 3, "error": None, "stats": {}}

    rounds = [{name: {"alone:0.0": result(0.5), "auto": result(0.5 / values[number])}
               for name, values in speedups.items()} for number in range(2)]
    figures = {name: {"best_device_seconds": 0.5, "by_best_device": {"auto": values[0]}, "by_oracle": {"auto": None},
                      "first_launch_by_oracle_settled": {}, "launches_to_settle": {}, "moved": {"auto": 3e6},
                      "split": {"launches": 9, "split_launches": 7, "whole": {"<kernel>: too short": 2}}}
               for name, values in speedups.items()}
    return {"options": {"settling": settling}, "devices": ["0.0", "0.1"], "rounds": rounds, "figures": figures,
            "oracles": {}, "bars": {"auto by best device, each": {"value": 1.9, "bar": 0.98, "holds": True}}}


def tells_regressions_from_noise(bench):
    def write(name, speedups):
        (bench.tmp / name).write_text(json.dumps(recorded(speedups)))
        return bench.tmp / name

    old = write("old.json", {"fft": (1.90, 1.94), "lu": (1.50, 1.52), "ep": (2.0, 2.1), "gone": (1, 1)})
    new = write("new.json", {"fft": (1.40, 1.43), "lu": (1.51, 1.49), "ep": (2.4, 2.3)})
    done = subprocess.run([BENCHMARKS / "compare", old, new], capture_output=True, text=True)
    lines = {line.split("|")[1].strip(): line for line in done.stdout.splitlines() if line.startswith("|")}
    require(done.returncode == 1 and "slower" in lines["fft"] and "faster" in lines["ep"] and "er |" not in lines["lu"],
            f"exit code {done.returncode}: {done.stdout}{done.stderr}")
    require(re.search(r"Noise assumed: \d+\.\d %", done.stdout), "the noise is not told")
    require("Only in the old file: gone" in done.stdout, "an application that is missing is not named")
    done = subprocess.run([BENCHMARKS / "compare", old, old], capture_output=True, text=True)
    require(done.returncode == 0 and "slower" not in done.stdout.split("|", 1)[1], f"against itself: {done.stdout}")


def reports_on_one_page(bench):
    """Well-formed, with every application in picture and table, and nothing that a browser would have to fetch."""
    run, page = bench.tmp / "run.json", bench.tmp / "page.html"
    run.write_text(json.dumps(recorded({"fft": (1.9, 1.94), "lu": (1.5, 1.52)})))
    subprocess.run([BENCHMARKS / "report", run, "-o", page], check=True, capture_output=True)
    text = page.read_text()
    for name in ("fft", "lu"):
        require(f"<td>{name}</td>" in text and f"<title>{name}, auto: 1." in text, f"{name} is missing")
    require("&lt;kernel&gt;: too short (2)" in text and "7 of 9" in text, "what was not split is missing")
    require(not re.search(r"https?:|<script|src=", text), "it refers to something else")
    picture = max(re.findall("<svg.*?</svg>", text, re.DOTALL), key=len)
    bars = [each for each in ElementTree.fromstring(picture) if each.tag == "rect"]
    require(len(bars) == 2, f"{len(bars)} bars:\n{picture}")
    widths = [float(each.get("width")) for each in bars]
    require(abs(widths[0] / widths[1] - 1.92 / 1.51) < 0.01, f"bars are {widths} wide")


def draws(bench):
    """Every application of a run, one by one and together, whole programs, and a trace's kernels; and what is none of these is
    refused by name."""
    python = "/usr/bin/python3"  # which knows the distribution's packages
    if subprocess.run([python, "-c", "import matplotlib"], capture_output=True, check=False).returncode:
        print("matplotlib is not installed")
        sys.exit(77)

    def drawn(document, *options):
        file, out = bench.tmp / "file.json", bench.tmp / "pictures"
        file.write_text(json.dumps(document))
        shutil.rmtree(out, ignore_errors=True)
        done = subprocess.run([python, "-B", BENCHMARKS / "plot", "--kinds", "svg", "--out", out, *options, file],
                              capture_output=True, text=True, timeout=300, check=False)
        texts = {path.name: "".join(ElementTree.fromstring(path.read_text()).itertext()) for path in out.glob("*.svg")}
        return done, texts

    run = recorded({"fft": (1.9, 1.94), "lu": (1.5, 1.52), "ep": (1, 1)})
    done, texts = drawn(run)
    require(set(texts) == {"speedup_fft.svg", "speedup_lu.svg", "speedup_ep.svg"}, f"{texts.keys()}, {done.stderr}")
    require("auto" in texts["speedup_lu.svg"] and "best device alone" in texts["speedup_lu.svg"], "the line has no name")
    done, texts = drawn(run, "--together")
    require(list(texts) == ["file.svg"] and all(name in texts["file.svg"] for name in ("fft", "lu", "ep")),
            f"{texts}, {done.stderr}")
    times = {"native": [9, 1, 1], "cold": [9, 1, 1], "warm": [9, 0.5, 0.5]}
    done, texts = drawn({"results": {"aes": {"rounds": [times]}}})
    require("aes" in texts["file.svg"] and "first run" in texts["file.svg"], f"{texts}, {done.stderr}")
    done, texts = drawn([])
    require(done.returncode == 0 and not texts, f"an empty trace: {done.stderr}")
    done, texts = drawn({"something": "else"})
    require(done.returncode == 1 and len(done.stderr.splitlines()) == 1 and "file.json" in done.stderr, f"{done.stderr}")


def times_a_large_program(bench):
    """The corpus gives a program of 1,000 lines and 20 kernels that is analysed as a whole."""
    done = subprocess.run([sys.executable, "-B", BENCHMARKS / "splitc_time", "--build", bench.build, "--runs", "1"],
                          capture_output=True, text=True, timeout=300)
    require(done.returncode == 0, f"exit code {done.returncode}: {done.stdout}{done.stderr}")
    lines, kernels = (int(number) for number in re.match(r"(\d+) lines, (\d+) kernels,", done.stdout).groups())
    require(lines >= 1000 and kernels >= 20, done.stdout)


if __name__ == "__main__":
    main({
        "finds_the_best_shares": finds_the_best_shares,
        "keeps_to_its_budget": keeps_to_its_budget,
        "spends_nothing_on_the_hopeless": spends_nothing_on_the_hopeless,
        "lives_with_failures": lives_with_failures,
        "compares": compares,
        "tells_regressions_from_noise": tells_regressions_from_noise,
        "reports_on_one_page": reports_on_one_page,
        "draws": draws,
        "times_a_large_program": times_a_large_program,
    })
