#include "server/base/error.h"

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/optional.h"
#include "server/base/retry_delay.h"

namespace waystar {
namespace {

constexpr absl::string_view kReasonPayload = "waystar/reason";
constexpr absl::string_view kFieldPayload = "waystar/field";

std::string PayloadOf(const absl::Status& status, absl::string_view type) {
  const absl::optional<absl::Cord> payload = status.GetPayload(type);
  return payload ? std::string(*payload) : std::string();
}

}  // namespace

absl::string_view ErrorReasonName(ErrorReason reason) {
  switch (reason) {
    case ErrorReason::kUnknown:
      return "UNKNOWN";
    case ErrorReason::kBadDisc:
      return "BAD_DISC";
    case ErrorReason::kBadEdit:
      return "BAD_EDIT";
    case ErrorReason::kBadEffect:
      return "BAD_EFFECT";
    case ErrorReason::kBadFormat:
      return "BAD_FORMAT";
    case ErrorReason::kBadLifetime:
      return "BAD_LIFETIME";
    case ErrorReason::kBadLine:
      return "BAD_LINE";
    case ErrorReason::kBadMapId:
      return "BAD_MAP_ID";
    case ErrorReason::kBadObstacleId:
      return "BAD_OBSTACLE_ID";
    case ErrorReason::kBadPolygon:
      return "BAD_POLYGON";
    case ErrorReason::kBadRectangle:
      return "BAD_RECTANGLE";
    case ErrorReason::kBadRow:
      return "BAD_ROW";
    case ErrorReason::kBadSize:
      return "BAD_SIZE";
    case ErrorReason::kBadSource:
      return "BAD_SOURCE";
    case ErrorReason::kBadStream:
      return "BAD_STREAM";
    case ErrorReason::kBadTerrain:
      return "BAD_TERRAIN";
    case ErrorReason::kBadValue:
      return "BAD_VALUE";
    case ErrorReason::kEmptyBatch:
      return "EMPTY_BATCH";
    case ErrorReason::kEmptyShape:
      return "EMPTY_SHAPE";
    case ErrorReason::kMissingField:
      return "MISSING_FIELD";
    case ErrorReason::kRequestIdReused:
      return "REQUEST_ID_REUSED";
    case ErrorReason::kTruncated:
      return "TRUNCATED";
    case ErrorReason::kUnknownEnumValue:
      return "UNKNOWN_ENUM_VALUE";
    case ErrorReason::kUnknownTerrain:
      return "UNKNOWN_TERRAIN";
    case ErrorReason::kFutureRevision:
      return "FUTURE_REVISION";
    case ErrorReason::kOffMap:
      return "OFF_MAP";
    case ErrorReason::kMapNotFound:
      return "MAP_NOT_FOUND";
    case ErrorReason::kMapExists:
      return "MAP_EXISTS";
    case ErrorReason::kObstacleNotFound:
      return "OBSTACLE_NOT_FOUND";
    case ErrorReason::kBadPortal:
      return "BAD_PORTAL";
    case ErrorReason::kBadPortalId:
      return "BAD_PORTAL_ID";
    case ErrorReason::kPortalNotFound:
      return "PORTAL_NOT_FOUND";
    case ErrorReason::kPortalExists:
      return "PORTAL_EXISTS";
    case ErrorReason::kPortalOverlaps:
      return "PORTAL_OVERLAPS";
    case ErrorReason::kTooManyPortals:
      return "TOO_MANY_PORTALS";
    case ErrorReason::kObstacleExists:
      return "OBSTACLE_EXISTS";
    case ErrorReason::kAlgorithmUnsuited:
      return "ALGORITHM_UNSUITED";
    case ErrorReason::kGoalBlocked:
      return "GOAL_BLOCKED";
    case ErrorReason::kDigestMismatch:
      return "DIGEST_MISMATCH";
    case ErrorReason::kMapReplaced:
      return "MAP_REPLACED";
    case ErrorReason::kNotExpressible:
      return "NOT_EXPRESSIBLE";
    case ErrorReason::kRequestIdExpired:
      return "REQUEST_ID_EXPIRED";
    case ErrorReason::kStartBlocked:
      return "START_BLOCKED";
    case ErrorReason::kSnapshotEvicted:
      return "SNAPSHOT_EVICTED";
    case ErrorReason::kStaleRevision:
      return "STALE_REVISION";
    case ErrorReason::kBatchTooLarge:
      return "BATCH_TOO_LARGE";
    case ErrorReason::kImportTooLarge:
      return "IMPORT_TOO_LARGE";
    case ErrorReason::kPathTooLong:
      return "PATH_TOO_LONG";
    case ErrorReason::kQueueFull:
      return "QUEUE_FULL";
    case ErrorReason::kQueueTimeout:
      return "QUEUE_TIMEOUT";
    case ErrorReason::kResponseTooLarge:
      return "RESPONSE_TOO_LARGE";
    case ErrorReason::kTooManyMaps:
      return "TOO_MANY_MAPS";
    case ErrorReason::kTooManyObstacles:
      return "TOO_MANY_OBSTACLES";
    case ErrorReason::kTooManyWatches:
      return "TOO_MANY_WATCHES";
    case ErrorReason::kTransfersBusy:
      return "TRANSFERS_BUSY";
    case ErrorReason::kUpdatesBusy:
      return "UPDATES_BUSY";
    case ErrorReason::kCancelled:
      return "CANCELLED";
    case ErrorReason::kDeadlineExceeded:
      return "DEADLINE_EXCEEDED";
    case ErrorReason::kDraining:
      return "DRAINING";
    case ErrorReason::kMapsLoading:
      return "MAPS_LOADING";
    case ErrorReason::kTransferTimeout:
      return "TRANSFER_TIMEOUT";
    case ErrorReason::kRegionTooLarge:
      return "REGION_TOO_LARGE";
    case ErrorReason::kTooManyItems:
      return "TOO_MANY_ITEMS";
    case ErrorReason::kBadProfile:
      return "BAD_PROFILE";
    case ErrorReason::kProfileNotFound:
      return "PROFILE_NOT_FOUND";
    case ErrorReason::kTooManyProfiles:
      return "TOO_MANY_PROFILES";
    case ErrorReason::kBadEdge:
      return "BAD_EDGE";
    case ErrorReason::kBadNodeId:
      return "BAD_NODE_ID";
    case ErrorReason::kBadTag:
      return "BAD_TAG";
    case ErrorReason::kDuplicateEdge:
      return "DUPLICATE_EDGE";
    case ErrorReason::kDuplicateNode:
      return "DUPLICATE_NODE";
    case ErrorReason::kEdgeExists:
      return "EDGE_EXISTS";
    case ErrorReason::kEdgeNotFound:
      return "EDGE_NOT_FOUND";
    case ErrorReason::kNodeExists:
      return "NODE_EXISTS";
    case ErrorReason::kNodeNotFound:
      return "NODE_NOT_FOUND";
    case ErrorReason::kNoNodeNear:
      return "NO_NODE_NEAR";
    case ErrorReason::kWrongMapKind:
      return "WRONG_MAP_KIND";
    case ErrorReason::kTooManyEdges:
      return "TOO_MANY_EDGES";
    case ErrorReason::kTooManyNodes:
      return "TOO_MANY_NODES";
    case ErrorReason::kTooManyTags:
      return "TOO_MANY_TAGS";
    case ErrorReason::kAnswersUnread:
      return "ANSWERS_UNREAD";
    case ErrorReason::kBadToken:
      return "BAD_TOKEN";
    case ErrorReason::kMissingToken:
      return "MISSING_TOKEN";
    case ErrorReason::kNotPermitted:
      return "NOT_PERMITTED";
    case ErrorReason::kMapsMemoryFull:
      return "MAPS_MEMORY_FULL";
    case ErrorReason::kClientBusy:
      return "CLIENT_BUSY";
    case ErrorReason::kStorageFailed:
      return "STORAGE_FAILED";
    case ErrorReason::kBadHeader:
      return "BAD_HEADER";
    case ErrorReason::kUnknownMethod:
      return "UNKNOWN_METHOD";
    case ErrorReason::kRequestTooLarge:
      return "REQUEST_TOO_LARGE";
    case ErrorReason::kOriginNotAllowed:
      return "ORIGIN_NOT_ALLOWED";
  }
  return "UNKNOWN";
}

absl::Status MakeError(absl::StatusCode code, ErrorReason reason, absl::string_view field,
                       absl::string_view message) {
  absl::Status status(code, message);
  status.SetPayload(kReasonPayload, absl::Cord(ErrorReasonName(reason)));
  if (!field.empty()) {
    status.SetPayload(kFieldPayload, absl::Cord(field));
  }
  return status;
}

absl::Status Refusal(ErrorReason reason, absl::Duration retry_delay, absl::string_view message) {
  return WithRetryDelay(MakeError(absl::StatusCode::kResourceExhausted, reason, "", message), retry_delay);
}

std::string ErrorReasonOf(const absl::Status& status) { return PayloadOf(status, kReasonPayload); }

std::string ErrorFieldOf(const absl::Status& status) { return PayloadOf(status, kFieldPayload); }

absl::Duration RetryDelayOf(const absl::Status& status) {
  std::int64_t nanos = 0;
  if (!absl::SimpleAtoi(PayloadOf(status, kRetryDelayPayload), &nanos)) {
    return absl::ZeroDuration();
  }
  return absl::Nanoseconds(nanos);
}

absl::Status WithField(const absl::Status& status, absl::string_view field) {
  absl::Status renamed = status;
  if (!status.ok()) {
    renamed.SetPayload(kFieldPayload, absl::Cord(field));
  }
  return renamed;
}

absl::Status WithFieldPrefix(const absl::Status& status, absl::string_view prefix) {
  absl::Status prefixed = status;
  if (!status.ok()) {
    prefixed.SetPayload(kFieldPayload, absl::Cord(absl::StrCat(prefix, ErrorFieldOf(status))));
  }
  return prefixed;
}

}  // namespace waystar
