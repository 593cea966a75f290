"""Statistics and traces are what their schemas say, and the schemas say enough to notice what is wrong."""

import copy
import json
import sys
from pathlib import Path

try:
    import jsonschema
except ImportError:
    print("python3-jsonschema is not installed")
    sys.exit(77)

from harness import Failure, main
from trace import SEPARATE, events_of

RUNTIME = Path(__file__).resolve().parents[2] / "runtime"


def validator(name):
    schema = json.loads((RUNTIME / name).read_text())
    jsonschema.Draft7Validator.check_schema(schema)
    return jsonschema.Draft7Validator(schema)


STATISTICS = validator("session/statistics.schema.json")
TRACE = validator("trace/trace.schema.json")


def require_valid(run, schema, document):
    for error in schema.iter_errors(document):
        run.require(False, f"at {list(error.absolute_path)}: {error.message[:500]}")


def runs(bench):
    """Runs of all kinds, with statistics and events."""
    file = bench.tmp / "run.trace"
    kernels = Path(__file__).resolve().parents[1] / "corpus" / "kernels" / "merging" / "histograms.cl"
    dumps = bench.tmp / "dumps"
    dumps.mkdir(exist_ok=True)
    commands = [bench.sample("jacobi2d", "--size", "256", "--iterations", "7"), bench.sample("printf_kernel"),
                bench.sample("odd_launches"), bench.sample("spmv_csr"), bench.sample("two_devices"),
                [str(bench.build / "bin" / "corpus_driver"), "--dump", str(dumps), "--device", "0.0", str(kernels)]]
    for command in commands:
        for options in ({}, SEPARATE, {"POLICY": "auto", "WAIT_ANALYSIS": "1", "MIN_LAUNCH": "0"},
                        {"POLICY": "dynamic", "WAIT_ANALYSIS": "1"}, {**SEPARATE, "VERIFY": "1"}):
            file.unlink(missing_ok=True)
            run = bench.run(command, "preload", {**options, "TRACE": str(file)})
            run.require_success()
            yield run, events_of(bench, file)


def hold(bench):
    """Every document that libsplit writes."""
    events = 0
    for run, trace in runs(bench):
        require_valid(run, STATISTICS, run.stats)
        require_valid(run, TRACE, trace)
        run.require(not trace or trace[0]["args"] == {"version": 2}, "the version does not come first")
        events += len(trace)
    assert events > 1000, f"only {events} events were looked at"


def spoilt(document):
    """The document with one key missing, one more, or one value of another kind, for each object in it."""
    def objects(node, path):
        if isinstance(node, dict):
            yield path
        for key, value in node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ():
            yield from objects(value, [*path, key])

    def at(path):
        changed = copy.deepcopy(document)
        node = changed
        for key in path:
            node = node[key]
        return changed, node

    for path in objects(document, []):
        changed, node = at(path)
        node["surprising key"] = {}
        yield path, "a key more", changed
        for key in node:
            if key == "surprising key":
                continue
            changed, node = at(path)
            node[key] = [{}]
            yield [*path, key], "another kind of value", changed


def notice(bench):
    """A document that is wrong in one place."""
    run, trace = next((run, trace) for run, trace in runs(bench) if run.total("split_launches") > 0)
    kinds = {}
    for event in trace:
        kinds.setdefault((event["ph"], event["pid"] > 1, *sorted(event.get("args", {}))), event)
    found = 0
    for schema, document in ((STATISTICS, run.stats), (TRACE, list(kinds.values()))):
        for path, what, changed in spoilt(document):
            found += 1
            if schema.is_valid(changed):
                raise Failure(f"{what} at {path} goes unnoticed")
    assert found > 50, f"only {found} ways to be wrong"


if __name__ == "__main__":
    main({"hold": hold, "notice": notice})
