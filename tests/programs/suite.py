"""Everything that there is, natively and with shares forced: the same results, the same exit codes.

    suite.py --build build/release forced_splits [NAME...]   every sample, application and packaged program
                                                             with static shares on memories of their own
    suite.py --build build/release packaged [NAME...]        packaged programs, also under `auto`, with cold caches
                                                             and with warm ones

A line per program; what is not installed is named. These are long runs: `ninja suite_forced_splits` and
`ninja packaged_programs`."""

import dataclasses
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "integration"))
sys.path.insert(0, str(HERE / "packaged"))
from harness import Failure, main  # noqa: E402
from raw_photograph import raw_photograph  # noqa: E402

PYTHON = "/usr/bin/python3"  # the one that the distribution's modules belong to
FORCED = {"POLICY": "static:0.5,0.5", "SEPARATE_NODES": "1"}
AUTO = {"POLICY": "auto"}


@dataclasses.dataclass
class Program:
    """A command, in which FILE is where it writes its results; with `source` it is compiled first. In the values of `env`
    BUILD is the build folder, and KEPT one that the program finds as its last run left it: else each begins anew."""

    command: list
    source: str = ""
    libraries: tuple = ()
    needs: tuple = ()  # commands that must succeed
    env: dict = dataclasses.field(default_factory=dict)
    dumps: bool = False  # it takes --dump, as samples do
    files: dict = dataclasses.field(default_factory=dict)  # what lies where it runs: bytes, or what a link leads to
    stdout: str = "exact"  # or "words": without the numbers, or "none": it tells times alone
    timeout: int = 400


def video(name, filters, source="testsrc2=s=160x120:d=0.4"):
    return Program(["ffmpeg", "-hide_banner", "-loglevel", "error", "-init_hw_device", "opencl=cl:0.0", "-filter_hw_device",
                    "cl", "-f", "lavfi", "-i", source, "-vf",
                    f"format=yuv420p,hwupload,{filters},hwdownload,format=yuv420p", "-f", "rawvideo", "-y", "FILE"],
                   needs=(["ffmpeg", "-version"],))


def starpu(example, processors=0):
    """StarPU measures all devices in its first run and keeps the figures: by that run it uses several devices itself."""
    path = f"/usr/lib/x86_64-linux-gnu/starpu/examples/{example}"
    return Program([path], needs=(["test", "-x", path],),
                   env={"STARPU_NCPU": str(processors), "STARPU_OPENCL_ON_CPUS": "1", "STARPU_OPENCL_ONLY_ON_CPUS": "1",
                        "STARPU_NOPENCL": "1", "STARPU_SILENT": "1", "STARPU_FXT_TRACE": "0", "XDG_CACHE_HOME": "KEPT"},
                   stdout="words")


def script(name, module):
    return Program([PYTHON, str(HERE / "packaged" / f"{name}.py"), "FILE"], needs=([PYTHON, "-c", f"import {module}"],),
                   env={"OPENCV_OPENCL_DEVICE": ":CPU:0", "OPENCV_OPENCL_CACHE_ENABLE": "0"})


# For programs that take GPUs alone: the home device says that it is one.
AS_GPU = {"POCL_DEVICES": "pthread basic", "OPENCL_LAYERS": "BUILD/doors/libdoor_as_gpus.so", "AS_GPUS": "pthread"}


def darktable(command, **files):
    """Its first run writes down a device that it has not seen and lets it be, the second measures it, and takes PoCL's only
    where its settings say so. PoCL does not find the folder of kernels, which darktable names in quotes, but finds what lies
    where the program runs. With relaxed mathematics, and no local size given, last bits are the driver's affair: another
    option takes that one's place."""
    files |= {path.name: path for path in Path("/usr/share/darktable/kernels").glob("*")}
    rc = ".config/darktable/darktablerc"
    files[rc] = b"opencl=TRUE\nopencl_disable_drivers_blacklist=TRUE\n"
    strictly = f"sed -i -e s/_building=.*/_building=-cl-std=CL1.2/ -e s/^opencl=.*/opencl=TRUE/ {rc}"
    return Program(["sh", "-c", f"darktable-cltest && darktable-cltest && {strictly} && exec {command}"],
                   needs=(["which", "darktable-cltest"],), env=AS_GPU, files=files, stdout="none")


PACKAGED = {
    "pyopencl": script("opencl_arrays", "pyopencl, mako"),
    "opencv": script("umat", "cv2"),
    "openmm": script("molecules", "openmm"),
    "boost_compute": Program(["PROGRAM", "FILE"], source="boost_compute.cpp", env={"BOOST_COMPUTE_USE_OFFLINE_CACHE": "0"}),
    "viennacl": Program(["PROGRAM", "FILE"], source="vienna.cpp"),
    "clblast": Program(["PROGRAM", "FILE"], source="blas.cpp", libraries=("-lclblast",)),
    "clfft_1d": Program(["clFFT-client", "-c", "-x", "4096", "-b", "16", "-p", "2"], needs=(["which", "clFFT-client"],), stdout="words"),
    "clfft_2d": Program(["clFFT-client", "-c", "-x", "64", "-y", "96", "-p", "2"], needs=(["which", "clFFT-client"],),
                        stdout="words"),
    "clfft_real": Program(["clFFT-client", "-c", "-x", "2048", "--inLayout", "5", "--outLayout", "3", "-o", "-b", "8", "-p",
                           "2"],
                          needs=(["which", "clFFT-client"],), stdout="words"),
    # Long enough for `auto`, which has the others run unsplit: they are over before that would pay.
    "clfft_long": Program(["clFFT-client", "-c", "-x", "4096", "-b", "2048", "-p", "40"],
                          needs=(["which", "clFFT-client"],), stdout="words"),
    "hashcat": Program(["hashcat", "-m", "100", "-a", "3", "--force", "--opencl-device-types", "1", "--backend-devices", "2",
                        "--potfile-disable", "--self-test-disable", "--quiet", "--backend-vector-width", "1",
                        "--kernel-accel", "1", "--kernel-loops", "64",
                        "a9993e364706816aba3e25717850c26c9cd0d89d", "?l?l?l"], needs=(["hashcat", "--version"],)),
    # With iterated hashes: the kernels that take the time use no atomics.
    "hashcat_iterated": Program(["hashcat", "-m", "400", "-a", "0", "--force", "--opencl-device-types", "1",
                                 "--backend-devices", "2", "--potfile-disable", "--self-test-disable", "--quiet",
                                 "--backend-vector-width", "1", "--kernel-accel", "64", "--kernel-loops", "256",
                                 "$P$984478476IagS59wHZvyQMArzfx58u.", "words.txt"], needs=(["hashcat", "--version"],),
                                files={"words.txt": "".join(f"word{n}\n" for n in range(127)).encode() + b"hashcat\n"}),
    # Four work-items of its kernels count on going on together, as on GPUs; where each runs up to its end they read what
    # nobody wrote. One thread finds the same there each time, and so hides that; two don't.
    "x264": Program(["x264", "--quiet", "--no-progress", "--opencl", "--threads", "1", "-o", "FILE.264", "--input-res",
                     "160x120", "--frames", "10", "--demuxer", "raw", "input.yuv"], needs=(["x264", "--version"],),
                    files={"input.yuv": bytes((x * y // 7 + n) % 256 for n in range(10) for y in range(180)
                                              for x in range(160))},
                    env=AS_GPU | {"POCL_MAX_PTHREAD_COUNT": "2"}, stdout="none"),
    "darktable_cltest": darktable("true"),
    "darktable_raw": darktable("darktable-cli photograph.dng FILE.pfm", **{"photograph.dng": raw_photograph(320, 240)}),
    "clpeak": Program(["clpeak", "-p", "0", "-d", "0", "--compute-integer", "--kernel-latency"],
                      needs=(["which", "clpeak"],), stdout="words"),
    **{f"ffmpeg_{name}": video(name, filters) for name, filters in {
        "blur": "avgblur_opencl=3,boxblur_opencl=2", "edges": "sobel_opencl", "roberts": "roberts_opencl",
        "prewitt": "prewitt_opencl", "erosion": "erosion_opencl,dilation_opencl", "unsharp": "unsharp_opencl",
        "convolution": "convolution_opencl='0 -1 0 -1 5 -1 0 -1 0'", "transpose": "transpose_opencl=clock",
        "pad": "pad_opencl=200:160:10:10", "nlmeans": "nlmeans_opencl", "deshake": "deshake_opencl"}.items()},
    **{f"starpu_{name}": starpu(name) for name in (
        "vector_scal", "block", "fblock", "incrementer", "incrementer_cpp", "binary", "variable", "matvecmult")},
    "starpu_complex": starpu("complex", processors=1),
}


# Samples for the fake OpenCL, which hang on PoCL natively: on the device that runs commands in the calling thread, or on
# both; and those that no driver need survive.
HOMES = {"busy_callback": (), "cancelled": (), "failed_waits": (), "given_up": ("0.1",), "overtaken_calls": ("0.1",), "shared_queue": ("0.1",)}


def own(bench):
    """Samples, on each device; applications; doors."""
    from samples import SAMPLES
    programs = {}
    for path in sorted((bench.build / "samples").iterdir()):
        if not path.is_file() or path.suffix:
            continue
        homes = SAMPLES[path.name].homes if path.name in SAMPLES else HOMES.get(path.name, ("0.0", "0.1"))
        for home in homes:
            files = {"program.il": bench.build / "samples/il_program.spv"} if path.name == "il_program" else {}
            programs[f"{path.name} on {home}"] = Program([str(path), "--device", home], dumps=True, files=files)
    random_calls = str(bench.build / "samples/random_calls")
    for threads in (1, 2, 3, 4):
        for seed in range(1, 9):
            programs[f"random_calls {seed} by {threads}"] = Program(
                [random_calls, "--device", "0.1", "--size", str(seed), "--variant", str(threads)], dumps=True)
    from applications import APPLICATIONS
    for name, (arguments, _) in APPLICATIONS.items():
        program = bench.build / "benchmarks/apps" / name.removesuffix("_swap")
        for home in ("0.0", "0.1"):
            programs[f"{name} on {home}"] = Program([str(program), "--device", home, *arguments], dumps=True)
    for name in ("linked", "rpath", "opened_local", "opened_global", "opened_deepbind"):
        programs[f"door_{name}"] = Program([str(bench.build / "doors" / f"door_{name}")])
    return programs


def runnable(bench, program):
    """The program with its command as it is here, or why it can't run."""
    for command in program.needs:
        if not shutil.which(command[0]) or subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                                          env=bench.environment({})).returncode != 0:
            return None, f"not installed ({' '.join(command)})"
    command = list(program.command)
    if program.source:
        executable = bench.tmp / Path(program.source).stem
        if not executable.exists():
            compiled = subprocess.run(["g++", "-O1", "-w", HERE / "packaged" / program.source, "-o", executable,
                                       *program.libraries, "-lOpenCL"], capture_output=True, text=True)
            if compiled.returncode != 0:
                return None, "does not compile: " + compiled.stderr.strip().splitlines()[0]
        command[0] = str(executable)
    return dataclasses.replace(program, command=command), ""


def run(bench, program, options=None):
    """(what the program left, the bytes of its results)."""
    where = bench.tmp / "where"
    shutil.rmtree(where, ignore_errors=True)
    where.mkdir()
    for name, content in program.files.items():
        (where / name).parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            (where / name).write_bytes(content)
        else:
            (where / name).symlink_to(content)
    kept = bench.tmp / "kept"
    kept.mkdir(exist_ok=True)
    file = where / "results"
    command = [each.replace("FILE", str(file)) for each in program.command]
    env = {"HOME": str(where), "XDG_CACHE_HOME": str(where / "cache")}
    env |= {name: value.replace("BUILD", str(bench.build)).replace("KEPT", str(kept)) for name, value in program.env.items()}
    left = bench.run(command, "preload" if options is not None else None, options or {}, env=env, cwd=where,
                     dump=program.dumps, timeout=program.timeout)
    results = b"".join(each.read_bytes() for each in sorted(where.glob("results*")))
    return left, results


def told(program, stdout):
    if program.stdout == "none":
        return ""
    return re.sub(r"[-+]?[\d.]+(e[-+]?\d+)?|inf|nan", "#", stdout) if program.stdout == "words" else stdout


def differences(program, native, native_results, split, results):
    if split.code != native.code:
        return f"{split.ending()}, natively {native.ending()}: {split.stderr[-500:]}"
    if split.dump != native.dump or results != native_results:
        return "other results"
    if told(program, split.stdout) != told(program, native.stdout):
        return f"stdout differs: {split.stdout[-500:]!r}, natively {native.stdout[-500:]!r}"
    return ""


def compare(bench, programs, configurations):
    """Runs each program; a configuration's name ends in `cold` where nothing may be left of earlier runs."""
    wrong, skipped = [], []
    for name, given in programs.items():
        program, why = runnable(bench, given)
        if not program:
            skipped.append(f"{name}: {why}")
            print(f"{name}: skipped, {why}", flush=True)
            continue
        try:
            native, native_results = run(bench, program)
        except Failure as failure:
            skipped.append(f"{name}: natively {failure}")
            print(f"{name}: skipped, natively {str(failure).splitlines()[0]}", flush=True)
            continue
        if given is PACKAGED.get(name) and native.code != 0:
            skipped.append(f"{name}: it fails natively")
            print(f"{name}: skipped, it fails natively, {native.ending()}: {native.stderr.strip()[-200:]}", flush=True)
            continue
        again, again_results = run(bench, program)
        unsteady = differences(program, native, native_results, again, again_results)
        notes = []
        for configuration, options in configurations.items():
            if configuration.endswith("cold"):
                shutil.rmtree(bench.tmp / "cache", ignore_errors=True)
            try:
                split, results = run(bench, program, options)
            except Failure as failure:
                wrong.append(f"{name}, {configuration}: {failure}")
                notes.append(f"{configuration}: no end")
                continue
            if unsteady:
                what = "" if split.code == native.code else split.ending()
            else:
                what = differences(program, native, native_results, split, results)
            totals, aside = split.stats.get("totals", {}), split.stats.get("stepped_aside", "")
            notes.append(f"{configuration}: {totals.get('split_launches', 0)} of {totals.get('launches', 0)} split"
                         + (f" ({aside})" if aside else "") + (f", WRONG: {what}" if what else ""))
            if what:
                wrong.append(f"{name}, {configuration}: {what}\n{split.command}")
        same = "exit codes alone, it differs from run to run natively" if unsteady else f"exit code {native.code}"
        print(f"{name}: {same}; {'; '.join(notes)}", flush=True)
    print(f"{len(programs) - len(skipped)} programs by {len(configurations)} configurations, {len(wrong)} runs wrong, "
          f"{len(skipped)} programs skipped")
    if wrong:
        raise Failure("\n".join(wrong))


def chosen(programs, names):
    return {name: program for name, program in programs.items() if not names or any(each in name for each in names)}


def forced_splits(bench, *names):
    compare(bench, chosen(own(bench) | PACKAGED, names),
            {"at once": FORCED | {"WAIT_ANALYSIS": "1"}, "cold": FORCED, "warm": FORCED})


def packaged(bench, *names):
    compare(bench, chosen(PACKAGED, names),
            {"forced, cold": FORCED | {"WAIT_ANALYSIS": "1"}, "forced, warm": FORCED, "auto, cold": AUTO, "auto, warm": AUTO,
             "auto, at once": AUTO | {"WAIT_ANALYSIS": "1"}})


if __name__ == "__main__":
    main({"forced_splits": forced_splits, "packaged": packaged})
