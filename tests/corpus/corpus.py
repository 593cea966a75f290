"""Kernels that nobody wrote for libsplit: every buffer as natively, byte for byte.

A folder of kernels runs in one process, natively and then split in several ways. Where a kernel's
file says `//@ splits NAME`, it must really have been split; where `//@ splits_never NAME`, in no way;
where `//@ splits_apart NAME`, only where each device has a memory of its own. Programs are built from source, compiled in
units and linked (`--as units`), SPIR bitcode (`--as bitcode`), or the binaries of an earlier run without libsplit
(`--as binary`).
"""

import argparse
import json
import os
import re
import signal
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

TWO, THREE = "basic pthread", "basic pthread pthread"

# The devices, the program's own one, and how libsplit is steered. The host's memory takes part
# beside two others where all but the last device are apart.
WAYS = (
    (TWO, "0.0", {"POLICY": "static:0.37,0.63", "SEPARATE_NODES": "1"}),
    (TWO, "0.1", {"POLICY": "static:0.74,0.26", "SEPARATE_NODES": "1"}),
    (TWO, "0.0", {"POLICY": "static:0.5,0.5"}),
    (TWO, "0.0", {"POLICY": "static:0.05,0.95", "SEPARATE_NODES": "1", "VERIFY": "1"}),
    (THREE, "0.0", {"POLICY": "static:0.2,0.5,0.3", "SEPARATE_NODES": "all-but-last"}),
    (THREE, "0.2", {"POLICY": "static:0.3,0.45,0.25", "SEPARATE_NODES": "all-but-last"}),
    (THREE, "0.2", {"POLICY": "dynamic", "SEPARATE_NODES": "home"}),
)


FEW_WAYS = WAYS[0], WAYS[4]
# How programs come has little to do with how launches are cut.
FORM_WAYS = WAYS[4],

# Most helpers can't hold most files' buffers.
SMALL_WAYS = tuple((devices, home, options | {"DEVICE_MEMORY": memory})
                   for memory in ("12K", "23K") for devices, home, options in (*FEW_WAYS, WAYS[1]))

SKIPPED = 77  # CTest's SKIP_RETURN_CODE


def make_bitcode(files, folder):
    """By a Clang that is no newer than PoCL's LLVM. What it can't compile is left out."""
    clang = next((path for version in ("15", "14") if (path := shutil.which(f"clang-{version}"))), None)
    if not clang:
        print("skipped: neither clang-15 nor clang-14 is installed")
        sys.exit(SKIPPED)
    made = []
    for file in files:
        options = ["-cl-std=CL1.2"]
        for line in file.read_text().splitlines():
            if line.startswith("//@ options "):
                options += line.replace("$here", str(file.parent)).split()[2:]
        done = subprocess.run([clang, "-target", "spir64", *options, "-O1", "-c", "-emit-llvm", "-w", "-Xclang",
                               "-finclude-default-header", file, "-o", folder / f"{file.stem}.bc"],
                              stderr=subprocess.DEVNULL)
        if done.returncode == 0:
            made.append(file)
    return made


def run(build, files, folder, devices, home, options, form=()):
    """Dumps by file name, what was said, and the stats. `options` None: natively. `devices`: PoCL's, or the variables by
    which another OpenCL is chosen."""
    steering = ("LIBSPLIT_", "POCL_", "OCL_ICD_", "LD_PRELOAD", "OPENCL_LAYERS")
    env = {name: value for name, value in os.environ.items() if not name.startswith(steering)}
    if isinstance(devices, str):
        env |= {"POCL_DEVICES": devices, "POCL_MAX_PTHREAD_COUNT": "1",
                "POCL_CACHE_DIR": str(build / "tests" / "pocl-cache")}
    else:
        env |= devices
    stats = folder / "stats.json"
    if options is not None:
        env |= {f"LIBSPLIT_{name}": value for name, value in options.items()}
        env |= {"LD_PRELOAD": str(build / "lib" / "libsplit.so"), "LIBSPLIT_WAIT_ANALYSIS": "1",
                "LIBSPLIT_CACHE_DIR": str(folder / "cache"), "LIBSPLIT_STATS": str(stats)}
    dumps = folder / "dumps"
    shutil.rmtree(dumps, ignore_errors=True)
    dumps.mkdir()
    command = [str(build / "bin" / "corpus_driver"), "--dump", str(dumps), "--device", home, *form,
               *map(str, files)]
    process = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, start_new_session=True)
    timedOut = False
    try:
        out, err = process.communicate(timeout=300)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        timedOut = True
    # PoCL says so when it compiles, not when it finds the binary in its cache.
    err = re.sub(rb"\d+ warnings? generated\.\n", b"", err)
    left = {file.stem: (dumps / f"{file.stem}.dump").read_bytes()
            for file in files if (dumps / f"{file.stem}.dump").exists()}
    ending = "no end after 300 s" if timedOut else f"exit code {process.returncode}"
    counted = json.loads(stats.read_text()) if options is not None and stats.exists() else {}
    return left, (ending, out, err), counted


def taken(build, files, form):
    """Those that the driver takes in this form: PoCL can't run all bitcode of all kernels."""
    kept = []
    with tempfile.TemporaryDirectory(prefix="libsplit-corpus-") as name:
        for file in files:
            left = run(build, [file], Path(name), TWO, "0.0", None, form)[0].get(file.stem)
            if left is not None and b"\nerror: " not in b"\n" + left:
                kept.append(file)
    print(f"{len(kept)} of {len(files)} files")
    return kept


def difference(actual, expected):
    at = next((i for i, (a, b) in enumerate(zip(actual, expected)) if a != b), min(len(actual), len(expected)))
    return f"byte {at} of {len(expected)} of the dump"


def wanted_splits(files, options, form):
    """Kernels of which it is known whether they are split: file, name, and that."""
    # Chunks are for launches with many work-groups, and most here have few.
    must_split = options["POLICY"].startswith("static:") and "DEVICE_MEMORY" not in options
    apart = options.get("SEPARATE_NODES") not in (None, "home")
    for file in files:
        for line in file.read_text().splitlines():
            verb = line.split()[1] if line.startswith("//@ splits") else ""
            # What PoCL has optimised may be another kernel: with an index of 64 bits for one of 32, for example.
            if verb == "splits_from_source" and "--binaries" in form:
                continue
            wanted = verb in ("splits", "splits_from_source") or (verb == "splits_apart" and apart)
            if verb and (must_split or not wanted):
                for name in line.split()[2:]:
                    yield file, name, wanted


def compare(build, files, ways=WAYS, tell_stats=False, form=(), tally=None):
    """The complaints, as lines. `form`: arguments of the driver that say how programs are made. `tally`: a dictionary where
    launches and split launches are added up."""
    complaints = []
    with tempfile.TemporaryDirectory(prefix="libsplit-corpus-") as name:
        folder = Path(name)
        natives = {}
        for devices, home, options in ways:
            if home not in natives:  # the same device, whatever others there are
                natives[home] = run(build, files, folder, devices, home, None, form)
                for file in files:
                    left = natives[home][0].get(file.stem)
                    if left is None:
                        return [f"{file.name}: no dump natively: {natives[home][1]}"]
                    if b"\nerror: " in b"\n" + left:
                        complaints.append(f"{file.name}: natively {left.split(b'error: ', 1)[1][:200]}")
            native, heard, _ = natives[home]
            left, said, stats = run(build, files, folder, devices, home, options, form)
            way = f"{devices}, home {home} " + " ".join(f"LIBSPLIT_{k}={v}" for k, v in options.items())
            if said != heard:
                missing = next((file.name for file in files if file.stem not in left), "none")
                complaints.append(f"{way}: {said}, natively {heard}; first file without a dump: {missing}")
            for file in files:
                if file.stem in left and left[file.stem] != native[file.stem]:
                    complaints.append(f"{way}: {file.name}: {difference(left[file.stem], native[file.stem])}")
            kernels = stats.get("kernels", [])
            for counted in ("launches", "split_launches") if tally is not None else ():
                tally[counted] = tally.get(counted, 0) + stats.get("totals", {}).get(counted, 0)
            if tell_stats:
                for kernel in kernels:
                    print(f"{way}: {kernel['name']} {kernel['split_launches']}/{kernel['launches']}"
                          f" rung {kernel['rung']} {kernel['reason']}")
            for file, name, wanted in wanted_splits(files, options, form):
                found = [kernel for kernel in kernels if kernel["name"] == name]
                was = any(kernel["split_launches"] for kernel in found)
                reasons = [kernel["reason"] for kernel in found]
                # Binaries of PoCL say that they are of a version whose work-groups need not have one size.
                if "--binaries" in form and any("local size is left to the driver" in reason for reason in reasons):
                    continue
                if was != wanted:
                    complaints.append(f"{way}: {file.name}: {name} was {'' if was else 'not '}split: {reasons}")
    return complaints


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True, type=Path, help="build folder, such as build/release")
    parser.add_argument("--stats", action="store_true", help="prints what was split, and why not")
    parser.add_argument("--small", action="store_true", help="on devices of little memory")
    parser.add_argument("--as", dest="form", choices=("source", "units", "bitcode", "binary"), default="source")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="of the files one in N")
    parser.add_argument("files", nargs="+", type=Path, help=".cl files, or folders of them")
    parsed = parser.parse_args()
    files = [file for given in parsed.files
             for file in (sorted(given.rglob("*.cl")) if given.is_dir() else [given])]
    files = [file.resolve() for file in files[:: parsed.every]]
    with tempfile.TemporaryDirectory(prefix="libsplit-bitcode-") as folder:
        form, ways = (), SMALL_WAYS if parsed.small else WAYS
        if parsed.form == "units":
            form, ways = ("--units",), FORM_WAYS
        elif parsed.form == "binary":
            form, ways = ("--binaries", folder), (*FORM_WAYS, WAYS[1])
            for home in ("0.0", "0.1"):
                run(parsed.build.resolve(), files, Path(folder), TWO, home, None, form)
        elif parsed.form == "bitcode":
            form, ways = ("--bitcode", folder), FORM_WAYS
            files = taken(parsed.build.resolve(), make_bitcode(files, Path(folder)), form)
            if not files:
                sys.exit("FAILED: no file is taken as bitcode")
        complaints = compare(parsed.build.resolve(), files, ways, parsed.stats, form)
    if complaints:
        sys.exit("FAILED:\n" + "\n".join(complaints))


if __name__ == "__main__":
    main()
