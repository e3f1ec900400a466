"""Attacks on the port of JSON over HTTP."""

import dataclasses
import itertools
import threading
import time

import good_client
import http1
import messages
from attack import attack
from target import GOOD_TOKEN, rude_token

VICTIM = "victim"


def create(aggressor, map_id, side):
    connection = aggressor.connect()
    if aggressor.call(connection, messages.CREATE_MAP, messages.create_map(map_id, side, side)) != 0:
        raise RuntimeError(f"no map {map_id} to attack")
    connection.close()


def code_of(aggressor, path, message, rude=True):
    """The code of a call on a connection of its own, which must be answered."""
    try:
        with http1.Connection(aggressor.target, rude=rude, timeout=aggressor.patience) as connection:
            return connection.call(path, message, rude_token() if rude else GOOD_TOKEN)
    except OSError as error:
        raise RuntimeError(f"{path} is not answered: {error}") from error


def exists(aggressor, map_id):
    return code_of(aggressor, messages.GET_MAP, {"map": map_id}) == 200


def post(path, *lines, body=b""):
    return "\r\n".join((f"POST {path} HTTP/1.1", "Host: localhost", *lines, "\r\n")).encode("latin-1") + body


def chunks(data):
    return b"%x\r\n%s\r\n0\r\n\r\n" % (len(data), data)


def ambiguous_requests(hidden):
    """Requests whose body, in one of the ways to read them, is the hidden request."""
    right = f"Authorization: Bearer {GOOD_TOKEN}"
    length, chunked = f"Content-Length: {len(hidden)}", "Transfer-Encoding: chunked"
    last = b"0\r\n\r\n"
    size = b"%x" % len(hidden)
    many = [f"X-{index}: a" for index in range(70)]

    heads = [
        # The length is past what a server reads, or in a line that not all take for one of its own.
        [*many, length],
        [length, *many],
        ["Content-Length: 0", *many, length],
        ["X-Long: " + "a" * 17_000, length],
        [f"X-A: a\n{length}"],
        [f"X-A: a\r{length}"],
        [f"X-A: a\r\n {length}"],
        [f"X-A: a\r\n\t{length}"],
        [f"X-A:\0{length}"],
        [f" {length}"],
        [length.replace(":", " :")],
        [length.replace(":", "\0:")],
        # Two lengths, and lengths that are no number.
        ["Content-Length: 0", length],
        [length, "Content-Length: 0"],
        [f"Content-Length: 0, {len(hidden)}"],
        [f"Content-Length: {len(hidden)}, 0"],
        [f"Content-Length: +{len(hidden)}"],
        [f"Content-Length: 0x{len(hidden):x}"],
        ["Content-Length: -0"],
        ["Content-Length: -1"],
        ["Content-Length: 0 0"],
        [f"Content-Length: {(1 << 64)}"],
        [f"Content-Length: {(1 << 64) + len(hidden)}"],
        [f"Content-Length: {(1 << 32) + len(hidden)}"],
        # Refused before the body: nothing of it is a request then.
        [length, "Expect: 100-continue"],
        [length, "Expect: something"],
        [length, "Origin: https://evil.example"],
        [length, "Waystar-Timeout: soon"],
        [length, "Host: other"],
        [length, "Upgrade: h2c", "Connection: Upgrade, HTTP2-Settings", "HTTP2-Settings: AAMAAABkAAQAAP__"],
    ]
    requests = [post(messages.FIND_PATH, right, *lines, body=hidden) for lines in heads]
    length = f"Content-Length: {len(last + hidden)}"
    codings = [
        [chunked, "Content-Length: 0"],
        ["Content-Length: 5", chunked],
        [chunked, length],
        ["Transfer-Encoding: gzip"],
        ["Transfer-Encoding: gzip, chunked"],
        ["Transfer-Encoding: chunked, gzip", length],
        ["Transfer-Encoding: xchunked", length],
        ["Transfer-Encoding: identity", length],
        ["Transfer-Encoding:\x0bchunked", length],
        ["Transfer-Encoding:\r\n chunked", length],
        ["Transfer-Encoding : chunked", length],
        ['Transfer-Encoding: "chunked"', length],
        [chunked, chunked, length],
        [chunked, "Transfer-Encoding: identity"],
        ["Transfer_Encoding: chunked", length],
        [f"X-A: a\n{chunked}", length],
    ]
    requests += [post(messages.FIND_PATH, right, *lines, body=last + hidden) for lines in codings]
    requests.append(post(messages.FIND_PATH, right, chunked, body=last + hidden).replace(b"HTTP/1.1", b"HTTP/1.0", 1))
    bodies = [
        # The hidden request is in a chunk, whose size is written in some strange way.
        size + b";a=b\r\n" + hidden + b"\r\n" + last,
        size + b';a="\r\n' + hidden + b'"\r\n' + last,
        size + b";\n" + hidden + b"\r\n" + last,
        size + b"\n" + hidden + b"\r\n" + last,
        size + b" \r\n" + hidden + b"\r\n" + last,
        b"0" * 100 + size + b"\r\n" + hidden + b"\r\n" + last,
        b"0x" + size + b"\r\n" + hidden + b"\r\n" + last,
        b"+" + size + b"\r\n" + hidden + b"\r\n" + last,
        # It follows a size that is no such thing, or one that wraps round to 0.
        b"\r\n" + hidden,
        b";\r\n\r\n" + hidden,
        b"-0\r\n\r\n" + hidden,
        b"0x0\r\n\r\n" + hidden,
        b"10000000000000000\r\n\r\n" + hidden,
        b"100000000\r\n\r\n" + hidden,
        b"ffffffffffffffff\r\n" + hidden,
        # It follows a chunk that is longer than it says.
        b"2\r\n{}a\r\n0\r\n\r\n" + hidden,
        b"2\r\n{}\n0\r\n\r\n" + hidden,
        b"2\r\n{}0\r\n\r\n" + hidden,
        # It is among the trailers, or after what is not quite their end.
        b"0\r\n" + hidden,
        b"0\r\nX-A: a\r\n" + hidden,
        b"0\n\n" + hidden,
        b"0\r\n\n" + hidden,
        b"0\r\n\r" + hidden,
        b"0;a=\n\r\n" + hidden,
    ]
    requests += [post(messages.FIND_PATH, right, chunked, body=body) for body in bodies]
    # Refused for the path, the method, the token or the size, with the body unread.
    length = f"Content-Length: {len(hidden)}"
    requests += [
        post("/nothing", right, length, body=hidden),
        post("/nothing", right, chunked, body=chunks(hidden)),
        post(messages.FIND_PATH, length, body=hidden),
        post(messages.FIND_PATH, "Authorization: Bearer wrong", chunked, body=chunks(hidden)),
        post(messages.FIND_PATH, right, f"Content-Length: {1 << 30}", body=hidden),
        post(messages.FIND_PATH, right, length, body=hidden),
        post(messages.FIND_PATH, right, chunked, body=chunks(hidden)),
    ]
    for method in (b"GET", b"HEAD", b"OPTIONS", b"PUT", b"TRACE", b"CONNECT"):
        requests.append(post(messages.FIND_PATH, right, length, body=hidden).replace(b"POST", method, 1))
    return requests


def send_and_end(aggressor, *parts):
    """Sends the parts one after the other and no more, and waits until the server has done with them."""
    with http1.Connection(aggressor.target, timeout=aggressor.patience) as connection:
        try:
            for part in parts:
                connection.send(part)
                if part is not parts[-1]:
                    time.sleep(0.01)
            connection.end()
            connection.rest()
        except OSError:
            pass


@attack("smuggled HTTP requests", short=True, http=True)
def smuggling(aggressor):
    create(aggressor, VICTIM, 8)
    hidden = http1.request(messages.DELETE_MAP, {"map": VICTIM}, GOOD_TOKEN)
    requests = ambiguous_requests(hidden)
    aggressor.begin_now()
    rounds = 0
    while rounds < 2 or aggressor.left():
        for request in requests:
            # At once, and with what follows the head a moment later.
            head, end, body = request.partition(b"\r\n\r\n")
            send_and_end(aggressor, *((request,) if rounds % 2 == 0 else (head + end, body)))
            if not exists(aggressor, VICTIM):
                raise RuntimeError(f"a hidden request was run: {request}")
        rounds += 1
    # The same request runs where it is not hidden.
    send_and_end(aggressor, http1.request(messages.GET_MAP, {"map": VICTIM}, GOOD_TOKEN) + hidden)
    if exists(aggressor, VICTIM):
        raise RuntimeError("the request that was hidden does nothing")


def slow_heads(aggressor, count):
    """So many connections of one address: half say nothing, half send a head a byte at a time."""
    connections = [None] * count

    def keep_open():
        while aggressor.left():
            for index, connection in enumerate(connections):
                try:
                    if connection is None:
                        connections[index] = http1.Connection(aggressor.target, timeout=1)
                    elif index % 2:
                        connection.send(b"P")
                    elif connection.is_closed():
                        connections[index] = None
                except OSError:
                    connections[index] = None
            time.sleep(0.05)

    thread = threading.Thread(target=keep_open, daemon=True)
    thread.start()
    while aggressor.left():
        if code_of(aggressor, messages.FIND_PATH, good_client.JSON_QUERY, rude=False) != 200:
            raise RuntimeError("another client is refused")
        time.sleep(0.1)
    thread.join()


@attack("150 slow heads over HTTP", short=True, http=True)
def some_slow_heads(aggressor):
    slow_heads(aggressor, 150)


@attack("600 slow heads over HTTP", short=True, http=True)
def many_slow_heads(aggressor):
    slow_heads(aggressor, 600)


@attack("48 bodies of 4 MB at a time over HTTP without a token", short=True, http=True)
def untrusted_bodies(aggressor):
    body = http1.request(messages.FIND_PATH, {"map": "a" * 4_000_000})

    def send(_):
        with http1.Connection(aggressor.target, timeout=2) as connection:
            connection.send(body)
            connection.rest()

    aggressor.together(48, send)


@attack("15 bodies of 4 MB of JSON at a time over HTTP", http=True)
def long_json(aggressor):
    # As many small messages as there may be in a body, and nothing to do with them.
    cells = [{}] * 1_040_000
    body = http1.request(messages.UPDATE_MAP, {"map": "nowhere", "edits": [{"block": {"cells": cells}}]}, rude_token())
    aggressor.begin_now()

    def send(_):
        with http1.Connection(aggressor.target, timeout=30) as connection:
            connection.send(body)
            connection.answer()

    aggressor.together(15, send)


def watch_unread(aggressor, count, client=0):
    """So many watches of the map "watched" that a client never reads; those that are refused are among them."""
    target = dataclasses.replace(aggressor.target, rude_source=f"127.0.0.{2 + client}")
    connections = [http1.Connection(target, receive_buffer=4096) for _ in range(count)]
    for connection in connections:
        connection.send(http1.request(messages.WATCH_MAP, {"map": "watched", "withEdits": True}, rude_token(client)))
    for connection in connections:
        connection.line()
    return connections


def large_updates():
    """Some 4 MB each, without end, which all change the map "watched"."""
    rows = b"".join(messages.shape_cell(x, y) for y in range(270) for x in range(2048))
    return itertools.cycle(messages.update("watched", edit(rows)) for edit in (messages.block, messages.unblock))


def edit_watched(aggressor, connection, edit):
    if aggressor.call(connection, messages.UPDATE_MAP, edit) != 0:
        raise RuntimeError("an update is refused")


def watch_beside(aggressor):
    """Somebody else must still find a place."""
    try:
        with http1.Connection(aggressor.target, rude=False, timeout=aggressor.patience) as connection:
            connection.send(http1.request(messages.WATCH_MAP, {"map": "watched"}, GOOD_TOKEN))
            while b"watching" not in (line := connection.line()):
                if b'"message"' in line:
                    raise RuntimeError(f"another client's stream is refused: {line.decode()}")
    except OSError as error:
        raise RuntimeError(f"another client gets no stream: {error}") from error


@attack("60 watches over HTTP that nobody reads", short=True, http=True)
def unread_watches(aggressor):
    create(aggressor, "watched", 2048)
    large = large_updates()
    connections = watch_unread(aggressor, 60)
    editing = aggressor.connect()
    aggressor.begin_now()
    for _ in range(4):
        edit_watched(aggressor, editing, next(large))
    number = 0
    while aggressor.left():
        watch_beside(aggressor)
        number += 1
        shape = messages.rectangle(number % 2048, 1024, 1, 1)
        edit_watched(aggressor, editing, messages.update("watched", messages.block(shape)))
    aggressor.hold(connections)


@attack("an edit of 4 MB with as many watches over HTTP as may be", http=True)
def all_watches(aggressor):
    create(aggressor, "watched", 2048)
    large = next(large_updates())
    # No client may have all.
    connections = sum((watch_unread(aggressor, 120, client) for client in range(4)), [])
    editing = aggressor.connect()
    # All of them are to be told of the edit.
    aggressor.begin_now(12)
    edit_watched(aggressor, editing, large)
    aggressor.hold(connections)
