"""HTTP/1.1 over plain sockets: calls with JSON, and everything that a client should not send."""

import json
import select
import socket


def request(path, message, token=None):
    body = json.dumps(message).encode()
    authorization = f"Authorization: Bearer {token}\r\n" if token else ""
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\n{authorization}Content-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


class Connection:
    """One connection to the HTTP port of a target (see target.py)."""

    def __init__(self, target, *, rude=True, timeout=10.0, receive_buffer=0):
        self.socket = socket.socket()
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(timeout)
        self.socket.bind((target.rude_source if rude else target.good_source, 0))
        self.socket.connect(target.http_address)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.reader = self.socket.makefile("rb")

    def send(self, data):
        self.socket.sendall(data)

    def end(self):
        """Says that nothing more comes; answers may."""
        self.socket.shutdown(socket.SHUT_WR)

    def is_closed(self):
        """Whether the other side has closed it, which has sent nothing."""
        return bool(select.select([self.socket], [], [], 0)[0])

    def line(self):
        line = self.reader.readline()
        if not line:
            raise ConnectionError("closed by the other side")
        return line

    def answer(self):
        """The code of the next answer, whose body is skipped unless it is a stream."""
        code, length = int(self.line().split()[1]), 0
        while line := self.line().strip():
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        if len(self.reader.read(length)) < length:
            raise ConnectionError("closed by the other side")
        return code

    def call(self, path, message, token=None):
        self.send(request(path, message, token))
        return self.answer()

    def rest(self):
        """All that comes until the other side closes."""
        return self.reader.read()

    def close(self):
        self.reader.close()
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
