"""Attacks by calls: what is asked, how much, and by how many."""

import struct
import time
import zlib

import good_client
import messages
from attack import attack
from http2 import DATA, END_HEADERS, END_STREAM, HEADERS, Closed, frame, message
from target import rude_token


def bomb():
    """1 GiB of zeros as 1 MB of gzip."""
    block = bytes(1 << 24)
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
    # After a full flush the next block does not depend on this one, so that one is enough for all.
    part = deflate.compress(block) + deflate.flush(zlib.Z_FULL_FLUSH)
    checksum = 0
    for _ in range(64):
        checksum = zlib.crc32(block, checksum)
    end = deflate.flush() + struct.pack("<II", checksum, 1 << 30)
    return b"\x1f\x8b\x08" + bytes(7) + part * 64 + end


@attack("gzip bombs with a wrong token, 8 at a time", short=True)
def gzip_bombs(aggressor):
    inflating = bomb()
    aggressor.begin_now()

    def send(_):
        connection = aggressor.connect()
        connection.wait(connection.unary(messages.FIND_PATH, inflating, "wrong", [("grpc-encoding", "gzip")], compressed=1))

    aggressor.together(8, send)


@attack("2 million empty queries in one FindPaths, 16 at a time", short=True)
def empty_queries(aggressor):
    body = b"\x2a\x00" * 2_000_000

    def send(index):
        connection = aggressor.connect()
        while aggressor.left():
            aggressor.call(connection, messages.FIND_PATHS, body, index)

    aggressor.together(16, send)


@attack("answers that nobody reads, 300 of 4 MB", short=True, limit_mib=2048)
def unread_answers(aggressor):
    setting_up = aggressor.connect()
    aggressor.call(setting_up, messages.CREATE_MAP, messages.create_map("long", 4000, 4000))
    aggressor.begin_now()
    # The longest straight path costs the least for its bytes: 110 of 4,000 cells are just below 4 MB.
    body = messages.find_paths("long", (0, 0), (3999, 3999), 110, form=messages.EVERY_CELL)
    connections = []

    def ask(index):
        connection = aggressor.connect(initial_window=0)
        connections.append(connection)
        calls = []
        while aggressor.left() and len(calls) < 75:
            calls.append(connection.unary(messages.FIND_PATHS, body, rude_token(index)))
            # Those that are refused, since too many wait, are asked for again.
            connection.receive(0.02)
            calls = [call for call in calls if call.status is None]
        aggressor.hold([connection])

    aggressor.together(4, ask)


@attack("16 aggressors at twice the capacity", short=True)
def aggressors(aggressor):
    def ask(index):
        connection = aggressor.connect()
        calls = []
        while aggressor.left():
            # 16 times 60 of some 2 ms each a second are the work of two cores.
            calls.append(connection.unary(messages.FIND_PATH, good_client.QUERY, rude_token(index)))
            until = time.monotonic() + 1 / 60
            while (left := until - time.monotonic()) > 0:
                connection.receive(left)
            calls = [call for call in calls if call.status is None]

    aggressor.together(16, ask)


@attack("16 aggressors and a polite client of 20 calls a second", good_rate=20, least_answered=0.975)
def polite_client(aggressor):
    aggressors(aggressor)


@attack("wrong tokens, as fast as they go", short=True)
def wrong_tokens(aggressor):
    def ask(index):
        connection = aggressor.connect()
        while aggressor.left():
            calls = [connection.unary(messages.FIND_PATH, good_client.QUERY, f"wrong-{index}") for _ in range(20)]
            for call in calls:
                connection.wait(call)

    aggressor.together(4, ask)


@attack("stderr is a full pipe", short=True, full_stderr=True)
def full_stderr(aggressor):
    wrong_tokens(aggressor)


def begin_calls(aggressor, path, count, data, flags=0, window=1 << 20):
    """Begins so many calls on one connection, whatever the server allows, and holds them; reads what comes."""
    connection = aggressor.connect(initial_window=window)
    try:
        headers, again = connection.remembered_headers(path)
        for begin in range(1, 2 * count, 1000):
            frames = []
            for stream in range(begin, min(begin + 1000, 2 * count), 2):
                frames += frame(HEADERS, END_HEADERS, stream, headers), frame(DATA, flags, stream, data)
                headers = again
            connection.send(b"".join(frames))
            while connection.receive(0):
                pass
        while aggressor.left():
            connection.receive(aggressor.left())
    finally:
        connection.close()


@attack("calls begun and never ended")
def unfinished_calls(aggressor):
    # The first byte of a message.
    aggressor.together(4, lambda _: begin_calls(aggressor, messages.FIND_PATH, 20_000, b"\0"))


@attack("messages of 4 MB that lack their last bytes, 40 from each of 32 connections", short=True, limit_mib=768)
def unfinished_messages(aggressor):
    part = message(bytes(4_000_000))[:-100_000]

    def begin(_):
        connection = aggressor.connect()
        for _ in range(40):
            if aggressor.left():
                connection.send_bytes(connection.start(messages.FIND_PATH), part)
        aggressor.hold([connection])

    aggressor.together(32, begin)


@attack("later messages of streams that lack their last bytes, 64 on each of 32 connections", short=True, limit_mib=512)
def unfinished_stream_messages(aggressor):
    part = message(bytes(4_000_000))[:-100_000]
    aggressor.begin_now(8)

    def begin(index):
        connection = aggressor.connect()
        calls = []
        for _ in range(64):
            if aggressor.left():
                call = connection.start(messages.STREAM_FIND_PATH, rude_token(index), timeout=None)
                connection.send_message(call, b"", end=False)
                calls.append(call)
        for call in calls:
            if aggressor.left():
                connection.send_bytes(call, part)
        aggressor.hold([connection])

    aggressor.together(32, begin)


@attack("health and reflection streams held open")
def public_streams(aggressor):
    kinds = (
        (messages.HEALTH_WATCH, message(b""), END_STREAM),
        (messages.HEALTH_CHECK, b"\0", 0),
        (messages.REFLECTION, message(messages.file_containing("waystar.v1.MapService")), 0),
    )

    def begin(index):
        path, data, flags = kinds[index % 3]
        begin_calls(aggressor, path, 10_000, data, flags)

    aggressor.together(15, begin)


@attack("reflection answers that nobody reads")
def unread_reflection(aggressor):
    question = message(messages.file_containing("waystar.v1.MapService"))
    aggressor.together(4, lambda _: begin_calls(aggressor, messages.REFLECTION, 10_000, question, window=0))


@attack("10,000 watches from one connection")
def watches(aggressor):
    connection = aggressor.connect()
    for _ in range(10_000):
        if not aggressor.left():
            break
        call = connection.start(messages.WATCH_MAP, rude_token(), timeout=None)
        connection.send_message(call, messages.text(1, good_client.MAP))
        connection.receive(0)
    # Somebody else must still find a place.
    other = aggressor.connect()
    call = other.start(messages.WATCH_MAP, rude_token(1), timeout=None)
    other.send_message(call, messages.text(1, good_client.MAP))
    other.receive(1)
    while other.receive(0.3):
        pass
    if call.status is not None:
        raise RuntimeError(f"another client's watch is refused: {call.message}")
    aggressor.hold([connection, other])


@attack("4 exports that nobody reads")
def unread_exports(aggressor):
    setting_up = aggressor.connect()
    aggressor.call(setting_up, messages.CREATE_MAP, messages.create_map("exported", 4096, 4096))
    connections = []
    for _ in range(4):
        connection = aggressor.connect(initial_window=0)
        call = connection.start(messages.EXPORT_MAP, rude_token())
        connection.send_message(call, messages.export_map("exported"))
        connections.append(connection)
    time.sleep(0.5)
    other = aggressor.connect()
    call = other.start(messages.EXPORT_MAP, rude_token(1))
    other.send_message(call, messages.export_map(good_client.MAP))
    if other.wait(call, 2) != 0:
        raise RuntimeError(f"another client's export is refused: {call.status} {call.message}")
    aggressor.hold(connections)


@attack("6 imports of 8192 x 8192 at once", limit_mib=2048)
def imports(aggressor):
    row = b"." * 8192 + b"\n"
    head = b"type octile\nheight 8192\nwidth 8192\nmap\n"
    refused = []

    def send(index):
        connection = aggressor.connect(timeout=30)
        call = connection.start(messages.IMPORT_MAP, rude_token(index), timeout="60S")
        size = len(head) + 8192 * len(row)
        connection.send_message(call, messages.import_header(f"import-{index}", size), end=False)
        connection.send_message(call, messages.import_chunk(head), end=False)
        sent = 0
        for at in range(0, 8192, 256):
            if call.status is not None:
                break
            connection.send_message(call, messages.import_chunk(row * 256), end=at + 256 == 8192)
            sent += 256
        # Refused before the upload is fine; refused after it is not.
        if connection.wait(call, 30) != 0 and sent == 8192:
            refused.append(call.message)
        aggressor.hold([connection])

    def once(index):
        try:
            send(index)
        except (Closed, OSError):
            pass

    aggressor.together(6, once)
    if refused:
        raise RuntimeError(f"{len(refused)} refused after the whole upload: {refused[0]}")
