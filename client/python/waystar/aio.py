"""The client for asyncio, with the same names as that for threads."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any, AsyncIterator, Callable, Iterable, Optional, TypeVar

import grpc
import grpc.aio
from google.protobuf.message import Message

from waystar import _requests
from waystar._core import Attempts, BaseClient
from waystar._errors import WaystarError
from waystar._requests import Goal, Move, Place, Seconds
from waystar._streams import BaseFollower, BasePathStream, BaseStream, BaseWatch
from waystar.messages import CheckMovesResponse, Edit, FindPathResponse, UpdateMapResponse, Version, WatchMapResponse

_Self = TypeVar("_Self")


# What an `async with` statement closes.
class _Closing:
    async def close(self) -> None: ...

    async def __aenter__(self: _Self) -> _Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


class Client(_Closing, BaseClient):
    _grpc = grpc.aio

    def map(self, name: str) -> Map:
        return Map(self, name)

    async def create_map(self, name: str, *, timeout: Seconds = None, **fields: Any) -> Map:
        await self.call(_requests.create_map(name, fields), timeout)
        return Map(self, name)

    async def call(self, request: Message, timeout: Seconds = None) -> Any:
        attempts = Attempts(self, request, timeout)
        while True:
            try:
                response = await attempts.rpc(attempts.request, timeout=attempts.left, **self.settings)
                return attempts.succeeded(response)
            except (grpc.RpcError, grpc.aio.UsageError) as problem:
                delay = attempts.failed(problem)
            except asyncio.CancelledError as problem:
                # gRPC also cancels the calls of a closed client. A task can tell the two apart since Python 3.11.
                cancelling = getattr(asyncio.current_task(), "cancelling", None)
                if not self.is_closed or cancelling is None or cancelling():
                    raise
                delay = attempts.failed(problem)
            await asyncio.sleep(delay)

    async def close(self) -> None:
        self.is_closed = True
        await self._channel.close()


class Map:
    """A map of the server, as waystar.Map."""

    def __init__(self, client: Client, name: str) -> None:
        self.client = client
        self.name = name

    async def find_path(self, start: Place, goal: Goal, *, timeout: Seconds = None, **query: Any) -> FindPathResponse:
        return await self.client.call(_requests.find_path(self.name, start, goal, query), timeout)

    async def check_moves(self, moves: Iterable[Move], *, timeout: Seconds = None, **fields: Any) -> CheckMovesResponse:
        return await self.client.call(_requests.check_moves(self.name, moves, fields), timeout)

    async def update(self, *edits: Edit, timeout: Seconds = None, **fields: Any) -> UpdateMapResponse:
        return await self.client.call(_requests.update(self.name, edits, fields), timeout)

    def watch(self, *, after: Optional[Version] = None, with_edits: bool = False) -> Watch:
        return Watch(self.client, self.name, after, with_edits)

    def stream_find_path(self) -> PathStream:
        return PathStream(self.client, self.name)

    def follow_agents(self, **settings: float) -> AgentFollower:
        return AgentFollower(self.client, self.name, settings)


# Opens and reads streams in a task. gRPC sends in another one.
class _TaskStream(_Closing, BaseStream):
    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._lock = contextlib.nullcontext()
        self._changed = asyncio.Event()
        # Of the stream that is open.
        self._stream: Optional[object] = None
        self._task = asyncio.create_task(self._run())
        # gRPC cancels it too, when the client is closed.
        self._task.add_done_callback(lambda _: self._end())

    async def close(self) -> None:
        self._is_closed = True
        self._task.cancel()
        await asyncio.wait([self._task])

    def _end(self) -> None:
        self._lose(self.end_of_stream())
        self._wake()
        self._settle()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    async def _until(self, condition: Callable[[], bool]) -> None:
        while not condition():
            await self._changed.wait()

    async def _send(self, stream: object) -> AsyncIterator[Any]:
        # gRPC may still ask for messages when the call has ended.
        while self._stream is stream:
            message = self._next_message()
            if message is None:
                await self._changed.wait()
            else:
                yield message

    async def _run(self) -> None:
        while self._can_go_on():
            await self._until(self._is_needed)
            self._open()
            error = await self._read()
            self._lose(error)
            self._wake()
            self._settle()
            await asyncio.sleep(self._pause(error))

    async def _read(self) -> WaystarError:
        self._stream = object()
        self._call = self._rpc(self._send(self._stream), **self._client.settings)
        try:
            async for message in self._call:
                self._receive(message)
                self._settle()
                await self._until(self._has_room)
        except grpc.RpcError as problem:
            return WaystarError.of_rpc(problem)
        finally:
            self._stream = None
            self._call.cancel()
        return self.end_of_stream()


class Watch(_TaskStream, BaseWatch):
    def __aiter__(self) -> AsyncIterator[WatchMapResponse]:
        return self

    async def __anext__(self) -> WatchMapResponse:
        await self._until(self._has_news)
        event = self._take_event()
        if event is None:
            raise StopAsyncIteration
        return event


class AgentFollower(_TaskStream, BaseFollower):
    async def wait_for_news(self) -> None:
        """Waits until there is something to take, or the follower has ended."""
        await self._until(self._has_news)


class PathStream(_TaskStream, BasePathStream):
    def find_path(self, start: Place, goal: Goal, **query: Any) -> asyncio.Future[FindPathResponse]:
        return asyncio.wrap_future(self._ask(start, goal, query))
