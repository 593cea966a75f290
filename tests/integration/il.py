"""Programs that come as IL. PoCL here takes SPIR bitcode and no SPIR-V; tests/drivers has drivers that do."""

import shutil
import subprocess
import sys
from pathlib import Path

from harness import main

SKIPPED = 77  # CTest's SKIP_RETURN_CODE
KERNELS = Path(__file__).parent.parent / "samples/kernels"
SPLIT = {"POLICY": "static:0.4,0.6", "WAIT_ANALYSIS": "1", "VERIFY": "1"}


def folder(bench, name, il):
    path = bench.tmp / name
    path.mkdir()
    (path / "program.il").write_bytes(il)
    return path


def bitcode(bench, *options):
    """By a Clang that is no newer than the LLVM of PoCL."""
    for version in ("15", "14"):
        clang = shutil.which(f"clang-{version}")
        if clang:
            file = bench.tmp / "il_program.bc"
            subprocess.run([clang, "-target", "spir64", "-cl-std=CL2.0", *options, "-c", "-emit-llvm",
                            "-Xclang", "-finclude-default-header", KERNELS / "il_program.cl", "-o", file], check=True)
            return file.read_bytes()
    print("skipped: neither clang-15 nor clang-14 is installed")
    sys.exit(SKIPPED)


def is_split(bench, name, il):
    """Also the kernels that ask for group ids and sizes: the driver's LLVM reads what was rewritten."""
    where = folder(bench, name, il)
    for home in ("0.0", "0.1"):
        command = bench.sample("il_program", "--device", home)
        native = bench.native(command, cwd=where, dump=True)
        if native.code != 0:
            print("skipped: PoCL does not take this bitcode: " + native.stderr)
            sys.exit(SKIPPED)
        for memories in ("0", "1"):
            run = bench.run(command, "preload", {**SPLIT, "SEPARATE_NODES": memories}, cwd=where, dump=True)
            run.require_same_as(native)
            for kernel in ("scale", "ask_groups", "ask_linear"):
                stats = run.kernel(kernel)
                run.require(stats["split_launches"] == 2, f"{kernel} is not split: {stats['reason']}")


def bitcode_is_split(bench):
    is_split(bench, "optimised", bitcode(bench, "-O1"))


def bitcode_with_calls_is_split(bench):
    """Nothing inlined, so that the partition argument goes through calls; and with debug information."""
    is_split(bench, "plain", bitcode(bench, "-O0", "-g"))


def refused_the_same(bench):
    """What the driver refuses is refused with the same error."""
    spirv = (bench.build / "samples/il_program.spv").read_bytes()
    whole = bitcode(bench, "-O1")
    damaged = whole[:1000] + bytes(200) + whole[1200:]
    for name, il in {"spirv": spirv, "cut": spirv[:301], "text": b"kernel void k() {}", "nothing": b"",
                     "cut bitcode": whole[:1000], "damaged bitcode": damaged}.items():
        where = folder(bench, name, il)
        native = bench.native(bench.sample("il_program"), cwd=where)
        native.require(native.code == 1, f"natively it ends with {native.code}: nothing is tested here")
        for door in ("preload", "layer"):
            bench.run(bench.sample("il_program"), door, SPLIT, cwd=where).require_same_as(native)


if __name__ == "__main__":
    main({test.__name__: test for test in (bitcode_is_split, bitcode_with_calls_is_split, refused_the_same)})
