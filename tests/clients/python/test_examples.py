"""The examples, run with the package that is installed."""

import pathlib
import signal
import subprocess
import sys
import threading

from servers import TIMEOUT, ServerTest

EXAMPLES = pathlib.Path(__file__).parents[3] / "client/examples/python"
sys.path.append(str(EXAMPLES))

import game_loop  # noqa: E402


class ExamplesTest(ServerTest):
    def run_example(self, name, *arguments):
        command = [sys.executable, EXAMPLES / name, self.server.target, *arguments]
        return subprocess.check_output(command, text=True, timeout=TIMEOUT)

    def test_walker(self):
        output = self.run_example("walker.py")
        self.assertIn("another path from (0, 5) on: [(1, 5), ", output)
        self.assertGreater(output.count("another path"), 1)

    def test_game_loop(self):
        output = self.run_example("game_loop.py", "20", "64")
        self.assertRegex(output, r"^20 ticks, \d+ late, 0 calls lost, \d+ paths received\n$")

    def test_the_game_goes_on_when_the_server_restarts(self):
        rows = game_loop.yard_rows(64)
        yard = self.client.create_map("yard", rows=rows)
        with yard.follow_agents(at_most_every=game_loop.TICK) as agents, yard.watch() as watch:
            game = game_loop.Game(yard, agents, rows)
            thread = threading.Thread(target=game_loop.play, args=(game, 60))
            thread.start()
            while next(watch).commit.version.revision < 20:
                pass
            self.server.restart(signal.SIGTERM)
            goals = dict(game.goals)
            thread.join(TIMEOUT)
            self.assertEqual(game.calls_lost, 0)
            while any(game.goals[agent] == goals[agent] for agent in goals):
                agents.wait_for_news(game_loop.TICK)
                places = dict(game.places)
                game.tick()
                stepped = {game.places[agent] for agent in places if game.places[agent] != places[agent]}
                self.assertFalse(stepped & game.blocked)
            game.update.result(TIMEOUT)
