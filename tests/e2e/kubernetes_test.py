#!/usr/bin/env python3
"""The manifests and the chart for Kubernetes set flags that the server has, and its probes. Where helm is installed, it
checks and renders the chart too.

kubernetes_test.py BIN: BIN is the folder of the programs.
"""

import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
CHART = ROOT / "docker/helm"
MANIFESTS = ROOT / "docker/kubernetes"
PROBES = {"startupProbe": "/healthz", "readinessProbe": "/readyz", "livenessProbe": "/healthz"}
EVERYTHING = ["http.enabled=true", "serviceMonitor.enabled=true", "prometheusRule.enabled=true", "dashboard.enabled=true",
              "tokensSecret=tokens", "tlsSecret=tls", "image.pullSecrets={registry}", "single.storageClass=local"]


def helm(*words):
    return subprocess.run(["helm", *words], check=False, capture_output=True, text=True)


def rendered_charts():
    """Yields a name and the manifests, of each mode with as little and as much as can be chosen."""
    if not shutil.which("helm"):
        print("helm is not installed, so the chart was not rendered")
        return
    for mode in ("single", "fleet"):
        for more in ([], EVERYTHING):
            values = ",".join([f"mode={mode}", *more])
            for words in (("lint", "--strict", CHART), ("template", "waystar", CHART)):
                made = helm(*words, "--set", values)
                assert made.returncode == 0, made.stdout + made.stderr
            yield f"the chart with {values}", made.stdout
    assert helm("template", CHART, "--set", "mode=several").returncode, "the chart takes a mode that there is not"


def faults(name, text, flags):
    variables = set(re.findall(r"(?:name: |^ *)(WAYSTAR_\w+)\b", text, re.MULTILINE))
    print(f"{name}: {len(variables)} variables")
    if not variables:
        yield f"{name} sets no variable"
    for variable in sorted(variables):
        if variable.removeprefix("WAYSTAR_").lower() not in flags:
            yield f"{name} sets {variable}, and the server has no such flag"
    for probe, path in PROBES.items():
        if not re.search(rf"{probe}:\n +httpGet: {{path: {path}, port: metrics}}", text):
            yield f"{name} has no {probe} that asks {path}"


def main():
    asked = subprocess.run([pathlib.Path(sys.argv[1]) / "waystar-server", "--help"], check=False, capture_output=True, text=True)
    flags = {flag.replace("-", "_") for flag in re.findall(r"--(\w[\w-]*)", asked.stdout)}
    texts = [(path.name, path.read_text()) for path in sorted(MANIFESTS.glob("*.yaml"))]
    texts.append(("the chart", (CHART / "values.yaml").read_text() + (CHART / "templates/server.yaml").read_text()))
    texts += rendered_charts()
    found = [fault for name, text in texts for fault in faults(name, text, flags)]
    for fault in found:
        print(f"FAILED: {fault}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
