"""The client for asyncio. What it shares with that for threads is tested there."""

import asyncio
import signal
import unittest

import grpc
from servers import ROWS, TIMEOUT, FaultyServer, Server
from test_client import BUSY, CLOSED, GONE

import waystar
from waystar import aio, block, cells, messages

WALL = cells(*((5, y) for y in range(10)))


class AioTest(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        self.server = Server()
        self.addCleanup(self.server.close)
        self.client = aio.Client(self.server.target, timeout=TIMEOUT, wait_for_ready=True)
        self.addAsyncCleanup(self.client.close)
        self.arena = await self.client.create_map("arena", rows=ROWS)

    async def test_calls(self):
        self.assertEqual((await self.arena.find_path((0, 0), (3, 0))).cost, 3)
        judged = await self.arena.check_moves([((0, 0), (3, 0), 1)], speed=1)
        self.assertEqual(judged.results[0].verdict, messages.MOVE_VERDICT_TOO_FAST)
        self.assertEqual((await self.arena.update(block(WALL))).changed_cells, 10)
        with self.assertRaises(waystar.WaystarError) as caught:
            await self.arena.find_path((0, 0), (99, 0))
        self.assertEqual((caught.exception.reason, caught.exception.field), ("OFF_MAP", "goals[0]"))

    async def test_retries(self):
        faulty = FaultyServer(BUSY, CLOSED, GONE)
        self.addCleanup(faulty.close)
        async with aio.Client(faulty.target, timeout=TIMEOUT) as client:
            await client.map("arena").update(block(cells((0, 0))))
        self.assertEqual((len(faulty.requests), len({each.request_id for each in faulty.requests})), (4, 1))

    async def test_a_server_that_does_not_answer(self):
        self.server.pause()
        with self.assertRaises(waystar.WaystarError) as caught:
            await self.arena.find_path((0, 0), (1, 0), timeout=0.2)
        self.assertEqual(caught.exception.code, grpc.StatusCode.DEADLINE_EXCEEDED)
        self.server.go_on()

    async def test_a_watch(self):
        async with self.arena.watch() as watch:
            self.assertTrue((await watch.__anext__()).HasField("watching"))
            for revision, how in ((2, signal.SIGKILL), (3, signal.SIGTERM)):
                await asyncio.to_thread(self.server.restart, how)
                await self.arena.update(block(cells((0, revision))))
                self.assertEqual((await watch.__anext__()).commit.version.revision, revision)
            await self.client.call(messages.DeleteMapRequest(map="arena"))
            with self.assertRaises(waystar.WaystarError):
                await watch.__anext__()

    async def test_a_watch_can_be_cancelled(self):
        async with self.arena.watch() as watch:
            await watch.__anext__()
            waiting = asyncio.ensure_future(watch.__anext__())
            await asyncio.sleep(0)
            waiting.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await waiting
            await self.arena.update(block(WALL))
            self.assertEqual((await watch.__anext__()).commit.version.revision, 2)

    async def test_a_watch_can_be_closed_by_another_task(self):
        watch = self.arena.watch()
        await watch.__anext__()
        waiting = asyncio.ensure_future(watch.__anext__())
        await asyncio.sleep(0)
        await watch.close()
        with self.assertRaises(StopAsyncIteration):
            await waiting

    async def test_many_queries(self):
        async with self.arena.stream_find_path() as stream:
            answers = await asyncio.gather(*(stream.find_path((0, 0), (3, 0)) for _ in range(3000)))
            self.assertEqual({each.cost for each in answers}, {3})
            with self.assertRaises(waystar.WaystarError):
                await stream.find_path((0, 0), (99, 0))
            await asyncio.to_thread(self.server.restart)
            self.assertEqual((await stream.find_path((0, 0), (2, 0))).cost, 2)

    async def test_calls_fail_when_the_client_is_closed(self):
        await self.arena.find_path((0, 0), (3, 0))
        self.server.pause()
        waiting = asyncio.ensure_future(self.arena.find_path((0, 0), (3, 0)))
        cancelled = asyncio.ensure_future(self.arena.find_path((0, 0), (3, 0)))
        await asyncio.sleep(0)
        cancelled.cancel()
        await self.client.close()
        for call in (waiting, self.arena.find_path((0, 0), (3, 0))):
            with self.assertRaises(waystar.WaystarError) as caught:
                await call
            self.assertEqual(caught.exception.code, grpc.StatusCode.CANCELLED)
        with self.assertRaises(asyncio.CancelledError):
            await cancelled

    async def test_queries_fail_when_the_client_is_closed(self):
        stream = self.arena.stream_find_path()
        await stream.find_path((0, 0), (3, 0))
        self.server.pause()
        waiting = asyncio.ensure_future(stream.find_path((0, 0), (3, 0)))
        await asyncio.sleep(0)
        await self.client.close()
        with self.assertRaises(waystar.WaystarError):
            await asyncio.wait_for(waiting, TIMEOUT)

    async def test_agents(self):
        async with self.arena.follow_agents(at_most_every=0, cheaper_every=0) as agents:
            agents.put(7, (0, 0), (9, 0))
            agents.flush()
            await self.until(agents, lambda state: state.answer is not None)
            ahead = agents.find(7).ahead((0, 0))
            agents.move_to(7, ahead[0])
            agents.flush()
            await asyncio.to_thread(self.server.restart)
            await self.arena.update(block(WALL))
            await self.until(agents, lambda state: state.answer.outcome == messages.OUTCOME_UNREACHABLE)
            agents.send_to(7, (1, 9))
            agents.flush()
            await self.until(agents, lambda state: state.answer is not None)
            self.assertEqual(agents.find(7).ahead(ahead[0])[-1], (1, 9))

    async def until(self, agents, condition):
        while not condition(agents.find(7)):
            await asyncio.wait_for(agents.wait_for_news(), TIMEOUT)
            agents.take_news()
