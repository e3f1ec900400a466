"""What is attacked: a server of its own in a memory limit, alone, with mTLS, or behind the gateway."""

import dataclasses
import hashlib
import os
import pathlib
import resource
import signal
import socket
import ssl
import subprocess
import time

from memory_limit import MemoryLimit

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
KINDS = ("direct", "mtls", "gateway")
GOOD_TOKEN = "good-token-of-the-attack-tool"


def rude_token(index=0):
    return f"rude-token-{index}-of-the-attack-tool"


@dataclasses.dataclass
class Target:
    """Where clients connect to. Attackers come from an address of their own, as they would."""

    kind: str
    address: tuple
    folder: str
    http_address: tuple | None = None
    good_source: str = "127.0.0.1"
    rude_source: str = "127.0.0.2"

    @property
    def tls(self):
        return self.kind != "direct"

    def client_context(self, rude):
        if not self.tls:
            return None
        context = ssl.create_default_context(cafile=f"{self.folder}/cert.pem")
        context.set_alpn_protocols(["h2"])
        # Strangers have no certificate.
        if self.kind == "mtls" and not rude:
            context.load_cert_chain(f"{self.folder}/cert.pem", f"{self.folder}/key.pem")
        return context


def make_certificate(folder):
    command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -noenc -days 2 -subj /CN=attack".split()
    command += ["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    subprocess.run(
        [*command, "-keyout", f"{folder}/key.pem", "-out", f"{folder}/cert.pem"], check=True, stderr=subprocess.DEVNULL
    )
    both = pathlib.Path(f"{folder}/cert.pem").read_bytes() + pathlib.Path(f"{folder}/key.pem").read_bytes()
    pathlib.Path(f"{folder}/gateway.pem").write_bytes(both)


def write_tokens(folder):
    lines = []
    for name, token in [("good", GOOD_TOKEN), *((f"rude-{index}", rude_token(index)) for index in range(32))]:
        lines.append(f"{name} sha256:{hashlib.sha256(token.encode()).hexdigest()} admin:*\n")
    pathlib.Path(f"{folder}/tokens").write_text("".join(lines), encoding="ascii")


def own_address():
    """All of 127.0.0.0/8 is this machine: nobody else takes a port of this address before it is used."""
    pid = os.getpid()
    return f"127.{64 + (pid >> 16)}.{pid >> 8 & 255}.{pid & 255}"


def free_port(address="127.0.0.1"):
    with socket.socket() as probe:
        probe.bind((address, 0))
        return probe.getsockname()[1]


def wait_for(condition, what, seconds=120):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise RuntimeError(f"{what} for {seconds} s")
        time.sleep(0.02)


def accepts(port):
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
        return True
    except OSError:
        return False


class Server:
    """The server, and the gateway if it is asked for. A context: all of it has ended after."""

    def __init__(self, program, kind, folder, *, limit_mib, flags=(), descriptors=None, stderr=None, http=False):
        self.kind, self.folder = kind, str(folder)
        self.limit = MemoryLimit(f"waystar-attack-{os.getpid()}-{free_port()}", limit_mib)
        self.peak_kib = 0
        self.gateway = None
        self.port_file = f"{folder}/port"
        pathlib.Path(self.port_file).unlink(missing_ok=True)
        self.metrics_address = (own_address(), free_port(own_address()))
        command = [program, "--listen=127.0.0.1:0", f"--port_file={self.port_file}", f"--tokens_file={folder}/tokens"]
        command.append("--metrics_listen={}:{}".format(*self.metrics_address))
        self.http_address = (own_address(), free_port(own_address())) if http else None
        if http:
            command.append("--http_listen={}:{}".format(*self.http_address))
        if kind == "mtls":
            command += [f"--tls_cert={folder}/cert.pem", f"--tls_key={folder}/key.pem", f"--tls_client_ca={folder}/cert.pem"]
        if kind == "gateway":
            # All connections come from the gateway, which has limits by address.
            command.append("--max_address_connections=8100")
        self.log = open(f"{folder}/log", "wb") if stderr is None else None
        self.descriptors = descriptors
        self.process = subprocess.Popen(
            [*command, *flags], stderr=self.log or stderr, stdout=subprocess.DEVNULL, preexec_fn=self._enter
        )

    def _enter(self):
        os.setpgid(0, 0)
        self.limit.enter()
        if self.descriptors:
            resource.setrlimit(resource.RLIMIT_NOFILE, (self.descriptors, self.descriptors))

    def __enter__(self):
        try:
            wait_for(lambda: self._port() or not self.alive(), "no port")
            if not self.alive():
                raise RuntimeError(f"the server does not start: see {self.folder}/log")
            port = self._port()
            if self.kind == "gateway":
                port = self._start_gateway(port)
            self.target = Target(self.kind, ("127.0.0.1", port), self.folder, self.http_address)
            return self
        except BaseException:
            self.__exit__()
            raise

    def _port(self):
        path = pathlib.Path(self.port_file)
        # The file is there before its number is.
        return int(path.read_text(encoding="ascii") or 0) if path.exists() else 0

    def _start_gateway(self, server_port):
        port = free_port()
        environment = {
            **os.environ,
            "WAYSTAR_GATEWAY_LISTEN": f"127.0.0.1:{port}",
            "WAYSTAR_GATEWAY_SERVER": f"127.0.0.1:{server_port}",
            "WAYSTAR_GATEWAY_CERT": f"{self.folder}/gateway.pem",
        }
        with open(f"{self.folder}/gateway.log", "wb") as log:
            self.gateway = subprocess.Popen(
                ["haproxy", "-db", "-f", f"{REPOSITORY}/docker/haproxy.cfg"], env=environment, stdout=log, stderr=log
            )
        wait_for(lambda: accepts(port), "the gateway does not listen")
        return port

    def alive(self):
        """Whether the process runs; remembers the most memory that it has had."""
        if self.process.poll() is not None:
            return False
        try:
            with open(f"/proc/{self.process.pid}/status", encoding="ascii") as lines:
                for line in lines:
                    if line.startswith("VmHWM:"):
                        self.peak_kib = max(self.peak_kib, int(line.split()[1]))
        except OSError:
            pass
        return self.process.poll() is None

    def end_of(self):
        """How the process ended, in words; empty while it runs."""
        code = self.process.poll()
        if code is None:
            return ""
        return f"killed by {signal.Signals(-code).name}" if code < 0 else f"ended with {code}"

    def __exit__(self, *_):
        for process in (self.gateway, self.process):
            if process and process.poll() is None:
                process.kill()
            if process:
                process.wait()
        if self.log:
            self.log.close()
        self.limit.remove()
