"""Runs one attack against a fresh server, and says what became of the server and of the good client."""

import dataclasses
import multiprocessing
import os
import tempfile
import time

import good_client
import messages
from attack import Aggressor
from good_client import GoodClient, ask_by_grpc, ask_by_http, serve_somebody_new
from http2 import Connection
from service import Service, measure
from target import GOOD_TOKEN, Server, make_certificate, write_tokens


@dataclasses.dataclass
class Verdict:
    attack: str
    target: str
    limit_mib: int
    limited_by: str
    peak_mib: int = 0
    alive: bool = False
    end: str = ""  # How the process ended.
    grpc: Service | None = None  # None: the server answered nobody, even before.
    http: Service | None = None  # None: nobody asked over HTTP.
    least_answered: float = 0.9  # Of the calls of the good clients.
    notes: list = dataclasses.field(default_factory=list)

    def within_limit(self):
        return self.peak_mib <= self.limit_mib

    def faults(self, timed=True):
        found = [] if self.alive else [self.end or "not alive"]
        if not self.within_limit():
            found.append("past the limit")
        if not self.alive:
            return found
        if self.grpc:
            found += self.grpc.faults(timed, self.least_answered)
        if self.http:
            found += [f"HTTP: {fault}" for fault in self.http.faults(timed, self.least_answered)]
        return found + self.notes


def _run(attack, target, seconds, metrics_address, patience, pipe):
    # The attackers' own processor time is not what the server is judged by.
    os.nice(15)
    try:
        attack.run(Aggressor(target, seconds, metrics_address, patience))
        pipe.send("")
    except Exception as error:  # What an attack meets is a finding, or the server cutting it off.
        pipe.send(str(error) if isinstance(error, RuntimeError) else "")


@dataclasses.dataclass
class Times:
    """Seconds, and how long the good client waits for an answer."""

    rest: float = 1.2
    attack: float = 3.0
    after: float = 2.3
    deadline: float = 1.0
    flags: tuple = ()


# Nothing that a machine which does other things could be the reason of.
PATIENT = Times(0.5, 1.5, 0.2, 60.0, ("--max_queue_time=1m", "--queue_target=1m"))


def full_pipe():
    """Both ends of a pipe that nobody reads and nothing more can be written to."""
    read_end, write_end = os.pipe()
    os.set_blocking(write_end, False)
    try:
        while os.write(write_end, bytes(4096)):
            pass
    except BlockingIOError:
        pass
    os.set_blocking(write_end, True)
    return read_end, write_end


def judge(attack, kind, program, times):
    with tempfile.TemporaryDirectory() as folder:
        write_tokens(folder)
        if kind != "direct":
            make_certificate(folder)
        read_end, write_end = full_pipe() if attack.full_stderr else (None, None)
        server = Server(
            program,
            kind,
            folder,
            limit_mib=attack.limit_mib,
            flags=(*attack.flags, *times.flags),
            descriptors=attack.descriptors,
            stderr=write_end,
            http=attack.http,
        )
        verdict = Verdict(attack.name, kind, attack.limit_mib, server.limit.kind, least_answered=attack.least_answered)
        try:
            with server:
                _attack(attack, server, verdict, times)
        finally:
            for end in (read_end, write_end):
                if end is not None:
                    os.close(end)
        return verdict


def _attack(attack, server, verdict, times):
    connection = Connection(server.target, rude=False).begin()
    created = messages.create_map(good_client.MAP, good_client.SIDE, good_client.SIDE)
    if connection.wait(connection.unary(messages.CREATE_MAP, created, GOOD_TOKEN), max(10.0, times.deadline)) != 0:
        verdict.alive, verdict.end = server.alive(), server.end_of()
        verdict.notes.append("answers nobody, even before the attack")
        return
    connection.close()
    good = GoodClient(ask_by_grpc, server.target, GOOD_TOKEN, attack.good_rate, times.deadline)
    good_http = GoodClient(ask_by_http, server.target, GOOD_TOKEN, attack.good_rate, times.deadline) if attack.http else None

    def watch(seconds, process=None):
        end = time.monotonic() + seconds
        while time.monotonic() < end and server.alive() and (process is None or process.is_alive()):
            time.sleep(0.01)

    # The first calls of a server and of a client are not its rest.
    watch(0.5)
    rest_begin = time.monotonic()
    watch(times.rest)
    pipe, child = multiprocessing.Pipe()
    process = multiprocessing.Process(
        target=_run,
        args=(attack, server.target, times.attack, server.metrics_address, max(2.0, times.deadline), child),
        daemon=True,
    )
    attack_begin = time.monotonic()
    process.start()
    watch(times.attack + 20, process)
    if process.is_alive():
        process.kill()
    process.join()
    attack_end = time.monotonic()
    watch(times.after)
    phases = attack.good_rate, times.deadline, rest_begin, attack_begin, attack_end
    verdict.grpc = measure(good.finish(), *phases)
    verdict.http = measure(good_http.finish(), *phases) if good_http else None
    verdict.alive = server.alive()
    if verdict.alive and serve_somebody_new(server.target, times.deadline) != 0:
        verdict.notes.append("lets nobody in after")
    verdict.end = server.end_of()
    verdict.peak_mib = server.peak_kib >> 10
    if pipe.poll():
        try:
            verdict.notes += filter(None, [pipe.recv()])
        except EOFError:
            pass
