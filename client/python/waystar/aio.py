"""The client for asyncio, with the same names as that for threads."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any, AsyncIterator, Iterable, Optional, TypeVar

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


class _Closing:
    """What an `async with` statement closes."""

    async def close(self) -> None:
        raise NotImplementedError

    async def __aenter__(self: _Self) -> _Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


class Client(_Closing, BaseClient):
    __doc__ = BaseClient.__doc__
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
            except grpc.RpcError as problem:
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


class Watch(_Closing, BaseWatch):
    __doc__ = BaseWatch.__doc__
    _is_closed = False

    def __aiter__(self) -> AsyncIterator[WatchMapResponse]:
        return self

    async def __anext__(self) -> WatchMapResponse:
        while not self._is_closed:
            try:
                event = await self._open().__aiter__().__anext__()
                if self._take(event):
                    return event
            except grpc.RpcError as problem:
                await asyncio.sleep(self._lose(WaystarError.of_rpc(problem)))
            except asyncio.CancelledError:
                # gRPC has cancelled the call too: the next event comes on another one.
                self._call = None
                if not self._is_closed:
                    raise
        raise StopAsyncIteration

    async def close(self) -> None:
        self._is_closed = True
        if self._call is not None:
            self._call.cancel()


class _TaskStream(_Closing, BaseStream):
    """Opens and reads streams in a task. gRPC sends in another one."""

    def _init(self) -> None:
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

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

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
            if not self._is_needed():
                await self._changed.wait()
                continue
            self._open()
            error = await self._read()
            goes_on = self._lose(error)
            self._wake()
            if not goes_on:
                return
            await asyncio.sleep(self._backoff.take(error))

    async def _read(self) -> WaystarError:
        stream = self._stream = object()
        self._call = self._rpc(self._send(stream), **self._client.settings)
        try:
            async for message in self._call:
                self._backoff.reset()
                self._take(message)
                self._wake()
        except grpc.RpcError as problem:
            return WaystarError.of_rpc(problem)
        finally:
            self._stream = None
            self._call.cancel()
        return self.end_of_stream()


class AgentFollower(_TaskStream, BaseFollower):
    __doc__ = BaseFollower.__doc__

    async def wait_for_news(self) -> None:
        """Waits until there is something to take, or the follower has ended."""
        while not self._has_news():
            await self._changed.wait()


class PathStream(_TaskStream, BasePathStream):
    __doc__ = BasePathStream.__doc__

    def find_path(self, start: Place, goal: Goal, **query: Any) -> asyncio.Future[FindPathResponse]:
        return asyncio.wrap_future(self._ask(start, goal, query))
