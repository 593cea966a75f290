// The report's page. The data stands in #data; what its keys mean is written in tools/trace_report.h.
"use strict";
(function () {
  var data = JSON.parse(document.getElementById("data").textContent);
  var tip = document.getElementById("tip");

  // Figures for people.
  function time(us) {
    return us < 1e3 ? us.toFixed(1) + " µs" : us < 1e6 ? (us / 1e3).toFixed(2) + " ms" : (us / 1e6).toFixed(3) + " s";
  }
  function bytes(n) {
    return n < 1e4 ? n + " B" : n < 1e7 ? (n / 1e3).toFixed(1) + " kB" : (n / 1e6).toFixed(1) + " MB";
  }
  function percent(part) { return Math.round(100 * part) + " %"; }
  /** Texts of splittrace are for terminals too. */
  function prose(value) { return value.replace(/(\d) us\b/g, "$1 µs"); }
  function colour(name) { return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim(); }
  function text(id, value) { document.getElementById(id).textContent = value; }
  /** Draws an axis; its last number ends where the picture does. */
  function drawAxis(box, axis) {
    box.call(axis).selectAll("text").style("text-anchor", null);
    if (axis.orient() !== "bottom") return box.selectAll("text").style("text-anchor", "end");
    var right = box.node().ownerSVGElement.getBoundingClientRect().right;
    box.selectAll("text").style("text-anchor", function () {
      return this.getBoundingClientRect().right > right ? "end" : "middle";
    });
  }

  function showTip(event, value) {
    tip.style.display = value ? "block" : "none";
    if (!value) return;
    tip.textContent = value;
    var box = tip.getBoundingClientRect();
    tip.style.left = Math.max(4, Math.min(event.clientX + 14, innerWidth - box.width - 4)) + "px";
    tip.style.top = Math.max(4, Math.min(event.clientY + 14, innerHeight - box.height - 4)) + "px";
  }

  /** Rows of texts; the columns named in `flushLeft` hold prose. */
  function table(id, head, rows, flushLeft) {
    var all = d3.select("#" + id);
    function fill(row, tag, cells) {
      row.selectAll(tag).data(cells).enter().append(tag).text(String)
        .classed("text", function (_, i) { return (flushLeft || []).indexOf(i) >= 0; });
    }
    fill(all.append("thead").append("tr"), "th", head);
    var body = all.append("tbody");
    rows.forEach(function (cells) { fill(body.append("tr"), "td", cells); });
  }

  document.title = data.program + " – libsplit";
  text("program", data.program);
  text("sentence", prose(data.sentence));
  text("model", prose(data.model));
  text("notes", prose(data.notes.join(" ")));

  // ---- The timeline: rows of spans on a canvas, under one zoom.

  var rowHeight = 20, font = "12px system-ui, sans-serif";
  var canvas = document.getElementById("timeline"), pen = canvas.getContext("2d");
  var kinds = ["kernel", "in", "out", "other", "call"];
  var kindNames = ["kernels", "copies in", "copies out", "other", "calls"];
  var rows = data.rows; // [label, kind, spans]; a span is [begin, end, name, call, text, count]
  rows.forEach(function (row) {
    row.spans.sort(function (a, b) { return a[0] - b[0]; });
    row.title = row.label + (row.kind < 4 ? ": " + kindNames[row.kind] : "");
    row.spans.forEach(function (span) { span[4] = prose(span[4]); });
  });
  pen.font = font;
  var labelWidth = 14 + Math.min(176, d3.max(rows, function (row) { return pen.measureText(row.title).width; }) || 0);
  var end = d3.max(rows, function (row) { return d3.max(row.spans, function (span) { return span[1]; }); }) || 1;
  // From the first event: until then the program had nothing to do with kernels.
  var start = Math.min(end - 1, d3.min(rows, function (row) { return d3.min(row.spans, function (span) { return span[0]; }); }) || 0);
  var x = d3.scale.linear();
  var axis = d3.svg.axis().scale(x).orient("bottom").ticks(innerWidth < 700 ? 3 : 8).tickFormat(time);
  var zoom = d3.behavior.zoom().scaleExtent([1, 1e6]).on("zoom", function () {
    // Not beyond the ends of the run.
    var range = x.range(), more = 1 - zoom.scale();
    zoom.translate([Math.min(range[0] * more, Math.max(range[1] * more, zoom.translate()[0])), 0]);
    draw();
  });
  var width = 0, chosen = -1, isLaidOut = false;

  function layOut() {
    width = canvas.parentNode.clientWidth;
    var height = rows.length * rowHeight + 4, ratio = devicePixelRatio || 1;
    canvas.style.height = height + "px";
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    var shown = isLaidOut ? x.domain() : [start, end];
    isLaidOut = true;
    x.range([labelWidth, width - 8]).domain([start, end]);
    zoom.x(x);
    var scale = (end - start) / (shown[1] - shown[0]);
    zoom.translate([labelWidth - scale * x(shown[0]), 0]).scale(scale);
    draw();
  }

  /** The first span of the row that ends at or after `at`: they don't overlap within a row. */
  function firstFrom(spans, at) {
    var low = 0, high = spans.length;
    while (low < high) {
      var middle = (low + high) >> 1;
      if (spans[middle][1] < at) low = middle + 1; else high = middle;
    }
    return low;
  }

  function draw() {
    var visible = x.domain(), height = rows.length * rowHeight + 4;
    pen.clearRect(0, 0, width, height);
    pen.font = font;
    pen.textBaseline = "middle";
    rows.forEach(function (row, i) {
      var top = i * rowHeight + 2, spans = row.spans;
      pen.fillStyle = colour("line");
      pen.fillRect(0, top + rowHeight - 1, width, 1);
      for (var at = firstFrom(spans, visible[0]); at < spans.length && spans[at][0] <= visible[1]; ++at) {
        var span = spans[at], left = Math.max(x(span[0]), labelWidth), right = Math.min(x(span[1]), width);
        pen.fillStyle = colour(chosen >= 0 && span[3] === chosen ? "focus" : kinds[row.kind]);
        pen.fillRect(left, top + 2, Math.max(right - left, 1), rowHeight - 5);
        if (right - left > 8 * 6) {
          pen.save();
          pen.beginPath(); pen.rect(left, top, right - left - 3, rowHeight); pen.clip();
          pen.fillStyle = colour("on-" + kinds[row.kind]);
          pen.fillText(span[2], left + 4, top + rowHeight / 2);
          pen.restore();
        }
      }
      pen.fillStyle = colour("panel");
      pen.fillRect(0, top, labelWidth - 2, rowHeight - 2);
      pen.fillStyle = colour("soft");
      pen.save();
      pen.beginPath(); pen.rect(0, top, labelWidth - 6, rowHeight); pen.clip();
      pen.fillText(row.title, 6, top + rowHeight / 2);
      pen.restore();
    });
    d3.select("#axis").selectAll("g").data([0]).enter().append("g").attr("class", "axis");
    drawAxis(d3.select("#axis g"), axis);
    drawArrows();
  }

  /** From the chosen call to what it caused. */
  function drawArrows() {
    var from = null, to = [], visible = x.domain();
    if (chosen < 0) return;
    rows.forEach(function (row, i) {
      row.spans.forEach(function (span) {
        if (span[3] !== chosen) return;
        if (row.kind === 4) from = from || [span[0], i];
        else if (span[0] >= visible[0] && span[0] <= visible[1]) to.push([span[0], i]);
      });
    });
    if (!from) return;
    pen.save();
    pen.beginPath(); pen.rect(labelWidth, 0, width, rows.length * rowHeight + 4); pen.clip();
    pen.strokeStyle = pen.fillStyle = colour("text");
    pen.globalAlpha = 0.7;
    var x1 = x(from[0]), y1 = from[1] * rowHeight + rowHeight - 1;
    to.forEach(function (end) {
      var x2 = x(end[0]), y2 = end[1] * rowHeight + 4;
      pen.beginPath();
      pen.moveTo(x1, y1);
      pen.bezierCurveTo(x1, (y1 + y2) / 2, x2, (y1 + y2) / 2, x2, y2);
      pen.stroke();
      pen.beginPath();
      pen.moveTo(x2, y2); pen.lineTo(x2 - 3, y2 - 5); pen.lineTo(x2 + 3, y2 - 5);
      pen.fill();
    });
    pen.restore();
  }

  function spanAt(event) {
    var box = canvas.getBoundingClientRect(), row = rows[Math.floor((event.clientY - box.top - 2) / rowHeight)];
    if (!row || event.clientX - box.left < labelWidth) return null;
    var pixel = x.invert(1) - x.invert(0), at = x.invert(event.clientX - box.left);
    var span = row.spans[firstFrom(row.spans, at - 2 * pixel)];
    return span && span[0] <= at + 2 * pixel ? span : null;
  }

  function describe(span) {
    return span[2] + (span[5] > 1 ? " × " + span[5] : "") + "\n" + time(span[1] - span[0]) + " from " + time(span[0]) +
      (span[4] ? "\n" + span[4] : "");
  }

  function choose(call) {
    chosen = call;
    data.graphs.forEach(function (graph, i) {
      if (call < 0 || graph.call !== call) return;
      document.getElementById("launch").selectedIndex = i;
      drawGraph();
    });
    var box = d3.select("#work");
    box.selectAll("*").remove();
    if (chosen >= 0) {
      var caused = [];
      rows.forEach(function (row) {
        row.spans.forEach(function (span) {
          if (span[3] === chosen) caused.push([row, span]);
        });
      });
      caused.sort(function (a, b) { return a[1][0] - b[1][0]; });
      box.append("p").text("This call, and what it caused, in the order in which it began:");
      table(box.append("table").attr("id", "caused").attr("id"), ["what", "where", "begins", "takes", ""],
            caused.map(function (each) {
              var span = each[1];
              return [span[2], each[0].label + (each[0].kind < 4 ? ", " + kindNames[each[0].kind] : ""), time(span[0]),
                      time(span[1] - span[0]), span[4]];
            }), [1, 4]);
    }
    draw();
  }

  canvas.addEventListener("mousemove", function (event) {
    var span = spanAt(event);
    showTip(event, span && describe(span));
  });
  canvas.addEventListener("mouseleave", function (event) { showTip(event, null); });
  canvas.addEventListener("click", function (event) {
    if (event.defaultPrevented) return; // the end of a drag
    var span = spanAt(event);
    choose(span ? span[3] : -1);
  });
  d3.select(canvas).call(zoom);
  document.getElementById("whole").addEventListener("click", function () { zoom.scale(1).translate([0, 0]); draw(); });

  // ---- Shares of one kernel, launch by launch.

  var palette = d3.scale.category10();
  var key = d3.select("#shareKey").selectAll("b").data(data.devices).enter().append("b").style("font-weight", "normal");
  key.append("span").style("background", function (_, i) { return palette(i); });
  key.append("i").style("font-style", "normal").text(function (device) { return device.label; });
  key = d3.select("#shareKey").append("b").style("font-weight", "normal");
  key.append("span").attr("class", "stroke");
  key.append("i").style("font-style", "normal").text("waiting for the slowest");

  /** Which kernel comes first: as in the table of kernels. */
  function rank(name) {
    for (var i = 0; i < data.kernels.length; ++i)
      if (data.kernels[i].name === name) return i;
    return data.kernels.length;
  }

  function drawShares() {
    var name = document.getElementById("kernel").value, launches = data.launches[name] || [];
    var svg = d3.select("#shares"), wide = svg.node().clientWidth || 600, high = 200;
    svg.selectAll("*").remove();
    var across = d3.scale.linear().domain([0, Math.max(launches.length, 1)]).range([52, wide - 8]);
    var up = d3.scale.linear().domain([0, 1]).range([high - 26, 8]);
    launches.forEach(function (launch, i) {
      var sum = 0;
      launch.shares.forEach(function (share, device) {
        svg.append("rect").attr("x", across(i)).attr("width", Math.max(across(1) - across(0) - (launches.length < 200), 0.5))
          .attr("y", up(sum + share)).attr("height", up(sum) - up(sum + share)).attr("fill", palette(device));
        sum += share;
      });
    });
    svg.append("path").attr("fill", "none").attr("stroke", colour("text")).attr("stroke-width", 1.5)
      .attr("d", d3.svg.line().x(function (_, i) { return across(i + 0.5); })
        .y(function (launch) { return up(launch.idle); })(launches) || "M0 0");
    drawAxis(svg.append("g").attr("class", "axis").attr("transform", "translate(0," + up(0) + ")"),
             d3.svg.axis().scale(across).orient("bottom").ticks(Math.min(8, launches.length)).tickFormat(d3.format("d")));
    drawAxis(svg.append("g").attr("class", "axis").attr("transform", "translate(50,0)"),
             d3.svg.axis().scale(up).orient("left").ticks(4).tickFormat(percent));
    svg.on("mousemove", function () {
      var i = Math.floor(across.invert(d3.mouse(this)[0])), launch = launches[i];
      showTip(d3.event, launch && "launch " + i + (launch.count > 1 ? " and the " + (launch.count - 1) + " after it" : "") + "\n" +
        launch.shares.map(function (share, device) { return data.devices[device].label + ": " + percent(share); }).join("\n") +
        "\nwaiting for the slowest: " + percent(launch.idle));
    }).on("mouseleave", function () { showTip(d3.event, null); });
  }
  d3.select("#kernel").on("change", drawShares).selectAll("option").data(Object.keys(data.launches).sort(function (a, b) {
    return rank(a) - rank(b);
  })).enter().append("option").text(String);

  // ---- Who holds which bytes of one buffer.

  /** A device's memory has the colour of its shares. */
  function memories(node) {
    for (var i = 0; i < data.devices.length; ++i)
      if (data.devices[i].label === data.nodes[node]) return palette(i);
    return colour("other");
  }
  key = d3.select("#holdingKey").selectAll("b").data(data.nodes).enter().append("b").style("font-weight", "normal");
  key.append("span").style("background", function (_, i) { return memories(i); });
  key.append("i").style("font-style", "normal").text(String);

  function drawHolding() {
    var buffer = data.buffers[document.getElementById("buffer").selectedIndex], high = 200;
    var svg = d3.select("#holding"), wide = svg.node().clientWidth || 600;
    svg.selectAll("*").remove();
    text("holdingNote", !buffer ? "This trace tells of none." :
      buffer.left > 1 ? "One of " + buffer.left + " changes is drawn." : "");
    if (!buffer) return;
    var across = d3.scale.linear().domain([start, end]).range([76, wide - 8]);
    var up = d3.scale.linear().domain([0, Math.max(buffer.bytes, 1)]).range([high - 26, 12]);
    data.nodes.forEach(function (_, node) {
      var steps = buffer.steps.map(function (step) { return [step[0], step[1][node]]; });
      if (!d3.max(steps, function (step) { return step[1]; })) return;
      steps.push([end, steps[steps.length - 1][1]]);
      svg.append("path").attr("class", "held").attr("fill", "none").attr("stroke", memories(node)).attr("stroke-width", 2)
        .attr("transform", "translate(0," + 2.5 * (node - data.nodes.length / 2) + ")") // equal ones beside each other
        .attr("d", d3.svg.line().interpolate("step-after").x(function (step) { return across(step[0]); })
          .y(function (step) { return up(step[1]); })(steps));
    });
    drawAxis(svg.append("g").attr("class", "axis").attr("transform", "translate(0," + up(0) + ")"),
             d3.svg.axis().scale(across).orient("bottom").ticks(innerWidth < 700 ? 3 : 8).tickFormat(time));
    drawAxis(svg.append("g").attr("class", "axis").attr("transform", "translate(74,0)"),
             d3.svg.axis().scale(up).orient("left").ticks(4).tickFormat(bytes));
    svg.on("mousemove", function () {
      var at = across.invert(d3.mouse(this)[0]), last = null;
      buffer.steps.forEach(function (step) { if (step[0] <= at) last = step; });
      showTip(d3.event, last && "from " + time(last[0]) + " on, of " + bytes(buffer.bytes) + "\n" +
        data.nodes.map(function (node, i) { return node + ": " + bytes(last[1][i]); }).join("\n"));
    }).on("mouseleave", function () { showTip(d3.event, null); });
  }
  d3.select("#buffer").on("change", drawHolding).selectAll("option").data(data.buffers).enter().append("option")
    .text(function (buffer) { return buffer.number + " (" + bytes(buffer.bytes) + ")"; });

  // ---- What one launch issued: boxes, in columns by how much came before, and a line for each dependency.

  function drawGraph() {
    var graph = data.graphs[document.getElementById("launch").selectedIndex], svg = d3.select("#graph");
    svg.selectAll("*").remove();
    d3.select("#issued").selectAll("*").remove();
    text("graphNote", !graph ? "No launch was libsplit's." : graph.left ? graph.left + " more of its are left out." : "");
    if (!graph) return svg.style("width", "0").attr("height", 0);
    var boxWidth = 148, boxHeight = 36, gapX = 46, gapY = 12, byId = {}, filled = {}, tall = 0, deep = 0, numbers = {};
    var works = graph.works.map(function (work) {
      return {id: work[0], device: work[1], kind: work[2], name: work[3], begin: work[4], end: work[5], details: work[6],
              after: work[7], depth: -1};
    });
    works.forEach(function (work) { byId[work.id] = work; });
    works.forEach(function (work) { work.after = work.after.filter(function (id) { return byId[id] && byId[id] !== work; }); });
    function depthOf(work) {
      if (work.depth < 0) {
        work.depth = 0; // and there an end, should a damaged trace have a circle
        work.depth = d3.max(work.after, function (id) { return depthOf(byId[id]) + 1; }) || 0;
      }
      return work.depth;
    }
    works.forEach(depthOf);
    // What another of them waited for, too, need not be named.
    var waitedFor = {}; // by work: all that came before it
    works.slice().sort(function (a, b) { return a.depth - b.depth; }).forEach(function (work) {
      var all = waitedFor[work.id] = {};
      work.after.forEach(function (id) { Object.assign(all, waitedFor[id]); });
      work.after = work.after.filter(function (id) { return !all[id]; });
      work.after.forEach(function (id) { all[id] = true; });
    });
    works.sort(function (a, b) { return a.depth - b.depth || a.device - b.device || a.kind - b.kind || a.id - b.id; });
    works.forEach(function (work, i) {
      var row = filled[work.depth] || 0;
      filled[work.depth] = row + 1;
      numbers[work.id] = i + 1;
      work.x = 10 + work.depth * (boxWidth + gapX);
      work.y = 10 + row * (boxHeight + gapY);
      tall = Math.max(tall, work.y + boxHeight);
      deep = Math.max(deep, work.x + boxWidth);
    });
    svg.attr("height", tall + 10).style("width", deep + 10 + "px");
    svg.append("defs").append("marker").attr("id", "tipOfEdge").attr("viewBox", "0 0 8 8").attr("refX", 7).attr("refY", 4)
      .attr("markerWidth", 7).attr("markerHeight", 7).attr("orient", "auto").append("path").attr("d", "M0 0L8 4L0 8z");
    works.forEach(function (work) {
      work.after.forEach(function (id) {
        var from = byId[id], x1 = from.x + boxWidth, y1 = from.y + boxHeight / 2, y2 = work.y + boxHeight / 2;
        svg.append("path").attr("class", "edge").attr("marker-end", "url(#tipOfEdge)").attr("d", "M" + x1 + " " + y1 + "C" +
          (x1 + gapX / 2) + " " + y1 + " " + (work.x - gapX / 2) + " " + y2 + " " + work.x + " " + y2);
      });
    });
    var boxes = svg.selectAll("g.box").data(works).enter().append("g").attr("class", "box")
      .attr("transform", function (work) { return "translate(" + work.x + "," + work.y + ")"; });
    boxes.append("rect").attr("width", boxWidth).attr("height", boxHeight).attr("rx", 4)
      .attr("fill", function (work) { return colour(kinds[work.kind]); });
    function onBox(work) { return colour("on-" + kinds[work.kind]); }
    boxes.append("text").attr("x", 6).attr("y", 15).style("fill", onBox).text(function (work) {
      var name = numbers[work.id] + " " + work.name;
      return name.length > 20 ? name.slice(0, 19) + "…" : name;
    });
    boxes.append("text").attr("x", 6).attr("y", 30).style("fill", onBox).text(function (work) {
      return data.devices[work.device].label + ", " + time(work.end - work.begin);
    });
    boxes.on("mousemove", function (work) {
      showTip(d3.event, work.name + "\n" + kindNames[work.kind] + " of " + data.devices[work.device].label + "\n" +
        time(work.end - work.begin) + " from " + time(work.begin) + (work.details ? "\n" + prose(work.details) : ""));
    }).on("mouseleave", function () { showTip(d3.event, null); });
    table("issued", ["", "what", "where", "begins", "takes", "after", ""], works.map(function (work) {
      return [numbers[work.id], work.name, data.devices[work.device].label + ", " + kindNames[work.kind], time(work.begin),
              time(work.end - work.begin), work.after.map(function (id) { return numbers[id]; }).join(", "), prose(work.details)];
    }), [1, 2, 6]);
  }
  d3.select("#launch").on("change", drawGraph).selectAll("option").data(data.graphs).enter().append("option")
    .text(function (graph) { return graph.kernel + ", launch " + graph.launch + " of " + graph.of; });
  // The last one of the kernel that comes first: what it does once shares have settled.
  var shown = 0;
  data.graphs.forEach(function (graph, i) { if (data.kernels.length && graph.kernel === data.kernels[0].name) shown = i; });
  document.getElementById("launch").selectedIndex = shown;

  // ---- Tables.

  var isMoved = data.matrix.some(function (row) { return row.some(Boolean); });
  text("moved", isMoved ? "From the row's memory to the column's. What goes from one device to another passes through the " +
    "host's memory, and stands in both places." : "Nothing was copied from one to another.");
  if (isMoved) table("matrix", [""].concat(data.nodes), data.matrix.map(function (row, i) {
    return [data.nodes[i]].concat(row.map(function (n) { return n ? bytes(n) : "–"; }));
  }));
  table("kernels", ["kernel", "launches", "split", "a launch, split", "at home", "gain", "shares", "idle", "not split because"],
        data.kernels.map(function (kernel) {
          return [kernel.name, kernel.launches, kernel.split, kernel.splitUs > 0 ? time(kernel.splitUs) : "–",
                  kernel.homeUs > 0 ? time(kernel.homeUs) : "–", kernel.gain > 0 ? kernel.gain.toFixed(2) + " ×" : "–",
                  kernel.split ? kernel.shares.map(percent).join(", ") : "–", kernel.split ? percent(kernel.idle) : "–",
                  kernel.reasons.map(function (reason) { return reason[1] + " × " + reason[0]; }).join("; ")];
        }), [8]);
  table("devices", ["device", "computes", "moves", "other", "idle"], data.devices.map(function (device) {
    return [device.name, time(device.kernelUs), time(device.transferUs), time(device.otherUs), percent(device.idle)];
  }));
  d3.select("#advice").selectAll("li").data(data.advice.length ? data.advice : ["Nothing."]).enter().append("li").text(prose);

  function all() { layOut(); drawShares(); drawHolding(); drawGraph(); }
  addEventListener("resize", all);
  matchMedia("(prefers-color-scheme: dark)").addListener(all);
  all();
})();
