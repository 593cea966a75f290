"""What has a driver compile kernels beside a program: another process, which may have a kernel that does not end."""

import os
import signal
import subprocess
import time

from harness import TWO_DEVICES, Failure, main

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


def is_there(process):
    try:
        with open(f"/proc/{process}/stat", encoding="ascii", errors="replace") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def ends_with_who_asked(bench):
    """Also where that is killed, in the midst of an endless kernel."""
    buffer, one, none = 2, [1, 1, 1], [0, 0, 0]
    order = bench.tmp / "order"
    order.write_bytes(cbor([{"platform": 0, "device": 1, "text": ENDLESS, "options": b"", "kernel": "endless",
                             "arguments": [[buffer, 64, b""]], "dimensions": 1, "launches": [[none, one, one, True]]}]))
    env = os.environ | TWO_DEVICES | {"POCL_CACHE_DIR": str(bench.tmp / "pocl")}
    (bench.tmp / "pocl").mkdir()
    asking = subprocess.Popen(["/bin/sh", "-c", '"$0" --compile-ahead <"$1" >/dev/null & echo $!; wait',
                               str(bench.build / "bin" / "splitrun"), str(order)],
                              env=env, stdout=subprocess.PIPE, text=True)
    process = int(asking.stdout.readline())
    try:
        deadline = time.monotonic() + 60
        while not list((bench.tmp / "pocl").rglob("*.so")) and time.monotonic() < deadline:
            time.sleep(0.1)
        time.sleep(0.5)
        if not is_there(process):
            raise Failure("the kernel did end")
        asking.kill()
        asking.wait()
        deadline = time.monotonic() + 5
        while is_there(process) and time.monotonic() < deadline:
            time.sleep(0.1)
        if is_there(process):
            raise Failure("it goes on")
    finally:
        if is_there(process):
            os.kill(process, signal.SIGKILL)


main({test.__name__: test for test in (ends_with_who_asked,)})
