"""Prints how long find_path takes, and the same call of the bare stub: overhead.py SERVER."""

import statistics
import sys
import time

import grpc

import waystar
from waystar import messages
from waystar.v1.path_service_pb2_grpc import PathServiceStub

ROUNDS = 20
CALLS = 200


def median_us(call):
    times = []
    for _ in range(CALLS):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1e6


def main(server):
    cells = [messages.Location(cell=messages.Cell(x=x, y=y)) for x, y in ((0, 0), (15, 9))]
    request = messages.FindPathRequest(map="tiles", start=cells[0], goals=cells[1:])
    with waystar.Client(server) as client, grpc.insecure_channel(server) as channel:
        tiles = client.map("tiles")
        stub = PathServiceStub(channel)
        calls = [lambda: tiles.find_path((0, 0), (15, 9)), lambda: stub.FindPath(request)]
        rounds = [[median_us(call) for call in calls] for _ in range(ROUNDS)]
    ours, bare = map(min, zip(*rounds))
    print(f"find_path {ours:.0f} us, the bare stub {bare:.0f} us, ratio {ours / bare:.2f}")


main(*sys.argv[1:])
