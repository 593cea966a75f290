"""Whatever is wrong around libsplit: one line on stderr, and the program runs right."""

import os
import re
import shutil
import stat
from pathlib import Path

from harness import main

STATIC = {"POLICY": "static:0.5,0.5", "WAIT_ANALYSIS": "1"}


def program(bench):
    return bench.sample("saxpy", "--size", "16384")


def complains_once(bench, options, *words, env=None, split=None, cwd=None):
    """One line that holds `words`, output as natively; split or not where `split` says so."""
    native = bench.native(program(bench), dump=True, env=env, cwd=cwd)
    native.require_success()
    for door in ("preload", "layer"):
        run = bench.run(program(bench), door, options, dump=True, env=env, cwd=cwd)
        run.require_one_complaint(*words)
        run.require_same_as(native, stderr=False)
        if split is not None:
            done = run.total("split_launches") > 0
            run.require(done == split, "split" if done else "not split")
    return run


def bad_values(bench):
    for name, value in (("POLICY", "quickly"), ("POLICY", "static:0.5,"), ("POLICY", "static:-1,2"),
                        ("POLICY", "static:nan,1"), ("VERIFY", "perhaps"), ("LOG", "loud"),
                        ("SEPARATE_NODES", "2"), ("DEVICES", "zero"), ("DEVICES", "0.0/"),
                        ("ANALYSIS_TIMEOUT", "soon")):
        complains_once(bench, {**STATIC, name: value}, f"LIBSPLIT_{name}", value)


def unknown_names(bench):
    complains_once(bench, {**STATIC, "POLICI": "auto"}, "LIBSPLIT_POLICI", "LIBSPLIT_POLICY", split=True)
    complains_once(bench, {**STATIC, "STAT": "x"}, "LIBSPLIT_STAT", "LIBSPLIT_STATS", split=True)


def devices_that_are_not_there(bench):
    complains_once(bench, {**STATIC, "DEVICES": "0.0,0.1,7.3"}, "7.3", split=True)


def shares_that_do_not_fit(bench):
    complains_once(bench, {"POLICY": "static:0.5,0.3,0.2", "WAIT_ANALYSIS": "1"}, "static")


def single_device(bench):
    complains_once(bench, STATIC, "device", env={"POCL_DEVICES": "pthread"}, split=False)


def script(bench, name, text):
    path = bench.tmp / name
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def splitc_missing(bench):
    complains_once(bench, {**STATIC, "SPLITC": "/nowhere/splitc"}, "/nowhere/splitc", split=False)


def splitc_not_executable(bench):
    path = bench.tmp / "splitc"
    path.write_text("no program")
    complains_once(bench, {**STATIC, "SPLITC": str(path)}, split=False)


def splitc_crashing(bench):
    complains_once(bench, {**STATIC, "SPLITC": script(bench, "splitc", "kill -SEGV $$\n")}, split=False)


def splitc_failing(bench):
    complains_once(bench, {**STATIC, "SPLITC": script(bench, "splitc", "echo no >&2; exit 3\n")}, split=False)


def splitc_hanging(bench):
    """Also what splitc itself started must be gone."""
    hanging = script(bench, "splitc", f"echo $$ >> {bench.tmp}/pids\nexec sleep 1000\n")
    complains_once(bench, {**STATIC, "SPLITC": hanging, "ANALYSIS_TIMEOUT": "1"}, split=False)
    for pid in (bench.tmp / "pids").read_text().split():
        if Path(f"/proc/{pid}/cmdline").exists() and b"sleep" in Path(f"/proc/{pid}/cmdline").read_bytes():
            os.kill(int(pid), 9)
            raise SystemExit("FAILED: a hanging splitc outlives the program")


def splitc_talking_nonsense(bench):
    for text in ("echo nonsense\n", "head -c 100000 /dev/urandom\n", "exit 0\n"):
        complains_once(bench, {**STATIC, "SPLITC": script(bench, "splitc", text)}, split=False)


def splitc_talking_without_end(bench):
    endless = script(bench, "splitc", "exec yes\n")
    complains_once(bench, {**STATIC, "SPLITC": endless, "ANALYSIS_TIMEOUT": "2"}, split=False)


def cache_unwritable(bench):
    """Below a plain file no folder can be, not even for root. The analysis is done without cache."""
    (bench.tmp / "file").write_text("")
    complains_once(bench, {**STATIC, "CACHE_DIR": str(bench.tmp / "file" / "cache")}, "cache")


def cache_corrupt(bench):
    native = bench.native(program(bench), dump=True)

    def spoil_each(how):
        bench.run(program(bench), "preload", STATIC, dump=True).require_same_as(native)
        entries = [path for path in (bench.tmp / "cache").rglob("*") if path.is_file()]
        assert entries, "nothing was cached"
        for path in entries:
            path.write_bytes(how(path.read_bytes()))
        run = bench.run(program(bench), "preload", STATIC, dump=True)
        run.require_one_complaint("cache")
        run.require_same_as(native, stderr=False)

    spoil_each(lambda text: b"")
    spoil_each(lambda text: text[:len(text) // 2])
    spoil_each(lambda text: text[:-1])
    spoil_each(lambda text: b"\x00\xff" * 500)
    spoil_each(lambda text: text + text)
    # A single digit that turned into another: still well-formed, but not what was written.
    spoil_each(lambda text: text[:len(text) // 2] + bytes([text[len(text) // 2] ^ 1]) + text[len(text) // 2 + 1:])


def stats_unwritable(bench):
    native = bench.native(program(bench), dump=True)
    run = bench.run(program(bench), "preload", {**STATIC, "STATS": "/nowhere/stats.json"}, dump=True)
    run.require_one_complaint("/nowhere/stats.json")
    run.require_same_as(native, stderr=False)


def working_directory_read_only(bench):
    """Nothing is to be written there, so there is nothing to complain about."""
    native = bench.native(program(bench), dump=True, cwd="/proc")
    run = bench.run(program(bench), "preload", STATIC, dump=True, cwd="/proc")
    run.require_same_as(native)
    run.require(run.total("split_launches") > 0, "not split")


def build_options_from_the_environment(bench):
    """The driver builds another program than libsplit sees: it stays at home."""
    env = {"POCL_EXTRA_BUILD_FLAGS": "-DUNSEEN=1"}
    native = bench.native(program(bench), dump=True, env=env)
    native.require_success()
    run = bench.run(program(bench), "preload", STATIC, dump=True, env=env)
    run.require_same_as(native)
    kernel = run.kernel("saxpy")
    run.require(kernel["split_launches"] == 0, "split")
    run.require("POCL_EXTRA_BUILD_FLAGS" in kernel["reason"], kernel["reason"])


def splitrun_command_line(bench):
    splitrun = str(bench.build / "bin" / "splitrun")
    run = bench.native([splitrun, "--", "/bin/sh", "-c", "exit 42"])
    run.require(run.code == 42, "the exit code got lost")
    run = bench.native([splitrun, "--", "/nowhere/program"])
    run.require(run.code == 127 and "/nowhere/program" in run.stderr, "a missing program goes unnoticed")
    run = bench.native([splitrun, "--list-devices"])
    run.require_success()
    labels = [line.split("\t")[0] for line in run.stdout.splitlines()]
    run.require(labels == ["0.0", "0.1"], f"devices are {labels}")
    run = bench.native([splitrun, "--help"])
    run.require_success()
    for word in ("--policy", "LIBSPLIT_POLICY=auto|", "--list-devices", "LIBSPLIT_ANALYSIS_TIMEOUT=SECONDS"):
        run.require(word in run.stdout, f"--help does not tell of {word}")


def refuses(run, tool, status, *words):
    """One line on stderr that holds `words`, and nothing on stdout."""
    run.require(run.code == status, f"{run.ending()}, expected exit code {status}")
    run.require(run.stdout == "", "something on stdout")
    run.require(run.stderr.count("\n") == 1 and run.stderr.startswith(f"{tool}: "), f"not one line of {tool}")
    for word in words:
        run.require(word in run.stderr, f"the line does not name {word}")
    run.require("using the default" not in run.stderr, "the default is not used")


def splitrun_refuses(bench):
    """What can't work is told before the program starts."""
    splitrun = str(bench.build / "bin" / "splitrun")
    hello = ["--", "/bin/echo", "hello"]
    for flag, value, expected in (("--policy", "quickly", "static:0.7,0.3"), ("--log", "loud", "error|warn|info|debug"),
                                  ("--devices", "zero", "all|gpu|cpu"), ("--stats", "", "FILE")):
        refuses(bench.native([splitrun, flag, value, *hello]), "splitrun", 2, flag, value, expected)
    refuses(bench.native([splitrun, "--devices", "0.0,9.9", *hello]), "splitrun", 2, "9.9", "--list-devices")
    refuses(bench.native([splitrun]), "splitrun", 2, "command")
    for hosts, *expected in (("desk", "desk", "HOST:PORT"), ("127.0.0.1:1", "127.0.0.1:1", "no answer")):
        refuses(bench.native([splitrun, "--hosts", hosts, "--remote-driver", str(bench.library), *hello]), "splitrun", 2,
                *expected)
    refuses(bench.native([splitrun, "--hosts", "127.0.0.1:1", "--remote-driver", "/none.so", *hello]), "splitrun", 2,
            "/none.so", "tools/build_remote")
    no_driver = {"OCL_ICD_VENDORS": str(bench.tmp)}
    refuses(bench.native([splitrun, "--list-devices"], env=no_driver), "splitrun", 1, "driver")
    refuses(bench.native([splitrun, "--devices", "0.0", *hello], env=no_driver), "splitrun", 2, "driver")
    run = bench.native([splitrun, "--devices", "0.1", *hello])
    run.require(run.code == 0 and run.stdout == "hello\n" and run.stderr == "", "a device that is there is refused")


def odd_install_paths(bench):
    """A blank or a colon in the library's path: split all the same, or refused."""
    native = bench.native(program(bench), dump=True)

    def installed(name):
        root = bench.tmp / name
        for folder in ("bin", "lib"):
            (root / folder).mkdir(parents=True)
        shutil.copy(bench.build / "bin" / "splitrun", root / "bin")
        shutil.copy(bench.library, root / "lib")
        (root / "bin" / "splitc").symlink_to(bench.build / "bin" / "splitc")
        return [str(root / "bin" / "splitrun"), "--stats", str(bench.tmp / "stats.json"), "--policy", "static:0.5,0.5",
                "--"]

    options = {"LIBSPLIT_WAIT_ANALYSIS": "1", "LIBSPLIT_CACHE_DIR": str(bench.tmp / "cache")}
    run = bench.native([*installed("with blank"), *program(bench)], dump=True, env=options)
    run.require_same_as(native)
    run.require(run.total("split_launches") > 0, "not split")
    refuses(bench.native([*installed("with:colon"), *program(bench)], env=options), "splitrun", 2, "with:colon", "install")


def command_lines(bench):
    for tool in ("splitrun", "splitc", "splittrace"):
        path = str(bench.build / "bin" / tool)
        run = bench.native([path, "--version"])
        run.require_success()
        run.require(re.fullmatch(tool + r" \d+\.\d+\.\d+\n", run.stdout), "no version")
        refuses(bench.native([path, "--nonsense", "file"]), tool, 2, "--nonsense", f"see {tool} --help")
    refuses(bench.native([str(bench.build / "bin" / "splittrace")]), "splittrace", 2, "trace")


if __name__ == "__main__":
    main({name: value for name, value in list(globals().items())
          if callable(value) and getattr(value, "__module__", "") == "__main__"
          and name not in ("program", "complains_once", "script", "refuses")})
