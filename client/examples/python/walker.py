"""A walker crosses a yard while a crate is put in its way: walker.py [SERVER]"""

import sys
import time

from waystar import Client, cells, messages, put_obstacle

WALKER = 1
TICK = 0.05


def main(server="localhost:7450"):
    here, goal = (0, 5), (29, 5)
    crate = []
    with Client(server) as client:
        yard = client.create_map("python-yard", rows=["." * 30] * 10)
        with yard.follow_agents(at_most_every=TICK) as agents:
            agents.put(WALKER, here, goal)
            agents.flush()
            while here != goal:
                agents.wait_for_news(TICK)
                if agents.take_news():
                    print("another path from", here, "on:", agents.find(WALKER).ahead(here))
                ahead = agents.find(WALKER).ahead(here)
                # The path may still lead through the crate.
                if ahead and ahead[0] not in crate:
                    here = ahead[0]
                    agents.move_to(WALKER, here)
                if here == (10, 5) and not crate:
                    crate = [(x, y) for x in (15, 16) for y in range(3, 8)]
                    yard.update(put_obstacle("crate", cells(*crate)))
                agents.flush()
                time.sleep(TICK)
        client.call(messages.DeleteMapRequest(map="python-yard"))


if __name__ == "__main__":
    main(*sys.argv[1:])
