"""What an attack is: a function that runs in a process of its own, and what its server is started with."""

import dataclasses
import threading
import time
from typing import Callable

from http2 import Closed, Connection
from target import rude_token


@dataclasses.dataclass
class Attack:
    name: str
    run: Callable
    # Whether the server must survive it with the RPC library 1.51, whose own faults it does not touch.
    in_short_form: bool
    limit_mib: int = 1024
    flags: tuple = ()
    descriptors: int | None = None
    full_stderr: bool = False
    # Whether the server listens for HTTP, and a second good client asks there.
    http: bool = False
    good_rate: int = 40  # Calls a second of each good client.
    least_answered: float = 0.9  # The share of their calls that must be answered.


ATTACKS = []


def attack(name, *, short=False, **options):
    def register(function):
        ATTACKS.append(Attack(name, function, short, **options))
        return function

    return register


class Aggressor:
    """What an attack's function is given: the target and the time that it has."""

    def __init__(self, target, seconds, metrics_address, patience):
        self.target = target
        self.seconds = seconds
        self.metrics_address = metrics_address
        self.patience = patience  # Seconds that somebody who is to be served may wait.
        self.begin_now()

    def begin_now(self, seconds=0):
        """Gives the attack all of its time, whatever it took to prepare, and at least so many seconds."""
        self.end = time.monotonic() + max(self.seconds, seconds)

    def left(self):
        return max(self.end - time.monotonic(), 0)

    def connect(self, **options):
        return Connection(self.target, **options).begin()

    def again_and_again(self, step, *arguments):
        """Repeats an attack on one connection as often as the server cuts it off, for as long as there is time."""
        while self.left():
            try:
                step(*arguments)
            except (Closed, OSError):
                time.sleep(0.01)

    def together(self, count, step):
        """Runs step(index) again and again on so many threads."""
        threads = [threading.Thread(target=self.again_and_again, args=(step, index), daemon=True) for index in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(self.left() + 1)

    def hold(self, connections):
        """Keeps connections open until the time is over, without reading them."""
        time.sleep(self.left())
        for connection in connections:
            connection.close()

    def call(self, connection, path, body, index=0):
        """One whole call with a token that is known; returns its status."""
        return connection.wait(connection.unary(path, body, rude_token(index)))
