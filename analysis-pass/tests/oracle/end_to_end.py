"""Random kernels through the real runtime: natively, and split over two devices with separate
memories, byte for byte. Kernels that depend on the order of work-items are left out by the oracle.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tests" / "corpus"))
import corpus  # noqa: E402

WAYS = ((corpus.TWO, "0.0", {"POLICY": "static:0.37,0.63", "SEPARATE_NODES": "1"}),
        (corpus.THREE, "0.0", {"POLICY": "static:0.2,0.5,0.3", "SEPARATE_NODES": "all-but-last"}))
BATCH = 500  # kernels whose programs are built in one process


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True, type=Path)
    parser.add_argument("--kernels", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    build = given.build.resolve()
    compared = 0
    for first in range(given.seed, given.seed + given.kernels, BATCH):
        count = min(BATCH, given.seed + given.kernels - first)
        with tempfile.TemporaryDirectory(prefix="libsplit-random-") as name:
            subprocess.run([build / "bin" / "random_kernels", str(count), str(first), "--write", name],
                           check=True, stdout=subprocess.DEVNULL)
            files = sorted(Path(name).glob("*.cl"))
            for at in range(0, len(files), 3):
                batch = files[at:at + 3]
                complaints = corpus.compare(build, batch, WAYS)
                if complaints:
                    kept = Path(tempfile.mkdtemp(prefix="libsplit-failed-"))
                    for file in batch:
                        (kept / file.name).write_bytes(file.read_bytes())
                    sys.exit(f"FAILED, see {kept}:\n" + "\n".join(complaints))
            compared += sum(file.read_text().count("//@ run ") for file in files)
            print(f"seeds {first} to {first + count - 1}: {compared} kernels compared", flush=True)
    if compared == 0:
        sys.exit("FAILED: no kernel was compared")


if __name__ == "__main__":
    main()
