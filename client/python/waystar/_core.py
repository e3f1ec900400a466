"""The channel, the retries and the own writes of a client, sync or async."""

from __future__ import annotations

import pathlib
import pkgutil
import random
import threading
import time
from typing import Any, Dict, Optional, Tuple

import grpc

from waystar import messages
from waystar._errors import WaystarError
from waystar._target import parse_target
from waystar.v1.map_service_pb2_grpc import MapServiceStub
from waystar.v1.path_service_pb2_grpc import PathServiceStub
from waystar.v1.picture_service_pb2_grpc import PictureServiceStub
from waystar.v1.server_service_pb2_grpc import ServerServiceStub

_MOST_ATTEMPTS = 4
# Retries end while most calls fail, by the rule of the service config.
_FULL_BUDGET = 100.0
_CHANGES = ("CreateMap", "UpdateMap", "DeleteMap", "SetLogLevel")


class Attempts:
    """The attempts of one call: `rpc` is to be called with `request` within `left` seconds."""

    def __init__(self, client: BaseClient, request: Any, timeout: Optional[float]) -> None:
        self.rpc, self._is_change, has_view = client.method_of(type(request))
        if self._is_change and client.target.is_several:
            message = f"{client.target.name} may be several servers: change the map at each by its own address"
            raise WaystarError.of(grpc.StatusCode.FAILED_PRECONDITION, message)
        self._client = client
        self.request = request
        self.left = client.timeout if timeout is None else timeout
        self._end = time.monotonic() + self.left
        self._count = 0
        # The request as it was given, if this one also asks for the client's own changes.
        self._asked = None
        own = client.own_writes.get(request.map) if has_view else None
        if own is not None and not request.view.HasField("least_version"):
            self._asked = request
            self.request = type(request)()
            self.request.CopyFrom(request)
            self.request.view.least_version.CopyFrom(own)

    def succeeded(self, response: Any) -> Any:
        client = self._client
        client.retry_budget = min(client.retry_budget + 0.1, _FULL_BUDGET)
        if isinstance(response, messages.UpdateMapResponse):
            client.note_change(self.request.map, response.version)
        elif isinstance(response, messages.CreateMapResponse):
            client.note_change(self.request.map, response.info.version)
        elif isinstance(response, messages.DeleteMapResponse):
            client.forget_change(self.request.map)
        return response

    def failed(self, problem: BaseException) -> float:
        """Returns after how many seconds to try again. Raises the error if there is to be no other attempt."""
        client = self._client
        error = client.error_of(problem)
        delay = 0.0
        if self._asked is not None and error.reason == "MAP_REPLACED":
            client.forget_change(self.request.map, self.request.view.least_version.epoch)
            self.request = self._asked
            self._asked = None
        else:
            self._count += 1
            if not self._may_pass(error, problem):
                raise error from problem
            # Lost updates of threads do no harm.
            client.retry_budget = max(client.retry_budget - 1, 0)
            if client.retry_budget < _FULL_BUDGET / 2 or self._count >= _MOST_ATTEMPTS:
                raise error from problem
            backoff = 0.05 * 3 ** (self._count - 1)
            # Never sooner than the server asks; the calls of many clients are spread.
            delay = (error.retry_delay * self._count or backoff) * random.uniform(1.0, 1.5)
        self.left = self._end - time.monotonic() - delay
        if self.left <= 0:
            raise error from problem
        return delay

    def _may_pass(self, error: WaystarError, problem: Any) -> bool:
        is_lost = self._is_change and not getattr(self.request, "request_id", "")
        if is_lost or not self._client.retry or self._client.is_closed:
            return False
        if error.code == grpc.StatusCode.UNAVAILABLE:
            # The channel has retried UNAVAILABLE of calls that read, but not INTERNAL of closed sessions.
            return self._is_change or problem.code() == grpc.StatusCode.INTERNAL
        is_busy = error.code == grpc.StatusCode.RESOURCE_EXHAUSTED and error.retry_delay > 0
        return is_busy or error.code == grpc.StatusCode.CANCELLED


class BaseClient:
    """A connection to a server, or to several with the same maps. It is made on first use, and again when it breaks.

    target: HOST:PORT, unix:PATH, or several servers that take turns: IP:PORT,IP:PORT... or dns:///NAME:PORT.
        Changes are refused with several: make them at each server by its own address.
    timeout: seconds that a call may take, retries included, unless the call says otherwise.
    retry: if true, calls that only read and updates are repeated when the server is not available or too busy,
        and servers that are not healthy are avoided.
    reads_own_writes: if true, queries see the changes that this client made, whichever server answers.
    wait_for_ready: if true, calls wait within their timeout for a server that can be reached.
    token: sent with each call, and never unencrypted to another machine.
    tls: encrypts. The files are PEM: authorities to trust, and this client's certificate and key if servers ask
        for them. server_name is the name that the server must prove, if it is not that of the target.
    """

    # The module that makes channels.
    _grpc: Any = grpc

    # fmt: off
    def __init__(
        self, target: str = "localhost:7450", *, timeout: float = 5.0, retry: bool = True,
        reads_own_writes: bool = True, wait_for_ready: bool = False, max_receive_bytes: int = 64 << 20,
        token: str = "", tls: bool = False, ca_file: str = "", cert_file: str = "", key_file: str = "",
        server_name: str = "",
    ) -> None:
        # fmt: on
        self.target = parse_target(target)
        if token and not (token.isascii() and token.isprintable() and " " not in token):
            raise ValueError("the token has a character that is not visible ASCII")
        if token and not tls and not self.target.is_here:
            raise ValueError(f"a token is not sent to {target} unencrypted: use TLS")
        if not tls and (ca_file or cert_file or key_file or server_name):
            raise ValueError("certificates and a server name make sense with TLS only")
        if tls and "," in self.target.name and not server_name:
            raise ValueError("with TLS and several addresses, say which name their certificates are for")

        self.timeout = timeout
        self.retry = retry
        self.retry_budget = _FULL_BUDGET
        # The versions that changes have led maps to: the map that was changed last is the last.
        self.own_writes: Dict[str, messages.Version] = {}
        self._most_own_writes = 1024 if reads_own_writes else 0
        self._lock = threading.Lock()
        self.is_closed = False
        # What each call of a stub is given, besides its timeout.
        self.settings: Dict[str, Any] = {"wait_for_ready": wait_for_ready or None}
        if token:
            self.settings["metadata"] = (("authorization", f"Bearer {token}"),)

        service_config = (pkgutil.get_data("waystar", "service_config.json") or b"").decode()
        if not (self.target.is_several or self.target.is_here or self.target.is_address):
            # One server may have several addresses, which are not to take turns.
            service_config = service_config.replace("round_robin", "pick_first")
        options = [
            ("grpc.service_config", service_config),
            ("grpc.enable_retries", int(self.retry)),
            ("grpc.inhibit_health_checking", int(not self.retry)),
            # A proxy would see the token.
            ("grpc.enable_http_proxy", int(not self.target.is_here)),
            ("grpc.max_receive_message_length", max_receive_bytes),
            # A server that is gone without a word is noticed after another 20 s. It allows a ping each 10 s.
            ("grpc.keepalive_time_ms", 30_000),
            ("grpc.http2.max_pings_without_data", 0),
            ("grpc.initial_reconnect_backoff_ms", 100),
            ("grpc.max_reconnect_backoff_ms", 2000),
        ]
        if server_name:
            options.append(("grpc.ssl_target_name_override", server_name))
        if tls:
            pem = [pathlib.Path(each).read_bytes() if each else None for each in (ca_file, key_file, cert_file)]
            self._channel = self._grpc.secure_channel(self.target.name, grpc.ssl_channel_credentials(*pem), options)
        else:
            self._channel = self._grpc.insecure_channel(self.target.name, options)
        # The stubs, for what this library has no method for. Give their calls **settings and a timeout.
        self.paths: Any = PathServiceStub(self._channel)  # type: ignore[no-untyped-call]
        self.maps: Any = MapServiceStub(self._channel)  # type: ignore[no-untyped-call]
        self.pictures: Any = PictureServiceStub(self._channel)  # type: ignore[no-untyped-call]
        self.server: Any = ServerServiceStub(self._channel)  # type: ignore[no-untyped-call]
        self._methods: Dict[type, Tuple[Any, bool, bool]] = {}

    def method_of(self, request: Any) -> Tuple[Any, bool, bool]:
        """Returns for a type of request how to make the call, and if it is a change, and if it is a query of a view."""
        if request not in self._methods:
            name = request.__name__[: -len("Request")]
            stub = next(each for each in (self.paths, self.maps, self.pictures, self.server) if hasattr(each, name))
            has_view = stub is self.paths and "view" in request.DESCRIPTOR.fields_by_name
            self._methods[request] = (getattr(stub, name), name in _CHANGES, has_view)
        return self._methods[request]

    def error_of(self, problem: BaseException) -> WaystarError:
        """Returns the error for what gRPC has raised, which is no grpc.RpcError if the client is closed."""
        if self.is_closed:
            return WaystarError.of(grpc.StatusCode.CANCELLED, "the client was closed")
        return WaystarError.of_rpc(problem)

    def note_change(self, map: str, version: messages.Version) -> None:
        """Makes later queries see a change by another client, as if this client had made it."""
        with self._lock:
            known = self.own_writes.pop(map, version)
            is_newer = known.epoch != version.epoch or known.revision < version.revision
            self.own_writes[map] = version if is_newer else known
            if len(self.own_writes) > self._most_own_writes:
                del self.own_writes[next(iter(self.own_writes))]

    def forget_change(self, map: str, epoch: int = 0) -> None:
        """Given an epoch, a map that has another one since is remembered."""
        with self._lock:
            if map in self.own_writes and epoch in (0, self.own_writes[map].epoch):
                del self.own_writes[map]
