"""The servers of the tests: real ones, and one that fails as it is told."""

import concurrent.futures
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import unittest

import grpc
from google.protobuf.any_pb2 import Any

import waystar
from waystar import messages

BIN = pathlib.Path(os.environ["BIN"])
# Nobody else takes ports of this address: all of 127.0.0.0/8 is this machine.
HOST = f"127.{64 + (os.getpid() >> 16)}.{os.getpid() >> 8 & 255}.{os.getpid() & 255}"
# A wall stands between the halves, with a gap at the bottom.
ROWS = ["....#....."] * 7 + [".........."] * 3
TIMEOUT = 60


class Server:
    """A server that keeps its maps when it is started again, on the same port."""

    def __init__(self, *flags):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.flags = flags
        self.port = 0
        self.start()

    def start(self, *flags):
        port_file = self.folder / "port"
        port_file.unlink(missing_ok=True)
        # Reading the pipe waits until the server writes to it.
        os.mkfifo(port_file)
        flags = (f"--data_dir={self.folder}/data", *self.flags, *flags)
        command = [BIN / "waystar-server", f"--listen={HOST}:{self.port}", f"--port_file={port_file}"]
        command += ["--max_queue_time=1m", "--queue_target=1m", "--drain_timeout=1s"]
        with open(self.folder / "log", "a", encoding="utf-8") as log:
            self.process = subprocess.Popen([*command, *flags], stderr=log)
        self.port = int(port_file.read_text())

    @property
    def target(self):
        return f"{HOST}:{self.port}"

    def stop(self, with_signal=signal.SIGKILL):
        self.process.send_signal(with_signal)
        self.process.wait(TIMEOUT)

    def pause(self):
        self.process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, self.process.pid, os.WSTOPPED)

    def go_on(self):
        self.process.send_signal(signal.SIGCONT)

    def restart(self, with_signal=signal.SIGKILL):
        self.stop(with_signal)
        self.start()

    def close(self):
        if self.process.poll() is None:
            self.stop()
        shutil.rmtree(self.folder)


class ServerTest(unittest.TestCase):
    """Each test has a server of its own."""

    def setUp(self):
        self.server = Server()
        self.addCleanup(self.server.close)
        self.client = self.connect()
        self.arena = self.client.create_map("arena", rows=ROWS)

    def connect(self, target="", **options):
        client = waystar.Client(target or self.server.target, **{"timeout": TIMEOUT, "wait_for_ready": True, **options})
        self.addCleanup(client.close)
        return client

    def assert_fails(self, reason, field, call, *arguments, **more):
        with self.assertRaises(waystar.WaystarError) as caught:
            call(*arguments, **more)
        self.assertEqual((caught.exception.reason, caught.exception.field), (reason, field), caught.exception)
        return caught.exception


def status(code, message="", details=()):
    """The metadata in which a server sends details."""
    result = messages.Status(code=code.value[0], message=message)
    for detail in details:
        packed = Any()
        packed.Pack(detail)
        result.details.append(packed)
    return (("grpc-status-details-bin", result.SerializeToString()),)


class FaultyServer(grpc.GenericRpcHandler):
    """Answers calls with errors, one after the other, and then with empty messages. Keeps what was asked."""

    def __init__(self, *errors):
        self.errors = list(errors)
        self.requests = []
        self.server = grpc.server(concurrent.futures.ThreadPoolExecutor(1))
        self.server.add_generic_rpc_handlers([self])
        self.target = f"{HOST}:{self.server.add_insecure_port(f'{HOST}:0')}"
        self.server.start()

    def service(self, details):
        method = details.method.rpartition("/")[2]
        request, response = (getattr(messages, method + kind, None) for kind in ("Request", "Response"))
        return request and grpc.unary_unary_rpc_method_handler(
            self.answer(response), request.FromString, response.SerializeToString
        )

    def answer(self, response):
        def handle(request, context):
            self.requests.append(request)
            if self.errors:
                code, message, *details = self.errors.pop(0)
                context.set_trailing_metadata(status(code, message, details))
                context.abort(code, message)
            return response()

        return handle

    def close(self):
        self.server.stop(None).wait()
