"""What benchmarks/run wrote, for those who read it."""

import json
import statistics
from pathlib import Path


def load(path):
    document = json.loads(Path(path).read_text())
    if "figures" not in document or "rounds" not in document:
        raise SystemExit(f"{path} is not what benchmarks/run writes")
    return document


def speedups(document, name, way):
    """Of an application in each round: how many times as fast as the best device alone in that round, once settled.
    That divides out how fast the machine was that day."""
    settling, found = document["options"]["settling"], []

    def settled(result):
        launches = result["launches"][settling:]
        return statistics.median(launches) if launches and not result["error"] else None

    for each in document["rounds"]:
        results = each.get(name, {})
        alone = [settled(result) for other, result in results.items() if other.startswith("alone:")]
        best, took = min(filter(None, alone), default=None), settled(results[way]) if way in results else None
        if best and took:
            found.append(best / took)
    return found


def described(document):
    """One line: the devices, the date, the state of the source."""
    setting = document.get("setting") or {}
    names = setting.get("names") or document["devices"]
    return (f"{', '.join(f'{label} {name}' for label, name in zip(document['devices'], names))}; "
            f"{setting.get('date', 'undated')}, {setting.get('commit') or 'unknown commit'}")
