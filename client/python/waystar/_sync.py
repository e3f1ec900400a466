"""The client for programs with threads."""

from __future__ import annotations

import threading
import time
from concurrent.futures import Future
from typing import Any, Iterable, Iterator, Optional, TypeVar

import grpc
from google.protobuf.message import Message

from waystar import _requests
from waystar._core import Attempts, BaseClient
from waystar._errors import WaystarError
from waystar._requests import Goal, Move, Place, Seconds
from waystar._streams import BaseFollower, BasePathStream, BaseStream, BaseWatch
from waystar.messages import CheckMovesResponse, Edit, FindPathResponse, UpdateMapResponse, Version, WatchMapResponse

_Self = TypeVar("_Self")


# What a `with` statement closes.
class _Closing:
    def close(self) -> None: ...

    def __enter__(self: _Self) -> _Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Client(_Closing, BaseClient):
    def map(self, name: str) -> Map:
        return Map(self, name)

    def create_map(self, name: str, *, timeout: Seconds = None, **fields: Any) -> Map:
        """Creates a map. `fields` are those of messages.CreateMapRequest, such as rows=["..#", "..."]."""
        self.call(_requests.create_map(name, fields), timeout)
        return Map(self, name)

    def call(self, request: Message, timeout: Seconds = None) -> Any:
        """Makes the call with that request: call(FindPathsRequest(...)) returns a FindPathsResponse."""
        attempts = Attempts(self, request, timeout)
        while True:
            try:
                response = attempts.rpc(attempts.request, timeout=attempts.left, **self.settings)
                return attempts.succeeded(response)
            except (grpc.RpcError, ValueError) as problem:
                delay = attempts.failed(problem)
            time.sleep(delay)

    def close(self) -> None:
        self.is_closed = True
        self._channel.close()


class Map:
    """A map of the server, which need not exist. Answers are those of waystar.messages."""

    def __init__(self, client: Client, name: str) -> None:
        self.client = client
        self.name = name

    def find_path(self, start: Place, goal: Goal, *, timeout: Seconds = None, **query: Any) -> FindPathResponse:
        """Finds the cheapest path to the goal, or to the nearest of a list of goals. `query` are other fields of
        messages.FindPathRequest, such as with_summary=True."""
        return self.client.call(_requests.find_path(self.name, start, goal, query), timeout)

    def check_moves(self, moves: Iterable[Move], *, timeout: Seconds = None, **fields: Any) -> CheckMovesResponse:
        """Judges moves: (from, to, seconds), with a speed of their own if there is a fourth element. `fields` are
        those of messages.CheckMovesRequest, such as the speed, and time_tolerance in seconds."""
        return self.client.call(_requests.check_moves(self.name, moves, fields), timeout)

    def update(self, *edits: Edit, timeout: Seconds = None, **fields: Any) -> UpdateMapResponse:
        """Applies all edits as one revision, or none. It is applied once, however often it is retried. `fields` are
        those of messages.UpdateMapRequest, such as expected_version."""
        return self.client.call(_requests.update(self.name, edits, fields), timeout)

    def watch(self, *, after: Optional[Version] = None, with_edits: bool = False) -> Watch:
        return Watch(self.client, self.name, after, with_edits)

    def stream_find_path(self) -> PathStream:
        return PathStream(self.client, self.name)

    def follow_agents(self, **settings: float) -> AgentFollower:
        """`settings` are at_most_every, off_path and cheaper_every of messages.FollowAgentsRequest, in seconds."""
        return AgentFollower(self.client, self.name, settings)


# Opens and reads streams on a thread. gRPC sends on another one.
class _ThreadedStream(_Closing, BaseStream):
    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._lock = self._changed = threading.Condition()
        # Of the stream that is open.
        self._stream: Optional[object] = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def close(self) -> None:
        with self._changed:
            self._is_closed = True
            if self._call is not None:
                self._call.cancel()
            self._wake()
        # A callback of a future may be what closes the stream.
        if self._thread is not threading.current_thread():
            self._thread.join()

    def _wake(self) -> None:
        self._changed.notify_all()

    def _send(self, stream: object) -> Iterator[Any]:
        while True:
            with self._changed:
                while self._stream is stream and (message := self._next_message()) is None:
                    self._changed.wait()
                if self._stream is not stream:
                    return
            yield message

    def _run(self) -> None:
        while True:
            error = self._read()
            with self._changed:
                self._call = self._stream = None
                self._lose(error)
                self._wake()
            self._settle()
            with self._changed:
                if not self._can_go_on():
                    return
                self._changed.wait_for(lambda: not self._can_go_on(), self._pause(error))

    def _read(self) -> WaystarError:
        try:
            with self._changed:
                self._changed.wait_for(lambda: self._is_needed() or not self._can_go_on())
                if not self._can_go_on():
                    return self.end_of_stream()
                self._open()
                self._stream = object()
                self._call = self._rpc(self._send(self._stream), **self._client.settings)
            for message in self._call:
                with self._changed:
                    self._receive(message)
                    self._changed.wait_for(lambda: self._has_room() or not self._can_go_on())
                self._settle()
        except (grpc.RpcError, ValueError) as problem:
            return self._client.error_of(problem)
        return self.end_of_stream()


class Watch(_ThreadedStream, BaseWatch):
    def __iter__(self) -> Iterator[WatchMapResponse]:
        return self

    def __next__(self) -> WatchMapResponse:
        with self._changed:
            self._changed.wait_for(self._has_news)
            event = self._take_event()
        if event is None:
            raise StopIteration
        return event


class AgentFollower(_ThreadedStream, BaseFollower):
    def wait_for_news(self, timeout: Seconds = None) -> bool:
        """Waits until there is something to take, or the follower has ended. Returns false after the timeout."""
        with self._changed:
            return self._changed.wait_for(self._has_news, timeout)


class PathStream(_ThreadedStream, BasePathStream):
    def find_path(self, start: Place, goal: Goal, **query: Any) -> Future[FindPathResponse]:
        """Asks as Map.find_path does. The result of the future is the answer."""
        return self._ask(start, goal, query)
