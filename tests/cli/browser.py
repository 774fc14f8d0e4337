"""Debian's Chromium without a screen, driven over its debugging pipe. Needs no network."""

import json
import os
import select
import shutil
import subprocess
import time

PROGRAM = shutil.which("chromium")
PATIENCE_S = 50


class Browser:
    """One page. What it asked for and complained about is in `requests` and `complaints`."""

    def __init__(self, folder):
        """`folder`: an empty one, for the browser's own files."""
        ours_out, theirs_in = os.pipe()[::-1]
        ours_in, theirs_out = os.pipe()

        # It reads commands from descriptor 3, and answers on 4.
        def place():
            low = os.dup(theirs_in), os.dup(theirs_out)
            os.dup2(low[0], 3)
            os.dup2(low[1], 4)

        self._process = subprocess.Popen(
            [PROGRAM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--no-first-run", "--disable-background-networking", "--disable-extensions",
             "--disable-component-update", f"--user-data-dir={folder}/profile",
             "--remote-debugging-pipe"],
            env={"PATH": os.environ["PATH"], "HOME": folder, "TMPDIR": folder},
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            close_fds=False, preexec_fn=place, start_new_session=True)
        os.close(theirs_in)
        os.close(theirs_out)
        self._out, self._in, self._text = ours_out, ours_in, b""
        self._number, self._session, self.events = 0, None, []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)[
            "sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")

    def close(self):
        self._process.kill()
        self._process.wait(PATIENCE_S)
        os.close(self._out)
        os.close(self._in)

    def _read(self):
        limit = time.monotonic() + PATIENCE_S
        while b"\0" not in self._text:
            ready, _, _ = select.select([self._in], [], [], max(0, limit - time.monotonic()))
            more = os.read(self._in, 1 << 20) if ready else b""
            if not more:
                raise RuntimeError("the browser has ended, or does not answer")
            self._text += more
        message, self._text = self._text.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **parameters):
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def open(self, url):
        self.call("Page.navigate", url=url)
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self._read())

    def value(self, expression):
        """What a JavaScript expression comes to."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(str(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def move(self, x, y):
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    @property
    def requests(self):
        return [event["params"]["request"]["url"] for event in self.events
                if event.get("method") == "Network.requestWillBeSent"]

    @property
    def complaints(self):
        kinds = ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")
        return [event for event in self.events if event.get("method") in kinds]
