"""Attacks by what a gateway has only so much of: calls that are open, and connections to the server."""

import dataclasses
import time

import good_client
import messages
from attack import attack
from http2 import DATA, END_HEADERS, END_STREAM, HEADERS, Closed, Connection, frame
from target import rude_token

PATHS = (messages.FIND_PATH, messages.STREAM_FIND_PATH)
# A little below what docker/haproxy.cfg lets one address begin in a second.
CALLS_A_SECOND = 450
# Handshakes take processor time, and are another attack.
CONNECTIONS_A_SECOND = 100
# Long enough for two of HAProxy's health checks, after which it would give the server up.
HELD_SECONDS = 6.0


class Pace:
    def __init__(self, rate):
        self.rate, self.begun, self.count = rate, time.monotonic(), 0

    def wait(self, count=1):
        self.count += count
        time.sleep(max(0.0, self.begun + self.count / self.rate - time.monotonic()))


def hold(aggressor, connections):
    """Keeps connections open, and acknowledges what comes on them. Somebody new must be served meanwhile."""
    end = time.monotonic() + HELD_SECONDS
    while time.monotonic() < end:
        for connection in list(connections):
            try:
                connection.receive(0)
            except (Closed, OSError):
                connections.remove(connection)
        time.sleep(0.05)
    if (status := good_client.serve_somebody_new(aggressor.target, aggressor.patience)) != 0:
        raise RuntimeError(f"somebody new is not served: {status}")


def begin(connection, count, token):
    """So many calls at once, before the gateway has connected for any. Half of them may wait for their messages."""
    block = {path: connection.request_headers(path, token, timeout=None) for path in PATHS}
    streams = range(connection.next_stream, connection.next_stream + 2 * count, 2)
    connection.next_stream += 2 * count
    connection.send(b"".join(frame(HEADERS, END_HEADERS, stream, block[PATHS[stream // 2 % 2]]) for stream in streams))
    return streams


@attack("56 connections x 98 unfinished calls of one address")
def unfinished_calls(aggressor):
    pace, connections = Pace(CALLS_A_SECOND), []
    for index in range(56):
        try:
            connection = aggressor.connect()
            connections.append(connection)
            begin(connection, 98, rude_token(index % 32))
        except (Closed, OSError):
            pass
        pace.wait(98)
    hold(aggressor, connections)


@attack("1000 clients of 5 addresses idle after 8 calls each")
def idle_clients(aggressor):
    sources = [dataclasses.replace(aggressor.target, rude_source=f"127.0.1.{index + 1}") for index in range(5)]
    pace, connections = Pace(CONNECTIONS_A_SECOND), []
    for index in range(200):
        for source in sources:
            try:
                connection = Connection(source).begin()
                connections.append(connection)
                streams = begin(connection, 8, rude_token(index % 32))
                connection.send(b"".join(frame(DATA, END_STREAM, stream) for stream in streams))
            except (Closed, OSError):
                pass
            pace.wait()
    hold(aggressor, connections)
