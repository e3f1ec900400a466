"""Fifty agents walk about a yard where carts drive, on one FollowAgents stream.

    follow.py [SERVER [TICKS]]
"""

import queue
import random
import sys
import threading
import time

import grpc
from google.protobuf.duration_pb2 import Duration
from waystar.v1 import map_service_pb2_grpc, path_service_pb2_grpc
from waystar.v1.map_service_pb2 import CreateMapRequest, DeleteMapRequest, Edit, UpdateMapRequest
from waystar.v1.path_service_pb2 import AgentChange, FindPathRequest, FollowAgentsRequest, Location
from waystar.v1.types_pb2 import Cell, Obstacle, Shape

MAP = "yard"
# A wall stands in the middle.
ROWS = ["." * 20 + ("#" if 8 <= y < 22 else ".") + "." * 19 for y in range(30)]
OPEN_CELLS = [(x, y) for y, row in enumerate(ROWS) for x, symbol in enumerate(row) if symbol == "."]
CART_ROWS = {"red": 3, "green": 6, "blue": 24}
TICK = 0.01


class Agent:
    def __init__(self, agent_id):
        self.id = agent_id
        self.cell = random.choice(OPEN_CELLS)
        self.goal = random.choice(OPEN_CELLS)
        self.path = []  # The cells ahead.
        self.number = 0  # Number of the newest change.
        self.goal_number = 0  # Number of the change that set the goal.

    def change(self, **what):
        self.number += 1
        return AgentChange(agent=self.id, number=self.number, **what)

    def put(self):
        return self.change(put=FindPathRequest(map=MAP, start=at(self.cell), goals=[at(self.goal)]))

    def step(self):
        self.cell = self.path.pop(0)
        return self.change(at=at(self.cell))

    def send_to(self, goal):
        self.goal = goal
        self.goal_number = self.number + 1
        return self.change(goal=at(goal))

    def take(self, state):
        if state.HasField("end"):
            sys.exit(f"agent {self.id} is not followed any more: {state.end.message}")
        if state.number < self.goal_number:
            return  # The state is about an earlier goal.
        # There are no points if the goal cannot be reached now. If the agent is not on this path any
        # more, it stays where it is: the server notices and sends another path.
        points = [(point.x, point.y) for point in state.answer.path.points]
        self.path = points[points.index(self.cell) + 1 :] if self.cell in points else []


def at(cell):
    return Location(cell=Cell(x=cell[0], y=cell[1]))


def drive_carts(maps, steps):
    """Moves the carts, which go to and fro, and returns the cells that they block."""
    x = abs(steps % 72 - 36)
    carts = {name: [(x + i, y) for i in range(4)] for name, y in CART_ROWS.items()}
    shapes = {name: Shape(cells=[Cell(x=x, y=y) for x, y in cells]) for name, cells in carts.items()}
    edits = [Edit(put_obstacle=Obstacle(id=name, shape=shape)) for name, shape in shapes.items()]
    maps.UpdateMap(UpdateMapRequest(map=MAP, edits=edits), timeout=5)
    return set().union(*carts.values())


def read_states(stream, newest):
    try:
        for message in stream:
            newest.update((state.agent, state) for state in message.states)
    except grpc.RpcError:
        pass  # The game loop notices that the stream has ended.


def play(maps, paths, ticks):
    agents = [Agent(agent_id) for agent_id in range(50)]
    requests = queue.SimpleQueue()
    stream = paths.FollowAgents(iter(requests.get, None))
    newest = {}  # The newest state of each agent, until the agent takes it.
    threading.Thread(target=read_states, args=(stream, newest), daemon=True).start()

    at_most_every = Duration(nanos=10_000_000)
    requests.put(FollowAgentsRequest(changes=[agent.put() for agent in agents], at_most_every=at_most_every))
    states = moves = arrivals = 0
    next_tick = time.monotonic()
    for tick in range(ticks):
        if not stream.is_active():
            sys.exit(f"the stream has ended: {stream.details()}")
        if tick % 5 == 0:
            blocked = drive_carts(maps, tick // 5)
        changes = []
        for agent in agents:
            if state := newest.pop(agent.id, None):
                agent.take(state)
                states += 1
            # If a cart has just come in between, the agent waits for its new path.
            if agent.path and agent.path[0] not in blocked:
                changes.append(agent.step())
                moves += 1
            if agent.cell == agent.goal:
                changes.append(agent.send_to(random.choice(OPEN_CELLS)))
                arrivals += 1
        requests.put(FollowAgentsRequest(changes=changes))
        next_tick += TICK
        time.sleep(max(0, next_tick - time.monotonic()))
    stream.cancel()
    print(f"{ticks} ticks, {len(agents)} agents: {states} states for {moves} moves, {arrivals} arrivals")


def main():
    server = sys.argv[1] if len(sys.argv) > 1 else "localhost:7450"
    ticks = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    random.seed(7)
    with grpc.insecure_channel(server) as channel:
        maps = map_service_pb2_grpc.MapServiceStub(channel)
        maps.CreateMap(CreateMapRequest(map=MAP, rows=ROWS), timeout=5)
        try:
            play(maps, path_service_pb2_grpc.PathServiceStub(channel), ticks)
        finally:
            maps.DeleteMap(DeleteMapRequest(map=MAP), timeout=5)


if __name__ == "__main__":
    main()
