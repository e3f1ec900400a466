"""Bytes of the requests that attacks and the good client send, so that no generated code is needed."""

import struct

FIND_PATH = "/waystar.v1.PathService/FindPath"
FIND_PATHS = "/waystar.v1.PathService/FindPaths"
STREAM_FIND_PATH = "/waystar.v1.PathService/StreamFindPath"
WATCH_MAP = "/waystar.v1.MapService/WatchMap"
CREATE_MAP = "/waystar.v1.MapService/CreateMap"
GET_MAP = "/waystar.v1.MapService/GetMap"
DELETE_MAP = "/waystar.v1.MapService/DeleteMap"
UPDATE_MAP = "/waystar.v1.MapService/UpdateMap"
IMPORT_MAP = "/waystar.v1.MapService/ImportMap"
EXPORT_MAP = "/waystar.v1.MapService/ExportMap"
HEALTH_CHECK = "/grpc.health.v1.Health/Check"
HEALTH_WATCH = "/grpc.health.v1.Health/Watch"
REFLECTION = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo"

DIJKSTRA = 3
EVERY_CELL, CORNERS = 1, 2
TERRAINS = {"r": ("road", 1.0), "m": ("mud", 3.0)}


def varint(value):
    out = bytearray()
    while value >= 128:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def number(field, value):
    return varint(field << 3) + varint(value)


def double(field, value):
    return varint(field << 3 | 1) + struct.pack("<d", value)


def text(field, value):
    value = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(value)) + value


def cell(x, y):
    return number(1, x) + number(2, y)


def find_path(map_id, start, goal, algorithm=0, form=CORNERS, profile=b""):
    return (
        text(1, map_id)
        + (text(2, text(1, profile)) if profile else b"")
        + text(5, text(1, cell(*start)))
        + text(6, text(1, cell(*goal)))
        + number(8, algorithm)
        + number(10, form)
    )


def find_paths(map_id, start, goal, count, form=CORNERS):
    query = text(1, text(1, cell(*start))) + text(2, text(1, cell(*goal)))
    return text(1, map_id) + text(5, query) * count + number(8, form)


def profile(costs):
    return b"".join(text(3, text(1, name) + double(2, cost)) for name, cost in costs.items())


def create_map(map_id, width, height, terrains=False):
    grid = b""
    if terrains:
        for symbol, (name, cost) in TERRAINS.items():
            grid += text(3, text(1, symbol) + text(2, name) + double(3, cost))
    fill = text(3, "r") if terrains else b""
    return text(1, map_id) + text(3, number(1, width) + number(2, height) + fill) + (text(6, grid) if grid else b"")


def rectangle(x, y, width, height):
    return text(2, cell(x, y) + number(3, width) + number(4, height))


def shape_cell(x, y):
    return text(1, cell(x, y))


def block(shape):
    return text(2, text(1, shape))


def unblock(shape):
    return text(2, text(2, shape))


def set_terrain(shape, terrain):
    return text(2, text(3, text(1, shape) + text(2, terrain)))


def put_obstacle(obstacle_id, shape, cost_factor):
    return text(2, text(5, text(1, obstacle_id) + text(2, shape) + double(3, cost_factor)))


def update(map_id, *edits):
    return text(1, map_id) + b"".join(edits)


def import_header(map_id, size):
    return text(1, text(1, map_id) + number(2, 2) + number(4, size))


def import_chunk(data):
    return text(2, data)


def file_containing(symbol):
    """A question to the reflection service."""
    return text(4, symbol)


def export_map(map_id):
    return text(1, map_id) + number(2, 1)
