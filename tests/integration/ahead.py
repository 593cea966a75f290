"""What has a driver compile kernels beside a program: another process, which may have a kernel that does not end, or which
the driver ends."""

import json
import os
import shutil
import subprocess
import time

from harness import TWO_DEVICES, Failure, main

PLAIN = b"__kernel void plain(__global int* a) { a[0] += 1; }"
ENDLESS = b"__kernel void endless(__global volatile int* a) { for (;;) a[0] += 1; }"


def cbor(value):
    """As compile_order.cpp writes it, of small numbers."""
    kind = {dict: 5, list: 4, str: 3, bytes: 2}.get(type(value))
    if isinstance(value, bool):
        return bytes([0xf4 + value])
    if kind is None:
        return b"\x1a" + value.to_bytes(4, "big")
    head = bytes([kind << 5 | 0x1a]) + len(value).to_bytes(4, "big")
    if isinstance(value, dict):
        return head + b"".join(cbor(key) + cbor(each) for key, each in value.items())
    if isinstance(value, list):
        return head + b"".join(map(cbor, value))
    return head + (value.encode() if isinstance(value, str) else value)


def write_order(bench, text, kernel):
    """Of one work-group of a kernel that takes a buffer; its file."""
    buffer, one, none = 2, [1, 1, 1], [0, 0, 0]
    order = bench.tmp / "order"
    order.write_bytes(cbor([{"platform": 0, "device": 1, "text": text, "options": b"", "kernel": kernel,
                             "arguments": [[buffer, 64, b""]], "dimensions": 1, "launches": [[none, one, one, True]]}]))
    return order


def tells_whether_the_driver_gave_up(bench):
    """PoCL ends a process in which it can't compile, as where it finds no linker: the program would end so, too."""
    order = write_order(bench, PLAIN, "plain")
    for more, expected in (({}, b"compiled\n"), ({"PATH": str(bench.tmp)}, b"given up\n")):
        pocl = bench.tmp / f"pocl{len(more)}"
        pocl.mkdir()
        done = subprocess.run([str(bench.build / "bin" / "splitrun"), "--compile-ahead"], input=order.read_bytes(),
                              env=os.environ | TWO_DEVICES | {"POCL_CACHE_DIR": str(pocl)} | more,
                              capture_output=True, timeout=60, check=False)
        if done.stdout != expected:
            raise Failure(f"it said {done.stdout}, not {expected}, with {more}")


def beside_a_gpu(bench, **gpu):
    """The environment in which PoCL is beside a (fake) GPU, and both as libsplit lists them."""
    vendors = bench.tmp / "vendors"
    vendors.mkdir()
    for icd in (bench.build / "fake_opencl" / "fake.icd", "/etc/OpenCL/vendors/pocl.icd"):
        shutil.copy(icd, vendors)
    fake = {"platforms": [{"name": "Fake", "devices": [{"name": "gpu", "launch_us": 2000, "item_ns": 0, **gpu}]}],
            "clock": "real", "cache": str(bench.tmp)}
    env = {"OCL_ICD_VENDORS": str(vendors), "FAKE_OPENCL": json.dumps(fake), "POCL_DEVICES": "pthread"}
    listed = bench.run([str(bench.build / "bin" / "splitrun"), "--list-devices"], None, {}, env=env).stdout
    home, helper = (next(line.split()[0] for line in listed.splitlines() if word in line)
                    for word in ("(Fake)", "(Portable"))
    return env, home, helper


def who_waits_for_any_child_meets_no_linker(bench):
    """A program on a GPU may take the end of the linker from PoCL, which aborts then: it is another process that links."""
    env, home, _ = beside_a_gpu(bench, units=3)
    reaping = env | {"LD_PRELOAD": str(bench.build / "doors" / "libdoor_reaping.so")}
    # Under `auto` it rehearses first; in two dimensions by another local size than its parts have.
    for sample, policy in (("vector_add", "static:1,1"), ("vector_add", "auto"), ("mandelbrot", "auto")):
        command = bench.sample(sample, "--device", home, "--iterations", "700")
        native = bench.native(command, env=env, dump=True)
        native.require_success()
        where = {"POLICY": policy, "MIN_LAUNCH": "0", "CACHE_DIR": str(bench.tmp / f"{sample}-{policy}")}
        pocl = bench.tmp / f"pocl-{sample}-{policy}"
        pocl.mkdir()
        for _ in range(6):  # a program may be over before all is compiled
            run = bench.run(command, "splitrun", where, env=reaping | {"POCL_CACHE_DIR": str(pocl)}, dump=True)
            run.require_same_as(native)
            if run.total("split_launches") > 0:
                break
        run.require(run.total("split_launches") > 0 or sample == "mandelbrot", "nothing was split")


def a_driver_that_ends_processes_ends_no_program(bench):
    """A program on a GPU never asked for PoCL, which aborts where it finds no linker: it goes on alone, and is told once."""
    env, home, helper = beside_a_gpu(bench)
    command = bench.sample("vector_add", "--device", home, "--iterations", "400")
    native = bench.native(command, env=env, dump=True)
    native.require_success()
    ignoring = ["bash", "-c", "trap '' CHLD; exec \"$@\"", "-", *command]  # no child's end is ever seen
    for wait in ("0", "1"):
        run = bench.run(ignoring, "preload", {"POLICY": "static:1,1", "MIN_LAUNCH": "0", "WAIT_ANALYSIS": wait,
                                              "CACHE_DIR": str(bench.tmp / f"ignoring{wait}")},
                        env=env | {"POCL_CACHE_DIR": str(bench.tmp)}, dump=True)
        run.require_same_as(native, stderr=False)
        run.require(run.total("split_launches") == 0, "something was split")
    for policy in ("static:1,1", "auto"):
        for number, path in enumerate((os.environ["PATH"], str(bench.tmp))):
            pocl = bench.tmp / f"pocl-{policy}-{number}"
            pocl.mkdir()
            run = bench.run(command, "preload", {"POLICY": policy, "MIN_LAUNCH": "0", "CACHE_DIR": f"{pocl}.split"},
                            env=env | {"PATH": path, "POCL_CACHE_DIR": str(pocl)}, dump=True)
            if number == 0:
                run.require_same_as(native)
                continue
            run.require_same_as(native, stderr=False)
            if run.stderr:  # on a busy machine the program may be over before it comes to that
                run.require_one_complaint(f"device {helper} takes no part")
            run.require(run.total("split_launches") == 0, "something was split")


def ends_with_who_asked(bench):
    """Whatever ends that, in the midst of an endless kernel."""
    order = write_order(bench, ENDLESS, "endless")
    env = os.environ | TWO_DEVICES | {"POCL_CACHE_DIR": str(bench.tmp / "pocl")}
    (bench.tmp / "pocl").mkdir()
    answer, output = os.pipe()
    with open(order, "rb") as file:
        process = subprocess.Popen([str(bench.build / "bin" / "splitrun"), "--compile-ahead"],
                                   env=env, stdin=file, stdout=output)
    os.close(output)
    try:
        deadline = time.monotonic() + 60
        while not list((bench.tmp / "pocl").rglob("*.so")) and time.monotonic() < deadline:
            time.sleep(0.1)
        time.sleep(0.5)
        if process.poll() is not None:
            raise Failure("the kernel did end")
        os.close(answer)
        process.wait(timeout=5)
    except subprocess.TimeoutExpired as goes_on:
        raise Failure("it goes on") from goes_on
    finally:
        process.kill()
        process.wait()


main({test.__name__: test for test in (ends_with_who_asked, tells_whether_the_driver_gave_up,
                                       who_waits_for_any_child_meets_no_linker,
                                       a_driver_that_ends_processes_ends_no_program)})
