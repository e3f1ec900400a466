"""Attacks on memory by calls that each are allowed."""

import messages
from attack import attack
from target import rude_token


def painted(aggressor, connection, map_id, edits, index=0):
    return aggressor.call(connection, messages.UPDATE_OBSTACLES, messages.update(map_id, *edits), index)


@attack("maps painted by updates, --max_maps_memory_mib=256", flags=("--max_maps_memory_mib=256",))
def painting(aggressor):
    def paint(index):
        connection = aggressor.connect()
        number = 0
        while aggressor.left():
            map_id = f"paint-{index}-{number}"
            if aggressor.call(connection, messages.CREATE_MAP, messages.create_map(map_id, 4096, 4096, terrains=True)) != 0:
                number = max(number - 1, 0)
                map_id = f"paint-{index}-{number}"
            # Every cell differs from its band's other cells, so that nothing is shared.
            stripes = b"".join(messages.rectangle(x, 0, 1, 4096) for x in range(0, 4096, 2))
            painted(aggressor, connection, map_id, [messages.set_terrain(stripes, "mud")])
            painted(aggressor, connection, map_id, [messages.put_obstacle("fire", stripes, 3.0)])
            number += 1

    aggressor.together(2, paint)


@attack("views of profiles by queries, --max_maps_memory_mib=256", flags=("--max_maps_memory_mib=256",))
def views(aggressor):
    connection = aggressor.connect()
    side = 2048
    aggressor.call(connection, messages.CREATE_MAP, messages.create_map("viewed", side, side, terrains=True))
    shapes = b"".join(messages.rectangle(x, 0, 1, side) for x in range(0, side, 2))
    painted(aggressor, connection, "viewed", [messages.set_terrain(shapes, "mud")])

    def ask(index):
        connection = aggressor.connect()
        number = 0
        while aggressor.left():
            number += 1
            costs = {"mud": 2 + index + number * 0.01, "road": 1 + number * 0.003}
            query = messages.find_path("viewed", (0, 0), (index + 1, 0), profile=messages.profile(costs))
            aggressor.call(connection, messages.FIND_PATH, query, index)

    aggressor.together(4, ask)


@attack("40 blank maps of 8192 x 8192 and 20 updates", limit_mib=2048, flags=("--workers=2", "--scratch_mib=512"))
def blank_maps(aggressor):
    def fill(index):
        connection = aggressor.connect()
        for number in range(20):
            aggressor.call(connection, messages.CREATE_MAP, messages.create_map(f"blank-{index}-{number}", 8192, 8192), index)
        stripes = b"".join(messages.rectangle(x, 0, 1, 8192) for x in range(0, 8192, 2))
        number = 0
        while aggressor.left():
            painted(aggressor, connection, f"blank-{index}-{number % 20}", [messages.block(stripes)], index)
            painted(aggressor, connection, f"blank-{index}-{number % 20}", [messages.put_obstacle("a", stripes, 2)], index)
            query = messages.find_path(f"blank-{index}-{number % 20}", (1, 0), (8191, 8191), messages.DIJKSTRA)
            connection.unary(messages.FIND_PATH, query, rude_token(index))
            number += 1

    aggressor.together(2, fill)
