#!/usr/bin/env python3
"""Alerts and the dashboard ask for metrics that a server has, alerts have a runbook, and each metric its own help. Where
promtool is installed, it checks the rules too.

alerts_test.py BIN: BIN is the folder of the programs.
"""

import json
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import urllib.request

from programs import PATIENCE_SECONDS, Programs, own_host, wait_for

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCKER = ROOT / "docker"
# Prometheus makes this one itself.
MADE_BY_PROMETHEUS = {"up"}
NAME = re.compile(r"\b(?:up\b|(?:waystar|grpc_server|process)_\w+)")
# Metrics of a fleet, whose server needs etcd.
FLEET_NAME = re.compile(r'"(waystar_fleet_\w+)"')
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


def dashboard_panels():
    dashboard = json.loads((DOCKER / "grafana/dashboards/waystar.json").read_text(encoding="utf-8"))
    panels = [inner for panel in dashboard["panels"] for inner in (panel, *panel.get("panels", []))]
    return [panel for panel in panels if panel["type"] != "row"]


def dashboard_names():
    return set().union(*(names_in(target["expr"]) for panel in dashboard_panels() for target in panel["targets"]))


def served_names(text):
    kinds = re.findall(r"^# TYPE (\S+) (\S+)$", text, re.MULTILINE)
    source = (ROOT / "server/service/metrics/storage_statistics.cc").read_text(encoding="utf-8")
    kinds += [(name, "histogram" if name.endswith("_commit_seconds") else "") for name in FLEET_NAME.findall(source)]
    names = set()
    for name, kind in kinds:
        names |= {name + end for end in ("_bucket", "_sum", "_count")} if kind == "histogram" else {name}
    return names


def faults(text):
    """Yields the faults of the metrics' help, the alerts' runbook, and the dashboard's panels."""
    metric_of = {}
    for name, sentence in re.findall(r"^# HELP (\S+) (.*)$", text, re.MULTILINE):
        if sentence in metric_of or "these" in sentence:
            yield f"{name} has no help of its own: {sentence}"
        metric_of[sentence] = name
    headings = re.findall(r"^#+ (.*)$", (ROOT / "docs/operating.md").read_text(encoding="utf-8"), re.MULTILINE)
    anchors = {heading.lower().replace(" ", "-") for heading in headings}
    rules = (DOCKER / "alerts.yml").read_text(encoding="utf-8").split("- alert: ")[1:]
    for rule in rules:
        runbook = re.search(r"^ +runbook: docs/operating.md#(\S+)$", rule, re.MULTILINE)
        if not runbook or runbook[1] not in anchors:
            yield f"{rule.split()[0]} has no part of the runbook in docs/operating.md"
    for panel in dashboard_panels():
        if not panel.get("description"):
            yield f"the panel \"{panel['title']}\" has no description"
        for target in panel["targets"]:
            if target["expr"].count('instance=~"$instance"') != len(NAME.findall(QUOTED.sub("", target["expr"]))):
                yield f"the panel \"{panel['title']}\" does not obey the choice of servers: {target['expr']}"


def metrics_of_a_server(folder, work):
    """Returns the metrics of a server with all sources of metrics, after a search and a refused update."""
    with socket.socket() as probe:
        probe.bind((own_host(), 0))
        metrics = f"{own_host()}:{probe.getsockname()[1]}"
    programs = Programs(folder, work, f"--data_dir={work}/data", f"--metrics_listen={metrics}")
    try:
        # Its maps may still be being read.
        wait_for(lambda: programs.succeeds("find", "ten-by-ten", "0,0", "7,7", "--json"), "a path")
        assert not programs.succeeds("block", "ten-by-ten", "99,99"), "a cell outside of the map can be blocked"
        with urllib.request.urlopen(f"http://{metrics}/metrics", timeout=PATIENCE_SECONDS) as answer:
            return answer.read().decode()
    finally:
        programs.close()


def main():
    with tempfile.TemporaryDirectory() as work:
        text = metrics_of_a_server(sys.argv[1], work)
    served = served_names(text)
    failures = 0
    for fault in faults(text):
        print(f"FAILED: {fault}")
        failures += 1
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
