"""Servers of PoCL's remote driver, and the network namespace in which they run: each listens on all interfaces, whatever it
is told. tools/build_remote makes what is needed."""

import fcntl
import os
import shutil
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path

INSIDE = "REMOTE_TEST_INSIDE"


class Unavailable(Exception):
    """What this needs is not there; the text says what."""


def enter_namespace(build):
    """Starts this program anew in a network namespace in which there is nothing but the loopback device; there it returns."""
    for path in ("bin/pocld", "lib/libsplit-remote/libpocl.so.2"):
        if not (build / path).exists():
            raise Unavailable(f"{build / path} is not there; tools/build_remote makes it")
    if INSIDE in os.environ:
        # `lo` is up: SIOCGIFFLAGS, SIOCSIFFLAGS with IFF_UP.
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
            request = struct.pack("16sh", b"lo", 0).ljust(40, b"\0")
            flags = struct.unpack("16sh", fcntl.ioctl(any_socket, 0x8913, request)[:18])[1]
            fcntl.ioctl(any_socket, 0x8914, struct.pack("16sh", b"lo", flags | 1).ljust(40, b"\0"))
        return
    enter = ["unshare", "--net", *(["--map-root-user"] if os.geteuid() else [])]
    if not shutil.which("unshare") or subprocess.run([*enter, "true"], check=False).returncode:
        raise Unavailable("no network namespace can be made")
    os.execvpe(enter[0], [*enter, sys.executable, "-B", *sys.argv], {**os.environ, INSIDE: "1"})


def await_port(port):
    """Until it is bound: a connection would be a client to the server."""
    end = time.monotonic() + 20
    while f":{port:04X} 00000000:0000 0A" not in Path("/proc/net/tcp").read_text():
        if time.monotonic() > end:
            raise TimeoutError(f"no server at port {port}")
        time.sleep(0.05)


class Servers:
    """A pocld for each port, which serves the devices that `environment` leaves. Use `with`."""

    def __init__(self, build, environment, ports):
        self.program, self.environment, self.ports, self.processes = build / "bin/pocld", environment, ports, []

    def __enter__(self):
        for port in self.ports:
            self.processes.append(subprocess.Popen(
                [str(self.program), "-a", "127.0.0.1", "-p", str(port)], env=self.environment,
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
            await_port(port + 1)
        return self

    def __exit__(self, *_):
        for process in self.processes:
            process.kill()
            process.wait()
