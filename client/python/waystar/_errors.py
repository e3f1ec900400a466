"""The error of a call."""

from __future__ import annotations

import re
from typing import Any

import grpc

from waystar import messages

_CODES = {code.value[0]: code for code in grpc.StatusCode}
# The gRPC library says INTERNAL of some calls whose connection was closed.
_CLOSED_SESSION = re.compile("RST_STREAM|Session closed")


class WaystarError(Exception):
    """A call failed. Programs go by `reason`, the name of a messages.ErrorReason, or by `code` if it is empty."""

    def __init__(self, status: messages.Status) -> None:
        self.code: grpc.StatusCode = _CODES.get(status.code, grpc.StatusCode.UNKNOWN)
        self.message: str = status.message
        self.reason = ""
        # The field of the request to blame, such as "goals[2]"; empty if there is none.
        self.field = ""
        # After so many seconds the call may be made again; 0 if the server does not say.
        self.retry_delay = 0.0
        info = messages.ErrorInfo()
        retry = messages.RetryInfo()
        for detail in status.details:
            if detail.Unpack(info) and info.domain == "waystar":
                self.reason = info.reason
                self.field = info.metadata.get("field", "")
            elif detail.Unpack(retry):
                self.retry_delay = retry.retry_delay.seconds + retry.retry_delay.nanos / 1e9
        if self.code == grpc.StatusCode.INTERNAL and not self.reason and _CLOSED_SESSION.search(self.message):
            self.code = grpc.StatusCode.UNAVAILABLE
        field = f" ({self.field})" if self.field else ""
        super().__init__(f"{self.code.name} {self.reason}{field}: {self.message}".replace(" :", ":"))

    @classmethod
    def of(cls, code: grpc.StatusCode, message: str) -> WaystarError:
        return cls(messages.Status(code=code.value[0], message=message))

    @classmethod
    def of_rpc(cls, error: Any) -> WaystarError:
        """Returns the error for a grpc.RpcError of a stub's call."""
        status = messages.Status()
        for key, value in error.trailing_metadata() or ():
            if key == "grpc-status-details-bin":
                status.ParseFromString(value)
        status.code = error.code().value[0]
        status.message = error.details() or ""
        return cls(status)
