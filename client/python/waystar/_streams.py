"""Streams that go on when their connection is lost, without threads or tasks: _sync.py and aio.py run them."""

from __future__ import annotations

import dataclasses
import itertools
import time
from concurrent.futures import Future
from typing import Any, ContextManager, Dict, List, Optional, Tuple

import grpc

from waystar import _requests, messages
from waystar._core import BaseClient
from waystar._errors import WaystarError
from waystar._requests import Goal, Place, duration, location, places

# Before another stream is opened, and before an agent is put again.
_FIRST_DELAY = 0.1
_LAST_DELAY = 5.0
_RETRY_DELAY = 1.0
# The server takes no more changes or queries in a message; its bytes stay well below the limit.
_MOST_CHANGES = 10_000
_MOST_QUERIES = 1_000
_MESSAGE_BYTES = 1 << 20
_MOST_ATTEMPTS = 4
# Another stream would have these errors too.
_FINAL = ("INVALID_ARGUMENT", "UNAUTHENTICATED", "PERMISSION_DENIED", "UNIMPLEMENTED", "FAILED_PRECONDITION")


class BaseStream:
    """One stream after the other to the same method. Those that run it call its methods with the lock held."""

    _lock: ContextManager[Any]

    def __init__(self, client: BaseClient, rpc: Any) -> None:
        self._client = client
        # What opens a stream, given the messages to send.
        self._rpc = rpc
        # The stream that is open.
        self._call: Any = None
        # What is to be sent on it, by the id of the agent or query.
        self._unsent: Dict[int, Any] = {}
        # The time before another one is opened.
        self._delay = _FIRST_DELAY
        self._is_closed = False
        # The error that ended all for good.
        self.error: Optional[WaystarError] = None

    # Makes those that wait for changes look again.
    def _wake(self) -> None: ...

    def _is_needed(self) -> bool:
        return True

    # Prepares what is to be sent on another stream.
    def _open(self) -> None: ...

    # Returns what is to be sent now.
    def _next_message(self) -> Optional[Any]: ...

    def _take_unsent(self, most: int) -> List[Any]:
        """Takes what is to be sent first, as much as fits into a message."""
        fitting: List[int] = []
        size = 0
        for key, message in itertools.islice(self._unsent.items(), most):
            size += message.ByteSize()
            if size > _MESSAGE_BYTES and fitting:
                break
            fitting.append(key)
        return [self._unsent.pop(key) for key in fitting]

    def _receive(self, message: Any) -> None:
        self._delay = _FIRST_DELAY
        self._take(message)
        self._wake()

    # Takes what the server sent.
    def _take(self, message: Any) -> None: ...

    def _has_room(self) -> bool:
        """Returns true if the next message may be read."""
        return True

    # Takes the error that ended a stream, and sets `error` if another stream would have it too.
    def _lose(self, error: WaystarError) -> None: ...

    # Hands over what was taken or lost, without the lock: callbacks of users may wait for other threads.
    def _settle(self) -> None: ...

    def _pause(self, error: WaystarError) -> float:
        """Returns after how many seconds to open another stream: longer each time, until a message arrives."""
        delay = max(self._delay, error.retry_delay)
        self._delay = min(2 * self._delay, _LAST_DELAY)
        return delay

    def _can_go_on(self) -> bool:
        return not self._is_closed and not self._client.is_closed and self.error is None

    def end_of_stream(self) -> WaystarError:
        code = grpc.StatusCode.CANCELLED if self._is_closed else grpc.StatusCode.UNAVAILABLE
        return WaystarError.of(code, "the stream has ended")


class BaseWatch(BaseStream):
    """The revisions of a map as they come: messages.WatchMapResponse, of which `watching` is the first.

    When the connection is lost, the watch goes on after the last version, at any server of the target. It ends
    with an error if it cannot begin, or if the map does not exist any more. When the map was replaced, or the
    server does not remember what was missed, there is an event `resynchronize`.
    """

    def __init__(self, client: BaseClient, map: str, after: Optional[messages.Version], with_edits: bool) -> None:
        self._request = messages.WatchMapRequest(map=map, after=after, with_edits=with_edits)
        # The event that the user has not taken. No other one is read before.
        self._event: Optional[messages.WatchMapResponse] = None
        # True once the watch, and its present stream, have had events.
        self._has_begun = False
        self._is_watching = False
        super().__init__(client, lambda _, **settings: client.maps.WatchMap(self._request, **settings))

    def _take(self, event: messages.WatchMapResponse) -> None:
        kind = event.WhichOneof("event")
        if kind is None:
            return
        if kind != "watching" or not self._has_begun:
            self._event = event
        if kind != "watching" or not self._request.HasField("after"):
            self._request.after.CopyFrom(getattr(event, kind).version)
        self._has_begun = self._is_watching = True

    def _has_room(self) -> bool:
        return self._event is None

    def _has_news(self) -> bool:
        return self._event is not None or not self._can_go_on()

    def _take_event(self) -> Optional[messages.WatchMapResponse]:
        """Returns None at the end."""
        if self._is_closed:
            return None
        event, self._event = self._event, None
        if event is None and self.error is not None:
            raise self.error
        self._wake()
        return event

    def _lose(self, error: WaystarError) -> None:
        is_temporary = error.code in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED) or error.retry_delay > 0
        # The map may be deleted or replaced: the next stream tells which.
        is_temporary |= error.reason == "MAP_NOT_FOUND" and self._is_watching
        self._is_watching = False
        if self.error is None and not (is_temporary and self._has_begun):
            self.error = error


@dataclasses.dataclass(frozen=True)
class AgentPath:
    """The newest state of an agent. Before the first one all is empty."""

    # The newest answer to the agent's query. It stays while there is a problem.
    answer: Optional[messages.FindPathResponse] = None
    # Why there is no answer now.
    problem: Optional[WaystarError] = None
    # True while the server does not follow the agent: `problem` is why.
    has_ended: bool = False
    # Version of the map that the state is for.
    version: Optional[messages.Version] = None

    def ahead(self, here: Place) -> List[Any]:
        """Returns the places that follow `here` on the path, up to a portal to another map. There are none if the
        agent is not on the path, or cannot walk it."""
        if self.answer is None or self.problem is not None:
            return []
        ends = [crossing.index for crossing in self.answer.path.crossings if crossing.map]
        way = places(self.answer.path)[: min(ends, default=None)]
        return way[way.index(here) + 1 :] if here in way else []


@dataclasses.dataclass
class _Agent:
    # Its start is where the agent is.
    query: messages.FindPathRequest
    # Number of the change that set the query. States for older queries are ignored.
    asked: int = 0
    path: AgentPath = AgentPath()
    # The newest version at which the answer of `path` was right.
    right: Optional[messages.Version] = None
    # True once this stream has sent a state for the newest query: progress is about it too.
    is_followed: bool = False


class BaseFollower(BaseStream):
    """Agents that walk, for a game loop: change them, flush once a tick, and take what is new.

    When a stream ends because the server is gone, restarts or is too busy, another one is opened, after 0.1 s at
    first and up to 5 s later, and all agents are put where they are, with the paths that they have. With a later
    flush an agent is put again that has ended because its map was replaced or is not loaded yet, or because the
    server has no room. No method waits for the server.
    """

    def __init__(self, client: BaseClient, map: str, settings: Dict[str, float]) -> None:
        self._map = map
        fields: Dict[str, Any] = {
            name: value if name == "off_path" else duration(value) for name, value in settings.items()
        }
        self._settings = messages.FollowAgentsRequest(**fields)
        self._agents: Dict[int, _Agent] = {}
        # The agents whose state is new; a dict keeps them in order.
        self._news: Dict[int, None] = {}
        self._progress: Dict[str, messages.MapProgress] = {}
        self._number = 0
        self._is_flushed = False
        # When to put agents again.
        self._retries: Dict[int, float] = {}
        super().__init__(client, client.paths.FollowAgents)

    def put(self, agent: int, start: Place, goal: Place, **query: Any) -> None:
        """Follows an agent, whose id is any number. `query` are fields of messages.FindPathRequest."""
        with self._lock:
            self._agents[agent] = _Agent(_requests.find_path(self._map, start, goal, query))
            self._put(agent)

    def move_to(self, agent: int, place: Place, map: str = "") -> None:
        """Says where the agent is now; `map` is the one that it has come to through a portal, if it has."""
        with self._lock:
            known = self._agents.get(agent)
            if known is None:
                return
            query = known.query
            query.start.CopyFrom(location(place))
            if map and map != query.map:
                goal_map = query.goal_map or query.map
                query.goal_map = "" if goal_map == map else goal_map
                query.map = map
                query.ClearField("view")
                self._ask(agent)
            elif agent in self._unsent and self._unsent[agent].HasField("put"):
                self._unsent[agent].put.start.CopyFrom(query.start)
            elif not known.path.has_ended or not known.is_followed:
                self._change(agent, at=query.start)

    def send_to(self, agent: int, goal: Place) -> None:
        """Sends the agent elsewhere from where it is."""
        with self._lock:
            known = self._agents.get(agent)
            if known is None:
                return
            del known.query.goals[:]
            known.query.goals.append(location(goal))
            self._ask(agent)

    def remove(self, agent: int) -> None:
        with self._lock:
            if self._agents.pop(agent, None):
                self._news.pop(agent, None)
                self._change(agent, remove=messages.RemoveAgent())

    def flush(self) -> None:
        """Sends the changes since the last call. Raises the error that ended the follower for good."""
        with self._lock:
            if self.error is not None:
                raise self.error
            now = time.monotonic()
            for agent in [each for each, due in self._retries.items() if due <= now]:
                del self._retries[agent]
                if agent in self._agents and self._agents[agent].path.has_ended:
                    self._put(agent)
            self._is_flushed = True
            self._wake()

    def take_news(self) -> List[int]:
        """Returns the agents whose state is new since the last call."""
        with self._lock:
            news = list(self._news)
            self._news.clear()
            return news

    def find(self, agent: int) -> Optional[AgentPath]:
        """Returns the newest state of an agent; None if it was not put."""
        with self._lock:
            return self._agents[agent].path if agent in self._agents else None

    def _has_news(self) -> bool:
        return bool(self._news) or not self._can_go_on()

    def _change(self, agent: int, **what: Any) -> messages.AgentChange:
        self._number += 1
        change = messages.AgentChange(agent=agent, number=self._number, **what)
        # One change of an agent holds all that was done to it.
        self._unsent[agent] = change
        return change

    def _ask(self, agent: int) -> None:
        """Puts an agent whose query has changed."""
        self._agents[agent].path = AgentPath()
        self._agents[agent].right = None
        self._put(agent)

    def _put(self, agent: int) -> None:
        """Puts the agent where it is, with the path that it has."""
        known = self._agents[agent]
        change = self._change(agent, put=known.query)
        if known.right is not None and known.path.answer is not None:
            answer = known.path.answer
            change.held.path.CopyFrom(answer.path)
            # The server does not read the rest.
            for field in ("surface", "corridor", "polygons"):
                change.held.path.ClearField(field)
            if answer.path.points or answer.path.directions or answer.path.nodes:
                change.held.path.ClearField("positions")
            change.held.cost = answer.cost
            change.held.version.CopyFrom(known.right)
            if change.held.ByteSize() > _MESSAGE_BYTES:
                change.ClearField("held")
        known.asked = change.number
        known.is_followed = False

    def _open(self) -> None:
        self._unsent.clear()
        self._retries.clear()
        for agent in self._agents:
            self._put(agent)
        self._is_flushed = True

    def _next_message(self) -> Optional[messages.FollowAgentsRequest]:
        if not self._is_flushed:
            return None
        message = messages.FollowAgentsRequest(changes=self._take_unsent(_MOST_CHANGES))
        message.MergeFrom(self._settings)
        self._is_flushed = bool(self._unsent)
        return message if message.changes else None

    def _take(self, message: messages.FollowAgentsResponse) -> None:
        for state in message.states:
            agent = self._agents.get(state.agent)
            if agent is not None and state.number >= agent.asked:
                self._take_state(agent, state)
        for progress in message.progress:
            self._progress[progress.map] = progress

    def _take_state(self, agent: _Agent, state: messages.AgentState) -> None:
        agent.is_followed = True
        was_right = agent.path.problem is None
        answer, problem = agent.path.answer, None
        if state.HasField("answer"):
            answer = state.answer
            agent.right = state.version if answer.outcome == messages.OUTCOME_FOUND else None
        elif not state.HasField("held"):
            problem = WaystarError(state.end if state.HasField("end") else state.problem)
            if problem.reason != "REVISION_NOT_YET":
                agent.right = None
        agent.path = AgentPath(answer, problem, state.HasField("end"), state.version)
        if state.HasField("held") and was_right:
            return
        if problem is not None and problem.reason == "MAP_REPLACED":
            self._retries[state.agent] = 0
        elif problem is not None and agent.path.has_ended:
            if problem.code in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.RESOURCE_EXHAUSTED):
                self._retries[state.agent] = time.monotonic() + _RETRY_DELAY
        self._news[state.agent] = None

    def _lose(self, error: WaystarError) -> None:
        for agent in self._agents.values():
            progress = self._progress.get(agent.query.map)
            if agent.right is not None and agent.is_followed and progress is not None:
                if progress.version.epoch == agent.right.epoch and progress.version.revision > agent.right.revision:
                    agent.right = progress.version
        self._progress.clear()
        if error.code.name in _FINAL:
            self.error = error


@dataclasses.dataclass
class _Query:
    message: messages.StreamedQuery
    future: Future[messages.FindPathResponse]
    failures: int = 0


class BasePathStream(BaseStream):
    """Many queries on one stream, sent together if they are asked together, at a fraction of the cost of calls.

    When the stream is lost, the queries without an answer are sent again, a few times. A query on a stream does
    not ask for the client's own changes. The stream is opened with the first query.
    """

    def __init__(self, client: BaseClient, map: str) -> None:
        self._map = map
        self._last_id = 0
        self._queries: Dict[int, _Query] = {}
        # Futures that are to be done, with an answer or an error.
        self._done: List[Tuple[Future[messages.FindPathResponse], Any]] = []
        super().__init__(client, client.paths.StreamFindPath)

    def _ask(self, start: Place, goal: Goal, fields: Dict[str, Any]) -> Future[messages.FindPathResponse]:
        request = _requests.find_path(self._map, start, goal, fields)
        future: Future[messages.FindPathResponse] = Future()
        with self._lock:
            if not self._can_go_on():
                raise self.end_of_stream()
            self._last_id += 1
            message = messages.StreamedQuery(id=self._last_id, query=request)
            self._queries[self._last_id] = _Query(message, future)
            self._unsent[self._last_id] = message
            self._wake()
        return future

    def _is_needed(self) -> bool:
        return bool(self._queries)

    def _open(self) -> None:
        self._unsent = {number: query.message for number, query in self._queries.items()}

    def _next_message(self) -> Optional[messages.StreamFindPathRequest]:
        queries = self._take_unsent(_MOST_QUERIES)
        return messages.StreamFindPathRequest(queries=queries) if queries else None

    def _take(self, message: messages.StreamFindPathResponse) -> None:
        for answer in message.answers:
            query = self._queries.pop(answer.id, None)
            if query is not None:
                result = WaystarError(answer.problem) if answer.HasField("problem") else answer.answer
                self._done.append((query.future, result))

    def _lose(self, error: WaystarError) -> None:
        is_over = error.code.name in _FINAL or not self._can_go_on()
        for number, query in list(self._queries.items()):
            query.failures += 1
            if is_over or query.failures >= _MOST_ATTEMPTS:
                del self._queries[number]
                self._done.append((query.future, error))

    def _settle(self) -> None:
        done, self._done = self._done, []
        for future, result in done:
            if not future.set_running_or_notify_cancel():
                continue
            if isinstance(result, WaystarError):
                future.set_exception(result)
            else:
                future.set_result(result)
