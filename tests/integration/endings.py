"""Programs that end with launches still under way: the same exit status as natively, every time."""

import itertools

from harness import main

# Of tests/doors/ending.cpp. What `basic` has natively finished when clFlush returns, libsplit's devices still compile or
# run when these end.
WAYS = ["return", "exit", "thread", "other_thread", "main_of_thread", "handler", "callback", "pthread_exit", "_exit",
        "quick_exit"]
names = (f"ending{number}" for number in itertools.count())


def endings(bench, policy, state):
    """`state`: "cold" where no cache holds the kernel, which is when it is compiled, or "warm"."""
    for way in WAYS:
        native = bench.native(command(bench, way, "ending"))
        native.require(native.code in (0, 7), f"natively {native.ending()}")
        for door in ["preload", "layer"] * (1 if state == "cold" else 3):
            # Where caches are warm, so is `ending` from the second run on.
            run = bench.run(command(bench, way, fresh(bench) if state == "cold" else "ending"), door,
                            {"POLICY": policy}, stats=policy != "off")
            # A thread that never used OpenCL ends the process in a way that only the preloaded library sees.
            if (door, way) != ("layer", "other_thread"):
                run.require_same_as(native)


def last_thread(bench):
    """main leaves by pthread_exit, and no thread of libsplit's keeps the process alive then."""
    for _ in range(5):
        run = bench.run(command(bench, "last_thread", "ending"), "preload", {"LOG": "error"},
                        env={"POCL_DEVICES": "basic"}, timeout=30)
        run.require_success()


def fresh(bench):
    return f"{next(names)}_{bench.tmp.name.replace('-', '_')}"


def command(bench, way, kernel):
    return [str(bench.build / "doors" / "door_ending"), way, kernel]


if __name__ == "__main__":
    main({"endings": endings, "last_thread": last_thread})
