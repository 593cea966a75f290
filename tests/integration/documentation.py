"""What README and docs tell people to type works, and the kernels that they show are what they say."""

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

from harness import TWO_DEVICES, Failure, main

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]

# Commands that a test of another kind runs, or that would build what runs this.
ELSEWHERE = ("./quickstart", "./check", "tools/install_packages", "cmake ", "ctest ", "export PATH=")
FIRST_WORDS = ("splitrun", "splitc", "splittrace", "LD_PRELOAD=", "OPENCL_LAYERS=", "LIBSPLIT_", *ELSEWHERE)

KERNELS = """
kernel void scatter(global int* a, global const int* at, int n) {
  int i = get_global_id(0);
  if (i < n)
    a[at[i]] = i;
}
"""


def blocks(page):
    """(language, lines) of each block of code: fenced ones, and in pages without fences those set in by four."""
    text = page.read_text()
    for fence in re.finditer(r"^( *)```([^\n]*)\n(.*?)^ *```$", text, re.MULTILINE | re.DOTALL):
        yield fence[2].strip(), [line.removeprefix(fence[1]) for line in fence[3].splitlines()]
    if "```" not in text:
        for block in re.finditer(r"(?:^    .*\n)+", text, re.MULTILINE):
            yield "", [line[4:] for line in block[0].splitlines()]


def commands_of(page):
    for language, lines in blocks(page):
        for line in lines:
            if language == "sh" or (language == "" and line.startswith(FIRST_WORDS)):
                yield line


def commands(bench):
    """Every command, on a program of ours in the place of the reader's."""
    work = bench.tmp / "work"
    library = work / "build" / "release" / "lib" / "libsplit.so"
    library.parent.mkdir(parents=True)
    library.symlink_to(bench.library)
    (work / "your_program").write_text("#!/bin/sh\nexec " + shlex.join(bench.sample("jacobi2d", "--size", "256")) + "\n")
    (work / "your_program").chmod(0o755)
    (work / "kernels.cl").write_text(KERNELS)
    environment = bench.environment({"PATH": f"{bench.build / 'bin'}:{os.environ['PATH']}",
                                     "LIBSPLIT_CACHE_DIR": str(bench.tmp / "cache")})
    ran = 0
    for page in PAGES:
        for command in commands_of(page):
            if command.startswith(ELSEWHERE):
                continue
            ran += 1
            run = subprocess.run(["bash", "-c", command], cwd=work, env=environment, capture_output=True, text=True,
                                 timeout=120, check=False)
            shown = " ".join(f"{name}={shlex.quote(value)}" for name, value in TWO_DEVICES.items())
            if run.returncode != 0:
                raise Failure(f"{page.name}: `{command}` ended with {run.returncode}\n{run.stdout}{run.stderr}\n"
                              f"To repeat: {shown} {command}")
    if ran < 15:
        raise Failure(f"only {ran} commands were found")


def kernels(bench):
    """Kernels that are shown before a change are not split, for the reason above them; those after it are."""
    splitc = str(bench.build / "bin" / "splitc")
    seen = {"before": 0, "after": 0}
    for page in PAGES:
        for section in re.split(r"^#+ ", page.read_text(), flags=re.MULTILINE):
            reason = re.match(r"`([^`]+)`", section)
            for state, text in re.findall(r"^```c (\w+)\n(.*?)^```$", section, re.MULTILINE | re.DOTALL):
                seen[state] += 1
                told = subprocess.run([splitc, "-", "--build-options=-cl-std=CL2.0"], input=text, capture_output=True,
                                      text=True, check=True).stdout
                verdicts = re.findall(r"^  (not split|split).*$", told, re.MULTILINE)
                if len(verdicts) != text.count("kernel void"):
                    raise Failure(f"{page.name}: {verdicts} of {text}")
                if state == "after" and set(verdicts) != {"split"}:
                    raise Failure(f"{page.name}: this is not split:\n{text}{told}")
                if state == "before" and (set(verdicts) != {"not split"} or not reason or reason[1] not in told):
                    raise Failure(f"{page.name}: this is not kept whole by {reason and reason[1]}:\n{text}{told}")
    if min(seen.values()) < 5:
        raise Failure(f"found {seen}")


def links(_bench):
    """Files and headings that pages refer to are there."""
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
            if not target.startswith("https://") and not (page.parent / target).exists():
                raise Failure(f"{page.name} refers to {target}, which is not there")


def manual(bench):
    """Man pages hold every option that --help tells of, and are formatted without a warning."""
    share = bench.build / "share"
    pages = [*(share / "man").glob("man*/*")]
    if len(pages) != 4:
        raise Failure(f"pages are {pages}")
    for tool in ("splitrun", "splitc", "splittrace"):
        told = subprocess.run([str(bench.build / "bin" / tool), "--help"], capture_output=True, text=True, check=True)
        page = (share / "man" / "man1" / f"{tool}.1").read_text().replace("\\-", "-")
        for option in re.findall(r"^  (?:-\w,)?(--[\w-]+)", told.stdout, re.MULTILINE):
            if f"\\fB{option}\\fR" not in page:
                raise Failure(f"{tool}.1 lacks {option}")
    for name in re.findall(r"`(LIBSPLIT_\w+)` ", (ROOT / "README.md").read_text()):
        if name not in (share / "man" / "man7" / "libsplit.7").read_text():
            raise Failure(f"libsplit.7 lacks {name}")
    if not shutil.which("groff"):
        return
    for page in pages:
        run = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-rCHECKSTYLE=1", str(page)], capture_output=True,
                             text=True, check=False)
        if run.returncode or run.stderr or len(run.stdout) < 1000:
            raise Failure(f"{page}: {run.stderr}")


def completed(bench, *words):
    """What bash offers for the last of `words`."""
    script = (f"source {bench.build}/share/bash-completion/completions/{words[0]}\n"
              f"COMP_WORDS=({shlex.join(words)}) COMP_CWORD={len(words) - 1}\n"
              f"_{words[0]} {words[0]}\nprintf '%s\\n' \"${{COMPREPLY[@]}}\"\n")
    run = subprocess.run(["bash", "--norc", "-c", script], capture_output=True, text=True, check=True, cwd=bench.tmp)
    if run.stderr:
        raise Failure(f"{words}: {run.stderr}")
    return set(run.stdout.split())


def completion(bench):
    """Options, their values, files, and behind -- the program's own words."""
    (bench.tmp / "a_file").touch()
    for words, expected in ((("splitrun", "--po"), {"--policy"}),
                            (("splitrun", "--policy", "dyn"), {"dynamic"}),
                            (("splitrun", "--policy", "=", "bro"), {"broyden", "broyden-bad"}),
                            (("splitrun", "--stats", "a_f"), {"a_file"}),
                            (("splitrun", "--", "./x", "a_f"), {"a_file"}),
                            (("splitc", "--emit", ""), {"report", "explain", "accesses", "summary", "source", "ir", "windowed"}),
                            (("splitc", "--color", "al"), {"always"}),
                            (("splitc", "a_f"), {"a_file"}),
                            (("splittrace", "--tr"), {"--transfers"})):
        found = completed(bench, *words)
        if found != expected:
            raise Failure(f"{words} is completed to {found}, expected {expected}")


def bundle(bench):
    """Versions, devices, options, reasons; neither sources nor data nor the command line; the program's status."""
    import json
    file = bench.tmp / "bundle.json"
    splitrun = str(bench.build / "bin" / "splitrun")
    options = {"LIBSPLIT_CACHE_DIR": str(bench.tmp / "cache"), "LIBSPLIT_WAIT_ANALYSIS": "1", "SECRET": "hush"}
    command = bench.sample("printf_kernel")
    native = bench.native(command)
    run = bench.native([splitrun, "--policy", "static:0.5,0.5", "--bundle", str(file), "--", *command], env=options)
    run.require_same_as(native)
    text = file.read_text()
    told = json.loads(text)
    run.require(told["program"] == "ended with exit status 0" and told["libsplit"], f"{told}")
    run.require([device["label"] for device in told["devices"]] == ["0.0", "0.1"], f"{told['devices']}")
    run.require(all(device["driver"] and device["version"] for device in told["devices"]), f"{told['devices']}")
    run.require(told["variables"]["LIBSPLIT_POLICY"] == "static:0.5,0.5", f"{told['variables']}")
    run.require("printf" in told["statistics"]["kernels"][0]["reason"], f"{told['statistics']}")
    for private in ("hush", command[0], "kernel void"):
        run.require(private not in text, f"the bundle holds {private}")
    run.require([each.name for each in bench.tmp.glob("bundle*")] == ["bundle.json"], "other files are left")
    run = bench.native([splitrun, "--bundle", str(file), "--", "/bin/sh", "-c", "kill -9 $$"])
    run.require(run.code == 137 and "signal 9" in file.read_text(), f"{run.code}: {file.read_text()}")
    run = bench.native([splitrun, "--bundle", "/nowhere/file", "--", "/bin/echo", "hello"])
    run.require(run.code == 1 and run.stdout == "" and run.stderr.count("\n") == 1, "no place for the file")
    run = bench.native([splitrun, "--bundle", str(file)])
    run.require(run.code == 0 and json.loads(file.read_text())["statistics"] is None, "nothing without a command")


if __name__ == "__main__":
    main({"commands": commands, "kernels": kernels, "links": links, "manual": manual, "completion": completion,
          "bundle": bundle})
