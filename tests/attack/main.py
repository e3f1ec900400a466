#!/usr/bin/env python3
"""Attacks a server, each time a fresh one in a memory limit with a good client beside, and prints what it did."""

import argparse
import dataclasses
import json
import shutil
import signal
import sys

# Each of these registers its attacks.
import call_attacks  # noqa: F401
import connection_attacks  # noqa: F401
import frame_attacks  # noqa: F401
import gateway_attacks  # noqa: F401
import h2spec
import http_attacks  # noqa: F401
import memory_attacks  # noqa: F401
import target
from attack import ATTACKS
from verdict import PATIENT, Times, judge


def milliseconds(value):
    return "-" if value is None else f"{value:.1f}"


def figures(service):
    if not service:
        return "-", "-", "-", "-"
    return (
        milliseconds(service.rest_p99_ms),
        milliseconds(service.during_p99_ms),
        f"{service.failed_during} of {service.calls_during}",
        "-" if service.recovered_s is None else f"{service.recovered_s:.1f}",
    )


def print_verdict(verdict, timed):
    memory = f"{verdict.peak_mib} of {verdict.limit_mib}"
    faults = "; ".join(verdict.faults(timed)) or "held"
    print_row((verdict.attack, "yes" if verdict.alive else "NO", memory, *figures(verdict.grpc), faults))
    if verdict.http:
        print_row(("  its good client over HTTP", "", "", *figures(verdict.http), ""))


COLUMNS = ("attack", "alive", "peak MiB", "p99 rest", "during ms", "good failed", "back s", "verdict")
WIDTHS = (max(len(one.name) for one in ATTACKS), 5, 12, 8, 9, 11, 6, 0)


def print_row(cells):
    print("  ".join(cell.ljust(width) for cell, width in zip(cells, WIDTHS)).rstrip(), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--server", required=True, help="the program waystar-server")
    parser.add_argument("--target", choices=target.KINDS, default="direct")
    parser.add_argument("--only", help="attacks whose name has this text; may name several, apart by commas")
    parser.add_argument("--short", action="store_true", help="what every server must survive; nothing that depends on time")
    parser.add_argument("--json", metavar="FILE", help="write the figures there too")
    parser.add_argument("--list", action="store_true", help="name the attacks, and make none")
    arguments = parser.parse_args()
    chosen = [one for one in ATTACKS if not arguments.short or one.in_short_form]
    # Only this target has an HTTP port.
    chosen = [one for one in chosen if not one.http or arguments.target == "direct"]
    if arguments.only:
        chosen = [one for one in chosen if any(word.lower() in one.name.lower() for word in arguments.only.split(","))]
    if arguments.list:
        print("\n".join(one.name for one in chosen))
        return 0
    if arguments.target == "gateway" and not shutil.which("haproxy"):
        print("haproxy is not installed", file=sys.stderr)
        return 77
    times = PATIENT if arguments.short else Times()
    # Ends the server and the gateway too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    verdicts, failed = [], 0
    print_row(COLUMNS)
    for one in chosen:
        verdict = judge(one, arguments.target, arguments.server, times)
        verdicts.append(verdict)
        print_verdict(verdict, not arguments.short)
        failed += bool(verdict.faults(not arguments.short))
    if verdicts:
        print(f"\nMemory is limited by {verdicts[0].limited_by}. {len(verdicts) - failed} of {len(verdicts)} attacks held.")
    unexpected = 0
    if not arguments.short and not arguments.only and arguments.target != "mtls":
        unexpected = h2spec.run(arguments.server, arguments.target)
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump([{**dataclasses.asdict(one), "faults": one.faults()} for one in verdicts], file, indent=1)
    return 1 if failed or unexpected else 0


if __name__ == "__main__":
    sys.exit(main())
