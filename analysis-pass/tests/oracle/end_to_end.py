"""Random kernels through the real runtime: natively, and split over devices with separate memories,
byte for byte, on the fake OpenCL or on PoCL (what PoCL can compile). Kernels that depend on the order of work-items are left out by the
oracle, but for those that libsplit must not split.
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tests" / "corpus"))
import corpus  # noqa: E402

ON_POCL = ((corpus.TWO, "0.0", {"POLICY": "static:0.37,0.63", "SEPARATE_NODES": "1"}),
           (corpus.THREE, "0.0", {"POLICY": "static:0.2,0.5,0.3", "SEPARATE_NODES": "all-but-last"}))
GPU, CPU = {"name": "gpu"}, {"name": "cpu", "type": "cpu"}
BATCH = 200  # seeds


def on_fake(build, cache, seed):
    """Two GPUs, and a CPU with two; the order of what may happen in any order is another for each seed."""
    def machine(*platforms):
        configuration = {"platforms": [{"name": f"Fake {i}", "devices": devices} for i, devices in enumerate(platforms)],
                         "seed": seed, "cache": cache}
        return {"OCL_ICD_VENDORS": str(build / "fake_opencl"), "OCL_ICD_PLATFORM_SORT": "none",
                "FAKE_OPENCL": json.dumps(configuration)}
    ways = ((machine([GPU, GPU]), "0.0", {"POLICY": "static:0.37,0.63"}),
            (machine([CPU], [GPU, GPU]), "0.0", {"POLICY": ("static:0.2,0.5,0.3", "dynamic")[seed % 2], "STAGING": "1K"}))
    return ways


def write(build, folder, count, first, apart):
    """Leaves the kernels as files; what was said, if the oracle found something."""
    checked = subprocess.run([build / "bin" / "random_kernels", str(count), str(first), "--write", folder,
                              *(["--apart"] if apart else [])], stdout=subprocess.PIPE, text=True)
    return checked.stdout if checked.returncode != 0 else ""


def alone(build, file, ways):
    """Which kernels of a file fail without the others, with the commands that repeat it."""
    found = []
    for seed in re.findall(r"//@ run k(\d+)", file.read_text()):
        with tempfile.TemporaryDirectory(prefix="libsplit-random-") as name:
            write(build, name, 1, seed, True)
            files = list(Path(name).glob("*.cl"))
            if files and corpus.compare(build, files, ways):
                found.append(f"random_kernels 1 {seed} --print    end_to_end.py --kernels 1 --seed {seed}")
    return found or ["no kernel by itself: only one after the other"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True, type=Path)
    parser.add_argument("--kernels", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--on", choices=("fake", "pocl"), default="fake")
    given = parser.parse_args()
    build = given.build.resolve()
    compared = told = 0
    wrong, tally = [], {}
    for first in range(given.seed, given.seed + given.kernels, BATCH):
        count = min(BATCH, given.seed + given.kernels - first)
        with tempfile.TemporaryDirectory(prefix="libsplit-random-") as name:
            said = write(build, name, count, first, given.on == "pocl")
            if said:
                wrong.append(said)
            cache = str(Path(name) / "fake-cache")
            files = sorted(Path(name).glob("*.cl"))
            if given.on == "pocl":  # it lacks some of OpenCL C 2.0
                files = corpus.taken(build, files, ())
            for at, file in enumerate(files):
                ways = ON_POCL if given.on == "pocl" else on_fake(build, cache, first + at)
                complaints = corpus.compare(build, [file], ways, tally=tally)
                if complaints:
                    kept = Path(tempfile.mkdtemp(prefix="libsplit-failed-"))
                    shutil.copy(file, kept)
                    for include in re.findall(r"include_\d+", file.read_text()):
                        shutil.copytree(Path(name) / include, kept / include)
                    wrong.append(f"{kept}:\n" + "\n".join(complaints + alone(build, file, ways)))
                else:
                    compared += file.read_text().count("//@ run ")
        print(f"seeds {first} to {first + count - 1}: {compared} kernels compared, {tally.get('split_launches', 0)} of "
              f"{tally.get('launches', 0)} launches split, {len(wrong)} failures", *wrong[told:], sep="\n", flush=True)
        told = len(wrong)
    if wrong or tally.get("split_launches", 0) == 0:
        sys.exit("FAILED:\n" + ("\n".join(wrong) or "nothing was split"))


if __name__ == "__main__":
    main()
