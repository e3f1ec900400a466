"""Attacks on memory by calls that each are allowed."""

import messages
from attack import attack
from target import rude_token


def stripes(side, offset=0):
    """256 columns of one cell: they touch every band of rows, so that none can be shared or packed."""
    step = side // 256
    return b"".join(messages.rectangle(x + offset % step, 0, 1, side) for x in range(0, side, step))


def update(aggressor, connection, map_id, edit, index=0):
    return aggressor.call(connection, messages.UPDATE_MAP, messages.update(map_id, edit), index)


@attack("maps painted by updates, --max_maps_memory_mib=256", flags=("--max_maps_memory_mib=256",))
def painting(aggressor):
    def paint(index):
        connection = aggressor.connect()
        names, number = [], 0
        while aggressor.left():
            name = f"paint-{index}-{number}"
            if aggressor.call(connection, messages.CREATE_MAP, messages.create_map(name, 2048, 2048, terrains=True)) == 0:
                names.append(name)
            for offset, name in enumerate(names[-2:]):
                update(aggressor, connection, name, messages.set_terrain(stripes(2048, number + offset), "m"))
                update(aggressor, connection, name, messages.put_obstacle("fire", stripes(2048, number), 3.0))
            number += 1

    aggressor.together(2, paint)


@attack("views of profiles by queries, --max_maps_memory_mib=256", flags=("--max_maps_memory_mib=256",))
def views(aggressor):
    connection = aggressor.connect()
    aggressor.call(connection, messages.CREATE_MAP, messages.create_map("viewed", 2048, 2048, terrains=True))
    update(aggressor, connection, "viewed", messages.set_terrain(stripes(2048), "m"))

    def ask(index):
        connection = aggressor.connect()
        number = 0
        while aggressor.left():
            number += 1
            profile = messages.profile({"m": 2 + index + number * 0.01, "r": 1 + number * 0.003})
            query = messages.find_path("viewed", (0, 0), (index + 1, 0), profile=profile)
            aggressor.call(connection, messages.FIND_PATH, query, index)

    aggressor.together(4, ask)


@attack("40 blank maps of 8192 x 8192 and 20 updates", limit_mib=2048, flags=("--workers=2", "--scratch_mib=512"))
def blank_maps(aggressor):
    def fill(index):
        connection = aggressor.connect()
        names = [f"blank-{index}-{number}" for number in range(20)]
        for name in names:
            aggressor.call(connection, messages.CREATE_MAP, messages.create_map(name, 8192, 8192), index)
        while aggressor.left():
            for name in names:
                update(aggressor, connection, name, messages.block(stripes(8192)), index)
                update(aggressor, connection, name, messages.put_obstacle("fire", stripes(8192, 1), 2.0), index)
                query = messages.find_path(name, (1, 0), (8190, 8191), messages.DIJKSTRA)
                connection.unary(messages.FIND_PATH, query, rude_token(index))

    aggressor.together(2, fill)
