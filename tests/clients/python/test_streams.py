"""Watches, streams of queries and followed agents of the client for threads."""

import shutil
import signal
import threading
from concurrent.futures import Future, ThreadPoolExecutor

import grpc
from servers import TIMEOUT, ServerTest

import waystar
from waystar import block, cells, messages, places, unblock

WALL = cells(*((5, y) for y in range(10)))


class WatchTest(ServerTest):
    def setUp(self):
        super().setUp()
        self.watch = self.arena.watch(with_edits=True)
        self.addCleanup(self.watch.close)
        self.assertEqual(next(self.watch).watching.version.revision, 1)

    def test_it_has_each_revision(self):
        self.arena.update(block(cells((0, 1))))
        self.arena.update(unblock(cells((0, 1))))
        for revision, kind in ((2, "block"), (3, "unblock")):
            commit = next(self.watch).commit
            self.assertEqual((commit.version.revision, commit.edits[0].WhichOneof("edit")), (revision, kind))

    def test_it_waits_for_its_reader(self):
        for y in range(9):
            self.arena.update(block(cells((0, y))))
        self.assertEqual([next(self.watch).commit.version.revision for _ in range(9)], list(range(2, 11)))

    def test_it_misses_nothing_while_the_server_is_away(self):
        for revision, how in ((2, signal.SIGKILL), (3, signal.SIGTERM)):
            self.server.restart(how)
            self.arena.update(block(cells((0, revision))))
            self.assertEqual(next(self.watch).commit.version.revision, revision)

    def test_a_replaced_map(self):
        self.client.call(messages.DeleteMapRequest(map="arena"))
        self.client.create_map("arena", rows=["..."])
        epoch = self.client.call(messages.GetMapRequest(map="arena")).info.version.epoch
        self.assertEqual(next(self.watch).resynchronize.version.epoch, epoch)
        self.arena.update(block(cells((1, 0))))
        self.assertEqual(next(self.watch).commit.version.revision, 2)

    def test_it_begins_after_a_version_of_a_map_that_was_replaced(self):
        version = self.arena.update(block(cells((0, 1)))).version
        self.client.call(messages.DeleteMapRequest(map="arena"))
        self.client.create_map("arena", rows=["..."])
        with self.arena.watch(after=version) as later:
            epoch = next(later).resynchronize.version.epoch
            self.assertNotIn(epoch, (0, version.epoch))
            self.arena.update(block(cells((1, 0))))
            self.assertEqual(next(later).commit.version, messages.Version(epoch=epoch, revision=2))

    def test_a_deleted_map(self):
        self.client.call(messages.DeleteMapRequest(map="arena"))
        self.assert_fails("MAP_NOT_FOUND", "map", next, self.watch)

    def test_it_begins_where_it_is_told(self):
        version = self.arena.update(block(cells((0, 1)))).version
        self.arena.update(block(cells((0, 2))))
        with self.arena.watch(after=version) as later:
            self.assertEqual([next(later).WhichOneof("event"), next(later).commit.version.revision], ["watching", 3])

    def test_it_can_be_closed_by_another_thread(self):
        thread = threading.Timer(0, self.watch.close)
        thread.start()
        self.assertEqual(list(self.watch), [])
        thread.join()


class PathStreamTest(ServerTest):
    def test_many_queries(self):
        with self.arena.stream_find_path() as stream:
            futures = [stream.find_path((0, y), (3, y)) for y in range(10) for _ in range(300)]
            self.assertEqual({each.result(TIMEOUT).cost for each in futures}, {3})
            error = stream.find_path((0, 0), (99, 0)).exception(TIMEOUT)
            self.assertEqual((error.reason, error.field), ("OFF_MAP", "goals[0]"))

    def test_queries_survive_a_restart(self):
        for how in (signal.SIGKILL, signal.SIGTERM):
            with self.arena.stream_find_path() as stream:
                self.assertEqual(stream.find_path((0, 0), (3, 0)).result(TIMEOUT).cost, 3)
                self.server.pause()
                future = stream.find_path((0, 0), (2, 0))
                self.server.go_on()
                self.server.restart(how)
                self.assertEqual(future.result(TIMEOUT).cost, 2)
                self.assertEqual(stream.find_path((0, 0), (1, 0)).result(TIMEOUT).cost, 1)

    def test_queries_end_with_the_stream(self):
        self.server.pause()
        with self.arena.stream_find_path() as stream:
            future = stream.find_path((0, 0), (3, 0))
        self.assertEqual(future.exception(TIMEOUT).code, grpc.StatusCode.CANCELLED)
        self.server.go_on()
        with self.assertRaises(waystar.WaystarError):
            stream.find_path((0, 0), (3, 0))

    def test_callbacks_may_use_the_stream(self):
        again, is_closed = Future(), Future()
        with ThreadPoolExecutor(1) as other_thread:
            stream = self.arena.stream_find_path()

            def ask_again(_):
                again.set_result(other_thread.submit(stream.find_path, (0, 0), (2, 0)).result(TIMEOUT))

            self.server.pause()
            stream.find_path((0, 0), (3, 0)).add_done_callback(ask_again)
            self.server.go_on()
            self.assertEqual(again.result(TIMEOUT).result(TIMEOUT).cost, 2)
            self.server.pause()
            stream.find_path((0, 0), (3, 0)).add_done_callback(lambda _: is_closed.set_result(stream.close()))
            self.server.go_on()
            is_closed.result(TIMEOUT)
            stream.close()

    def test_the_client_is_closed_while_the_stream_is_opened(self):
        stream = self.arena.stream_find_path()
        stream._open = self.client.close
        self.assertEqual(stream.find_path((0, 0), (1, 0)).exception(TIMEOUT).code, grpc.StatusCode.CANCELLED)

    def test_no_server_comes_back(self):
        self.server.stop()
        impatient = self.connect(wait_for_ready=False)
        with impatient.map("arena").stream_find_path() as stream:
            self.assertEqual(stream.find_path((0, 0), (1, 0)).exception(TIMEOUT).code, grpc.StatusCode.UNAVAILABLE)


class FollowerTest(ServerTest):
    def setUp(self):
        super().setUp()
        self.agents = self.arena.follow_agents(at_most_every=0, cheaper_every=0)
        self.addCleanup(self.agents.close)
        self.agents.put(7, (0, 0), (9, 0))

    def until(self, condition):
        """Flushes, and takes news until agent 7 is so."""
        self.agents.flush()
        while not condition(self.agents.find(7)):
            self.assertTrue(self.agents.wait_for_news(TIMEOUT), self.agents.find(7))
            self.agents.take_news()
            self.agents.flush()
        return self.agents.find(7)

    def has_path(self):
        return self.until(lambda state: state.answer is not None and state.problem is None)

    def test_a_walk(self):
        ahead = self.has_path().ahead((0, 0))
        self.assertEqual(ahead[-1], (9, 0))
        self.agents.move_to(7, ahead[0])
        self.agents.flush()
        self.assertEqual(self.agents.find(7).ahead(ahead[0]), ahead[1:])
        self.arena.update(block(WALL))
        self.until(lambda state: state.answer.outcome == messages.OUTCOME_UNREACHABLE)
        self.agents.send_to(7, (1, 9))
        self.assertIsNone(self.agents.find(7).answer)
        answer = self.has_path().answer
        self.assertEqual((places(answer.path)[0], places(answer.path)[-1]), (ahead[0], (1, 9)))
        self.agents.remove(7)
        self.assertIsNone(self.agents.find(7))

    def test_other_maps(self):
        self.client.create_map("cellar", rows=["....."])
        stairs = {"id": "stairs", "from": {"x": 1, "y": 0}, "to_map": "cellar", "to": {"x": 4, "y": 0}}
        self.arena.update(messages.Edit(put_portal=stairs))
        self.agents.put(7, (0, 0), (0, 0), goal_map="cellar")
        state = self.has_path()
        self.assertEqual(places(state.answer.path), [(0, 0), (1, 0), (4, 0), (3, 0), (2, 0), (1, 0), (0, 0)])
        self.assertEqual(state.ahead((0, 0)), [(1, 0)])
        # This is a place of the path on the other map.
        self.assertEqual(state.ahead((3, 0)), [])
        self.agents.move_to(7, (4, 0), map="cellar")
        self.assertIsNone(self.agents.find(7).answer)
        self.assertEqual(self.has_path().ahead((4, 0)), [(3, 0), (2, 0), (1, 0), (0, 0)])
        self.agents.move_to(7, (3, 0))
        self.agents.flush()
        self.server.restart()
        self.client.map("cellar").update(block(cells((2, 0))))
        self.until(lambda state: state.answer.outcome == messages.OUTCOME_UNREACHABLE)

    def test_news_are_taken_once(self):
        self.agents.put(8, (0, 0), (0, 1))
        self.agents.flush()
        news = []
        while len(news) < 2:
            self.assertTrue(self.agents.wait_for_news(TIMEOUT))
            news += self.agents.take_news()
        self.assertEqual(sorted(news), [7, 8])
        self.assertFalse(self.agents.wait_for_news(0))

    def test_a_problem_passes(self):
        self.arena.update(block(cells((0, 0))))
        state = self.until(lambda state: state.problem is not None)
        self.assertEqual((state.problem.reason, state.has_ended), ("START_BLOCKED", False))
        self.arena.update(unblock(cells((0, 0))))
        self.assertEqual(self.has_path().ahead((0, 0))[-1], (9, 0))

    def test_a_slow_server(self):
        ahead = self.has_path().ahead((0, 0))
        self.server.pause()
        for place in ahead[:3]:
            self.agents.move_to(7, place)
            self.agents.flush()
        self.agents.send_to(7, (0, 9))
        self.agents.flush()
        self.assertFalse(self.agents.wait_for_news(0))
        self.server.go_on()
        self.assertEqual(places(self.has_path().answer.path)[0], ahead[2])

    def test_another_stream_holds_the_paths(self):
        path = self.has_path()
        here = path.ahead((0, 0))[0]
        self.agents.move_to(7, here)
        self.agents.flush()
        for how in (signal.SIGKILL, signal.SIGTERM):
            self.server.restart(how)
            self.agents.put(8, (0, 0), (0, 1))
            self.agents.flush()
            while 8 not in self.agents.take_news():
                self.assertTrue(self.agents.wait_for_news(TIMEOUT))
            self.agents.remove(8)
            # The server has sent no other path.
            self.assertIs(self.agents.find(7).answer, path.answer)
        self.arena.update(block(WALL))
        self.until(lambda state: state.answer.outcome == messages.OUTCOME_UNREACHABLE)

    def test_a_replaced_map(self):
        self.has_path()
        self.server.stop()
        shutil.rmtree(self.server.folder / "data")
        (self.server.folder / "maps").mkdir()
        (self.server.folder / "maps" / "arena.txt").write_text("." * 10 + "\n")
        self.server.start(f"--maps_dir={self.server.folder}/maps")
        self.until(lambda state: state.answer.cost == 9)

    def test_a_deleted_map(self):
        self.has_path()
        self.client.call(messages.DeleteMapRequest(map="arena"))
        state = self.until(lambda state: state.has_ended)
        self.assertEqual(state.problem.reason, "MAP_NOT_FOUND")
        self.client.create_map("arena", rows=["." * 10])
        self.agents.put(7, (0, 0), (9, 0))
        self.assertEqual(self.has_path().answer.cost, 9)

    def test_many_agents(self):
        for agent in range(25_000):
            self.agents.put(agent, (0, 0), (agent % 4, 0))
        self.agents.flush()
        news = set()
        while len(news) < 25_000:
            self.assertTrue(self.agents.wait_for_news(TIMEOUT))
            news.update(self.agents.take_news())
