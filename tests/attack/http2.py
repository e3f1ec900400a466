"""HTTP/2 from raw frames: enough of it for gRPC calls, and for everything that a client should not send."""

import select
import socket
import ssl
import struct
import time

DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PING, WINDOW_UPDATE, CONTINUATION = 0, 1, 2, 3, 4, 6, 8, 9
END_STREAM, ACK, END_HEADERS = 1, 1, 4
HEADER_TABLE_SIZE, INITIAL_WINDOW_SIZE = 1, 4
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
CANCEL = struct.pack(">I", 8)


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def settings(values):
    return frame(SETTINGS, 0, 0, b"".join(struct.pack(">HI", name, value) for name, value in values.items()))


def window_update(stream, increment):
    return frame(WINDOW_UPDATE, 0, stream, struct.pack(">I", increment))


def integer(value, prefix_bits, first=0):
    """An HPACK integer, RFC 7541, 5.1."""
    limit = (1 << prefix_bits) - 1
    if value < limit:
        return bytes([first | value])
    out, value = bytearray([first | limit]), value - limit
    while value >= 128:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def header(name, value):
    """A header field that no table remembers."""
    name, value = name.encode(), value.encode()
    return b"\0" + integer(len(name), 7) + name + integer(len(value), 7) + value


def header_block(fields):
    return b"".join(header(name, value) for name, value in fields)


def read_integer(block, at, prefix_bits):
    limit = (1 << prefix_bits) - 1
    value, at = block[at] & limit, at + 1
    if value == limit:
        shift = 0
        while True:
            byte, at = block[at], at + 1
            value += (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
    return value, at


def read_block(block):
    """The plain literals of a header block, which is where gRPC's own headers are: we allow no dynamic table."""
    fields, at = {}, 0
    while at < len(block):
        first = block[at]
        if first & 0x80:
            _, at = read_integer(block, at, 7)
            continue
        if first & 0xE0 == 0x20:
            _, at = read_integer(block, at, 5)
            continue
        index, at = read_integer(block, at, 6 if first & 0x40 else 4)
        texts = []
        for _ in range(1 if index else 2):
            coded = block[at] & 0x80
            length, at = read_integer(block, at, 7)
            texts.append(None if coded else block[at : at + length].decode("latin-1"))
            at += length
        if not index:
            fields[texts[0]] = texts[1]
    return fields


def message(body, compressed=0):
    """A gRPC message with its prefix."""
    return struct.pack(">BI", compressed, len(body)) + body


class Closed(Exception):
    """The other side has closed the connection."""


class Call:
    def __init__(self, stream, window):
        self.stream = stream
        self.window = window
        self.received = 0
        self.status = None  # The number of the gRPC status, or a text of what happened instead.
        self.message = ""


class Connection:
    """One connection to a target (see target.py), with as much of flow control as a client must do."""

    def __init__(self, target, *, rude=True, initial_window=1 << 20, timeout=10.0, plaintext=False):
        self.target = target
        self.timeout = timeout
        raw = socket.create_connection(
            target.address, timeout=timeout, source_address=(target.rude_source if rude else target.good_source, 0)
        )
        raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        context = None if plaintext else target.client_context(rude)
        self.socket = context.wrap_socket(raw, server_hostname="localhost") if context else raw
        self.next_stream = 1
        self.window = 65535
        self.peer_initial_window = 65535
        self.initial_window = initial_window
        self.calls = {}
        self.buffer = bytearray()
        self.unread = 0

    def begin(self, extra=None):
        values = {HEADER_TABLE_SIZE: 0, INITIAL_WINDOW_SIZE: self.initial_window, **(extra or {})}
        self.send(PREFACE + settings(values) + (window_update(0, 1 << 30) if self.initial_window else b""))
        return self

    def send(self, data):
        self.socket.settimeout(self.timeout)
        try:
            self.socket.sendall(data)
        except (OSError, ssl.SSLError) as error:
            raise Closed(str(error)) from error

    def close(self):
        self.socket.close()

    def request_headers(self, path, token=None, extra=(), timeout="100S"):
        fields = [
            (":method", "POST"),
            (":scheme", "https" if self.target.tls else "http"),
            (":path", path),
            (":authority", "localhost"),
            ("content-type", "application/grpc"),
            ("te", "trailers"),
        ]
        if timeout:
            fields.append(("grpc-timeout", timeout))
        if token:
            fields.append(("authorization", f"Bearer {token}"))
        return header_block([*fields, *extra])

    def remembered_headers(self, path):
        """The headers of a first call, which fill the table that the server keeps, and those of more, of 6 bytes."""
        first, scheme = bytearray([0x83]), 0x87 if self.target.tls else 0x86
        first.append(scheme)
        for index, (name, value) in zip(
            (0x44, 0x41, 0x5F, 0x40),
            ((":path", path), (":authority", "a"), ("content-type", "application/grpc"), ("te", "trailers")),
        ):
            first.append(index)
            if index == 0x40:
                first += integer(len(name), 7) + name.encode()
            first += integer(len(value), 7) + value.encode()
        return bytes(first), bytes([0x83, scheme, 0x80 | 65, 0x80 | 64, 0x80 | 63, 0x80 | 62])

    def start(self, path, token=None, extra=(), timeout="100S"):
        """Opens a call without any message yet."""
        call = Call(self.next_stream, self.peer_initial_window)
        self.next_stream += 2
        self.calls[call.stream] = call
        self.send(frame(HEADERS, END_HEADERS, call.stream, self.request_headers(path, token, extra, timeout)))
        return call

    def send_message(self, call, body, end=True, compressed=0):
        """Sends one message: see send_bytes."""
        self.send_bytes(call, message(body, compressed), end)

    def send_bytes(self, call, data, end=False):
        """Sends a part of a message as fast as flow control lets it; stops when the call is over."""
        at = 0
        while at < len(data) and call.status is None:
            room = min(self.window, call.window, 16384, len(data) - at)
            if room <= 0:
                if not self.receive(self.timeout):
                    raise Closed("no window for too long")
                continue
            last = at + room == len(data)
            self.send(frame(DATA, END_STREAM if end and last else 0, call.stream, data[at : at + room]))
            self.window -= room
            call.window -= room
            at += room

    def unary(self, path, body, token=None, extra=(), compressed=0):
        call = self.start(path, token, extra)
        self.send_message(call, body, compressed=compressed)
        return call

    def wait(self, call, seconds=None):
        end = time.monotonic() + (seconds or self.timeout)
        while call.status is None:
            left = end - time.monotonic()
            if left <= 0 or not self.receive(left):
                break
        return call.status

    def receive(self, seconds):
        """Reads what there is and acts on it; returns whether there was anything within so many seconds."""
        if not (isinstance(self.socket, ssl.SSLSocket) and self.socket.pending()):
            if not select.select([self.socket], [], [], max(seconds, 0))[0]:
                return False
        self.socket.settimeout(self.timeout)
        try:
            data = self.socket.recv(1 << 18)
        except (OSError, ssl.SSLError) as error:
            raise Closed(str(error)) from error
        if not data:
            raise Closed("closed by the other side")
        self.buffer += data
        at = 0
        while len(self.buffer) - at >= 9:
            length = int.from_bytes(self.buffer[at : at + 3], "big")
            if len(self.buffer) - at < 9 + length:
                break
            kind, flags, stream = struct.unpack_from(">BBI", self.buffer, at + 3)
            self._on_frame(kind, flags, stream, bytes(self.buffer[at + 9 : at + 9 + length]))
            at += 9 + length
        del self.buffer[:at]
        return True

    def _on_frame(self, kind, flags, stream, payload):
        call = self.calls.get(stream)
        if kind == SETTINGS and not flags & ACK:
            for at in range(0, len(payload) - 5, 6):
                name, value = struct.unpack_from(">HI", payload, at)
                if name == INITIAL_WINDOW_SIZE:
                    for open_call in self.calls.values():
                        open_call.window += value - self.peer_initial_window
                    self.peer_initial_window = value
            self.send(frame(SETTINGS, ACK, 0))
        elif kind == PING and not flags & ACK:
            self.send(frame(PING, ACK, 0, payload))
        elif kind == WINDOW_UPDATE:
            increment = int.from_bytes(payload, "big")
            if stream == 0:
                self.window += increment
            elif call:
                call.window += increment
        elif kind == RST_STREAM and call:
            self._end(call, f"reset {int.from_bytes(payload, 'big')}")
        elif kind == DATA:
            self.unread += len(payload)
            updates = b""
            if call:
                call.received += len(payload)
                if self.initial_window and payload:
                    updates = window_update(stream, len(payload))
            if self.unread > 1 << 24 and self.initial_window:
                updates += window_update(0, self.unread)
                self.unread = 0
            if updates:
                self.send(updates)
            if flags & END_STREAM and call:
                self._end(call, "no trailers")
        elif kind == HEADERS and call:
            fields = read_block(payload)
            call.message = fields.get("grpc-message") or call.message
            if "grpc-status" in fields:
                status = fields["grpc-status"]
                self._end(call, int(status) if status else "coded status")
            elif flags & END_STREAM:
                self._end(call, "no status")

    def _end(self, call, status):
        if call.status is None:
            call.status = status
        self.calls.pop(call.stream, None)
