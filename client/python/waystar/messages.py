"""All messages and enums of waystar.v1, and those that their fields have from other packages."""

try:
    import google.rpc.error_details_pb2
    import google.rpc.status_pb2
except ModuleNotFoundError:
    # Debian has no package of google.rpc: the copy in this package serves.
    import os

    import google

    google.__path__.append(os.path.join(os.path.dirname(__file__), "third_party", "google"))
    import google.rpc.error_details_pb2
    import google.rpc.status_pb2

from google.protobuf.duration_pb2 import Duration as Duration
from google.protobuf.timestamp_pb2 import Timestamp as Timestamp

from waystar.v1.error_reason_pb2 import *
from waystar.v1.map_service_pb2 import *
from waystar.v1.path_service_pb2 import *
from waystar.v1.picture_service_pb2 import *
from waystar.v1.server_service_pb2 import *
from waystar.v1.types_pb2 import *

Status = google.rpc.status_pb2.Status
ErrorInfo = google.rpc.error_details_pb2.ErrorInfo
RetryInfo = google.rpc.error_details_pb2.RetryInfo
