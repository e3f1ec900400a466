#!/usr/bin/env python3
"""Measures what a query costs the server over JSON and over gRPC, in turns, one call at a time on one connection.

Usage: http_bench.py PROGRAMS [ROUNDS]
"""

import http.client
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time

CALLS = 5000
QUERY = {"map": "ten-by-ten", "start": {"cell": {}}, "goals": [{"cell": {"x": 7, "y": 7}}]}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def processor_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def call_over_http(port):
    body = json.dumps(QUERY).encode()
    head = f"POST /waystar.v1.PathService/FindPath HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", port)) as connection:
        for _ in range(CALLS):
            # In one segment, as most clients send a small request.
            connection.sendall(head.encode() + body)
            answer = http.client.HTTPResponse(connection)
            answer.begin()
            assert answer.status == 200, answer.status
            answer.read()
    return CALLS


def call_over_grpc(waystar, port, scenario):
    command = [waystar, "bench", "--scenario", scenario, "--server", f"127.0.0.1:{port}", "--duration", "1s", "--warm-up", "0s", "--json"]
    report = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return report["answered"]


def main():
    programs = pathlib.Path(sys.argv[1])
    port, http_port = free_port(), free_port()
    server = subprocess.Popen(
        [programs / "waystar-server", "--maps_dir=server/samples", f"--listen=127.0.0.1:{port}", f"--http_listen=127.0.0.1:{http_port}"],
        stderr=subprocess.DEVNULL,
    )
    try:
        with tempfile.NamedTemporaryFile("w") as scenario:
            scenario.write("1 ten-by-ten pair 0,0 7,7\n")
            scenario.flush()
            while subprocess.run([programs / "waystar", "health", "--server", f"127.0.0.1:{port}"], capture_output=True).returncode:
                time.sleep(0.1)
            for _ in range(int(sys.argv[2]) if len(sys.argv) > 2 else 3):
                for name, call in (("JSON", lambda: call_over_http(http_port)), ("gRPC", lambda: call_over_grpc(programs / "waystar", port, scenario.name))):
                    before = processor_seconds(server.pid)
                    calls = call()
                    print(f"{name}: {(processor_seconds(server.pid) - before) / calls * 1e6:.0f} us of processor time a call")
    finally:
        server.terminate()
        server.wait()


main()
