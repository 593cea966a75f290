"""Whole programs on the fake OpenCL: devices that fail on request, clocks and orders that no real one has."""

import json
import random
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "integration"), str(ROOT / "benchmarks")]
import suite  # noqa: E402
from harness import Failure, main  # noqa: E402

GPU = {"name": "gpu"}
CPU = {"name": "cpu", "type": "cpu"}
IN_CALLER = {"name": "in the caller", "type": "cpu", "in_caller": True}
# Launches take long beside what the host takes for them, which controllers see, and the clock of these devices does not.
TIMED_GPU = {"name": "gpu", "item_ns": 100000}
SLOW_CPU = {"name": "slow", "type": "cpu", "item_ns": 10000000}
GOOD_CPU = {"name": "good", "type": "cpu", "item_ns": 200000}
DENSE = {"name": "rects at one pitch", "dense_rects": True}

# Home first. Platforms of their own have contexts of their own anyway; these are what vendors ship.
MACHINES = {
    "two_gpus": [[GPU, GPU]],
    "three_gpus": [[GPU, GPU, GPU]],
    "two_cpus": [[CPU, CPU]],
    "gpu_and_cpu": [[GPU], [CPU]],
    "cpu_and_gpus": [[CPU], [GPU, GPU]],
    "in_caller_and_gpu": [[IN_CALLER], [GPU]],
    "cpu_and_dense_rects": [[CPU], [DENSE, DENSE | {"type": "cpu"}]],  # as by PoCL's remote driver
    "dense_rects": [[DENSE, DENSE]],
    "slow_cpu_and_gpus": [[SLOW_CPU], [TIMED_GPU, TIMED_GPU]],
    "good_cpu_and_gpus": [[GOOD_CPU], [TIMED_GPU, TIMED_GPU]],
    "busy_gpus": [[GPU | {"launch_us": 500}] * 2],
    "small_groups": [[GPU | {"max_group": 64}] * 2],  # what divides no prime number up to that
    "dear_times": [[GPU | {"timing_us": 100}] * 2],
}
# Those whose commands take the time that their clock says, so that a program can be ahead of them.
REAL = ("busy_gpus",)


def policies(devices):
    return ({"POLICY": "static:" + ",".join(["1"] * devices)},
            {"POLICY": "static:" + ",".join("123"[:devices]), "STAGING": "1K",  # many chunks
             "HALO_DEPTH": "2"},
            {"POLICY": "dynamic"}, {"POLICY": "auto", "MIN_LAUNCH": "0"})


# What a driver says that has no memory, no other resources, or lost its device.
ERRORS = (-4, -5, -6)
# What a program hears of bytes that were lost, or of an event behind which they should have been.
TOLD = "CL_OUT_OF_RESOURCES|CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST"


class Fake:
    def __init__(self, bench, machine="two_gpus"):
        self.bench = bench
        self.platforms = [{"name": f"Fake {i}", "devices": devices} for i, devices in enumerate(MACHINES[machine])]
        self.clock = "real" if machine in REAL else "virtual"
        self.report = bench.tmp / "report.json"

    @property
    def helper(self):
        """A device beside home, as splitrun numbers them."""
        return "0.1" if len(self.platforms) == 1 else "1.0"

    @property
    def devices(self):
        return sum(len(platform["devices"]) for platform in self.platforms)

    def run(self, sample, options=None, *, arguments=(), **how):
        return self.run_command(self.bench.sample(sample, *arguments), options, **how)

    def run_command(self, command, options=None, *, door="preload", script=(), seed=1, goes_on=False, slow_calls=None,
                    clock=None, callbacks_ms=0, kernels_ms=0, locks_events=False, timeout=None, env=None, stats=True):
        """Natively if there are no `options`."""
        timeout = timeout or (240 if self.bench.compilers else 60)  # what sanitizers look at takes its time
        compiled = self.bench.compilers.parent if self.bench.compilers else self.bench.build
        configuration = {"platforms": self.platforms, "seed": seed, "script": list(script), "goes_on": goes_on,
                         "clock": clock or self.clock, "slow_calls": slow_calls or {}, "callback_thread": seed % 2 == 1,
                         "callbacks_ms": callbacks_ms, "kernels_ms": kernels_ms, "locks_events": locks_events,
                         "cache": str(compiled / "tests" / "fake-cache"), "report": str(self.report)}
        env = (env or {}) | {"OCL_ICD_VENDORS": str(self.bench.build / "fake_opencl"), "OCL_ICD_PLATFORM_SORT": "none",
               "FAKE_OPENCL": json.dumps(configuration)}
        self.report.unlink(missing_ok=True)
        if options is not None:
            # The usual rings are larger than most programs' data, and to fill their pages takes longer than the run.
            options = {"WAIT_ANALYSIS": "1", "PERSIST": "0", "STAGING": "3M"} | options
        door = None if options is None else "layer" if self.bench.compilers else door
        return self.bench.run(command, door, options or {}, env=env, dump=True, timeout=timeout, stats=stats)

    def calls(self, device):
        return json.loads(self.report.read_text())["devices"][device]


def eventually(attempt, most=4):
    """What rests on how fast this machine is right then holds in one of some attempts; bytes must be right in all.
    `attempt` says what falls short, or nothing."""
    for _ in range(most):
        shortfall = attempt()
        if not shortfall:
            return
    raise Failure(f"{shortfall}, and so {most} times")


def sample(bench, name, machine, *arguments):
    """The same bytes, whatever the shares and the order in which devices do what they may do in any order."""
    fake = Fake(bench, machine)
    native = fake.run(name, arguments=arguments)
    native.require_success()
    misuse = json.loads(fake.report.read_text())["misuse"]
    for options in policies(fake.devices):
        for seed in (1, 2):
            run = fake.run(name, options, arguments=arguments, seed=seed)
            run.require_same_as(native)
            run.require(json.loads(fake.report.read_text())["misuse"] == misuse, "the driver was misused")


def policy_off(bench):
    """Nothing is split, and no other device is asked for anything; large copies go faster all the same, in parts."""
    fake = Fake(bench)
    command = [str(bench.build / "benchmarks" / "apps" / "saxpy_once"), "--size", str(1 << 20), "--iterations", "12"]
    native = fake.run_command(command)
    native.require_success()

    def copies():
        return fake.calls("0.0")["calls"].count("clEnqueueWriteBuffer")
    natively = copies()

    def attempt():
        fake.run_command(command, {"POLICY": "off", "STAGING": "1M"}, stats=False).require_same_as(native)
        if "clEnqueueNDRangeKernel" in fake.calls("0.1")["calls"]:
            raise Failure("it was split")
        return None if copies() > natively else f"{copies()} writes, {natively} natively"

    eventually(attempt)  # the memory for it is made beside the first copies


def cancelled(bench, machine):
    """Threads that are cancelled while they wait for libsplit, whatever the driver makes of that."""
    fake = Fake(bench, machine)
    for options in policies(fake.devices):
        fake.run("cancelled", options).require_success()


def locked_callback(bench, variant):
    """Callbacks that wait for what a thread of the program's holds while it waits, where drivers call back on a thread of
    their own."""
    fake = Fake(bench)
    arguments = ("--variant", variant)
    native = fake.run("locked_callback", arguments=arguments, kernels_ms=20)  # not over before the callback is set
    native.require_success()
    for options in policies(fake.devices):
        fake.run("locked_callback", options, arguments=arguments, kernels_ms=20).require_same_as(native)


def called_back_first(bench, machine):
    """Where the driver has waits go on only when callbacks are over, so do libsplit's, whatever the program waits for."""
    fake = Fake(bench, machine)
    arguments = ("--variant", "first", "--iterations", "12")
    native = fake.run("locked_callback", arguments=arguments, seed=2, kernels_ms=5)
    native.require_success()
    for options in policies(fake.devices):
        fake.run("locked_callback", options, arguments=arguments, seed=2, kernels_ms=5).require_same_as(native)


def called_back_early(bench, machine):
    """Callbacks for commands that are not over may call OpenCL, also where drivers call them with a lock for which those
    wait that ask for the event."""
    fake = Fake(bench, machine)
    arguments = ("--variant", "early")
    native = fake.run("locked_callback", arguments=arguments, locks_events=True)
    native.require_success()
    for options in policies(fake.devices):
        fake.run("locked_callback", options, arguments=arguments, locks_events=True).require_same_as(native)


def given_up(bench, machine):
    """Contexts go that the program gave up with commands pending: of twenty no more are left than of one, and of other
    objects not some for each. Which queues libsplit made by then, and what its threads still have, differs from run to run."""
    fake = Fake(bench, machine)
    for options in policies(fake.devices):
        def attempt():
            left = []
            for iterations in ("1", "20"):
                fake.run("given_up", options, arguments=("--iterations", iterations)).require_success()
                left.append(json.loads(fake.report.read_text())["left"])
            grown = {kind: count - left[0].get(kind, 0) for kind, count in left[1].items()}
            isLeak = grown["contexts"] > 0 or max(grown.values()) >= 19
            return f"{options}: left after one context: {left[0]}, after twenty: {left[1]}" if isLeak else None

        eventually(attempt) # the last one may be held still when the process ends


def slow_calls(bench, name, machine, *calls):
    """The same bytes where calls spend long with the driver before it has the command."""
    fake = Fake(bench, machine)
    native = fake.run(name)
    native.require_success()
    slow = {call: 2000 for call in calls}
    for options in policies(fake.devices):
        fake.run(name, options, slow_calls=slow).require_same_as(native)


def held_commands(bench, name, machine, variant, iterations, first, last):
    """The same bytes where one of the home device's commands waits until others have ended."""
    fake = Fake(bench, machine)
    arguments = ("--variant", variant, "--iterations", iterations)
    native = fake.run(name, arguments=arguments)
    native.require_success()
    options = {"POLICY": "static:" + ",".join(["1"] * fake.devices)}
    for number in range(int(first), int(last)):
        script = [{"hold": {"device": "0.0", "number": number, "others": 8}}]
        fake.run(name, options, arguments=arguments, script=script).require_same_as(native)


def rehearsal(bench, machine):
    """A processor beside GPUs of which nothing is known takes part if it is worth it, and never if it is not."""
    fake = Fake(bench, machine)
    arguments = ("--device", "1.0", "--size", "2048", "--iterations", "40")
    native = fake.run("nbody", arguments=arguments)
    native.require_success()
    run = fake.run("nbody", {"POLICY": "auto", "LOG": "info"}, arguments=arguments)
    told = run.stderr
    run.require_same_as(native, stderr=False)
    kernel = run.kernel("nbody")
    run.require(kernel["split_launches"] > 10, f"{kernel['split_launches']} launches were split: {kernel['reasons']}")
    if machine == "slow_cpu_and_gpus":
        run.require("device 0.0 is too slow to join" in told, f"it is not found to be slow:\n{told}")
        run.require(kernel["all_seconds"][0] == 0, "it was given a part of a launch")
    else:
        run.require("device 0.0 joins" in told, f"it does not join:\n{told}")
        run.require(kernel["all_seconds"][0] > 0, "it was given no part of a launch")


def outlook(bench):
    """In the variables that a user has, what splitting a cycle of launches would gain is worked out on a thread beside
    the program, which leaves the bytes that it leaves natively."""
    fake = Fake(bench)
    fake.platforms = [{"name": "Fake", "devices": [{"name": name, "launch_us": 10000} for name in ("a", "b")]}]
    default = {"WAIT_ANALYSIS": "0", "PERSIST": "1", "LOG": "debug"}
    told = ""
    # An earlier run leaves what it takes to prepare the kernel soon. How soon, on a thread of low priority, only the
    # machine can say.
    def command(iterations):
        return [*suite.command("jacobi2d_swap", bench.build / "benchmarks" / "apps", 128, iterations), "--together", "20"]
    fake.run_command(command(20), default | {"WAIT_ANALYSIS": "1"}, clock="real").require_success()
    for iterations in (200, 800, 3200, 12800):
        native = fake.run_command(command(iterations))
        native.require_success()
        run = fake.run_command(command(iterations), default, clock="real", timeout=300)
        told = run.stderr
        run.require_same_as(native, stderr=False)
        if "a cycle of 2 launches takes" in told:
            return
    run.require(False, f"nothing was worked out; the last that was said:\n{told[-1000:]}")


def sent_ahead(bench, variant, count):
    """What launches only read goes where it will be needed while they are at home still, so that the first that is split
    waits for less; and whatever the program does to it meanwhile, the bytes are its own."""
    # Behind long launches a hundred short ones are held up for less than those gain; to look through buffers takes long here.
    gpu = GPU | {"item_ns": 600 if variant == "long" else 150, "gb_per_s": 0.5}
    more = {"long": ("--iterations", "100"), "disturbed": ("--size", "16384")}.get(variant, ())
    fake = Fake(bench)
    fake.platforms = [{"name": "Fake", "devices": [gpu] * 2}]
    options = {"POLICY": "auto", "WAIT_ANALYSIS": "1", "PERSIST": "1", "LOG": "info"}
    # What is decided when depends on how fast this machine is right then: some run will do it, and all must be right.
    isSeen, tried = False, 0
    while tried < int(count) or (not isSeen and tried < 4 * int(count)):
        arguments = ("--variant", variant, "--seed", str(tried), *more)
        native = fake.run("sent_ahead", arguments=arguments)
        native.require_success()
        # What one run learnt on a busy machine is known to the next two, and not to all.
        learnt = {"CACHE_DIR": str(bench.tmp / f"cache {tried // 3}")}
        run = fake.run("sent_ahead", options | learnt, arguments=arguments, seed=tried, clock="real")
        run.require_same_as(native, stderr=False)
        isSplit = run.kernel("weigh")["split_launches"] > 0
        isSeen = isSeen or ("is sent ahead" in run.stderr and (isSplit or variant == "disturbed"))
        tried += 1
    if not isSeen:
        raise Failure(f"in {tried} runs nothing was sent ahead")


def let_go(bench):
    """Buffers are the program's alone again once nothing was split for a while, whether anything was before or launches
    were only timed, and are split again when that pays: the same bytes."""
    gpu = GPU | {"item_ns": 150}
    slow = GPU | {"item_ns": 15000}
    for others, isSplit in ((gpu, True), (slow, False)):
        fake = Fake(bench)
        fake.platforms = [{"name": "Fake", "devices": [gpu, others]}]
        seen = 0
        for together in ("1", "7"):
            arguments = ("--together", together)
            native = fake.run("two_phases", arguments=arguments)
            native.require_success()
            run = fake.run("two_phases", {"POLICY": "auto", "LOG": "debug"}, arguments=arguments, clock="real")
            run.require_same_as(native, stderr=False)
            split = run.kernel("relax")["split_launches"]
            run.require(split > 20 if isSplit else split < 20, f"{split} launches were split")
            seen += run.stderr.count("the program's alone again")
        if seen < 2:
            raise Failure(f"{'split' if isSplit else 'timed'}: buffers were let go of {seen} times")


def other_code(bench):
    """Who makes something else of the program's text than its own device takes no part, whether by a branch that another
    macro chose or by its value; who makes the same of it does, whatever else its compiler defines."""
    home = "-D__x86_64__=1 -D__SIZEOF_POINTER__=8"
    for others, isSplit in ((home, True), (home + " -D__GPU__=1", False), (home + " -D__CLOVER__=1", False),
                            (home + " -D__POCL_NEVER_SAID__=2", True), ("", False)):
        fake = Fake(bench, "gpu_and_cpu")
        fake.platforms = [{"name": "One", "devices": [GPU | {"options": home}]},
                          {"name": "Other", "devices": [CPU | {"options": others, "name": f"cpu {others}"}]}]
        native = fake.run("vendor_macros")
        native.require_success()
        run = fake.run("vendor_macros", {"POLICY": "static:1,1"})
        run.require_same_as(native, stderr=False)
        split = run.kernel("place_by_macros")["split_launches"]
        run.require((split > 0) == isSplit, f"{split} launches were split with a helper that has {others}")


def exit_handler(bench):
    """A program that waits for its work once main has returned, longer than libsplit does by itself."""
    fake = Fake(bench)
    fake.platforms = [{"name": "Fake", "devices": [GPU | {"launch_us": 2500000}] * 2}]
    native = fake.run("exit_handler", clock="real")
    native.require_success()
    for options in ({"POLICY": "static:1,1"}, {"POLICY": "dynamic"}, {"POLICY": "auto", "MIN_LAUNCH": "0"}):
        fake.run("exit_handler", options, clock="real").require_same_as(native)


def home_lost(bench):
    """A program that asks nothing but clFinish is told by it that its own device was lost, whichever command that was
    at."""
    fake = Fake(bench)
    options = {"POLICY": "static:1,1", "LOG": "error"}
    runs = 0
    for waited in ("1", "4"):
        arguments = ("--together", waited)
        fake.run("only_finished", options, arguments=arguments).require_success()
        for number in range(1, fake.calls("0.0")["commands"] + 1):
            run = fake.run("only_finished", options, arguments=arguments,
                           script=[{"lose": {"device": "0.0", "number": number}}])
            run.require(run.code == 1 and re.search(f"clFinish: ({TOLD})|clCreateBuffer", run.stderr),
                        f"lost at command {number}: clFinish did not tell")
            runs += 1
    print(f"{runs} runs, all of which ended with an error")


def late_callbacks(bench):
    """What launches take is known where they are not waited for, and the driver calls back late, for all of them at
    once, as NVIDIA's does."""
    fake = Fake(bench)
    fake.platforms = [{"name": "Fake", "devices": [{"name": name, "launch_us": 10000} for name in ("a", "b")]}]
    arguments = ("--size", "256", "--iterations", "200", "--together", "20")
    native = fake.run("nbody", arguments=arguments)
    native.require_success()

    def attempt():
        run = fake.run("nbody", {"WAIT_ANALYSIS": "0"}, arguments=arguments, clock="real", callbacks_ms=50)
        run.require_same_as(native)
        reasons = run.kernel("nbody")["reasons"]
        return f"launches of 10 ms: {reasons}" if any("too short" in reason for reason in reasons) else None

    eventually(attempt)


def held_kernels(bench):
    """A program can be built again where the driver still holds what libsplit launched of it, and no kernel that is made
    meanwhile is taken for one of the new build."""
    fake = Fake(bench)
    for sample, held in (("rebuilt", 20), ("built_by_threads", 100)):
        native = fake.run(sample)
        native.require_success()
        for options in policies(2):
            fake.run(sample, options, kernels_ms=held).require_same_as(native)


def read_back(bench):
    """What the program reads after each launch belongs to what splitting it costs: where that eats up the gain, launches
    stay at home."""
    fake = Fake(bench)
    fake.platforms = [{"name": "Fake", "devices": [{"name": "near", "item_ns": 100},
                                                   {"name": "far", "item_ns": 100, "gb_per_s": 0.02}]}]
    command = [str(bench.build / "benchmarks" / "shared_launches"), "--variant", "renewed", "--size", "400000",
               "--iterations", "80"]
    native = fake.run_command(command)
    native.require_success()

    def attempt():
        run = fake.run_command(command, {"POLICY": "auto"}, clock="real")
        run.require_same_as(native)
        kernel = run.kernel("stir")
        return kernel["split_launches"] > 25 and f"{kernel['split_launches']} launches of 80 were split: {kernel['reasons']}"

    eventually(attempt)


# Devices that differ in speed and in how fast bytes get to them, and what they do under other circumstances.
FAST = {"name": "fast", "item_ns": 100000, "gb_per_s": 0.02}
SLOW = {"name": "slow", "item_ns": 200000, "gb_per_s": 0.01, "transfer_us": 20}
TRACED = {
    "jacobi2d": ("--size", "512"),      # halos
    "nbody": ("--size", "2048"),        # what each writes, all read
    "matmul_naive": ("--size", "96"),   # two dimensions; one matrix goes to all
    "mandelbrot": ("--size", "256"),    # nothing is read
    "histogram": (),
}


def traced_on(bench, devices, program, options, iterations=12):
    fake = Fake(bench)
    fake.platforms = [{"name": "Fake", "devices": devices}]
    file = bench.tmp / "run.trace"
    run = fake.run(program, options | {"TRACE": str(file)}, arguments=(*TRACED[program], "--iterations", str(iterations)))
    run.require_success()
    return run, file.rename(bench.tmp / f"{len(list(bench.tmp.glob('*.trace')))}.trace")


def asked(bench, trace, *question):
    """What splittrace whatif answers."""
    command = [str(bench.build / "bin" / "splittrace"), "whatif", "--json", *question, str(trace)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode:
        raise Failure(f"{' '.join(command)}: {run.stderr}")
    return json.loads(run.stdout)


def what_if(bench, program):
    """What splittrace says of other shares, other devices and other links is within a tenth of what then happens."""
    traces = {iterations: traced_on(bench, [FAST, SLOW], program, {"POLICY": "static:1,1"}, iterations)[1]
              for iterations in (12, 48)}
    far = SLOW | {"gb_per_s": 0.0005, "transfer_us": 2000}
    cases = (
        (("--policy", "static:2,1"), [FAST, SLOW], {"POLICY": "static:2,1"}),
        (("--policy", "static:1,3"), [FAST, SLOW], {"POLICY": "static:1,3"}),
        (("--policy", "single:1"), [FAST, SLOW], {"POLICY": "single:1"}),
        (("--policy", "dynamic"), [FAST, SLOW], {"POLICY": "dynamic"}),
        (("--policy", "auto"), [FAST, SLOW], {"POLICY": "auto"}),
        (("--devices", "0.0"), [FAST, SLOW], {"POLICY": "single:0"}),
        (("--devices", "0.0,0.1,0.1", "--policy", "static:2,1,1"), [FAST, SLOW, SLOW], {"POLICY": "static:2,1,1"}),
        (("--devices", "0.0,0.0,0.1"), [FAST, FAST, SLOW], {"POLICY": "auto"}),
        (("--link", "0.1=0.0005,2000"), [FAST, far], {"POLICY": "static:1,1"}),
    )
    for question, devices, options in cases:
        # What goes home on the program's own queue, as much may under `auto` after a while, is timed by the host, whose clock
        # is not the devices' here.
        iterations = 12 if options["POLICY"] == "auto" else 48
        expected = asked(bench, traces[iterations], *question)["kernels"][0]

        # A thread that is held up begins later by the clock of the devices, too.
        def attempt():
            happened = asked(bench, traced_on(bench, devices, program, options, iterations)[1])["kernels"][0]
            figures = (f"{' '.join(question)}: {expected['seconds']} s expected, {happened['recorded_seconds']} s taken; a "
                       f"launch {expected['launch_seconds']} and {happened['recorded_launch_seconds']}; bytes "
                       f"{expected['bytes']} and {happened['recorded_bytes']}")
            print(figures, flush=True)
            near = all(0.9 < expected[key] / happened["recorded_" + key] < 1.1 for key in ("seconds", "launch_seconds"))
            return None if near else figures

        eventually(attempt)


def what_if_unknown(bench):
    """Of what a trace does not know nothing is said but why."""
    def reason(trace, *question):
        return asked(bench, trace, *question)["kernels"][0]["unknown"] or ""

    run, trace = traced_on(bench, [FAST, SLOW], "nbody", {"POLICY": "single:0"})
    told = reason(trace, "--policy", "static:1,1")
    run.require("never ran on 0.1" in told, f"it is told: {told}")
    answer = asked(bench, trace)
    run.require(answer["seconds"] is not None and answer["kernels"][0]["error"] < 0.01, f"{answer}")
    run, trace = traced_on(bench, [FAST, SLOW], "histogram", {"POLICY": "static:1,1"}, 4)
    told = reason(trace, "--policy", "static:2,1")
    run.require("merged" in told, f"it is told: {told}")
    for question, complaint in ((("--devices", "0.0,0.7"), "no device 0.7"), (("--link", "0.7=2"), "no device 0.7"),
                                (("--policy", "static:1,1,1"), "more shares"), (("--policy", "best"), "no policy"),
                                (("--link", "fast"), "GB/S")):
        refused = subprocess.run([str(bench.build / "bin" / "splittrace"), "whatif", *question, str(trace)],
                                 capture_output=True, text=True, check=False)
        run.require(refused.returncode in (1, 2) and complaint in refused.stderr and not refused.stdout, f"{refused}")
    # What the first version wrote.
    first = bench.tmp / "first.json"
    events = subprocess.run([str(bench.build / "bin" / "splittrace"), "chrome", str(trace)], capture_output=True,
                            text=True, check=True).stdout
    first.write_text("\n".join(line for line in events.splitlines() if "libsplit_" not in line))
    refused = subprocess.run([str(bench.build / "bin" / "splittrace"), "whatif", str(first)], capture_output=True,
                             text=True, check=False)
    run.require(refused.returncode == 1 and "version 1" in refused.stderr, f"{refused}")


# Of the ways in, of memories, of finding shares: each pair once, at least. Which kernels are split is looked at where
# shares are static.
APPLICATION_WAYS = (
    ("two_gpus", "preload", {"POLICY": "static:1,1"}),
    ("two_cpus", "layer", {"POLICY": "static:1,1"}),
    ("cpu_and_gpus", "layer", {"POLICY": "static:1,2,3", "VERIFY": "1"}),
    ("two_cpus", "preload", {"POLICY": "static:2,3", "VERIFY": "1"}),
    ("gpu_and_cpu", "preload", {"POLICY": "auto", "MIN_LAUNCH": "0"}),
)


def application(bench, name):
    """An application of benchmarks/apps gives the very bytes that it gives natively, verification finds nothing to
    say, its kernels are split as the table says, and no more than necessary moves where that is known."""
    app = suite.APPLICATIONS[name]
    command = suite.command(name, bench.build / "benchmarks" / "apps", app.small, app.iterations)
    native = Fake(bench).run_command(command)
    native.require_success()
    native.require(native.dump, "the program wrote no output")
    ways = [(*way, app.kernels) for way in APPLICATION_WAYS]
    if app.options:
        ways += [(machine, door, options | app.options, app.kernels | app.more)
                 for machine, door, options in APPLICATION_WAYS[:3]]
    for machine, door, options, kernels in ways:
        run = Fake(bench, machine).run_command(command, options, door=door)
        run.require_same_as(native)
        if not options["POLICY"].startswith("static"):
            continue
        # A program that is built twice has its kernels twice.
        done = {each["name"]: [] for each in run.stats["kernels"]}
        for each in run.stats["kernels"]:
            done[each["name"]].append(each)
        run.require(set(done) == set(kernels), f"launched were {sorted(done)}, the table has {sorted(kernels)}")
        for kernel, how in kernels.items():
            rungs = {each["rung"] for each in done[kernel] if each["split_launches"]}
            if how not in suite.MARKS:
                run.require(not rungs, f"{kernel} was split; the table says: {how}")
            elif machine == "two_gpus":
                reasons = [each["reason"] for each in done[kernel]]
                run.require(rungs == {how}, f"{kernel} was split by rung {rungs}, not {how}: {reasons}")


    if app.moved:
        least, moved = app.moved(app.small), moved_by_iteration(bench, name)
        if moved != least:
            raise Failure(f"{moved} bytes move in an iteration, {least} must")


def pipelined(bench, name):
    """An application that does not wait for its launches gives the very bytes that it gives natively, though halos go
    ahead of the launches that read them; on a grid whose both ends other devices need, boundaries come first, also where
    it waits now and then."""
    app = suite.APPLICATIONS[name]
    size = app.small * (2 if name.startswith("lattice") else 4)  # for boundaries to be small parts
    command = [*suite.command(name, bench.build / "benchmarks" / "apps", size, 40), "--together"]
    native = Fake(bench).run_command([*command, "1000"])
    native.require_success()
    trace = bench.tmp / "run.trace"
    for machine in ("two_gpus", "cpu_and_gpus"):
        for options in policies(2 if machine == "two_gpus" else 3)[:2]:
            for seed, together in ((1, "1000"), (2, "8")):
                def attempt():
                    Fake(bench, machine).run_command([*command, together], options | {"TRACE": str(trace)},
                                                     seed=seed).require_same_as(native)
                    # Where pieces overlap, they mostly find there what they need.
                    if not name.startswith("lattice") or machine != "two_gpus" or "HALO_DEPTH" in options:
                        return None
                    told = subprocess.run([str(bench.build / "bin" / "splittrace"), "--json", str(trace)],
                                          capture_output=True, text=True, check=True)
                    for kernel in json.loads(told.stdout)["kernels"]:
                        for device in kernel["devices"]:
                            # Behind a wait nothing is late, which is looked at for a while.
                            least = 2 * kernel["launches"] if together == "1000" else kernel["launches"] + 1
                            if device["pieces"] < least:
                                return (f"{device['pieces']} pieces of {kernel['launches']} launches on a device: "
                                        "the boundary did not come first")
                    return None

                eventually(attempt) # whoever enqueues may be held up until nothing is late


def untimed(bench):
    """Where timing commands costs much it is done seldom once shares are found, unless a policy or the program needs the
    times. The bytes are the same."""
    stats = bench.tmp / "stats.json"

    def parts(name, size, launches, options, machine, clock):
        """By device and wait, which part of its commands was timed; and a text if too few launches were split."""
        timed = []
        fake = Fake(bench)
        fake.platforms = [{"name": "Fake", "devices": [machine] * 2}]
        command = [*suite.command(name, bench.build / "benchmarks" / "apps", size, launches), "--together"]
        native = fake.run_command([*command, "1"], clock=clock)
        native.require_success()
        for together in ("1", "20"):
            fake.run_command([*command, together], options | {"STATS": str(stats)}, clock=clock).require_same_as(native)
            split = json.loads(stats.read_text())["totals"]["split_launches"]
            if split < 0.8 * launches:
                return [], f"only {split} of {launches} launches were split under {options}"
            for device in ("0.0", "0.1"):
                calls = fake.calls(device)
                timed.append(calls["timed_commands"] / calls["commands"])
        return timed, None

    halo = suite.APPLICATIONS["jacobi2d_swap"].small
    timed, shortfall = parts("jacobi2d_swap", halo, 400, {"POLICY": "static:1,1"}, GPU | {"timing_us": 5000}, "virtual")
    if shortfall or max(timed) > 0.2:
        raise Failure(shortfall or f"{timed} of the commands were timed, and nobody learns from that")
    timed, shortfall = parts("jacobi2d_swap", halo, 40, {"POLICY": "broyden"}, GPU | {"timing_us": 100}, "virtual")
    if shortfall or min(timed) < 0.5: # the program's own commands are not
        raise Failure(shortfall or f"{timed} of the commands were timed, from which a policy learns")
    slow = GPU | {"timing_us": 200, "item_ns": 8000}

    def attempt():
        told, shortfall = parts("aes", 512, 250, {"POLICY": "auto", "MIN_LAUNCH": "0", "WAIT_ANALYSIS": "1"}, slow, "real")
        isMany = bool(told) and max(told) > 0.7
        return f"{told} of the commands were timed, though shares were found" if isMany else shortfall

    eventually(attempt)


def open_sizes(bench):
    """Launches that leave the local size open get the one that is fastest, whole and in pieces, in queues of each kind, and
    later runs go on from there; where the driver's must be tiny, another from the beginning, under every policy. The bytes
    are the same, and kernels that see the size get the driver's."""
    stats = bench.tmp / "stats.json"
    cache = bench.tmp / "cache"
    # Its groups are of one work-item where no number up to 64 divides the NDRange. Launches take long beside what the host
    # takes for them: those that don't are not tried on.
    gpu = GPU | {"max_group": 64, "item_ns": 1000, "local_sizes": {"driver's": 8, "*": 4, "4x16x1": 1}}
    launches = 300
    best = "4x16"

    def chosen():
        kernels = {kernel["name"]: kernel for kernel in json.loads(stats.read_text())["kernels"]}
        last = kernels["columns"]["ndranges"][-1]
        return {last["local_size"], last["local_size_in_parts"]} - {None}

    for devices, options in ((2, {"POLICY": "static:1,0"}), (2, {"POLICY": "static:1,1"}), (2, {"MIN_LAUNCH": "0"}),
                             (2, {"MIN_LAUNCH": "10000000"}), (3, {"MIN_LAUNCH": "0"}), (2, {"LOCAL_SIZE": "driver"})):
        for variant in ("plain", "profiled", "out_of_order"):
            for size in (67, 64):
                fake = Fake(bench)
                fake.platforms = [{"name": "Fake", "devices": [gpu] * devices}]
                arguments = ("--variant", variant, "--size", str(size), "--iterations", str(launches), "--together", "4")
                native = fake.run("open_sizes", arguments=arguments)
                native.require_success()
                for path in cache.glob("*"):
                    path.unlink()
                options = options | {"STATS": str(stats), "PERSIST": "1", "CACHE_DIR": str(cache)}
                learns = "POLICY" not in options and "LOCAL_SIZE" not in options
                for _ in range(2 if learns else 1):
                    fake.run("open_sizes", options, arguments=arguments).require_same_as(native)
                drivers = fake.calls("0.0")["local_sizes"].get("driver's", 0)
                case = f"{options}, {variant}, {size}"
                if "LOCAL_SIZE" in options and chosen():
                    raise Failure(f"{case}: local sizes were chosen")
                if size == 67 and options.get("POLICY") == "static:1,0" and drivers > 2 * launches:
                    raise Failure(f"{case}: {drivers} launches by the driver's choice, and two kernels need it")
                if not learns or variant != "plain":
                    continue
                for _ in range(10):
                    if best in chosen():
                        break
                    fake.run("open_sizes", options, arguments=arguments).require_same_as(native)
                if best not in chosen():
                    raise Failure(f"{case}: {chosen()} was chosen, and {best} is fastest")


def late_starts(bench):
    """Two devices alike, whose driver takes long to be handed each command. Where the program waits for each launch, the
    second begins that much later, and gets so much less that both end together; where it does not, both get the same."""
    stats = bench.tmp / "stats.json"
    fake = Fake(bench)
    fake.platforms = [{"name": "Fake", "devices": [GPU | {"launch_us": 0, "item_ns": 100}] * 2}]
    command = suite.command("mandelbrot", bench.build / "benchmarks" / "apps", 448, 60)  # 10 ms each, on one
    native = fake.run_command(command, clock="real")
    native.require_success()

    def attempt():
        fake.run_command(command, {"MIN_LAUNCH": "0", "STATS": str(stats)}, clock="real",
                         slow_calls={"clEnqueueNDRangeKernel": 2000}).require_same_as(native)
        kernel, = json.loads(stats.read_text())["kernels"]
        shares = kernel["ndranges"][-1]["last_shares"]
        return None if 0.57 < shares[0] < 0.64 else f"the shares are {shares}, and 0.6 and 0.4 would end together"

    eventually(attempt)


def held_up(bench):
    """A program that enqueues thousands of launches ahead, of ever other sizes, none of which is split: what is timed at
    home makes the driver wait for libsplit behind it, so that is done seldom."""
    stats = bench.tmp / "stats.json"
    fake = Fake(bench)
    gpu = GPU | {"launch_us": 20, "item_ns": 0.1, "timing_us": 7}
    fake.platforms = [{"name": "Fake", "devices": [gpu] * 2}]
    command = suite.command("lu", bench.build / "benchmarks" / "apps", 384, 6)
    native = fake.run_command(command, clock="real")
    native.require_success()
    options = {"PERSIST": "1", "WAIT_ANALYSIS": "0", "STATS": str(stats)}

    def attempt():
        for _ in ("empty caches, at first", "what that run left"):
            fake.run_command(command, options, clock="real").require_same_as(native)
        kernels = json.loads(stats.read_text())["kernels"]
        timed = sum(kernel["reasons"].get("it was timed on the program's own device", 0) for kernel in kernels)
        launches = sum(kernel["launches"] for kernel in kernels)
        return f"{timed} of {launches} launches were timed at home" if timed > 0.02 * launches else None

    eventually(attempt)


def moved_by_iteration(bench, name):
    """Bytes between two GPUs, once things have settled."""
    totals = []
    for iterations in (8, 16):
        app = suite.APPLICATIONS[name]
        command = suite.command(name, bench.build / "benchmarks" / "apps", app.small, iterations)
        totals.append(Fake(bench).run_command(command, {"POLICY": "static:1,1"}).total("bytes_between_nodes"))
    return (totals[1] - totals[0]) / 8


def shared_out(bench):
    """What a program writes again and again goes to each device for what that read of it the last time, not home first."""
    iterations = 6
    command = suite.command("image_pipeline", bench.build / "benchmarks" / "apps", 512, iterations)
    run = Fake(bench).run_command(command, {"POLICY": "static:1,1", "LOG": "debug"})
    run.require(run.code == 0, "the program's own check failed")
    run.require(run.stderr.count("the application to node") >= iterations - 2, "the images were written at home")


def application_table(bench):
    """The table of benchmarks/apps/README.md is the one that suite.py has, and no program is without a line."""
    if suite.README.read_text() != suite.readme_with_table():
        raise Failure(f"{suite.README} is out of date; repair with: {suite.__file__} --write")
    built = {path.name for path in (bench.build / "benchmarks" / "apps").iterdir() if path.is_file() and
             path.stat().st_mode & 0o100}
    listed = {app.program for app in suite.APPLICATIONS.values()}
    if built != listed:
        raise Failure(f"built but not listed, or the reverse: {sorted(built ^ listed)}")


def deeper_halos(bench):
    """Of devices that also run groups of their neighbours: the same bytes, and no more of them move than each exchange
    must bring for the launches until the next one. Only where all devices are of one kind do they so."""
    size, group, first, last = 512, 16, 60, 120
    cell = 4

    def moved(machine, depth, iterations, seed, native, **more):
        fake = Fake(bench)
        fake.platforms = [{"name": f"Fake {i}", "devices": devices} for i, devices in enumerate(machine)]
        devices = sum(len(each) for each in machine)
        options = {"POLICY": "static:" + ",".join(["1"] * devices), "HALO_DEPTH": str(depth)} | more
        run = fake.run("jacobi2d", options, arguments=("--size", str(size), "--iterations", str(iterations)), seed=seed)
        run.require_same_as(native)
        run.require_split("jacobi2d")
        return run, run.total("bytes_between_nodes")

    natives = {}
    for iterations in (first, last):
        natives[iterations] = Fake(bench).run("jacobi2d", arguments=("--size", str(size), "--iterations", str(iterations)))
        natives[iterations].require_success()
    other = {"name": "another gpu"}
    for machine, alike, unlike in (([[GPU] * 2], 1, 0), ([[GPU] * 4], 3, 0), ([[GPU], [GPU]], 1, 0),
                                   ([[CPU], [GPU] * 3], 2, 1), ([[GPU, GPU, other, GPU]], 1, 2)):
        for depth in (0, 1, 2, 4):
            # By boundary between two devices, of inner cells and those between: a row each way at each launch, or at every
            # (depth + 1)-th launch what the groups beyond it read, if no two exchange at each anyway.
            launches, deep = last - first, 0 if unlike else depth
            exchanges = 2 * (alike + unlike) * launches // (deep + 1)
            expected = exchanges * (group * deep * size + size - 2) * cell
            seed = 1 + depth % 2
            _, before = moved(machine, depth, first, seed, natives[first])
            run, after = moved(machine, depth, last, seed, natives[last])
            run.require(after - before == expected,
                        f"depth {depth}: {launches} launches cost {after - before} bytes, expected {expected}")
    run, _ = moved([[GPU] * 4], 2, first, 1, natives[first], VERIFY="1")
    run.require(run.total("verified_launches") == first and run.total("differing_launches") == 0, "it was not verified")


def refusals(bench, name, machine="two_gpus", stride="1", policy="static:1,1", *arguments):
    """Each call that concerns the helper fails once, with each of three errors: nobody notices."""
    fake = Fake(bench, machine)
    helper = fake.helper
    options = {"POLICY": policy, "LOG": "error"}
    native = fake.run(name, arguments=arguments)
    native.require_success()
    fake.run(name, options, arguments=arguments).require_same_as(native)
    calls = len(fake.calls(helper)["calls"])
    runs = 0
    for number in range(1, calls + 1, int(stride)):
        error = ERRORS[(number // int(stride)) % len(ERRORS)] if int(stride) > 1 else None
        for each in (error,) if error else ERRORS:
            script = [{"fail_call": {"device": helper, "number": number, "error": each}}]
            fake.run(name, options, arguments=arguments, script=script).require_same_as(native)
            runs += 1
    print(f"{runs} runs, each with one of {calls} calls refused: all as natively")


def full_home(bench, name, *arguments):
    """The program's device has the memory that the program needs natively, and as much beside that as libsplit's first
    questions to the driver take for a moment: what libsplit would have there goes when the program wants it, or the
    launch is not split. The same bytes and codes."""
    native_of = Fake(bench)
    most = 0
    for _ in range(8):  # in some it has released a buffer before it makes the next, in others not
        native = native_of.run(name, arguments=arguments)
        native.require_success()
        most = max(most, native_of.calls("0.0")["most_memory"])
    runs = 0
    for memory in (most + 16384, most + 16384 + most // 4, 2 * most):
        for options in policies(2):
            fake = Fake(bench)
            fake.platforms = [{"name": "Fake", "devices": [GPU | {"memory": memory, "largest": memory}, GPU]}]
            fake.run(name, options, arguments=arguments).require_same_as(native)
            runs += 1
    print(f"{runs} runs: all as natively")


def few_queues(bench, name):
    """The program's device gives libsplit no queue, or not all that it wants: nobody notices."""
    for device in (GPU, CPU):
        fake = Fake(bench)
        fake.platforms = [{"name": "Fake", "devices": [device, device]}]
        native = fake.run(name)
        native.require_success()
        for most in range(1, 6):
            fake.platforms = [{"name": "Fake", "devices": [device | {"most_queues": most}, device]}]
            for options in policies(2):
                fake.run(name, options).require_same_as(native)


def full_device(bench, variant):
    """Who must not be kept waiting wants a buffer when the device is full: the same answers as natively, and no hang."""
    size = 16384
    home = {"memory": 3 * 4 * size + 16384, "largest": 3 * 4 * size + 16384}
    machines = ([{"name": "A", "devices": [CPU | home]}, {"name": "B", "devices": [GPU]}],
                [{"name": "Fake", "devices": [CPU | home, CPU]}])
    if variant != "kernel":
        machines += ([{"name": "Fake", "devices": [GPU | home, GPU]}],)
    for platforms in machines:
        fake = Fake(bench)
        fake.platforms = platforms
        for seed in (1, 2):
            arguments = ("--variant", variant, "--size", str(size))
            native = fake.run("full_device", arguments=arguments, seed=seed)
            native.require_success()
            for options in policies(2):
                fake.run("full_device", options, arguments=arguments, seed=seed).require_same_as(native)


def full_device_late(bench):
    """What a full device asked for, over a slow link, comes when the program has given its buffer up: it does not get into
    the place of the next one."""
    size = 65536
    fake = Fake(bench)
    gpu = GPU | {"memory": 10 * 4 * size, "largest": 10 * 4 * size, "gb_per_s": 0.0005}
    fake.platforms = [{"name": "Fake", "devices": [gpu, gpu]}]
    arguments = ("--variant", "late", "--size", str(size), "--iterations", "1")
    native = fake.run("full_device", arguments=arguments, clock="real")
    native.require_success()
    for options in policies(2):
        fake.run("full_device", options, arguments=arguments, clock="real").require_same_as(native)


def error_notices(bench):
    """A context's callback that calls OpenCL hears of what fails, in whatever call libsplit made it, and the program goes
    on."""
    fake = Fake(bench)
    options = {"POLICY": "static:1,1"}
    fake.run("error_notices", options).require_success()
    calls = fake.calls("0.0")["calls"]
    made = calls.index("clCreateContext", calls.index("clCreateContext") + 1)  # the second is the program's that tells
    numbers = [i + 1 for i in range(made + 1, len(calls)) if calls[made:i].count(calls[i]) < 3]
    for number in numbers:
        fake.run("error_notices", options, script=[{"fail_call": {"device": "0.0", "number": number}}]).require_success()
    print(f"{len(numbers)} runs, all of which ended")


def windowed(bench, name, least, *arguments):
    """A helper that can't hold the program's buffers holds what its parts touch: the same bytes, and it takes part.
    `least`: the part of the buffers' bytes that is enough for that."""
    fake = Fake(bench)
    native = fake.run(name, arguments=arguments)
    native.require_success()
    most = fake.calls("0.0")["most_memory"]
    part = float(least)
    for memory in (int(most * part), int(most * (1 + part) / 2)):
        for options in ({"POLICY": "static:1,1"}, {"POLICY": "static:1,1", "VERIFY": "1"},
                        {"POLICY": "static:1,1", "HALO_DEPTH": "4"},
                        {"POLICY": "static:3,2", "STAGING": "1K"}, {"POLICY": "fixed-point"},
                        {"POLICY": "auto", "MIN_LAUNCH": "0"}, {"POLICY": "dynamic"}):
            for by_option in (False, True):
                helper = {"name": "small", "item_ns": 3} | ({} if by_option else {"memory": memory})
                fake.platforms = [{"name": "Fake", "devices": [GPU, helper]}]
                limit = {"DEVICE_MEMORY": str(memory)} if by_option else {}
                for seed in (1, 2):
                    run = fake.run(name, options | limit | {"LOG": "info"}, arguments=arguments, seed=seed)
                    told = run.stderr
                    run.require_same_as(native, stderr=False)
                    if options["POLICY"] in ("auto", "dynamic"):
                        continue  # whether it is worth it is for `auto` to say; chunks need whole copies
                    run.require("device 0.1 holds bytes [" in told, f"no copy was a part of a buffer:\n{told}")
                    kernel = run.stats["kernels"][0]
                    run.require(kernel["split_launches"] > 0, f"nothing was split: {kernel['reasons']}")
                    run.require("is split without" not in told, f"the helper was left out:\n{told}")


# A driver that promises little for one buffer and takes more, as NVIDIA's does: all buffers but the smallest are pooled.
PROMISES_LITTLE = {"largest": 1000, "takes_larger": True}


def pooled_machine(bench, memory, **more):
    fake = Fake(bench)
    fake.platforms = [{"name": "Fake", "devices": [{"name": name, "memory": memory} | more for name in ("a", "b")]}]
    return fake


def run_pooled(bench, command, least):
    fake = Fake(bench)
    native = fake.run_command(command)
    native.require_success()
    most = fake.calls("0.0")["most_memory"]
    part = float(least)
    for memory in (int(most * part), int(most * (1 + part) / 2), int(most * 1.2)):
        for options in ({"POLICY": "static:1,1"}, {"POLICY": "static:3,1", "STAGING": "1K"}, {"POLICY": "auto", "MIN_LAUNCH": "0"},
                        {"POLICY": "single:1"}, {"POLICY": "single:0"}, {"POLICY": "dynamic", "VERIFY": "1"}):
            for door, seed in (("preload", 1), ("layer", 2)):
                run = pooled_machine(bench, memory, **PROMISES_LITTLE).run_command(
                    command, options | {"POOL_MEMORY": "1", "LOG": "info"}, seed=seed, door=door)
                told = run.stderr
                run.require_same_as(native, stderr=False)
                run.require(" is pooled" in told, f"no buffer was pooled:\n{told}")
                if memory < most and "single" not in options["POLICY"]:
                    split = sum(each["split_launches"] for each in run.stats["kernels"])
                    run.require(split > 0, f"nothing was split: {[each['reasons'] for each in run.stats['kernels']]}")


def pooled(bench, name, least, *arguments):
    """A program whose buffers no device holds alone, with the memories of all as one: the same bytes as on one large
    device, and both take part. `least`: the part of the buffers' bytes that each device has; from there up to all of
    them. Where both together hold less than all, the rest lies in the host's memory."""
    run_pooled(bench, bench.sample(name, *arguments), least)


def pooled_application(bench, name, least):
    """The same of an application of benchmarks/apps."""
    app = suite.APPLICATIONS[name]
    run_pooled(bench, suite.command(name, bench.build / "benchmarks" / "apps", app.small, app.iterations), least)


def pooled_full(bench):
    """A program sees the memories of all devices as one, may have that much in one buffer and not a byte more, and makes
    buffers until the host has no memory for the next: then it hears what a driver says, and all that it has still works.
    Without the variable it sees what it saw before."""
    memory, size = 400000, 1 << 14  # of 64 KiB
    arguments = ("--size", str(size), "--variant", "full", "--iterations", "1")
    native = Fake(bench).run("large_buffers", arguments=arguments[:2] + arguments[4:])
    native.require_success()
    for host, options in (("300K", {"POLICY": "static:1,1"}), ("1M", {"POLICY": "auto", "MIN_LAUNCH": "0"}),
                          ("2M", {"POLICY": "static:1,2", "STAGING": "1K"})):
        fake = pooled_machine(bench, memory)
        run = fake.run("large_buffers", options | {"POOL_MEMORY": host, "LOG": "info"}, arguments=arguments)
        told = run.stderr
        run.require_same_as(native, stderr=False)
        most = int(host[:-1]) * (1024 if host.endswith("K") else 1024 * 1024)
        made = told.count(f"a buffer of {4 * size} bytes is pooled")
        run.require(f"the host has no memory for a buffer of {4 * size} bytes" in told, f"memory was not full:\n{told}")
        run.require(made == most // (4 * size), f"{made} buffers were pooled in {most} bytes")
    for options in (None, {"POLICY": "static:1,1"}):
        run = pooled_machine(bench, memory).run("large_buffers", options, arguments=arguments)
        run.require("pooled" not in run.stderr, "a buffer was pooled without the variable")


def pooled_pending(bench, variant):
    """A launch on a buffer that no device holds, with something that the program holds back: its room at home is
    not given to buffers that are made meanwhile; what is not pooled needs no waiting for other queues. `nearly`: a
    buffer that is there as a whole, since all but its last bytes are needed."""
    arguments = ("--variant", variant)
    native = Fake(bench).run("pending_launches", arguments=arguments)
    native.require_success()
    for options in (*policies(2), {"POLICY": "single:0"}, {"POLICY": "single:1"}):
        for seed in (1, 2):
            run = pooled_machine(bench, 60000, largest=10000, takes_larger=True).run(
                "pending_launches", options | {"POOL_MEMORY": "1"}, arguments=arguments, seed=seed)
            run.require_same_as(native)


def pooled_strictly(bench):
    """Drivers that take no buffer larger than they promise, though each device has room for all of the program's."""
    arguments = ("--size", str(1 << 14))  # of 64 KiB
    native = Fake(bench).run("large_buffers", arguments=arguments)
    native.require_success()
    for memory, largest in ((400000, 60000), (400000, 10000), (100000, 30000)):
        for options in ({"POLICY": "static:1,1"}, {"POLICY": "static:1,5", "STAGING": "1K"}, {"POLICY": "single:1"}):
            run = pooled_machine(bench, memory, largest=largest).run(
                "large_buffers", options | {"POOL_MEMORY": "1", "STAGING": "1K"}, arguments=arguments)
            run.require_same_as(native)


def pooled_calls(bench, count, first="1", threads="1"):
    """Random calls on pooled buffers, by several threads at once: the same bytes as on one large device. What does not
    fit a device even by work-groups is refused, and nothing else is."""
    native_of = Fake(bench)
    runs = refused = 0
    for seed in range(int(first), int(first) + int(count)):
        arguments = ("--size", str(seed), "--variant", threads)
        native = native_of.run("random_calls", arguments=arguments)
        native.require_success()
        draw = random.Random(seed)
        for memory in ("80000", "98304", "163840", "1000000") if threads == "1" else ("163840", "1000000"):
            staging = draw.choice(({}, {"STAGING": "1K"}))
            run = pooled_machine(bench, int(memory), **PROMISES_LITTLE).run(
                "random_calls", draw.choice(policies(2)) | {"POOL_MEMORY": "1"} | staging, arguments=arguments, seed=seed)
            runs += 1
            if run.code == 1 and memory != "1000000" and "can't be launched" in run.stderr:
                refused += 1
            else:
                run.require_same_as(native)
    print(f"{runs} runs of {count} random programs; {refused} needed more than a device has")


def pooled_failures(bench, name, memory, every, *arguments):
    """Each `every`-th call refused and command failed of either device, and each device lost at each of these: the same
    bytes as natively, or an error."""
    native = Fake(bench).run(name, arguments=arguments)
    native.require_success()
    wrong = re.compile(f"{TOLD}|CL_(INVALID_|MEM_OBJECT_ALLOCATION_FAILURE|OUT_OF_HOST_MEMORY)")
    runs = told = 0
    for device in ("0.0", "0.1"):
        for kind, last in (("fail_call", 240), ("fail_command", 90), ("lose", 90)):
            for number in range(1, last, int(every)):
                mishap = {kind: {"device": device, "number": number} | ({} if kind == "lose" else {"error": -4})}
                run = pooled_machine(bench, int(memory), **PROMISES_LITTLE).run(
                    name, {"POLICY": "static:1,1", "POOL_MEMORY": "1", "STAGING": "64K"}, arguments=arguments, script=[mishap])
                runs += 1
                if run.code == 1 and wrong.search(run.stderr):
                    told += 1
                else:
                    run.require_same_as(native, stderr=False)
    print(f"{runs} runs, {told} of which ended with an error")


def few_threads(bench, name, machine, policy, *arguments):
    """Each thread that libsplit asks for is refused once, then all from the first or from some other on: nobody
    notices."""
    fake = Fake(bench, machine)
    options = {"POLICY": policy, "MIN_LAUNCH": "0", "LOG": "error"}
    native = fake.run(name, arguments=arguments)
    native.require_success()
    count = bench.tmp / "threads"
    door = bench.build / "doors" / "libdoor_few_threads.so"

    def run(refused):
        env = {"LD_PRELOAD": f"{door} {bench.library}", "REFUSED_THREADS": refused, "COUNT_FILE": str(count)}
        fake.run(name, options, arguments=arguments, env=env).require_same_as(native)
        return int(count.read_text())

    asked = run("0-0")
    if asked == 0:
        raise Failure("it asks for no thread")
    ranges = [f"{i}-{i}" for i in range(1, asked + 1)] + [f"{i}-1000000" for i in range(1, asked + 1, max(1, asked // 8))]
    for each in ranges:
        run(each)
    print(f"{len(ranges)} runs, each of which got some of {asked} threads too few: all as natively")


def failures(bench, name, goes_on="0", machine="two_gpus", stride="1", depth="0", *arguments):
    """Each command of the helper fails, or loses the device: the same result, or an error; never another result.
    Bytes that a device had alone are lost with it. `depth`: of halos."""
    fake = Fake(bench, machine)
    helper = fake.helper
    devices = fake.devices
    options = {"POLICY": "static:" + ",".join(["1"] * devices), "LOG": "error", "HALO_DEPTH": depth}
    native = fake.run(name, arguments=arguments)
    native.require_success()
    fake.run(name, options, arguments=arguments).require_same_as(native)
    commands = fake.calls(helper)["commands"]
    counts = {"same": 0, "error": 0}
    for kind in ("fail_command", "lose"):
        for number in range(1, commands + 1, int(stride)):
            script = [{kind: {"device": helper, "number": number, "error": -5}}]
            run = fake.run(name, options, arguments=arguments, goes_on=goes_on == "1", script=script)
            told = run.code == 1 and re.search(TOLD, run.stderr)
            if told:
                counts["error"] += 1
            else:
                run.require_same_as(native)
                counts["same"] += 1
    print(f"{2 * commands} commands failed: {counts['same']} times as natively, {counts['error']} times an error")


def refused_recovery(bench, name, runs, machine="two_gpus", *arguments):
    """A command of the helper fails, and a call of home's is refused, by chance one that was to do it again: the same
    result, or an error; never another result, and no hang."""
    fake = Fake(bench, machine)
    helper = fake.helper
    devices = fake.devices
    options = {"POLICY": "static:" + ",".join(["1"] * devices), "LOG": "error"}
    native = fake.run(name, arguments=arguments)
    native.require_success()
    fake.run(name, options, arguments=arguments).require_same_as(native)
    commands, calls = fake.calls(helper)["commands"], len(fake.calls("0.0")["calls"])
    counts = {"same": 0, "error": 0}
    draw = random.Random(name)
    for _ in range(int(runs)):
        kind, error = draw.choice(("fail_command", "lose")), draw.choice(ERRORS)
        script = [{kind: {"device": helper, "number": draw.randint(1, commands), "error": -5}},
                  {"fail_call": {"device": "0.0", "number": draw.randint(calls // 3, 2 * calls), "error": error}}]
        run = fake.run(name, options, arguments=arguments, script=script)
        if run.code == 1 and "CL_" in run.stderr:
            counts["error"] += 1
        else:
            run.require_same_as(native, stderr=False)
            counts["same"] += 1
    print(f"{runs} runs: {counts['same']} times as natively, {counts['error']} times an error")


def random_calls(bench, count, first="1", threads="1"):
    """Random calls on shared buffers, by several threads at once: the same bytes on every machine by every policy; with
    a call refused, too; with a command that fails the same or an error."""
    native_of = Fake(bench)
    runs = 0
    # What waits for a user event would wait for ever where commands run in the calling thread.
    machines = [machine for machine in MACHINES if threads == "1" or machine != "in_caller_and_gpu"]
    for seed in range(int(first), int(first) + int(count)):
        arguments = ("--size", str(seed), "--variant", threads)
        native = native_of.run("random_calls", arguments=arguments)
        native.require_success()
        draw = random.Random(seed)
        for machine in machines:
            fake = Fake(bench, machine)
            devices = fake.devices
            # Of buffers of 32 KiB some helpers hold parts.
            memory = draw.choice(({}, {"DEVICE_MEMORY": "72K"}, {"DEVICE_MEMORY": "40K"}))
            fake.run("random_calls", draw.choice(policies(devices)) | memory, arguments=arguments,
                     seed=seed).require_same_as(native)
        options = {"POLICY": "static:1,1", "LOG": "error"}
        for kind in ("fail_call", "fail_call", "fail_call", "fail_command", "lose"):
            number = draw.randrange(38, 600) if kind == "fail_call" else draw.randrange(1, 90)
            error = draw.choice(ERRORS) if kind == "fail_call" else -5
            mishap = {kind: {"device": "0.1", "number": number, "error": error}}
            run = native_of.run("random_calls", options, arguments=arguments, seed=seed, script=[mishap])
            if kind == "fail_call" or not (run.code == 1 and re.search(TOLD, run.stderr)):
                # A launch that could not be done again says so; what the program sees is what counts.
                run.require_same_as(native, stderr=False)
            runs += 1
        runs += len(machines)
    print(f"{runs} runs of {count} random programs: all as natively, or with an error where bytes were lost")


# The program's own end in the midst of it.
ENDINGS = ("exit", "_exit", "quick_exit", "thread", "while_waiting")


def changed_mind(bench, machine, count, first="1", *variants):
    """Iterations that change their rhythm: the same bytes by every policy, also under verification; with variants the
    program begins to use a second device by itself, or ends, as early and with the same exit code."""
    fake = Fake(bench, machine)
    devices = fake.devices
    home = ("--device", "1.0") if machine in ("slow_cpu_and_gpus", "good_cpu_and_gpus") else ()
    ways = (*policies(devices), {"POLICY": "static:" + ",".join("231"[:devices]), "STAGING": "16K", "VERIFY": "1"})
    runs = 0
    for seed in range(int(first), int(first) + int(count)):
        for variant in variants or ("",):
            arguments = (*home, "--size", str(seed), "--variant", variant)
            native = fake.run("changed_mind", arguments=arguments, seed=seed)
            native.require(native.code == (7 if variant in ENDINGS else 0), f"natively {native.ending()}")
            for options in ways:
                fake.run("changed_mind", options, arguments=arguments, seed=seed).require_same_as(native)
                runs += 1
    print(f"{runs} runs of {count} random programs: all as natively")


if __name__ == "__main__":
    main({"sample": sample, "outlook": outlook, "sent_ahead": sent_ahead, "home_lost": home_lost, "exit_handler": exit_handler, "other_code": other_code, "few_queues": few_queues, "let_go": let_go, "late_callbacks": late_callbacks, "locked_callback": locked_callback, "called_back_first": called_back_first,
          "called_back_early": called_back_early, "read_back": read_back,
          "held_kernels": held_kernels, "changed_mind": changed_mind, "slow_calls": slow_calls,
          "held_commands": held_commands, "rehearsal": rehearsal, "what_if": what_if,
          "what_if_unknown": what_if_unknown, "application": application, "pipelined": pipelined, "untimed": untimed, "open_sizes": open_sizes,
          "late_starts": late_starts, "held_up": held_up,
          "application_table": application_table, "shared_out": shared_out, "deeper_halos": deeper_halos,
          "refusals": refusals, "failures": failures, "refused_recovery": refused_recovery, "windowed": windowed, "full_home": full_home,
          "full_device": full_device, "full_device_late": full_device_late,
          "few_threads": few_threads, "error_notices": error_notices,
          "pooled": pooled, "pooled_application": pooled_application, "pooled_full": pooled_full, "pooled_pending": pooled_pending,
          "pooled_strictly": pooled_strictly, "pooled_calls": pooled_calls, "pooled_failures": pooled_failures, "policy_off": policy_off, "cancelled": cancelled, "given_up": given_up, "random_calls": random_calls})
