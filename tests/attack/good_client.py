"""The client beside an attack: so many queries a second on a connection of its own, each timed."""

import json
import multiprocessing
import os
import time

import messages
from http2 import Closed, Connection

RATE = 40
MAP, SIDE = "attacked", 120
# About 2 ms of a search: what the client notices is the service, not the noise of a call that takes microseconds.
QUERY = messages.find_path(MAP, (0, 0), (SIDE - 1, SIDE - 1), messages.DIJKSTRA)


def _begin(target, token, connection, now, open_calls, patience):
    connection = connection or Connection(target, rude=False, timeout=patience).begin()
    open_calls.append((now, connection.unary(messages.FIND_PATH, QUERY, token)))
    return connection


def _settle(open_calls, records, deadline):
    """Moves what is answered, or too late, from the calls to the records; returns the calls that are left."""
    now, waiting = time.monotonic(), []
    for begun, call in open_calls:
        if call.status == 0:
            records.append((begun, now - begun, ""))
        elif call.status is not None:
            records.append((begun, None, f"status {call.status}"))
        elif now - begun > deadline:
            records.append((begun, None, "late"))
        else:
            waiting.append((begun, call))
    return waiting


def _run(target, token, deadline, pipe):
    try:
        os.nice(-10)
    except OSError:
        pass
    records, open_calls = [], []
    connection, retry_at = None, 0.0
    due, ending = time.monotonic(), False
    while not ending or open_calls:
        ending = ending or pipe.poll()
        try:
            now = time.monotonic()
            if now >= due and not ending:
                due += 1 / RATE
                if connection is None and now < retry_at:
                    records.append((now, None, "no connection"))
                else:
                    connection = _begin(target, token, connection, now, open_calls, max(2.0, deadline))
            left = min(max(0, due - time.monotonic()), 1 / RATE) if not ending else 1 / RATE
            if connection:
                connection.receive(left)
            else:
                time.sleep(left)
        except (Closed, OSError):
            records += [(begun, None, "connection lost") for begun, _ in open_calls]
            open_calls, connection, retry_at = [], None, time.monotonic() + 0.1
        open_calls = _settle(open_calls, records, deadline)
    pipe.send(json.dumps(records))


class GoodClient:
    """Runs in a process of its own until finish(), which returns (time begun, seconds or None, why) of all calls."""

    def __init__(self, target, token, deadline):
        self.pipe, child = multiprocessing.Pipe()
        self.process = multiprocessing.Process(target=_run, args=(target, token, deadline, child), daemon=True)
        self.process.start()

    def finish(self):
        self.pipe.send("end")
        records = [tuple(record) for record in json.loads(self.pipe.recv())]
        self.process.join()
        return sorted(records)


def p99(values):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))] if ordered else None
