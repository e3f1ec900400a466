"""A headless Chromium, driven over the WebDriver protocol with the standard library alone."""

import base64
import json
import shutil
import subprocess
import tempfile
import threading
import urllib.error
import urllib.request

from programs import PATIENCE_SECONDS, wait_for

CHROMIUM_ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
]
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"


def missing_program():
    """The name of a program that is not installed, or None."""
    return next((name for name in ("chromium", "chromedriver") if shutil.which(name) is None), None)


def wait_for_line(process, stream, what, is_meant=lambda line: True):
    """Returns the first line that is meant. Ends a process that has not written it in time."""
    end = threading.Timer(PATIENCE_SECONDS, process.kill)
    end.start()
    try:
        for line in stream:
            if is_meant(line):
                return line
    finally:
        end.cancel()
    raise AssertionError(f"waited in vain: {what}")


class StaleElement(AssertionError):
    """The page has taken the element away since it was found."""


class Driver:
    """The chromedriver process."""

    def __init__(self):
        self.process = subprocess.Popen(
            ["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        started = "started successfully on port"
        line = wait_for_line(
            self.process, self.process.stdout, "chromedriver does not start", lambda line: started in line
        )
        self.address = f"http://127.0.0.1:{int(line.rstrip().rstrip('.').split()[-1])}"

    def close(self):
        self.process.kill()
        self.process.wait()

    def send(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            self.address + path, data, {"Content-Type": "application/json"}, method=method
        )
        try:
            with urllib.request.urlopen(request, timeout=300) as response:
                return json.load(response)["value"]
        except urllib.error.HTTPError as error:
            value = json.load(error)["value"]
            kind = StaleElement if value["error"] == "stale element reference" else AssertionError
            raise kind(f"{method} {path}: {value['error']}: {value['message']}") from None


class Browser:
    """A window with a profile of its own."""

    def __init__(self, driver, width, height, dark=False, phone=False):
        self.driver = driver
        self.profile = tempfile.mkdtemp(prefix="waystar-browser-")
        arguments = CHROMIUM_ARGUMENTS + [f"--user-data-dir={self.profile}", f"--window-size={width},{height}"]
        if dark:
            arguments.append("--blink-settings=preferredColorScheme=0")
        chrome = {"args": arguments}
        if phone:
            metrics = {"width": width, "height": height, "pixelRatio": 2, "touch": True, "mobile": True}
            chrome["mobileEmulation"] = {"deviceMetrics": metrics}
        capabilities = {"browserName": "chrome", "goog:chromeOptions": chrome, "goog:loggingPrefs": {"browser": "ALL"}}
        session = driver.send("POST", "/session", {"capabilities": {"alwaysMatch": capabilities}})
        self.path = f"/session/{session['sessionId']}"
        if not phone:
            self._set_inner_size(width, height)

    def _set_inner_size(self, width, height):
        self._post("/goog/cdp/execute", {
            "cmd": "Emulation.setDeviceMetricsOverride",
            "params": {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False},
        })

    def save_files_in(self, folder):
        self._post("/goog/cdp/execute", {
            "cmd": "Browser.setDownloadBehavior", "params": {"behavior": "allow", "downloadPath": str(folder)}})

    def close(self):
        self.driver.send("DELETE", self.path)
        shutil.rmtree(self.profile, ignore_errors=True)

    def _post(self, path, body):
        return self.driver.send("POST", self.path + path, body)

    def open(self, address):
        self._post("/url", {"url": address})

    def run(self, script, *arguments):
        return self._post("/execute/sync", {"script": script, "args": list(arguments)})

    def find(self, selector):
        return self._post("/element", {"using": "css selector", "value": selector})[ELEMENT]

    def click(self, selector):
        # The page may draw the element anew between finding and clicking it; a person clicks again.
        for _ in range(10):
            try:
                return self._post(f"/element/{self.find(selector)}/click", {})
            except StaleElement as error:
                stale = error
        raise stale

    def text(self, selector):
        return self.run("return document.querySelector(arguments[0])?.textContent ?? ''", selector)

    def wait_for_text(self, selector, expected):
        """Until the element's text is that, or holds it if it begins with '~'."""
        def is_there():
            text = self.text(selector)
            return expected[1:] in text if expected.startswith("~") else text == expected
        wait_for(is_there, lambda: f"{selector} is '{self.text(selector)}', not '{expected}'")

    def act(self, *sources):
        self._post("/actions", {"actions": list(sources)})

    def keys(self, text):
        actions = []
        for key in text:
            actions += [{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]
        self.act({"type": "key", "id": "keyboard", "actions": actions})

    def point(self, steps, kind="mouse", button=0):
        """Steps are places (x, y) to go to, "down" and "up"."""
        actions = []
        for step in steps:
            if step in ("down", "up"):
                actions.append({"type": "pointer" + step.capitalize(), "button": button})
            else:
                actions.append({"type": "pointerMove", "duration": 0, "x": round(step[0]), "y": round(step[1])})
        self.act({"type": "pointer", "id": kind, "parameters": {"pointerType": kind}, "actions": actions})

    def picture(self):
        """A PNG of what is seen, in base 64."""
        return self.driver.send("GET", self.path + "/screenshot")

    def screenshot(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.picture()))

    def console_errors(self):
        log = self._post("/se/log", {"type": "browser"})
        return [entry["message"] for entry in log if entry["level"] == "SEVERE"]
