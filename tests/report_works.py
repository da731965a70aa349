#!/usr/bin/env python3
"""Tests reports of `superscalar-trace` in a headless Chromium.

    tests/report_works.py [--screenshots DIRECTORY] REPORT.html [REPORT.html ...]

It zooms, selects, steps along hazards and searches with wheel, pointer and keys, and checks the
results, the dark theme, and that the page makes no requests and the browser reports no errors. A file
`REPORT.json` beside a page states the expected content:

    {"task": {"number": 7, "text": "gemm (3, 1)", "facts": ["1.234 ms"], "predecessors": [2, 5],
              "successors": [9]},
     "searches": {"gemm": 12, "#7": 1}, "text": ["text that the page shows literally"],
     "frame_ms_max": 250, "load_ms_max": 10000}

It needs no network and only Python's standard library. The exit status is 0 on success or without a
browser (a message states that), and 1 otherwise. With REQUIRE_CHROME=1, a missing browser gives
status 1. CHROME names the browser to use.
"""

import base64
import json
import os
import pathlib
import statistics
import sys
import time

from browser import Failure, with_browser

SETTLE_SECONDS_MAX = 60
TABS_MAX = 120
FRAMES = 60
READY = "!!window.superscalarReport && superscalarReport.isStill()"
# Codes of the named keys of the protocol. Letters and signs use their own codes.
KEY_CODES = {
    "Tab": 9, "Enter": 13, "Escape": 27, "Home": 36, "ArrowLeft": 37, "ArrowRight": 39,
}  # fmt: skip


def expect(holds, what):
    if not holds:
        raise Failure(what)


class Page:
    """A report in a browser, with methods for user input."""

    def __init__(self, browser, path):
        self.url = path.resolve().as_uri()
        self.tools = browser.open("about:blank", "true")
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.tools.command(f"{domain}.enable")
        self.resize(1600, 1000)
        self.reload()

    def reload(self, theme="light", motion="no-preference"):
        features = {"prefers-color-scheme": theme, "prefers-reduced-motion": motion}
        features = [{"name": name, "value": value} for name, value in features.items()]
        self.tools.command("Emulation.setEmulatedMedia", features=features)
        self.tools.command("Page.navigate", url="about:blank")
        self.tools.command("Page.navigate", url=self.url)
        self.settle()

    def resize(self, width, height):
        sizes = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.tools.command("Emulation.setDeviceMetricsOverride", **sizes)

    def js(self, expression):
        return self.tools.evaluate(expression)

    def settle(self):
        """Waits until the page is loaded, drawn, and not animated."""
        deadline = time.monotonic() + SETTLE_SECONDS_MAX
        while not self.js(READY):
            expect(time.monotonic() < deadline, f"the page does not come to rest: {self.complaints()}")
            time.sleep(0.02)

    def key(self, key, modifiers=0):
        code = KEY_CODES.get(key) or (ord(key.upper()) if key.isalnum() else 0)
        event = {"key": key, "windowsVirtualKeyCode": code, "modifiers": modifiers}
        if len(key) == 1:
            event["text"] = key
        elif key == "Enter":
            event["text"] = "\r"
        self.tools.command("Input.dispatchKeyEvent", type="keyDown", **event)
        self.tools.command("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)
        self.settle()

    def mouse(self, kind, x, y, **more):
        self.tools.command("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, x, y):
        for kind in ("mousePressed", "mouseReleased"):
            self.mouse(kind, x, y, button="left", clickCount=1)
        self.settle()

    def drag(self, x0, x1, y, modifiers=0):
        self.mouse("mousePressed", x0, y, button="left", clickCount=1, modifiers=modifiers)
        for part in (0.3, 0.7, 1.0):
            self.mouse("mouseMoved", x0 + (x1 - x0) * part, y, button="left", buttons=1, modifiers=modifiers)
        self.mouse("mouseReleased", x1, y, button="left", clickCount=1, modifiers=modifiers)
        self.settle()

    def wheel(self, x, y, delta):
        self.mouse("mouseWheel", x, y, deltaX=0, deltaY=delta)
        time.sleep(0.05)
        self.settle()

    def view(self):
        return self.js("superscalarReport.view()")

    def span(self):
        view = self.view()
        return view["end"] - view["start"]

    def selected(self):
        return self.js("superscalarReport.selected()")

    def box(self, element):
        rectangle = f"document.getElementById('{element}').getBoundingClientRect()"
        return self.js(f"(({{left, top, width, height}}) => ({{left, top, width, height}}))({rectangle})")

    def show_chart(self):
        self.js("document.getElementById('chart').scrollIntoView(); 0")
        time.sleep(0.05)
        return self.box("gantt")

    def search(self, text):
        """Searches for a text and returns the number of matches that the page displays."""
        self.js(f"document.getElementById('search').value = {json.dumps(text)}; 0")
        self.js("document.getElementById('search').dispatchEvent(new Event('input')); 0")
        time.sleep(0.25)
        self.settle()
        shown = self.js("document.getElementById('found').textContent")
        return int("".join(filter(str.isdigit, shown)) or -1)

    def picture(self, path):
        metrics = self.tools.command("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": metrics["width"], "height": metrics["height"], "scale": 1}
        shot = self.tools.command("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)
        pathlib.Path(path).write_bytes(base64.b64decode(shot["data"]))

    def complaints(self):
        """Returns errors, warnings, requests and dialogs that the browser has reported."""
        found = []
        for event in self.tools.events:
            method, parameters = event["method"], event["params"]
            if method == "Runtime.exceptionThrown":
                found.append(json.dumps(parameters["exceptionDetails"])[:600])
            elif method == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning", "assert"):
                found.append(json.dumps(parameters["args"])[:300])
            elif method == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
                found.append(parameters["entry"]["text"])
            elif method == "Network.requestWillBeSent":
                url = parameters["request"]["url"]
                if url != self.url and not url.startswith(("data:", "about:", self.url + "#")):
                    found.append(f"a request for {url}")
            elif method == "Page.javascriptDialogOpening":
                found.append("a dialog")
        return found


def check_zoom(page):
    """Checks zooming and panning with wheel, pointer and keys; the moment under the pointer must not move."""
    box = page.show_chart()
    whole = page.view()
    x, y = box["left"] + box["width"] * 0.6, box["top"] + box["height"] / 2
    gutter = page.js("parseFloat(superscalarReport.gutter())")

    def time_at(view):
        part = (x - box["left"] - gutter) / (box["width"] - gutter)
        return view["start"] + part * (view["end"] - view["start"])

    page.wheel(x, y, -400)
    near = page.view()
    expect(near["end"] - near["start"] < 0.7 * (whole["end"] - whole["start"]), "the wheel does not zoom")
    drift = abs(time_at(near) - time_at(whole)) / (near["end"] - near["start"])
    expect(drift < 0.01, f"the moment under the pointer moves by {drift:.3f} of the view")
    page.drag(x, x - 200, y)
    expect(page.view()["start"] > near["start"], "a drag does not pan")
    page.js("document.getElementById('gantt').focus(); 0")
    for key, grows in (("+", False), ("-", True)):
        before = page.span()
        page.key(key)
        expect((page.span() > before) == grows and page.span() != before, f"{key} does not zoom")
    before = page.view()["start"]
    page.key("ArrowRight")
    expect(page.view()["start"] > before, "the right arrow does not pan")
    page.key("ArrowLeft")
    expect(abs(page.view()["start"] - before) < page.span() / 100, "the left arrow does not pan back")
    page.key("Home")
    expect(page.view() == whole, "Home does not show the whole run")
    page.drag(box["left"] + gutter + 100, box["left"] + gutter + 300, box["top"] + 10)
    share = page.span() / (whole["end"] - whole["start"])
    wanted = 200 / (box["width"] - gutter)
    expect(abs(share - wanted) < 0.02 * wanted + 1e-9, f"dragging the ruler shows {share}, not {wanted}")
    page.key("Home")
    check_pinch(page, x, y)


def check_pinch(page, x, y):
    """Checks that two fingers that move apart zoom in."""
    def touch(kind, *places):
        points = [{"x": at, "y": y, "id": finger} for finger, at in enumerate(places)]
        page.tools.command("Input.dispatchTouchEvent", type=kind, touchPoints=points)

    before = page.span()
    touch("touchStart", x - 40)
    touch("touchStart", x - 40, x + 40)
    for apart in (60, 80, 120):
        touch("touchMove", x - apart, x + apart)
    touch("touchEnd")
    page.settle()
    expect(page.span() < 0.5 * before, "a pinch does not zoom")
    page.key("Home")


def check_selection(page, task):
    """Checks that a click on a known task shows its details and hazards."""
    page.js(f"location.hash = '#task-{task['number']}'; 0")
    time.sleep(0.2)
    page.settle()
    page.show_chart()
    middle = page.js(f"superscalarReport.middleOf({task['number']})")
    page.js("document.activeElement.blur(); 0")
    page.key("Escape")
    expect(page.selected()["task"] == -1, "Esc does not end the selection")
    page.click(middle["x"], middle["y"])
    selected = page.selected()
    for key in ("predecessors", "successors"):
        expect(selected[key] == sorted(task[key]), f"{key} of {task['number']}: {selected[key]}, not {task[key]}")
    expect(selected["task"] == task["number"], f"a click selects {selected['task']}, not {task['number']}")
    words = page.js("document.getElementById('details').textContent")
    for text in [task["text"], *task.get("facts", [])]:
        expect(text in words, f"the details do not say {text!r}: {words[:600]}")
    listed = page.js(
        "[...document.querySelectorAll('#details .hazards .task')].map((button) => Number(button.dataset.task))"
    )
    expect(sorted(listed) == sorted(task["predecessors"] + task["successors"]), f"the details list {listed}")
    if listed:
        page.js("document.querySelector('#details .hazards .task').click(); 0")
        page.settle()
        expect(page.selected()["task"] == listed[0], "a click on a predecessor does not lead to it")
    page.key("Escape")


def check_keyboard(page):
    """Checks that the page can be used with keys alone."""
    page.reload()
    for _ in range(TABS_MAX):
        page.key("Tab")
        if page.js("document.activeElement.id") == "gantt":
            break
    expect(page.js("document.activeElement.id") == "gantt", "Tab does not lead to the chart")
    page.key("Enter")
    first = page.selected()["task"]
    expect(first >= 0, "Enter selects no task")
    stepped = [page.key("]") or page.selected()["task"], page.key("[") or page.selected()["task"]]
    expect(stepped != [first, first], "brackets do not step")
    selected = page.selected()
    for key, list_name in (("p", "predecessors"), ("s", "successors")):
        here = page.selected()
        page.key(key)
        at = page.selected()["task"]
        expect(at in here[list_name] if here[list_name] else at == here["task"], f"{key} leads to {at}")
    page.key("Escape")
    expect(page.selected()["task"] == -1, "Esc does not end the selection")
    page.key("/")
    expect(page.js("document.activeElement.id") == "search", "/ does not lead to the search")
    for letter in f"#{selected['task']}":
        page.key(letter)
    time.sleep(0.3)
    page.key("Enter")
    expect(page.selected()["task"] == selected["task"], "Enter in the search does not lead to the match")
    page.key("Escape")
    expect(page.js("document.getElementById('search').value") == "", "Esc does not end the search")
    expect(page.js("document.activeElement.id") == "gantt", "Esc does not lead back to the chart")
    tabs = "document.querySelector('[role=tab][aria-selected=true]')"
    page.js(f"{tabs}.focus(); 0")
    before = page.js(f"{tabs}.id")
    page.key("ArrowRight")
    expect(page.js(f"{tabs}.id") != before, "arrows do not move among the tabs")


def check_search(page, searches):
    for text, count in searches.items():
        found = page.search(text)
        expect(found == count, f"a search for {text!r} finds {found}, not {count}")
        if count == 0:
            continue
        page.js("document.getElementById('match-next').click(); 0")
        page.settle()
        first = page.selected()["task"]
        page.js("document.getElementById('match-next').click(); 0")
        page.settle()
        expect((page.selected()["task"] == first) == (count == 1), f"next does not step in {text!r}")
    page.search("")


COLOURS = """
(() => {
  const gantt = document.getElementById('gantt');
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [gantt.width, gantt.height];
  const context = canvas.getContext('2d', { willReadFrequently: true });
  context.drawImage(gantt, 0, 0);
  const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
  const counts = new Map();
  for (const pixel of new Uint32Array(data.buffer)) counts.set(pixel, (counts.get(pixel) ?? 0) + 1);
  const most = [...counts].sort((a, b) => b[1] - a[1]).slice(0, 12).map(([pixel]) => pixel).sort();
  return { page: getComputedStyle(document.body).backgroundColor, most };
})()
"""


def check_themes(page):
    """Checks that the reader's preference and the switch make the page and the canvas dark."""
    page.reload("dark")
    dark = page.js(COLOURS)
    page.reload("light")
    light = page.js(COLOURS)
    differs = dark["page"] != light["page"] and dark["most"] != light["most"]
    expect(differs, "the dark theme has the colours of the light one")
    page.js("document.getElementById('theme').click(); 0")
    page.settle()
    expect(page.js(COLOURS) == dark, "the switch gives other colours than the preference")
    page.reload("light")


def check_motion(page):
    """Checks that with reduced motion a key changes the view at once."""
    page.reload("light", "reduce")
    page.js("document.getElementById('gantt').focus(); 0")
    before = page.span()
    press = "document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {key: '+', bubbles: true}))"
    after = page.js(f"{press}; superscalarReport.view()")
    expect(after["end"] - after["start"] < 0.7 * before, "the view is animated despite reduced motion")
    page.reload()


def check_text(page, texts):
    """Checks that names from the file are shown literally, and are not interpreted as HTML or scripts."""
    shown = page.js("document.body.textContent + document.title")
    for text in texts:
        expect(text in shown, f"the page does not show {text!r}")
    strange = "document.querySelectorAll('img, iframe, object, embed, b, svg, base, [onerror], [onload]').length"
    expect(page.js(strange) == 0, "a name has become an element")
    expect(page.js("typeof window.ran") == "undefined", "a name has been run as a script")


def check_print(page):
    """Checks that the printed page has all tables and no bars."""
    page.tools.command("Emulation.setEmulatedMedia", media="print", features=[])
    shown = "(element) => getComputedStyle(element).display !== 'none'"
    panels = page.js(f"[...document.querySelectorAll('.panel')].every({shown})")
    bars = page.js(f"[...document.querySelectorAll('.bar, .tabs')].some({shown})")
    expect(panels and not bars, "the printed page lacks tables or has bars")
    pdf = page.tools.command("Page.printToPDF")
    expect(len(pdf["data"]) > 1000, "the printed page is empty")
    page.reload()


def check_access(page):
    """Checks that every control has a name, and that the table for screen readers lists the tasks."""
    unnamed = page.js(
        "[...document.querySelectorAll('button, input, canvas:not([aria-hidden]), a[href]')].filter((element) =>"
        " !(element.textContent.trim() || element.getAttribute('aria-label') || element.labels?.length))"
        ".map((element) => element.outerHTML)"
    )
    expect(not unnamed, f"controls without a name: {unnamed[:3]}")
    page.js("document.getElementById('list').open = true; 0")
    time.sleep(0.3)
    rows = page.js("document.querySelectorAll('#list-rows tr').length")
    tasks = page.js("superscalarReport.tasks")
    expect(rows == min(tasks, 100), f"the table of tasks has {rows} rows for {tasks} tasks")
    page.js("document.getElementById('list').open = false; 0")


def check_speed(page, known):
    """Measures frames of a zoom from the whole run to a thousandth of it, and of a pan along the run."""
    load_ms = page.js("superscalarReport.loadMs")
    whole = page.view()
    length = whole["end"] - whole["start"]
    times = []
    for frame in range(FRAMES):
        part = 10 ** (-3 * frame / (FRAMES / 2)) if frame < FRAMES / 2 else 1e-3 * 1.3 ** (frame - FRAMES / 2)
        middle = whole["start"] + length * (0.3 + 0.4 * frame / FRAMES)
        half = min(part, 1) * length / 2
        times.append(page.js(f"superscalarReport.timeView({middle - half}, {middle + half})"))
    median, most = statistics.median(times), max(times)
    print(f"  load {load_ms:.0f} ms, frames: median {median:.1f} ms, longest {most:.1f} ms")
    expect(median <= known.get("frame_ms_max", 500), f"a frame takes {median:.0f} ms")
    expect(load_ms <= known.get("load_ms_max", 30000), f"loading takes {load_ms:.0f} ms")
    page.reload()


def check(browser, path, screenshots):
    """Checks a page, prints the result, and returns whether it works."""
    beside = path.with_suffix(".json")
    known = json.loads(beside.read_text(encoding="utf-8")) if beside.exists() else {}
    start = time.monotonic()
    try:
        page = Page(browser, path)
        if screenshots:
            take_screenshots(page, path, screenshots, known)
        check_zoom(page)
        if "task" in known:
            check_selection(page, known["task"])
        check_search(page, known.get("searches", {}))
        check_keyboard(page)
        check_themes(page)
        check_motion(page)
        check_access(page)
        check_speed(page, known)
        check_print(page)
        check_text(page, known.get("text", []))
        complaints = page.complaints()
        expect(not complaints, f"the browser reports {complaints[:5]}")
        print(f"ok: {path} ({time.monotonic() - start:.1f} s)")
        return True
    except Failure as failure:
        print(f"FAILED: {path}: {failure}")
        return False


def take_screenshots(page, path, directory, known):
    for theme in ("light", "dark"):
        for width in (800, 1600):
            page.resize(width, 1000)
            page.reload(theme)
            page.picture(os.path.join(directory, f"{path.stem}-{theme}-{width}.png"))
            if "task" in known:
                page.js(f"location.hash = '#task-{known['task']['number']}'; 0")
                time.sleep(0.3)
                page.settle()
                page.picture(os.path.join(directory, f"{path.stem}-{theme}-{width}-selected.png"))
    page.reload()


def main(arguments):
    screenshots = None
    if arguments[:1] == ["--screenshots"] and len(arguments) > 1:
        screenshots, arguments = arguments[1], arguments[2:]
        os.makedirs(screenshots, exist_ok=True)
    if not arguments:
        print(__doc__, file=sys.stderr)
        return 2
    return with_browser(
        lambda browser: int(not all([check(browser, pathlib.Path(path), screenshots) for path in arguments]))
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
