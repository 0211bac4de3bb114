"""A headless Chromium, driven over its DevTools pipe by nothing but the standard library."""

import base64
import json
import os
import subprocess
import tempfile
import time

FLAGS = [
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-dev-shm-usage", "--no-first-run", "--no-default-browser-check", "--hide-scrollbars", "--remote-debugging-pipe",
]


class Browser:
    """One page of one browser. Keeps what the console says."""

    def __init__(self, program):
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_browser, from_us = os.pipe()
        from_browser, to_us = os.pipe()

        def places():
            # The browser reads at 3 and writes at 4. First out of the way: the pipes may have these numbers.
            read, write = os.dup(to_browser), os.dup(to_us)
            while read in (3, 4):
                read = os.dup(read)
            while write in (3, 4):
                write = os.dup(write)
            os.dup2(read, 3)
            os.dup2(write, 4)

        command = [program, *FLAGS, f"--user-data-dir={self.profile.name}", "about:blank"]
        self.process = subprocess.Popen(command, preexec_fn=places, close_fds=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(to_us)
        self.out, self.into = from_us, from_browser
        self.rest, self.number, self.session = b"", 0, None
        self.complaints, self.requests, self.answered = [], [], {}
        page = next(target for target in self.send("Target.getTargets")["targetInfos"] if target["type"] == "page")
        self.session = self.send("Target.attachToTarget", targetId=page["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")

    def send(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        self.write(message)
        waited = self.number
        while True:
            answer = self.receive()
            if answer.get("id") == waited:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def write(self, message):
        # A pipe takes a large message in parts.
        rest = json.dumps(message).encode() + b"\0"
        while rest:
            rest = rest[os.write(self.out, rest):]

    def receive(self):
        while b"\0" not in self.rest:
            part = os.read(self.into, 1 << 20)
            if not part:
                raise RuntimeError("the browser has gone")
            self.rest += part
        message, self.rest = self.rest.split(b"\0", 1)
        message = json.loads(message)
        self.listen(message)
        return message

    def listen(self, message):
        method, params = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.complaints.append(details.get("exception", {}).get("description") or details["text"])
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning"):
            self.complaints.append(" ".join(str(part.get("value", part.get("description"))) for part in params["args"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.complaints.append(f"{params['entry']['text']} {params['entry'].get('url', '')}")
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif method == "Fetch.requestPaused":
            # Not waited for: another answer is.
            self.number += 1
            body = next((body for part, body in self.answered.items() if part in params["request"]["url"]), None)
            more = {} if body is None else {"responseCode": 200, "responseHeaders": [{"name": "content-type", "value": "application/json"}], "body": base64.b64encode(body).decode()}
            name = "Fetch.continueRequest" if body is None else "Fetch.fulfillRequest"
            message = {"id": self.number, "method": name, "params": {"requestId": params["requestId"], **more}, "sessionId": self.session}
            self.write(message)

    def answer(self, part, body):
        """Answers requests whose address has this part, instead of the server."""
        self.answered[part] = body
        self.send("Fetch.enable", patterns=[{"urlPattern": f"*{part}*"}])

    def answer_no_more(self):
        self.answered.clear()
        self.send("Fetch.disable")

    def js(self, expression):
        """The value of an expression in the page; promises are waited for."""
        answer = self.send("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails'].get('exception', {}).get('description')}")
        return answer["result"].get("value")

    def until(self, expression, seconds=15):
        """Waits until an expression holds; answers whether it does."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                if self.js(f"Boolean({expression})"):
                    return True
            except RuntimeError:
                # While a page comes there may be no document.
                pass
            time.sleep(0.05)
        return False

    def size(self, width, height, dark=False):
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def go(self, url):
        # Another address, for a change behind # alone would load nothing.
        self.send("Page.navigate", url="about:blank")
        self.send("Page.navigate", url=url)

    def mouse(self, kind, x, y, **more):
        self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, selector):
        # Scrolling and its event first, then the place.
        x, y = self.js(f"(() => {{ const e = document.querySelector({json.dumps(selector)}); e.scrollIntoView({{ block: 'nearest' }}); const r = e.getBoundingClientRect(); return [r.left + r.width / 2, r.top + r.height / 2]; }})()")
        self.mouse("mouseMoved", x, y)
        self.mouse("mousePressed", x, y, button="left", clickCount=1)
        self.mouse("mouseReleased", x, y, button="left", clickCount=1)

    def drag(self, x0, y0, x1, y1):
        self.mouse("mouseMoved", x0, y0)
        self.mouse("mousePressed", x0, y0, button="left", clickCount=1)
        for step in range(1, 6):
            self.mouse("mouseMoved", x0 + (x1 - x0) * step / 5, y0 + (y1 - y0) * step / 5, button="left", buttons=1)
        self.mouse("mouseReleased", x1, y1, button="left", clickCount=1)

    def key(self, key, code=None, modifiers=0, virtual=0):
        text = {"text": key} if len(key) == 1 else {"text": "\r"} if key == "Enter" else {}
        common = {"key": key, "code": code or key, "modifiers": modifiers, "windowsVirtualKeyCode": virtual or (ord(key.upper()) if len(key) == 1 else KEYS.get(key, 0))}
        self.send("Input.dispatchKeyEvent", type="keyDown", **common, **text)
        self.send("Input.dispatchKeyEvent", type="keyUp", **common)

    def picture(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.send("Page.captureScreenshot", format="png")["data"]))

    def close(self):
        try:
            self.session = None
            self.send("Browser.close")
        except (RuntimeError, OSError):
            pass
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
        self.profile.cleanup()


KEYS = {"Enter": 13, "Tab": 9, "Escape": 27, "Backspace": 8, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}
