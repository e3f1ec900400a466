"""All messages and enums of waystar.v1, and those that their fields have from other packages."""

import os

import google

# Where google.rpc is not installed, as Debian has no package of it, the copy in this package serves.
google.__path__.append(os.path.join(os.path.dirname(__file__), "third_party", "google"))

from google.protobuf.duration_pb2 import Duration as Duration
from google.protobuf.timestamp_pb2 import Timestamp as Timestamp
from google.rpc.error_details_pb2 import ErrorInfo as ErrorInfo
from google.rpc.error_details_pb2 import RetryInfo as RetryInfo
from google.rpc.status_pb2 import Status as Status

from waystar.v1.error_reason_pb2 import *
from waystar.v1.map_service_pb2 import *
from waystar.v1.path_service_pb2 import *
from waystar.v1.picture_service_pb2 import *
from waystar.v1.server_service_pb2 import *
from waystar.v1.types_pb2 import *
