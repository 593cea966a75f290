"""Programs split over this machine and two servers, which are two processes here: `splitrun --hosts`, with PoCL's remote
driver as tools/build_remote makes it. A server listens on all interfaces, so all of it runs in a network namespace of its
own, in which there is nothing but the loopback device."""

import json
import os
import random
import re
import shlex
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "integration"), str(ROOT / "benchmarks")]
import servers  # noqa: E402
import suite  # noqa: E402
from harness import Failure, main  # noqa: E402

PORTS = (12100, 12200)
HOSTS = ",".join(f"127.0.0.1:{port}" for port in PORTS)
# The program's own device first. It is PoCL's, so each of the two drivers reads the same POCL_DEVICES.
ONE_DEVICE = {"POCL_DEVICES": "pthread", "POCL_MAX_PTHREAD_COUNT": "1"}
POLICIES = ({"POLICY": "static:0.3,0.4,0.3"}, {"POLICY": "auto", "MIN_LAUNCH": "0"})
SAMPLES = ("saxpy", "vector_add", "matmul_naive", "matmul_tiled", "convolution2d", "jacobi2d", "transpose", "nbody",
           "black_scholes", "reduction", "spmv_csr", "histogram", "scatter")
APPLICATIONS = ("ep", "monte_carlo", "nbody")


def serving(bench, ports=PORTS):
    """A pocld for each port, with a device of one core."""
    return servers.Servers(bench.build, {**bench.environment({}), **ONE_DEVICE}, ports)


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
    with serving(bench):
        run = bench.native([str(bench.build / "bin/splitrun"), "--hosts", HOSTS, "--list-devices"],
                           env={**ONE_DEVICE, "LIBSPLIT_CACHE_DIR": str(bench.tmp / "cache")})
        run.require_success()
        run.require(run.stdout.startswith(alone.stdout), "the machine's own devices are not first")
        labels = [line.split()[0] for line in run.stdout.splitlines()]
        run.require(labels == ["0.0", "1.0", "1.1"], f"the devices are {labels}")


def samples(bench):
    with serving(bench):
        for sample in SAMPLES:
            each_way(bench, bench.sample(sample))


def applications(bench):
    with serving(bench):
        for name in APPLICATIONS:
            app = suite.APPLICATIONS[name]
            each_way(bench, suite.command(name, bench.build / "benchmarks" / "apps", app.small, app.iterations))


def short_launches(bench):
    """Thousands of launches that take microseconds and hand rows of 256 bytes on: no reply waits for anything but the launch."""
    command = bench.sample("jacobi2d", "--size", "64", "--iterations", "2000")
    native = bench.native(command, dump=True, env=ONE_DEVICE)
    native.require_success()
    with serving(bench):
        split(bench, command, POLICIES[0], native)


def slow_link(bench):
    """What stands for a link passes every byte on, in order and both ways, no sooner than told, until either side ends."""
    rate, delay, count = 4e6, 0.02, 1 << 20
    data = bytes(random.Random(1).randbytes(count))
    relay = subprocess.Popen([str(bench.build / "benchmarks/slow_link"), str(rate), str(delay), "12300:12301"])
    received = bytearray()
    try:
        with socket.create_server(("127.0.0.1", 12301)) as listener:
            servers.await_port(12300)
            for answers in (True, False):
                client = socket.create_connection(("127.0.0.1", 12300))
                server, _ = listener.accept()
                begin = time.monotonic()
                sender = threading.Thread(target=lambda to=client: (to.sendall(data), to.shutdown(socket.SHUT_WR)))
                sender.start()
                received = bytearray()
                while piece := server.recv(65536):
                    received += piece
                took = time.monotonic() - begin
                sender.join()
                if received != data or took < count / rate + delay:
                    raise Failure(f"{len(received)} bytes, the same: {received == data}, after {took} s")
                if answers:
                    server.sendall(data[:1000])
                server.close()
                answer = b""
                while piece := client.recv(65536):
                    answer += piece
                client.close()
                if answer != (data[:1000] if answers else b""):
                    raise Failure(f"{len(answer)} bytes came back")
    finally:
        relay.kill()
        relay.wait()


def links(bench):
    """benchmarks/links tells for each link and amount from which length on a launch gains."""
    out = bench.tmp / "out"
    done = subprocess.run([sys.executable, "-B", str(ROOT / "benchmarks/links"), "--build", str(bench.build), "--out", str(out),
                           "--rates", "10", "--delays", "100,1000", "--bytes", "0,100000"],
                          env=bench.environment({}), capture_output=True, text=True, check=False)
    if done.returncode:
        raise Failure(f"exit {done.returncode}\n{done.stdout}{done.stderr}")
    found = json.loads((out / "links.json").read_text())["links"]
    if [link["name"] for link in found] != ["10 Gbit/s, 100 µs", "10 Gbit/s, 1000 µs", "loopback"]:
        raise Failure(f"{found}")
    for link in found:
        for cell in link["cells"]:
            lengths = [step["native"] for step in cell["steps"]]
            if cell["bound"] not in ("", "<", ">") or not min(lengths) <= cell["crossing"] <= max(lengths):
                raise Failure(f"{cell}")
    if "| 10 Gbit/s, 100 µs |" not in (out / "links.md").read_text():
        raise Failure("the table lacks a link")


def documentation(bench):
    """What docs/several-machines.md tells people to type, with servers of ours for theirs."""
    hosts = {"desk:12100": f"127.0.0.1:{PORTS[0]}", "rack:12100": f"127.0.0.1:{PORTS[1]}"}
    program = bench.tmp / "your_program"
    program.write_text("#!/bin/sh\nexec " + shlex.join(bench.sample("saxpy")) + "\n")
    program.chmod(0o755)
    ran = 0
    with serving(bench):
        for command in re.findall("^splitrun .*", (ROOT / "docs/several-machines.md").read_text(), re.MULTILINE):
            for written, ours in hosts.items():
                command = command.replace(written, ours)
            run = bench.native(["sh", "-c", command], cwd=bench.tmp, env={
                **ONE_DEVICE, "PATH": f"{bench.build / 'bin'}:{os.environ['PATH']}",
                "LIBSPLIT_CACHE_DIR": str(bench.tmp / "cache")})
            run.require_success()
            ran += 1
    if ran < 2:
        raise Failure(f"{ran} commands were found")


def silent_server(bench):
    """Where one host does not answer, it is named, and the program does not begin."""
    with serving(bench, PORTS[:1]):
        run = splitrun(bench, [], ["/bin/echo", "hello"])
    run.require(run.code == 2 and not run.stdout, "it is not refused")
    run.require(len(run.stderr.splitlines()) == 1 and f"127.0.0.1:{PORTS[1]}" in run.stderr
                and f"127.0.0.1:{PORTS[0]}" not in run.stderr, "not the one that is missing is named")


def standard_input(bench):
    """What a program reads is the program's: the driver listens to no descriptor that is not its own."""
    script = (f"{bench.build}/samples/saxpy --size 4096 && cat")
    with serving(bench):
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
            with serving(bench) as running:
                killer = threading.Thread(target=kill_once_busy, args=(running.processes[1], seconds))
                killer.start()
                run = splitrun(bench, ["--policy", "static:0.3,0.4,0.3"], command, dump=True, timeout=120)
                is_lost = running.processes[1].poll() is not None
                running.processes[1].kill()
                killer.join()
            lines = run.stderr
            run.require(not is_lost or re.search(told, lines), f"the loss is not told: {lines}")
            if is_lost and alone and run.code:
                run.require("CL_OUT_OF_RESOURCES" in lines, f"the program is told: {lines}")
            else:
                run.require_same_as(native, stderr=False)
            run.require(is_lost or seconds > 0.3, "it ended before the server was killed")


if __name__ == "__main__":
    try:
        servers.enter_namespace(Path(sys.argv[sys.argv.index("--build") + 1]).resolve())
    except servers.Unavailable as why:
        print(why)
        sys.exit(77)
    main({test.__name__: test for test in (devices, samples, applications, short_launches, slow_link, links, documentation,
                                           silent_server, standard_input, lost_server)})
