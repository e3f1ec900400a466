#!/usr/bin/env python3
"""What a client library costs: overhead.py BIN LANGUAGE MEASURE GAME

MEASURE is a command that prints how long calls take to the server whose address it is given. GAME is one that plays
a game loop, in whose middle the server is drained and started again. The programs of the server are in folder BIN.
"""

import os
import pathlib
import shlex
import subprocess
import sys
import tempfile
import time

SAMPLES = pathlib.Path(__file__).resolve().parents[2] / "server/samples"
# Nobody else takes ports of this address: all of 127.0.0.0/8 is this machine.
HOST = f"127.{64 + (os.getpid() >> 16)}.{os.getpid() >> 8 & 255}.{os.getpid() & 255}"
GRPC = f"{HOST}:7450"
HTTP = f"{HOST}:8080"


def start_server(bin_folder, work):
    port_file = work / "port"
    port_file.unlink(missing_ok=True)
    flags = [f"--listen={GRPC}", f"--http_listen={HTTP}", f"--port_file={port_file}", f"--data_dir={work}/data"]
    with open(work / "log", "a", encoding="utf-8") as log:
        server = subprocess.Popen([f"{bin_folder}/waystar-server", f"--maps_dir={SAMPLES}", *flags], stderr=log)
    while not port_file.exists():
        assert server.poll() is None, (work / "log").read_text()
        time.sleep(0.01)
    return server


def main(bin_folder, language, measure, game):
    address = f"http://{HTTP}" if language == "csharp" else GRPC
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        server = start_server(bin_folder, work)
        try:
            print(f"{language}:", subprocess.check_output([*shlex.split(measure), address], text=True).strip(), flush=True)
            command = [*shlex.split(game), address, "200", "256"]
            with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as player:
                time.sleep(5)
                server.terminate()
                server.wait()
                server = start_server(bin_folder, work)
                last_line = player.stdout.read().splitlines()[-1]
            print(f"{language}: {last_line}")
        finally:
            server.kill()
            server.wait()


main(*sys.argv[1:])
