#!/usr/bin/env python3
"""Alerts and the dashboard ask for metrics that a server has. Where promtool is installed, it checks the rules too.

alerts_test.py BIN: BIN is the folder of the programs.
"""

import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCKER = ROOT / "docker"
SECONDS = 120
# Prometheus makes this one itself.
MADE_BY_PROMETHEUS = {"up"}
NAME = re.compile(r"\b(?:up\b|(?:waystar|grpc_server|process)_\w+)")
QUOTED = re.compile(r'"[^"]*"')


def names_in(expression):
    return set(NAME.findall(QUOTED.sub("", expression)))


def alert_names():
    """The names in each rule's expression, which ends where a key of the same or a lower depth begins."""
    names, inside = set(), False
    for line in (DOCKER / "alerts.yml").read_text(encoding="utf-8").splitlines():
        key = re.match(r" +([a-z]+): (.*)", line)
        if key:
            inside = key[1] == "expr"
        if inside:
            names |= names_in(key[2] if key else line)
    return names


def dashboard_names():
    dashboard = json.loads((DOCKER / "grafana/dashboards/waystar.json").read_text(encoding="utf-8"))
    targets = [target for panel in dashboard["panels"] for target in panel.get("targets", [])]
    return set().union(*(names_in(target["expr"]) for target in targets))


def served_names(text):
    names = set()
    for name, kind in re.findall(r"^# TYPE (\S+) (\S+)$", text, re.MULTILINE):
        names |= {name + end for end in ("_bucket", "_sum", "_count")} if kind == "histogram" else {name}
    return names


def free_address():
    # All of 127.0.0.0/8 is this machine: nobody else takes a port of this address before it is used.
    pid = os.getpid()
    host = f"127.{64 + (pid >> 16)}.{pid >> 8 & 255}.{pid & 255}"
    with socket.socket() as probe:
        probe.bind((host, 0))
        return f"{host}:{probe.getsockname()[1]}"


def succeeds(*command):
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def metrics_of_a_server(programs, work):
    """What a server with all that has metrics serves, after a search and an update that is refused."""
    metrics, http, port_file = free_address(), free_address(), work / "port"
    command = [programs / "waystar-server", "--listen=127.0.0.1:0", f"--port_file={port_file}",
               f"--data_dir={work}/data", f"--maps_dir={ROOT}/server/samples", f"--metrics_listen={metrics}",
               f"--http_listen={http}", "--max_queue_time=1m", "--queue_target=1m"]
    with open(work / "log", "wb") as log, subprocess.Popen(command, stderr=log) as server:
        try:
            end = time.monotonic() + SECONDS
            while not (port_file.exists() and port_file.read_text()):
                if server.poll() is not None or time.monotonic() > end:
                    raise SystemExit(f"the server does not start: {(work / 'log').read_text()}")
                time.sleep(0.02)
            address = f"--server=127.0.0.1:{port_file.read_text().strip()}"
            waystar = [programs / "waystar", address, "--timeout=2m"]
            while not succeeds(*waystar, "find", "ten-by-ten", "0,0", "7,7"):
                # Its maps are still being read.
                if time.monotonic() > end:
                    raise SystemExit("no path is found")
                time.sleep(0.02)
            if succeeds(*waystar, "block", "ten-by-ten", "99,99"):
                raise SystemExit("a cell outside of the map can be blocked")
            with urllib.request.urlopen(f"http://{metrics}/metrics", timeout=SECONDS) as answer:
                return answer.read().decode()
        finally:
            server.kill()


def main():
    with tempfile.TemporaryDirectory() as work:
        served = served_names(metrics_of_a_server(pathlib.Path(sys.argv[1]), pathlib.Path(work)))
    failures = 0
    for source, names in (("alerts.yml", alert_names()), ("the dashboard", dashboard_names())):
        unknown = sorted(names - served - MADE_BY_PROMETHEUS)
        print(f"{source} asks for {len(names)} metrics")
        if unknown or not names:
            print(f"FAILED: no server has these of {source}: {', '.join(unknown) or 'none found'}")
            failures += 1
    if shutil.which("promtool"):
        failures += subprocess.run(["promtool", "check", "config", DOCKER / "prometheus.yml"], check=False).returncode
        failures += subprocess.run(["promtool", "test", "rules", ROOT / "tests/e2e/alerts.yml"], check=False).returncode
    else:
        print("promtool is not installed, so the rules themselves were not checked")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
