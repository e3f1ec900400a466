"""Attacks by connections: many, slow, or not of the kind that the port is for."""

import socket

from attack import attack


def open_sockets(aggressor, address, count):
    sockets = []
    for _ in range(count):
        if not aggressor.left():
            break
        try:
            sockets.append(socket.create_connection(address, timeout=1, source_address=(aggressor.target.rude_source, 0)))
        except OSError:
            continue
    return sockets


@attack("1,224 idle connections, ulimit -n 1024", short=True, descriptors=1024)
def idle_connections(aggressor):
    aggressor.hold(open_sockets(aggressor, aggressor.target.address, 1224))


@attack("connection churn", short=True)
def churn(aggressor):
    def connect(_):
        for one in open_sockets(aggressor, aggressor.target.address, 50):
            one.close()

    aggressor.together(4, connect)


@attack("noise instead of HTTP/2 or TLS", short=True)
def noise(aggressor):
    def send(_):
        for one in open_sockets(aggressor, aggressor.target.address, 20):
            try:
                one.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n" * 20)
                one.close()
            except OSError:
                pass

    aggressor.together(4, send)


def scrape_beside(aggressor, sockets):
    """What matters here besides the good client: that somebody else can still scrape."""
    try:
        with socket.create_connection(aggressor.metrics_address, timeout=aggressor.patience) as scrape:
            scrape.sendall(b"GET /metrics HTTP/1.0\r\n\r\n")
            answer = scrape.recv(100)
    except OSError:
        answer = b""
    if b" 200 " not in answer:
        raise RuntimeError(f"no scrape within {aggressor.patience:g} s")
    aggressor.hold(sockets)


@attack("80 idle connections at the metrics port", short=True)
def idle_scrapes(aggressor):
    scrape_beside(aggressor, open_sockets(aggressor, aggressor.metrics_address, 80))


@attack("100 slow connections at the metrics port", short=True)
def slow_scrapes(aggressor):
    sockets = open_sockets(aggressor, aggressor.metrics_address, 100)
    for one in sockets:
        try:
            one.sendall(b"GET /me")
        except OSError:
            pass
    scrape_beside(aggressor, sockets)
