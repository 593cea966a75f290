"""What the benchmark scripts share: the runs, medians, tables, and the files that they leave."""

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Two unequal one-core CPU devices: 0.0 runs inside the submitting thread, 0.1 in one of its own.
TWO_POCL_DEVICES = {"POCL_DEVICES": "basic pthread", "POCL_MAX_PTHREAD_COUNT": "1"}


class Bench:
    """Runs programs of a build natively and under libsplit, with caches that stay warm between runs."""

    def __init__(self, build, own_devices):
        self.build = Path(build).resolve()
        self.devices = {} if own_devices else TWO_POCL_DEVICES
        self.load = os.getloadavg()[0]
        if self.load > 0.5:
            say(f"The machine is busy (load {self.load:.1f}): these readings will be off.")
        self.processor_seconds = 0  # of the last run, start and end included
        self.cache = tempfile.TemporaryDirectory(prefix="libsplit-bench-")

    def run(self, command, split, **options):
        """(seconds of the whole program, seconds of each timed launch, stats); exits if it fails."""
        times = Path(self.cache.name) / "times"
        stats = Path(self.cache.name) / "stats.json"
        for leftover in (times, stats):
            leftover.unlink(missing_ok=True)
        environment = {**os.environ, **self.devices}
        command = [*map(str, command), "--times", str(times)]
        if split:
            environment |= {"LIBSPLIT_CACHE_DIR": self.cache.name, "LIBSPLIT_STATS": str(stats), **options}
            command = [str(self.build / "bin" / "splitrun"), "--", *command]
        begin, used = time.perf_counter(), processor_seconds()
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        seconds = time.perf_counter() - begin
        self.processor_seconds = processor_seconds() - used
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
        launches = [float(line) for line in times.read_text().split()] if times.exists() else []
        return seconds, launches, json.loads(stats.read_text()) if stats.exists() else {}


def processor_seconds():
    """Of all children so far, user and system."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def say(text):
    print(text, file=sys.stderr, flush=True)


def spread(values):
    """'1.87 (1.85 to 1.88)': median, least and greatest."""
    return f"{statistics.median(values):.3f} ({min(values):.3f} to {max(values):.3f})"


def table(header, rows):
    """Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "".join("| " + " | ".join(map(str, line)) + " |\n" for line in lines)


def leave(out, name, document, markdown):
    """Writes NAME.json and NAME.md into `out` and prints the Markdown."""
    out = Path(out)
    out.mkdir(parents=True, exist_ok=True)
    (out / f"{name}.json").write_text(json.dumps(document, indent=2) + "\n")
    (out / f"{name}.md").write_text(markdown)
    print(markdown)
    say(f"Written: {out / name}.json and .md")
