"""Client of Waystar, a pathfinding server; waystar.aio has the same for asyncio, and waystar.messages what is sent."""

from waystar import messages
from waystar._errors import WaystarError
from waystar._requests import Move, Place, block, cells, disc, line, move_obstacle, places, polygon, put_obstacle
from waystar._requests import rect, remove_obstacle, unblock, union
from waystar._streams import AgentPath
from waystar._sync import AgentFollower, Client, Map, PathStream, Watch

# fmt: off
__all__ = [
    "AgentFollower", "AgentPath", "Client", "Map", "Move", "PathStream", "Place", "Watch", "WaystarError", "block",
    "cells", "disc", "line", "messages", "move_obstacle", "places", "polygon", "put_obstacle", "rect",
    "remove_obstacle", "unblock", "union",
]
