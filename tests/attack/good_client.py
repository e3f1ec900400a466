"""The clients beside an attack: so many queries a second on a connection of their own, each timed."""

import json
import multiprocessing
import os
import time

import http1
import messages
from http2 import Closed, Connection
from target import GOOD_TOKEN

MAP, SIDE = "attacked", 120
# About 2 ms of a search: what the client notices is the service, not the noise of a call that takes microseconds.
QUERY = messages.find_path(MAP, (0, 0), (SIDE - 1, SIDE - 1), messages.DIJKSTRA)
JSON_QUERY = {
    "map": MAP,
    "start": {"cell": {"x": 0, "y": 0}},
    "goals": [{"cell": {"x": SIDE - 1, "y": SIDE - 1}}],
    "algorithm": "ALGORITHM_DIJKSTRA",
    "pathForm": "PATH_FORM_CORNERS",
}


def serve_somebody_new(target, seconds):
    """One call on a new connection; returns its status, or what happened instead."""
    try:
        connection = Connection(target, rude=False, timeout=seconds).begin()
        status = connection.wait(connection.unary(messages.FIND_PATH, QUERY, GOOD_TOKEN))
        connection.close()
        return "late" if status is None else status
    except (Closed, OSError):
        return "no connection"


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


def ask_by_grpc(target, token, rate, deadline, pipe):
    """Asks until something comes from the pipe; returns the records."""
    records, open_calls = [], []
    connection, retry_at = None, 0.0
    due, ending = time.monotonic(), False
    while not ending or open_calls:
        ending = ending or pipe.poll()
        try:
            now = time.monotonic()
            if now >= due and not ending:
                due += 1 / rate
                if connection is None and now < retry_at:
                    records.append((now, None, "no connection"))
                else:
                    connection = _begin(target, token, connection, now, open_calls, max(2.0, deadline))
            left = min(max(0, due - time.monotonic()), 1 / rate) if not ending else 1 / rate
            if connection:
                connection.receive(left)
            else:
                time.sleep(left)
        except (Closed, OSError):
            records += [(begun, None, "connection lost") for begun, _ in open_calls]
            open_calls, connection, retry_at = [], None, time.monotonic() + 0.1
        open_calls = _settle(open_calls, records, deadline)
    return records


def ask_by_http(target, token, rate, deadline, pipe):
    """As ask_by_grpc(). A call that has to wait for the one before it is timed from when it was due."""
    records, connection = [], None
    due = time.monotonic()
    while not pipe.poll(max(0, due - time.monotonic())):
        begun, due = due, due + 1 / rate
        why = "late"
        try:
            if time.monotonic() - begun <= deadline:
                connection = connection or http1.Connection(target, rude=False, timeout=deadline)
                code = connection.call(messages.FIND_PATH, JSON_QUERY, token)
                why = "" if code == 200 else f"HTTP {code}"
        except (OSError, ValueError, IndexError) as error:
            why = "late" if isinstance(error, TimeoutError) else "connection lost" if connection else "no connection"
            if connection:
                connection.close()
            connection = None
        took = time.monotonic() - begun
        if not why and took > deadline:
            why = "late"
        records.append((begun, None if why else took, why))
    return records


def _run(ask, target, token, rate, deadline, pipe):
    try:
        os.nice(-10)
    except OSError:
        pass
    pipe.send(json.dumps(ask(target, token, rate, deadline, pipe)))


class GoodClient:
    """Runs in a process of its own until finish(), which returns (time begun, seconds or None, why) of all calls."""

    def __init__(self, ask, target, token, rate, deadline):
        self.pipe, child = multiprocessing.Pipe()
        self.process = multiprocessing.Process(target=_run, args=(ask, target, token, rate, deadline, child), daemon=True)
        self.process.start()

    def finish(self):
        self.pipe.send("end")
        records = [tuple(record) for record in json.loads(self.pipe.recv())]
        self.process.join()
        return sorted(records)
