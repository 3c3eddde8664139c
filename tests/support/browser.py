"""A headless Chromium, controlled with its debugging protocol through a pipe and without further dependencies."""

import contextlib
import itertools
import json
import os
import shutil
import subprocess
import tempfile

NAMES = "chromium", "chromium-browser", "google-chrome"
CHROMIUM = next(filter(None, map(shutil.which, NAMES)), None)


class Page:
    """A page with its network requests, its log, and the values returned by scripts.

    If `overlay` is true, scrollbars appear only during scrolling unless a page styles them, as on phones and macOS.
    """

    def __init__(self, path, width=1200, dark=False, overlay=False):
        self._folder = tempfile.mkdtemp()
        reading, self._to = os.pipe()
        self._from, writing = os.pipe()

        def hand_over():
            # Chromium expects descriptors 3 and 4. Duplicate both ends first, since dup2 closes its target.
            spare = os.dup(reading), os.dup(writing)
            os.dup2(spare[0], 3)
            os.dup2(spare[1], 4)

        command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe"]
        command += [f"--user-data-dir={self._folder}", f"--window-size={width},1000", "about:blank"]
        self._process = subprocess.Popen(
            command, preexec_fn=hand_over, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        os.close(reading)
        os.close(writing)
        self._numbers, self._buffer, self.events, self._session = itertools.count(1), b"", [], None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=1000, deviceScaleFactor=1, mobile=overlay)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.visit(path if "://" in str(path) else f"file://{path}")

    def visit(self, url):
        self.events.clear()
        self.call("Page.navigate", url=url)
        while not any(event["method"] == "Page.loadEventFired" for event in self.events):
            self._read()

    def call(self, method, **parameters):
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": parameters}
        message |= {} if self._session is None else {"sessionId": self._session}
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == number:
                assert "error" not in answer, answer
                return answer["result"]

    def _read(self):
        while b"\0" not in self._buffer:
            data = os.read(self._from, 1 << 16)
            assert data, "the browser ended"
            self._buffer += data
        text, _, self._buffer = self._buffer.partition(b"\0")
        message = json.loads(text)
        if "method" in message:
            self.events.append(message)
        return message

    def run(self, script):
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def errors(self):
        """Return the log entries and the exceptions."""
        methods = {"Log.entryAdded", "Runtime.exceptionThrown", "Runtime.consoleAPICalled"}
        return [event for event in self.events if event["method"] in methods]

    def requests(self):
        """Return the requested addresses, without the page itself and data embedded in it."""
        sent = [event for event in self.events if event["method"] == "Network.requestWillBeSent"]
        urls = [event["params"]["request"]["url"] for event in sent]
        return [url for url in urls if not url.startswith(("file:", "data:", "about:"))]

    def close(self):
        with contextlib.suppress(OSError):
            os.close(self._to)
        self._process.terminate()
        self._process.wait(30)
        shutil.rmtree(self._folder, ignore_errors=True)
