"""Programs split over this machine and two servers, which are two processes here: `splitrun --hosts`, with PoCL's remote
driver as tools/build_remote makes it. A server listens on all interfaces, so all of it runs in a network namespace of its
own, in which there is nothing but the loopback device."""

import fcntl
import json
import os
import re
import shutil
import socket
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "integration"), str(ROOT / "benchmarks")]
import suite  # noqa: E402
from harness import Failure, main  # noqa: E402

PORTS = (12100, 12200)
HOSTS = ",".join(f"127.0.0.1:{port}" for port in PORTS)
INSIDE = "REMOTE_TEST_INSIDE"
# The program's own device first. It is PoCL's, so each of the two drivers reads the same POCL_DEVICES.
ONE_DEVICE = {"POCL_DEVICES": "pthread", "POCL_MAX_PTHREAD_COUNT": "1"}
POLICIES = ({"POLICY": "static:0.3,0.4,0.3"}, {"POLICY": "auto", "MIN_LAUNCH": "0"})
SAMPLES = ("saxpy", "vector_add", "matmul_naive", "matmul_tiled", "convolution2d", "jacobi2d", "transpose", "nbody",
           "black_scholes", "reduction", "spmv_csr", "histogram", "scatter")
APPLICATIONS = ("ep", "monte_carlo", "nbody")


def skip(why):
    print(why)
    sys.exit(77)


def enter_namespace(build):
    """Goes on in a network namespace, or skips the test."""
    for path in ("bin/pocld", "lib/libsplit-remote/libpocl.so.2"):
        if not (build / path).exists():
            skip(f"{build / path} is not there; tools/build_remote makes it")
    if INSIDE in os.environ:
        # `lo` is up: SIOCGIFFLAGS, SIOCSIFFLAGS with IFF_UP.
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
            request = struct.pack("16sh", b"lo", 0).ljust(40, b"\0")
            flags = struct.unpack("16sh", fcntl.ioctl(any_socket, 0x8913, request)[:18])[1]
            fcntl.ioctl(any_socket, 0x8914, struct.pack("16sh", b"lo", flags | 1).ljust(40, b"\0"))
        return
    enter = ["unshare", "--net", *(["--map-root-user"] if os.geteuid() else [])]
    if not shutil.which("unshare") or subprocess.run([*enter, "true"], check=False).returncode:
        skip("no network namespace can be made")
    os.execvpe(enter[0], [*enter, sys.executable, "-B", *sys.argv], {**os.environ, INSIDE: "1"})


class Servers:
    """A pocld for each port, with a device of one core."""

    def __init__(self, bench, ports=PORTS):
        self.bench, self.ports, self.processes = bench, ports, []

    def __enter__(self):
        for port in self.ports:
            environment = {**self.bench.environment({}), **ONE_DEVICE}
            self.processes.append(subprocess.Popen(
                [str(self.bench.build / "bin/pocld"), "-a", "127.0.0.1", "-p", str(port)], env=environment,
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
            self.await_port(port + 1)
        return self

    def __exit__(self, *_):
        for process in self.processes:
            process.kill()
            process.wait()

    @staticmethod
    def await_port(port):
        """Until it is bound: a connection would be a client to the server."""
        end = time.monotonic() + 20
        while f":{port:04X} 00000000:0000 0A" not in Path("/proc/net/tcp").read_text():
            if time.monotonic() > end:
                raise Failure(f"no server at port {port}")
            time.sleep(0.05)


def splitrun(bench, arguments, command, hosts=HOSTS, **how):
    return bench.native([str(bench.build / "bin/splitrun"), "--hosts", hosts, *arguments, "--", *command],
                        env={**ONE_DEVICE, "LIBSPLIT_CACHE_DIR": str(bench.tmp / "cache"), "LIBSPLIT_WAIT_ANALYSIS": "1",
                             **how.pop("env", {})}, **how)


def split(bench, command, options, native):
    """The same as natively, over three memories."""
    stats = bench.tmp / "remote-stats.json"
    stats.unlink(missing_ok=True)
    run = splitrun(bench, ["--stats", str(stats)], command, dump=True, timeout=120,
                   env={f"LIBSPLIT_{name}": value for name, value in options.items()})
    run.require_same_as(native)
    run.stats = json.loads(stats.read_text())
    devices = run.stats["devices"]
    run.require(len(devices) == 3 and devices[0]["home"], f"devices: {devices}")
    run.require(len({device["node"] for device in devices}) == 3, f"memories are taken for one: {devices}")
    if options["POLICY"] != "auto":
        run.require(run.total("split_launches") > 0, "nothing was split")
        run.require(run.total("bytes_between_nodes") > 0, "nothing moved")


def each_way(bench, command):
    native = bench.native(command, dump=True, env=ONE_DEVICE)
    native.require_success()
    for options in POLICIES:
        split(bench, command, options, native)


def devices(bench):
    """Home stays first, the hosts' devices come behind it; a device that a host lacks is not there."""
    alone = bench.native([str(bench.build / "bin/splitrun"), "--list-devices"], env=ONE_DEVICE)
    with Servers(bench):
        run = bench.native([str(bench.build / "bin/splitrun"), "--hosts", HOSTS, "--list-devices"],
                           env={**ONE_DEVICE, "LIBSPLIT_CACHE_DIR": str(bench.tmp / "cache")})
        run.require_success()
        run.require(run.stdout.startswith(alone.stdout), "the machine's own devices are not first")
        labels = [line.split()[0] for line in run.stdout.splitlines()]
        run.require(labels == ["0.0", "1.0", "1.1"], f"the devices are {labels}")


def samples(bench):
    with Servers(bench):
        for sample in SAMPLES:
            each_way(bench, bench.sample(sample))


def applications(bench):
    with Servers(bench):
        for name in APPLICATIONS:
            app = suite.APPLICATIONS[name]
            each_way(bench, suite.command(name, bench.build / "benchmarks" / "apps", app.small, app.iterations))


def short_launches(bench):
    """Thousands of launches that take microseconds and hand rows of 256 bytes on: no reply waits for anything but the launch."""
    command = bench.sample("jacobi2d", "--size", "64", "--iterations", "2000")
    native = bench.native(command, dump=True, env=ONE_DEVICE)
    native.require_success()
    with Servers(bench):
        split(bench, command, POLICIES[0], native)


def silent_server(bench):
    """Where one host does not answer, it is named, and the program does not begin."""
    with Servers(bench, PORTS[:1]):
        run = splitrun(bench, [], ["/bin/echo", "hello"])
    run.require(run.code == 2 and not run.stdout, "it is not refused")
    run.require(len(run.stderr.splitlines()) == 1 and f"127.0.0.1:{PORTS[1]}" in run.stderr
                and f"127.0.0.1:{PORTS[0]}" not in run.stderr, "not the one that is missing is named")


def standard_input(bench):
    """What a program reads is the program's: the driver listens to no descriptor that is not its own."""
    script = (f"{bench.build}/samples/saxpy --size 4096 && cat")
    with Servers(bench):
        command = [str(bench.build / "bin/splitrun"), "--hosts", HOSTS, "--policy", "static:0.3,0.4,0.3", "--", "sh", "-c",
                   script]
        environment = {**bench.environment({}), **ONE_DEVICE, "LIBSPLIT_CACHE_DIR": str(bench.tmp / "cache"),
                       "LIBSPLIT_WAIT_ANALYSIS": "1"}
        done = subprocess.run(command, env=environment, input="a line\n", capture_output=True, text=True, timeout=120,
                              check=False)
    if done.returncode or not done.stdout.endswith("a line\n"):
        raise Failure(f"exit {done.returncode}, {done.stdout!r}, {done.stderr!r}")


def kill_once_busy(process, seconds):
    """Kills it once it has had so much of a processor's time; false if it ends before."""
    ticks = os.sysconf("SC_CLK_TCK")
    while process.poll() is None:
        try:
            fields = Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        except FileNotFoundError:
            break
        if (int(fields[11]) + int(fields[12])) / ticks > seconds:
            process.kill()
            return True
        time.sleep(0.02)
    return False


def lost_server(bench):
    """A server that dies in the middle of a run is a lost helper. What home can do again is done: the program ends as natively.
    Of bytes that the server had alone the program hears that they are lost, and never waits for them."""
    told = "failed with error .*; from now on the others work without it"
    for name, arguments, alone in (("matmul_naive", ("--size", "320", "--iterations", "60"), False),
                                   ("nbody", ("--size", "4096", "--iterations", "60"), True)):
        command = bench.sample(name, *arguments)
        native = bench.native(command, dump=True, env=ONE_DEVICE)
        native.require_success()
        for seconds in (0.3, 0.8, 1.3):
            with Servers(bench) as servers:
                killer = threading.Thread(target=kill_once_busy, args=(servers.processes[1], seconds))
                killer.start()
                run = splitrun(bench, ["--policy", "static:0.3,0.4,0.3"], command, dump=True, timeout=120)
                is_lost = servers.processes[1].poll() is not None
                servers.processes[1].kill()
                killer.join()
            lines, run.stderr = run.stderr, ""
            run.require(not is_lost or re.search(told, lines), f"the loss is not told: {lines}")
            if is_lost and alone and run.code:
                run.require("CL_OUT_OF_RESOURCES" in lines, f"the program is told: {lines}")
            else:
                run.require_same_as(native)
            run.require(is_lost or seconds > 0.3, "it ended before the server was killed")


if __name__ == "__main__":
    enter_namespace(Path(sys.argv[sys.argv.index("--build") + 1]).resolve())
    main({test.__name__: test for test in (devices, samples, applications, short_launches, silent_server, standard_input, lost_server)})
