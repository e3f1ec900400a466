"""A walker crosses a yard while a crate is put in its way.

    walker.py [SERVER]
"""

import sys
import time

from waystar import Client, messages, put_obstacle, rect

ROWS = ["." * 30] * 10
WALKER = 1
TICK = 0.05


def main():
    server = sys.argv[1] if len(sys.argv) > 1 else "localhost:7450"
    here, goal = (0, 5), (29, 5)
    with Client(server) as client:
        yard = client.create_map("python-yard", rows=ROWS)
        with yard.follow_agents(at_most_every=TICK) as agents:
            agents.put(WALKER, here, goal)
            agents.flush()
            while here != goal:
                agents.wait_for_news(TICK)
                if agents.take_news():
                    print("another path from", here, "on:", agents.find(WALKER).ahead(here))
                ahead = agents.find(WALKER).ahead(here)
                if ahead:
                    here = ahead[0]
                    agents.move_to(WALKER, here)
                if here == (10, 5):
                    yard.update(put_obstacle("crate", rect(15, 3, 2, 5)))
                agents.flush()
                time.sleep(TICK)
        client.call(messages.DeleteMapRequest(map="python-yard"))


if __name__ == "__main__":
    main()
