"""Agents walk about a yard where carts drive. The game goes on while the server restarts.

game_loop.py [SERVER [TICKS [SIZE]]]
"""

import random
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from waystar import Client, WaystarError, messages, put_obstacle, rect

TICK = 0.05
AGENTS = 200
CARTS = 12


def yard_rows(size):
    """Walls with gaps of four cells, the middle two of which are the lane of a cart."""
    wall = "".join("#" if x % 32 == 16 else "." for x in range(size))
    return ["." * size if y % (size // CARTS) < 4 else wall for y in range(size)]


class Game:
    def __init__(self, yard, agents, rows):
        self.yard = yard
        self.agents = agents
        self.size = len(rows)
        self.floor = [(x, y) for y, row in enumerate(rows) for x, symbol in enumerate(row) if symbol == "."]
        self.places = {agent: random.choice(self.floor) for agent in range(AGENTS)}
        self.goals = {agent: random.choice(self.floor) for agent in range(AGENTS)}
        # The cells ahead of each agent, the next one last.
        self.ways = {agent: [] for agent in range(AGENTS)}
        self.moves = self.calls_lost = self.paths = 0
        for agent, place in self.places.items():
            agents.put(agent, place, self.goals[agent])
        self.sender = ThreadPoolExecutor(1)
        self.drive_carts()

    def drive_carts(self):
        """Moves the carts, which go to and fro, and has the server told, without waiting for it."""
        self.moves += 1
        way = self.size - 2
        xs = [abs((self.moves + 7 * cart) % (2 * way) - way) for cart in range(CARTS)]
        corners = [(x, cart * (self.size // CARTS) + 1) for cart, x in enumerate(xs)]
        self.blocked = {(x + i, y + j) for x, y in corners for i in range(2) for j in range(2)}
        edits = [put_obstacle(f"cart-{cart}", rect(x, y, 2, 2)) for cart, (x, y) in enumerate(corners)]
        self.update = self.sender.submit(self.send, edits)

    def send(self, edits):
        try:
            self.yard.update(*edits)
        except WaystarError as error:
            # The next update puts the carts where they are then.
            self.calls_lost += 1
            print(error, file=sys.stderr)

    def tick(self):
        # While the server is away, the carts stand, and the agents walk on.
        if self.update.done():
            self.drive_carts()
        for agent in self.agents.take_news():
            self.ways[agent] = self.agents.find(agent).ahead(self.places[agent])[::-1]
            self.paths += bool(self.ways[agent])
        for agent, way in self.ways.items():
            # If a cart has just come in between, the agent waits for its new path.
            if way and way[-1] not in self.blocked:
                self.places[agent] = way.pop()
                self.agents.move_to(agent, self.places[agent])
            if self.places[agent] == self.goals[agent]:
                self.goals[agent] = random.choice(self.floor)
                self.ways[agent] = []
                self.agents.send_to(agent, self.goals[agent])
        self.agents.flush()


def play(game, ticks):
    late = 0
    next_tick = time.monotonic()
    for _ in range(ticks):
        began = time.monotonic()
        game.tick()
        late += time.monotonic() - began > TICK
        next_tick += TICK
        time.sleep(max(0, next_tick - time.monotonic()))
    game.update.result()
    print(f"{ticks} ticks, {late} late, {game.calls_lost} calls lost, {game.paths} paths received")


def main(server="localhost:7450", ticks="200", size="256"):
    rows = yard_rows(int(size))
    with Client(server, timeout=10, wait_for_ready=True) as client:
        yard = client.create_map("python-game", rows=rows)
        try:
            with yard.follow_agents(at_most_every=TICK) as agents:
                play(Game(yard, agents, rows), int(ticks))
        finally:
            client.call(messages.DeleteMapRequest(map="python-game"))


if __name__ == "__main__":
    main(*sys.argv[1:])
