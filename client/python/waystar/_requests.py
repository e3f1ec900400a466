"""Places, shapes, edits, and the requests that are made of them."""

from __future__ import annotations

import uuid
from typing import Any, Iterable, List, Optional, Tuple, Union

from waystar import messages
from waystar.messages import Cell, Duration, Edit, FindPathRequest, Location, Point, Position, Rectangle, Shape

Seconds = Optional[float]
# A cell (3, 4), a position (2.5, 2, 0), the id of a node, or a message.
Place = Union[Tuple[float, float], Tuple[float, float, float], str, Location]
# Of several goals, a path leads to the nearest.
Goal = Union[Place, List[Place]]
# From, to, the seconds between the two, and the speed of this move if it has one.
Move = Union[Tuple[Place, Place, float], Tuple[Place, Place, float, float]]


def location(place: Place) -> Location:
    if isinstance(place, Location):
        return place
    if isinstance(place, str):
        return Location(node=place)
    if len(place) == 2 and not isinstance(place[0], float) and not isinstance(place[1], float):
        return Location(cell=Cell(x=place[0], y=place[1]))
    return Location(position=Position(x=place[0], y=place[1], z=place[2] if len(place) > 2 else 0))


def places(path: messages.Path) -> List[Any]:
    """Returns the places of a path: nodes or cells if it has them, and else positions."""
    if path.nodes:
        return list(path.nodes)
    if path.points:
        return [(point.x, point.y) for point in path.points]
    return [(position.x, position.y, position.z) for position in path.positions]


def cells(*each: Tuple[int, int]) -> Shape:
    return Shape(cells=[Cell(x=x, y=y) for x, y in each])


def rect(x: int, y: int, width: int, height: int) -> Shape:
    return Shape(rectangles=[Rectangle(x=x, y=y, width=width, height=height)])


def disc(x: float, y: float, radius: float) -> Shape:
    return Shape(discs=[messages.Disc(center=Point(x=x, y=y), radius=radius)])


def polygon(*vertices: Tuple[float, float]) -> Shape:
    return Shape(polygons=[messages.Polygon(vertices=[Point(x=x, y=y) for x, y in vertices])])


def line(start: Tuple[float, float], end: Tuple[float, float], width: float = 0) -> Shape:
    ends = [Point(x=x, y=y) for x, y in (start, end)]
    return Shape(lines=[messages.Line(start=ends[0], end=ends[1], width=width)])


def union(*shapes: Shape) -> Shape:
    """Returns one shape that has the parts of all."""
    whole = Shape()
    for shape in shapes:
        whole.MergeFrom(shape)
    return whole


def block(*shapes: Shape) -> Edit:
    return Edit(block=union(*shapes))


def unblock(*shapes: Shape) -> Edit:
    return Edit(unblock=union(*shapes))


def put_obstacle(obstacle: str, shape: Shape, *, lifetime: Seconds = None, **fields: Any) -> Edit:
    """Adds or replaces a named obstacle, for `lifetime` seconds. `fields` are others of messages.Obstacle."""
    return Edit(put_obstacle=messages.Obstacle(id=obstacle, shape=shape, lifetime=duration(lifetime), **fields))


def move_obstacle(obstacle: str, dx: float, dy: float) -> Edit:
    return Edit(move_obstacle=messages.MoveObstacle(id=obstacle, dx=dx, dy=dy))


def remove_obstacle(obstacle: str) -> Edit:
    return Edit(remove_obstacle=obstacle)


def duration(seconds: Seconds) -> Optional[Duration]:
    return None if seconds is None else Duration(seconds=int(seconds), nanos=int((seconds - int(seconds)) * 1e9))


def find_path(map: str, start: Place, goal: Goal, fields: dict[str, Any]) -> FindPathRequest:
    """A list of goals asks for a path to the nearest. `fields` are others of the request."""
    goals = [location(each) for each in (goal if isinstance(goal, list) else [goal])]
    return FindPathRequest(**{"map": map, "start": location(start), "goals": goals, **fields})


def update(map: str, edits: Iterable[Edit], fields: dict[str, Any]) -> messages.UpdateMapRequest:
    """The request has an id, so that it can be repeated and is applied once."""
    request = messages.UpdateMapRequest(**{"map": map, "edits": edits, "request_id": uuid.uuid4().hex, **fields})
    if not request.HasField("request_time"):
        request.request_time.GetCurrentTime()
    return request


def check_moves(map: str, moves: Iterable[Move], fields: dict[str, Any]) -> messages.CheckMovesRequest:
    fields["time_tolerance"] = duration(fields.get("time_tolerance"))
    return messages.CheckMovesRequest(map=map, moves=[_move_to_check(*move) for move in moves], **fields)


def _move_to_check(start: Place, end: Place, seconds: float, speed: Optional[float] = None) -> messages.MoveToCheck:
    # `from` is a word of Python.
    ends = {"from": location(start), "to": location(end)}
    return messages.MoveToCheck(elapsed=duration(seconds), speed=speed, **ends)


def create_map(map: str, fields: dict[str, Any]) -> messages.CreateMapRequest:
    """The request has an id, so that it can be repeated."""
    return messages.CreateMapRequest(**{"map": map, "request_id": uuid.uuid4().hex, **fields})
