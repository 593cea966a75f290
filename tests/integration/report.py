"""The report's page in a browser: what it shows, hover, zoom, choosing a call, narrow and dark; and traces that are none."""

import json
import re
import shutil
import subprocess
import sys

from harness import Failure, main
from trace import SEPARATE, traced

# Does what a reader's hand does, and writes down what he sees.
HAND = """
window.onerror = function (message) { document.body.setAttribute("data-error", message); };
window.addEventListener("load", function () {
  var canvas = document.getElementById("timeline"), pen = canvas.getContext("2d"), seen = {};
  var box = canvas.getBoundingClientRect(), tip = document.getElementById("tip");
  function mouse(kind, x, y, more) {
    var event = new MouseEvent(kind, Object.assign({clientX: x, clientY: y, bubbles: true, cancelable: true, view: window}, more));
    canvas.dispatchEvent(event);
  }
  function wheel(x, y, by) {
    canvas.dispatchEvent(new WheelEvent("wheel", {clientX: x, clientY: y, deltaY: by, bubbles: true, cancelable: true}));
  }
  function ticks() { return Array.from(document.querySelectorAll("#axis text")).map(function (each) { return each.textContent; }); }
  function find(wanted) {  // a place on the timeline whose tip holds the word
    for (var y = box.top + 8; y < box.bottom; y += 5)
      for (var x = box.left; x < box.right; x += 1) {
        mouse("mousemove", x, y);
        if (tip.style.display == "block" && tip.textContent.indexOf(wanted) >= 0) return [x, y, tip.textContent];
      }
    return null;
  }
  seen.pixels = new Set(new Uint32Array(pen.getImageData(0, 0, canvas.width, canvas.height).data.buffer)).size;
  seen.piece = find("work-groups");
  seen.copy = find("GB/s");
  seen.ticks = ticks();
  for (var i = 0; i < 10; ++i) wheel(seen.piece[0] + 2, seen.piece[1], -200);  // hovering finds what is 2 pixels away, too
  seen.zoomed = ticks();
  seen.pieceZoomed = find("work-groups");
  var curve = pen.bezierCurveTo;
  seen.arrows = 0;
  pen.bezierCurveTo = function () { ++seen.arrows; curve.apply(pen, arguments); };
  mouse("click", seen.pieceZoomed[0], seen.pieceZoomed[1]);
  seen.caused = Array.from(document.querySelectorAll("#work tbody tr")).map(function (row) { return row.textContent; });
  document.getElementById("whole").click();
  seen.whole = ticks();
  mouse("mouseleave", 0, 0);
  seen.hidden = tip.style.display == "none";
  seen.cut = Array.from(document.querySelectorAll("svg .axis text")).filter(function (each) {
    return each.getBoundingClientRect().right > each.ownerSVGElement.getBoundingClientRect().right + 1;
  }).map(function (each) { return each.textContent; });
  seen.shareKey = document.getElementById("shareKey").textContent;
  seen.bars = document.querySelectorAll("#shares rect").length;
  seen.model = document.getElementById("model").textContent;
  seen.held = document.querySelectorAll("#holding path.held").length;
  box = document.getElementById("holding").getBoundingClientRect();
  document.getElementById("holding").dispatchEvent(
    new MouseEvent("mousemove", {clientX: box.right - 9, clientY: box.top + 50, bubbles: true, view: window}));
  seen.holding = tip.textContent;
  seen.launch = document.getElementById("launch").selectedOptions[0].textContent;
  seen.boxes = Array.from(document.querySelectorAll("#graph .box")).map(function (each) { return each.textContent; });
  seen.edges = document.querySelectorAll("#graph .edge").length;
  document.querySelector("#graph .box").dispatchEvent(
    new MouseEvent("mousemove", {clientX: 30, clientY: 30, bubbles: true, view: window}));
  seen.boxTip = tip.textContent;
  seen.issued = Array.from(document.querySelectorAll("#issued tbody tr")).map(function (row) {
    return Array.from(row.cells).map(function (cell) { return cell.textContent; });
  });
  seen.kernels = document.getElementById("kernels").textContent;
  seen.matrix = document.getElementById("matrix").textContent;
  seen.wide = document.documentElement.scrollWidth <= innerWidth;
  var note = document.createElement("pre");
  note.id = "seen";
  note.textContent = JSON.stringify(seen);
  document.body.appendChild(note);
});
"""


def splittrace(bench, *arguments):
    return subprocess.run([str(bench.build / "bin" / "splittrace"), *map(str, arguments)], capture_output=True, text=True,
                          check=False, timeout=120)


def browser():
    found = shutil.which("chromium")
    if not found:
        print("chromium is not installed")
        sys.exit(77)
    return found


def looked_at(bench, page, *flags):
    """What the hand saw on the page."""
    driven = bench.tmp / "driven.html"
    driven.write_text(page.read_text().replace("<body>", f"<body><script>{HAND}</script>", 1))
    run = subprocess.run([browser(), "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={bench.tmp}/profile",
                          "--virtual-time-budget=20000", *flags, "--dump-dom", f"file://{driven}"],
                         capture_output=True, text=True, check=False, timeout=300)
    if error := re.search(r'data-error="([^"]*)"', run.stdout):
        raise Failure(f"the page's script failed: {error[1]}")
    noted = re.search(r'<pre id="seen">(.*?)</pre>', run.stdout, re.DOTALL)
    if not noted:
        raise Failure(f"the browser ended with {run.returncode}:\n{run.stdout[-2000:]}{run.stderr[-2000:]}")
    return json.loads(noted[1].replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))


def page(bench):
    """Wide and narrow, by light and in the dark: every part is there, and answers."""
    run, events = traced(bench, bench.sample("jacobi2d", "--size", "256", "--iterations", "7"), SEPARATE)
    report = bench.tmp / "report.html"
    made = splittrace(bench, "report", "-o", report, bench.tmp / "run.trace")
    run.require(made.returncode == 0 and made.stderr == "", f"{made}")
    text = report.read_text()
    run.require("Michael Bostock" in text, "D3 stands there without its licence")
    run.require(not re.search(r"""(src|href)\s*=\s*["']?(https?:)?//""", text), "the page wants the network")
    for flags in (["--window-size=1400,1000"], ["--window-size=500,900"], ["--window-size=1400,1000", "--force-dark-mode"]):
        seen = looked_at(bench, report, *flags)
        run.require(seen["pixels"] > 4, f"{flags}: the timeline is empty")
        run.require(seen["piece"] and "jacobi2d" in seen["piece"][2], f"{flags}: no piece: {seen['piece']}")
        run.require(seen["copy"] and " host" in seen["copy"][2], f"{flags}: no copy: {seen['copy']}")
        run.require(seen["zoomed"] != seen["ticks"] and "jacobi2d" in seen["pieceZoomed"][2],
                    f"{flags}: zoomed from {seen['ticks']} to {seen['zoomed']}, at {seen['pieceZoomed']}")
        run.require(seen["whole"] == seen["ticks"], f"{flags}: not the whole run again: {seen['whole']}")
        run.require(sum("jacobi2d" in row for row in seen["caused"]) >= 3, f"{flags}: caused {seen['caused']}")
        run.require(seen["arrows"] >= 1, f"{flags}: no arrow leads from the call to what it caused")
        run.require(not seen["cut"], f"{flags}: numbers are cut off: {seen['cut']}")
        run.require("0.1" in seen["shareKey"] and "waiting" in seen["shareKey"], f"{flags}: the key is {seen['shareKey']}")
        run.require(seen["hidden"], f"{flags}: the tip stays")
        run.require(seen["bars"] == 14, f"{flags}: {seen['bars']} bars for 7 launches on 2 devices")
        run.require("jacobi2d" in seen["kernels"] and seen["wide"], f"{flags}: {seen}")
        run.require(re.search(r"By the model .* off by \d+ %, .* would have taken [\d.]+ [mµ]?s on .* own device|"
                              r"The model .* off by \d+ % on this run, which is more than", seen["model"]),
                    f"{flags}: the model says {seen['model']}")
        run.require(seen["held"] >= 2 and re.search(r"0\.1: [\d.]+ k?B", seen["holding"]),
                    f"{flags}: {seen['held']} memories hold the buffer, {seen['holding']}")
        require_graph(run, seen)
    moved = sum(event["args"]["bytes"] for event in events if "bytes" in event.get("args", {})
                and not {"home", "stopover"} & event["args"].keys())
    run.require(moved == run.total("bytes_between_nodes"), "not what the statistics say")


def require_graph(run, seen):
    """The chosen launch has two pieces, and copies that they wait for."""
    run.require(re.match(r"jacobi2d, launch \d of 7", seen["launch"]), f"chosen is {seen['launch']}")
    pieces = [row for row in seen["issued"] if row[1] == "jacobi2d"]
    copies = {row[0]: row[1] for row in seen["issued"] if row[1] in ("to host", "from host")}
    run.require(len(pieces) == 2 and len(seen["boxes"]) == len(seen["issued"]), f"issued were {seen['issued']}")
    waits = [number for row in pieces for number in row[5].split(", ") if number in copies]
    run.require(waits and all(int(number) < int(row[0]) for row in seen["issued"] for number in row[5].split(", ") if number),
                f"no piece waits for a copy: {seen['issued']}")
    run.require(seen["edges"] == sum(len(row[5].split(", ")) for row in seen["issued"] if row[5]), f"{seen['edges']} lines")
    run.require("host" in seen["boxTip"] or "jacobi2d" in seen["boxTip"], f"the tip says {seen['boxTip']}")


def many_events(bench):
    """A million events become a page that opens: neighbours are drawn as one, and the page says so."""
    trace, report = bench.tmp / "large.json", bench.tmp / "large.html"
    with trace.open("w") as file:
        file.write('[\n{"ph":"M","pid":1,"tid":0,"name":"process_name","args":{"name":"app"}}')
        for device in (0, 1):
            file.write(f',\n{{"ph":"M","pid":{device + 2},"tid":0,"name":"process_name","args":{{"name":"0.{device} cpu"}}}}')
        for i in range(250_000):
            file.write(f',\n{{"ph":"X","pid":1,"tid":7,"ts":{10 * i},"dur":1,"name":"clEnqueueNDRangeKernel","args":{{"kernel":"k"}}}}'
                       f',\n{{"ph":"X","pid":{2 + i % 2},"tid":1,"ts":{10 * i + 2},"dur":6,"name":"k","args":'
                       '{"groups":5,"first_group":0,"all_groups":10,"dimension":0,"enqueued_us_before":1}}'
                       f',\n{{"ph":"s","pid":1,"tid":7,"ts":{10 * i},"cat":"call","id":{i + 1},"name":"caused"}}'
                       f',\n{{"ph":"f","pid":{2 + i % 2},"tid":1,"ts":{10 * i + 2},"cat":"call","id":{i + 1},"bp":"e","name":"caused"}}')
        file.write("\n]\n")
    made = splittrace(bench, "report", "-o", report, trace)
    if made.returncode or report.stat().st_size > 8e6:
        raise Failure(f"{made}, {report.exists() and report.stat().st_size} bytes")
    if not re.search(r"Of 500000 spans, those shorter than .* drawn as one: \d+ are left", report.read_text()):
        raise Failure("the page does not say that spans are drawn as one")


def bad_input(bench):
    """One line that names the byte; what can be read of a trace that was cut is shown, with where it ends."""
    traced(bench, bench.sample("jacobi2d", "--size", "256", "--iterations", "3"), SEPARATE)
    binary = (bench.tmp / "run.trace").read_bytes()
    text = splittrace(bench, "chrome", bench.tmp / "run.trace").stdout.encode()
    bad, report = bench.tmp / "bad.trace", bench.tmp / "report.html"
    middle, slice_ = text.index(b'"ph"', len(text) // 2), text.index(b'"ph":"X"')
    first = 24  # where the first record begins
    for damaged, byte in ((text[:middle] + b"\xff" + text[middle + 1:], middle), (b"\x7fELF" + text, 0),
                          (text.replace(b'"ph":"X"', b'"ph":17', 1), text.rindex(b"\n", 0, slice_) + 1),
                          (binary[:4] + b"x" + binary[5:], 0), (binary[:8] + b"\xff" + binary[9:], 8), (binary[:20], 0),
                          (binary[:first + 4] + b"\xff" + binary[first + 5:], first), (b"", 0)):
        bad.write_bytes(damaged)
        for arguments in ((bad,), ("report", "-o", report, bad), ("diff", bench.tmp / "run.trace", bad)):
            run = splittrace(bench, *arguments)
            named = re.search(rf"byte {byte}\b", run.stderr) or (not damaged and "the file is empty" in run.stderr)
            if run.returncode != 1 or run.stderr.count("\n") != 1 or not named or run.stdout:
                raise Failure(f"byte {byte} of {arguments}: {run}")
    if report.exists():
        raise Failure("a page was made of a bad trace")
    for cut in (text[:middle], binary[:-8]):
        bad.write_bytes(cut)
        run = splittrace(bench, bad)
        if run.returncode or not re.search(r"ends in the middle of an event, at byte \d+", run.stdout):
            raise Failure(f"{run}")
    run = splittrace(bench, "report", "-o", "/nowhere/report.html", bench.tmp / "run.trace")
    if run.returncode != 1 or run.stderr.count("\n") != 1:
        raise Failure(f"{run}")
    # What the first version wrote was text, and had no version.
    lines = [line for line in text.decode().splitlines() if "libsplit_trace" not in line]
    bad.write_text("\n".join(lines))
    if splittrace(bench, bad).stdout != splittrace(bench, bench.tmp / "run.trace").stdout:
        raise Failure("an older trace is read differently")


def diff(bench):
    """What two runs have in common is compared; what only one has is named."""
    traced(bench, bench.sample("jacobi2d", "--size", "256", "--iterations", "5"), SEPARATE)
    first = (bench.tmp / "run.trace").rename(bench.tmp / "first.trace")
    traced(bench, bench.sample("jacobi2d", "--size", "256", "--iterations", "5"), {**SEPARATE, "POLICY": "static:1,0"})
    told = splittrace(bench, "diff", first, bench.tmp / "run.trace").stdout
    a, b = (next(line.split() for line in told.splitlines() if re.match(rf"(jacobi2d)? +{name}  ", line)) for name in "AB")
    if a[2:5] != ["5", "of", "5"] or b[1:4] != ["0", "of", "5"] or not re.search(r"\d\d % / \d\d %", told):
        raise Failure(told)
    if "* only in B: 5 launches of jacobi2d were not split: its shares leave all" not in told:
        raise Failure(told)
    same = splittrace(bench, "diff", first, first).stdout
    if "1.00 x" not in same or "*" in same:
        raise Failure(same)


if __name__ == "__main__":
    main({"page": page, "many_events": many_events, "bad_input": bad_input, "diff": diff})
