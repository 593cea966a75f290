"""LIBSPLIT_TRACE: what a trace holds is what happened."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

from harness import main

SEPARATE = {"POLICY": "static:0.4,0.6", "SEPARATE_NODES": "1", "WAIT_ANALYSIS": "1"}
APPLICATION = 1  # the trace's process numbers: the application, then the devices


def events_of(bench, file):
    """The trace as Chrome trace events."""
    made = subprocess.run([str(bench.build / "bin" / "splittrace"), "chrome", str(file)], capture_output=True, text=True)
    assert made.returncode == 0 and made.stderr == "", made
    return json.loads(made.stdout)


def traced(bench, command, options, door="preload"):
    file = bench.tmp / "run.trace"
    file.unlink(missing_ok=True)
    run = bench.run(command, door, {**options, "TRACE": str(file)})
    run.require_success()
    run.require(run.stderr == "", "not silent")
    return run, events_of(bench, file)


def slices(events, *, on_devices):
    return [event for event in events if event["ph"] == "X" and (event["pid"] > APPLICATION) == on_devices]


def require_sound(run, events):
    """What holds for every trace: nothing overlaps on a track, every arrow has two ends, each on a slice."""
    tracks = {}
    for event in slices(events, on_devices=True):
        tracks.setdefault((event["pid"], event["tid"]), []).append((event["ts"], event["ts"] + event["dur"]))
    for track, spans in tracks.items():
        spans.sort()
        for (_, end), (begin, _) in zip(spans, spans[1:]):
            run.require(end <= begin + 0.002, f"slices overlap on track {track}: {end} > {begin}")  # rounding
    calls = {(event["pid"], event["tid"], event["ts"]) for event in slices(events, on_devices=False)}
    works = [(event["pid"], event["tid"], event["ts"]) for event in slices(events, on_devices=True)]
    begins = {event["id"]: event for event in events if event["ph"] == "s"}
    ends = {event["id"]: event for event in events if event["ph"] == "f"}
    run.require(begins.keys() == ends.keys(), "arrows without a beginning or an end")
    run.require(len(ends) == len(works), f"{len(ends)} arrows for {len(works)} slices")
    for number, begin in begins.items():
        end = ends[number]
        run.require((begin["pid"], begin["tid"], begin["ts"]) in calls, f"arrow {number} begins nowhere")
        run.require((end["pid"], end["tid"], end["ts"]) in works, f"arrow {number} ends nowhere")
        run.require(begin["ts"] <= end["ts"], f"arrow {number} leads back in time")


def require_stats(run, events):
    """A slice per transfer, and as many bytes as the stats count."""
    transfers = [event["args"] for event in slices(events, on_devices=True)
                 if "bytes" in event.get("args", {}) and "home" not in event["args"]]
    run.require(len(transfers) == run.total("transfers"), f"{len(transfers)} slices of transfers")
    moved = sum(each["bytes"] for each in transfers if "stopover" not in each)
    run.require(moved == run.total("bytes_between_nodes"), f"{moved} bytes in the trace")


def pieces_and_transfers(bench):
    """A slice per piece and per transfer, and as many bytes as the stats say; with either home."""
    for home in ("0.0", "0.1"):
        command = bench.sample("jacobi2d", "--device", home, "--size", "256", "--iterations", "7")
        run, events = traced(bench, command, SEPARATE)
        require_sound(run, events)
        pieces = [event for event in slices(events, on_devices=True) if "groups" in event.get("args", {})]
        run.require(len(pieces) == 14, f"{len(pieces)} pieces, expected two for each of 7 launches")
        groups = sum(event["args"]["groups"] for event in pieces)
        expected = sum(event["args"]["all_groups"] for event in pieces) / 2
        run.require(groups == expected, f"{groups} groups in all pieces, expected {expected}")
        require_stats(run, events)
        shares = [event["args"] for event in events if event["ph"] == "C" and event["name"] == "shares of jacobi2d"]
        run.require(len(shares) == 7, f"{len(shares)} counters of shares")
        run.require(all(abs(sum(each.values()) - 1) < 1e-9 for each in shares), "shares do not sum to one")
        launches = [event for event in slices(events, on_devices=False)
                    if event.get("args", {}).get("kernel") == "jacobi2d"]
        run.require(len(launches) == 7, f"{len(launches)} calls of clEnqueueNDRangeKernel")


def every_policy(bench):
    """Sound under every policy, in one memory and in two; with several queues; and verified."""
    for name in ("nbody", "two_queues", "odd_launches", "saxpy"):
        for options in ({"POLICY": "auto", "MIN_LAUNCH": "0"}, {**SEPARATE, "POLICY": "auto", "MIN_LAUNCH": "0"},
                        {"POLICY": "dynamic", "WAIT_ANALYSIS": "1"}, {**SEPARATE, "POLICY": "single:1"},
                        {**SEPARATE, "VERIFY": "1"}):
            run, events = traced(bench, bench.sample(name), options)
            require_sound(run, events)


def merges_and_chunks(bench):
    """What merges move counts as much as in the stats; a launch given out in chunks has a slice for each."""
    dumps = bench.tmp / "dumps"
    dumps.mkdir()
    kernels = Path(__file__).resolve().parents[1] / "corpus" / "kernels" / "merging" / "histograms.cl"
    command = [str(bench.build / "bin" / "corpus_driver"), "--dump", str(dumps), "--device", "0.0", str(kernels)]
    run, events = traced(bench, command, SEPARATE)
    require_sound(run, events)
    require_stats(run, events)
    run.require(run.total("bytes_merged") > 0, "nothing was merged")
    run.require(any(event["name"] == "merge" for event in slices(events, on_devices=True)), "no merge in the trace")

    run, events = traced(bench, bench.sample("nbody"), {"POLICY": "dynamic", "WAIT_ANALYSIS": "1", "MIN_LAUNCH": "0"})
    pieces = [event["args"] for event in slices(events, on_devices=True) if "groups" in event["args"]]
    groups = sum(piece["groups"] for piece in pieces)
    run.require(groups == 5 * pieces[0]["all_groups"], f"{groups} groups in the pieces of 5 launches")


def names_why_not(bench):
    """A kernel that runs natively, or at home, is there with the reason."""
    run, events = traced(bench, bench.sample("printf_kernel"), SEPARATE)
    reasons = [event["args"]["native"] for event in events if "native" in event.get("args", {})]
    run.require(len(reasons) == 2 and all(reasons), f"reasons are {reasons}")


def same_reasons(bench):
    """Statistics and trace give the same reasons of the same numbers of launches."""
    for options in [{}, {"WAIT_ANALYSIS": "1"}, {"POLICY": "static:1,0"}]:
        run, _ = traced(bench, bench.sample("jacobi2d", "--iterations", "60"), options)
        splittrace = subprocess.run([str(bench.build / "bin" / "splittrace"), "--json", str(bench.tmp / "run.trace")],
                                    capture_output=True, text=True, check=True)
        for kernel in json.loads(splittrace.stdout)["kernels"]:
            counted = run.kernel(kernel["name"])
            run.require(counted["reasons"] == kernel["reasons"] and counted["reason"] == kernel["reason"],
                        f"{options}: {counted['reasons']} in the statistics, {kernel['reasons']} in the trace")
            run.require(sum(kernel["reasons"].values()) == counted["launches"] - counted["split_launches"],
                        f"{options}: {kernel['reasons']} of {counted['launches']} launches")


def late_analysis(bench):
    """What splittrace advises where the program was over before the analysis."""
    splitc = bench.tmp / "splitc"
    splitc.write_text("#!/bin/sh\nexec sleep 1000\n")
    splitc.chmod(0o755)
    run, _ = traced(bench, bench.sample("saxpy"), {"SPLITC": str(splitc), "POLICY": "fixed-point"})
    told = subprocess.run([str(bench.build / "bin" / "splittrace"), str(bench.tmp / "run.trace")],
                          check=True, capture_output=True, text=True).stdout
    run.require("saxpy was never split" in told and "LIBSPLIT_WAIT_ANALYSIS=1" in told, f"it is told:\n{told}")


def process_id_in_the_name(bench):
    """%p in the name, through splitrun --trace: one file, with the number of the traced process."""
    folder = bench.tmp / "traces"
    folder.mkdir()
    command = [str(bench.build / "bin" / "splitrun"), "--trace", str(folder / "%p.trace"), "--",
               *bench.sample("saxpy")]
    run = bench.run(command, None, {}, env={"LIBSPLIT_CACHE_DIR": str(bench.tmp / "cache")})
    run.require_success()
    files = list(folder.iterdir())
    run.require(len(files) == 1 and files[0].stem.isdigit(), f"files are {files}")
    names = [event["args"]["name"] for event in events_of(bench, files[0]) if event["name"] == "process_name"]
    run.require(f"saxpy ({files[0].stem})" in names, f"processes are named {names}")


def survives_a_kill(bench):
    """A program that is killed leaves whole events."""
    file = bench.tmp / "killed.trace"
    environment = bench.environment({"LD_PRELOAD": str(bench.library), "LIBSPLIT_TRACE": str(file),
                                     "LIBSPLIT_CACHE_DIR": str(bench.tmp / "cache"), "LIBSPLIT_WAIT_ANALYSIS": "1",
                                     "LIBSPLIT_POLICY": "static:0.5,0.5"})
    process = subprocess.Popen(bench.sample("jacobi2d", "--iterations", "10000000"), env=environment)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not (file.exists() and file.stat().st_size > 100000):
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    events = events_of(bench, file)
    assert len([event for event in events if event["ph"] == "X"]) > 100


def disk_is_full(bench):
    """The trace is lost, with one line; the run is not."""
    native = bench.native(bench.sample("jacobi2d"), dump=True)
    run = bench.run(bench.sample("jacobi2d"), "preload", {**SEPARATE, "TRACE": "/dev/full"}, dump=True)
    run.require_one_complaint("trace", "No space left")
    run.require_same_as(native, stderr=False)


def summary(bench):
    """splittrace's figures are those of the stats; what is no trace is an error."""
    command = bench.sample("jacobi2d", "--size", "256", "--iterations", "7")
    run, _ = traced(bench, command, SEPARATE)
    splittrace = str(bench.build / "bin" / "splittrace")
    file = str(bench.tmp / "run.trace")
    told = json.loads(subprocess.run([splittrace, "--json", file], check=True, capture_output=True).stdout)
    run.require(told["bytes_between_nodes"] == run.total("bytes_between_nodes"), "other bytes than the stats")
    kernel = told["kernels"][0]
    run.require(kernel["name"] == "jacobi2d" and kernel["split"] == 7, f"kernels are {told['kernels']}")
    shares = [device["last_share"] for device in kernel["devices"]]
    run.require(shares == run.kernel("jacobi2d")["last_shares"], f"last shares are {shares}")
    text = subprocess.run([splittrace, file], check=True, capture_output=True, text=True).stdout
    run.require("jacobi2d on 0.1" in text, f"the table lacks a device:\n{text}")
    for wrong in (bench.sample("jacobi2d")[0], str(bench.tmp), "/nonexistent"):
        failed = subprocess.run([splittrace, wrong], capture_output=True, text=True)
        run.require(failed.returncode == 1 and failed.stderr.count("\n") == 1, f"{wrong}: {failed}")


def chrome(bench):
    """As a file or on stdout; what is of that form already stays as it is; a place that can't be written to is an error."""
    traced(bench, bench.sample("saxpy"), SEPARATE)
    splittrace, file, made = str(bench.build / "bin" / "splittrace"), bench.tmp / "run.trace", bench.tmp / "run.json"
    for source in (file, made):
        told = subprocess.run([splittrace, "chrome", str(source)], check=True, capture_output=True).stdout
        subprocess.run([splittrace, "chrome", "-o", str(bench.tmp / "again.json"), str(source)], check=True)
        assert (bench.tmp / "again.json").read_bytes() == told and json.loads(told)
        made.write_bytes(told)
    for command in ([splittrace], [splittrace, "whatif"], [splittrace, "whatif", "--policy", "static:2,1"]):
        first, second = (subprocess.run([*command, str(each)], check=True, capture_output=True).stdout for each in (file, made))
        assert first == second and first, f"{command} says {first} and {second}"
    failed = subprocess.run([splittrace, "chrome", "-o", str(bench.tmp / "missing" / "run.json"), str(file)], capture_output=True, text=True)
    assert failed.returncode == 1 and failed.stderr.count("\n") == 1, failed


def unwritable(bench):
    """One complaint, and the program runs as before."""
    native = bench.native(bench.sample("saxpy"), dump=True)
    file = str(bench.tmp / "missing" / "run.trace")
    run = bench.run(bench.sample("saxpy"), "preload", {"TRACE": file}, dump=True)
    run.require_one_complaint("trace", file)
    run.require_same_as(native, stderr=False)


if __name__ == "__main__":
    main({
        "pieces_and_transfers": pieces_and_transfers,
        "every_policy": every_policy,
        "merges_and_chunks": merges_and_chunks,
        "names_why_not": names_why_not,
        "late_analysis": late_analysis,
        "same_reasons": same_reasons,
        "process_id_in_the_name": process_id_in_the_name,
        "survives_a_kill": survives_a_kill,
        "disk_is_full": disk_is_full,
        "summary": summary,
        "chrome": chrome,
        "unwritable": unwritable,
    })
