"""A headless Chromium for tests, controlled over the DevTools protocol.

`chrome_loads.py` and `report_works.py` use it. It needs only Python's standard library.
"""

import base64
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import time
import urllib.request

START_SECONDS_MAX = 60
IMPORT_SECONDS_MAX = 300
CHROME_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
CHROME_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--remote-debugging-port=0",
)


class Failure(Exception):
    """A failure of the test or of the browser."""


class DevTools:
    """A page of the browser, controlled over a WebSocket with one command at a time."""

    def __init__(self, url):
        address, _, path = url.removeprefix("ws://").partition("/")
        host, _, port = address.partition(":")
        self.stream = socket.create_connection((host, int(port)), timeout=IMPORT_SECONDS_MAX)
        key = base64.b64encode(os.urandom(16)).decode()
        request = (
            f"GET /{path} HTTP/1.1\r\nHost: {address}\r\nUpgrade: websocket\r\n"
            f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n"
        )
        self.stream.sendall(request.encode())
        self.incoming = self.stream.makefile("rb")
        status = self.incoming.readline()
        if b" 101 " not in status:
            raise Failure(f"the browser refused the connection: {status!r}")
        while self.incoming.readline() not in (b"\r\n", b""):
            pass
        self.commands = 0
        self.events = []

    def command(self, method, **parameters):
        """Runs a command of the protocol and returns its result. Appends events that arrive meanwhile to `events`."""
        self.commands += 1
        command = {"id": self.commands, "method": method, "params": parameters}
        self._send(json.dumps(command).encode())
        while True:
            answer = json.loads(self._receive())
            if answer.get("id") == self.commands:
                break
            if "method" in answer:
                self.events.append(answer)
        result = answer.get("result", {})
        if "exceptionDetails" in result or "error" in answer:
            raise Failure(f"the page failed: {json.dumps(answer)[:2000]}")
        return result

    def evaluate(self, expression):
        """Returns the value of a JavaScript expression in the page."""
        parameters = {"expression": expression, "returnByValue": True, "awaitPromise": True}
        return self.command("Runtime.evaluate", **parameters)["result"].get("value")

    def _send(self, payload):
        # The protocol requires a client to mask its messages. A mask of zeros is valid and changes nothing.
        self.stream.sendall(struct.pack("!BBQ", 0x81, 0x80 | 127, len(payload)) + bytes(4))
        self.stream.sendall(payload)

    def _receive(self):
        message = b""
        while True:
            first, length = self._exactly(2)
            if length == 126:
                (length,) = struct.unpack("!H", self._exactly(2))
            elif length == 127:
                (length,) = struct.unpack("!Q", self._exactly(8))
            payload = self._exactly(length)
            kind = first & 0x0F
            if kind == 8:
                raise Failure("the browser closed the connection")
            if kind in (0, 1, 2):
                message += payload
                if first & 0x80:
                    return message

    def _exactly(self, count):
        data = self.incoming.read(count)
        if len(data) != count:
            raise Failure("the connection to the browser ended")
        return data


class Browser:
    """A headless browser with its own profile, both removed at the end of the `with` block."""

    def __init__(self, program):
        self.profile = tempfile.mkdtemp(prefix="superscalar-browser-")
        # Newer versions open chrome://tracing only if this preference enables the internal pages.
        with open(os.path.join(self.profile, "Local State"), "w", encoding="utf-8") as state:
            json.dump({"internal_only_uis_enabled": True}, state)
        self.process = subprocess.Popen(
            [program, *CHROME_FLAGS, f"--user-data-dir={self.profile}", "about:blank"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        # The browser has several processes and was started as a process group of its own.
        try:
            os.killpg(self.process.pid, signal.SIGTERM)
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        except ProcessLookupError:
            pass
        shutil.rmtree(self.profile, ignore_errors=True)

    def open(self, url, ready):
        """Opens a page and waits until `ready` is true. Returns `None` if the browser has no such page."""
        deadline = time.monotonic() + START_SECONDS_MAX
        new = f"http://127.0.0.1:{self._port(deadline)}/json/new?{url}"
        with urllib.request.urlopen(urllib.request.Request(new, method="PUT"), timeout=30) as page:
            tools = DevTools(json.load(page)["webSocketDebuggerUrl"])
        while not tools.evaluate(ready):
            if tools.evaluate("location.href").startswith(("chrome-error:", "chrome://debug-")):
                return None
            if time.monotonic() > deadline:
                raise Failure(f"{url} did not load")
            time.sleep(0.1)
        return tools

    def _port(self, deadline):
        port_file = os.path.join(self.profile, "DevToolsActivePort")
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                raise Failure(f"the browser exited with status {self.process.returncode}")
            try:
                with open(port_file, encoding="utf-8") as lines:
                    return int(lines.readline())
            except (FileNotFoundError, ValueError):
                time.sleep(0.1)
        raise Failure("the browser did not start in time")


def find_chrome():
    wanted = os.environ.get("CHROME")
    names = (wanted,) if wanted else CHROME_NAMES
    return next((path for path in map(shutil.which, names) if path), None)


def missing(what):
    required = os.environ.get("REQUIRE_CHROME") == "1"
    print(f"{'FAILED' if required else 'SKIPPED'}: {what}")
    return int(required)


def with_browser(work):
    """Calls `work` with a browser and returns its exit status, or that of a missing browser or a failure."""
    chrome = find_chrome()
    if chrome is None:
        return missing("no Chromium or Chrome on this machine")
    try:
        with Browser(chrome) as browser:
            return work(browser)
    except (Failure, OSError, ValueError, LookupError) as failure:
        print(f"FAILED: {failure!r}")
        return 1
