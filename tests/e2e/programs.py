"""A server and the command line tool, as programs."""

import contextlib
import json
import os
import pathlib
import re
import subprocess
import time

SAMPLES = pathlib.Path(__file__).resolve().parents[2] / "server" / "samples"
PATIENCE_SECONDS = 120


def wait_for(condition, what):
    """Asks again and again until the answer is true, and returns it."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        answer = condition()
        if answer:
            return answer
        if time.monotonic() > deadline:
            raise AssertionError(f"waited in vain: {what() if callable(what) else what}")
        time.sleep(0.05)


def own_host():
    """An address of this process alone: all of 127.0.0.0/8 is this machine."""
    pid = os.getpid()
    return f"127.{64 + (pid >> 16)}.{pid >> 8 & 255}.{pid & 255}"


class Programs:
    """A server with the samples, and the command line tool."""

    def __init__(self, folder, work, *flags):
        self.folder = pathlib.Path(folder)
        self.work = pathlib.Path(work)
        self.flags = flags
        self.server = None
        # On an address of its own, nobody else takes the port of a server that is to be started again.
        self.host = own_host()
        self.port = 0
        self.http_port = 0
        self.start_server()

    def start_server(self):
        port_file = self.work / "port"
        port_file.unlink(missing_ok=True)
        log_file = self.work / "log"
        log_file.unlink(missing_ok=True)
        # A machine that is busy with other tests is no reason to refuse a call.
        command = [self.folder / "waystar-server", f"--listen={self.host}:{self.port}",
                   f"--http_listen={self.host}:{self.http_port}", f"--maps_dir={SAMPLES}",
                   f"--port_file={port_file}", "--max_queue_time=1m", "--queue_target=1m", *self.flags]
        with open(log_file, "w", encoding="utf-8") as log:
            self.server = subprocess.Popen(command, stderr=log)
        wait_for(lambda: port_file.exists() and port_file.read_text().strip(), "the server does not start")
        self.port = int(port_file.read_text())
        found = wait_for(lambda: re.search(r"event=serving_http .*port=(\d+)", log_file.read_text()),
                         "the server does not serve HTTP")
        self.http_port = int(found[1])

    def stop_server(self):
        self.server.kill()
        self.server.wait()

    @property
    def address(self):
        """Of the page."""
        return f"http://{self.host}:{self.http_port}/"

    def _command(self, *arguments):
        return [self.folder / "waystar", f"--server={self.host}:{self.port}", "--timeout=60s", *arguments]

    def run(self, *arguments):
        return subprocess.run(self._command(*arguments), check=True, stdout=subprocess.PIPE, text=True).stdout

    def succeeds(self, *arguments):
        return subprocess.run(self._command(*arguments), capture_output=True, check=False).returncode == 0

    @contextlib.contextmanager
    def running(self, *arguments):
        """The tool, until the end of the context."""
        with subprocess.Popen(self._command(*arguments), stdout=subprocess.DEVNULL) as tool:
            try:
                yield
            finally:
                tool.kill()

    def cost(self, *arguments):
        """Of a path, as the page writes it."""
        answer = json.loads(self.run("find", "--json", *arguments))
        return f"{answer['cost']:,.4f}".rstrip("0").rstrip(".")

    def close(self):
        self.stop_server()
