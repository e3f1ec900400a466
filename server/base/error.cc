#include "server/base/error.h"

#include <cstddef>
#include <iterator>

#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "absl/types/optional.h"

namespace waystar {
namespace {

constexpr absl::string_view kReasonPayload = "waystar/reason";
constexpr absl::string_view kFieldPayload = "waystar/field";

std::string PayloadOf(const absl::Status& status, absl::string_view type) {
  const absl::optional<absl::Cord> payload = status.GetPayload(type);
  return payload ? std::string(*payload) : std::string();
}

struct Row {
  ErrorReason reason;
  absl::StatusCode code;
  absl::string_view name;
};

// Code and name of each reason, in the order of the enum.
constexpr Row kRows[] = {
    {ErrorReason::kUnknown, absl::StatusCode::kUnknown, "UNKNOWN"},
    {ErrorReason::kBadDisc, absl::StatusCode::kInvalidArgument, "BAD_DISC"},
    {ErrorReason::kBadEdge, absl::StatusCode::kInvalidArgument, "BAD_EDGE"},
    {ErrorReason::kBadEdit, absl::StatusCode::kInvalidArgument, "BAD_EDIT"},
    {ErrorReason::kBadEffect, absl::StatusCode::kInvalidArgument, "BAD_EFFECT"},
    {ErrorReason::kBadFormat, absl::StatusCode::kInvalidArgument, "BAD_FORMAT"},
    {ErrorReason::kBadHeader, absl::StatusCode::kInvalidArgument, "BAD_HEADER"},
    {ErrorReason::kBadLifetime, absl::StatusCode::kInvalidArgument, "BAD_LIFETIME"},
    {ErrorReason::kBadLine, absl::StatusCode::kInvalidArgument, "BAD_LINE"},
    {ErrorReason::kBadMapId, absl::StatusCode::kInvalidArgument, "BAD_MAP_ID"},
    {ErrorReason::kBadNodeId, absl::StatusCode::kInvalidArgument, "BAD_NODE_ID"},
    {ErrorReason::kBadObstacleId, absl::StatusCode::kInvalidArgument, "BAD_OBSTACLE_ID"},
    {ErrorReason::kBadPolygon, absl::StatusCode::kInvalidArgument, "BAD_POLYGON"},
    {ErrorReason::kBadPortal, absl::StatusCode::kInvalidArgument, "BAD_PORTAL"},
    {ErrorReason::kBadPortalId, absl::StatusCode::kInvalidArgument, "BAD_PORTAL_ID"},
    {ErrorReason::kBadProfile, absl::StatusCode::kInvalidArgument, "BAD_PROFILE"},
    {ErrorReason::kBadRectangle, absl::StatusCode::kInvalidArgument, "BAD_RECTANGLE"},
    {ErrorReason::kBadRow, absl::StatusCode::kInvalidArgument, "BAD_ROW"},
    {ErrorReason::kBadSize, absl::StatusCode::kInvalidArgument, "BAD_SIZE"},
    {ErrorReason::kBadSource, absl::StatusCode::kInvalidArgument, "BAD_SOURCE"},
    {ErrorReason::kBadStream, absl::StatusCode::kInvalidArgument, "BAD_STREAM"},
    {ErrorReason::kBadTag, absl::StatusCode::kInvalidArgument, "BAD_TAG"},
    {ErrorReason::kBadTerrain, absl::StatusCode::kInvalidArgument, "BAD_TERRAIN"},
    {ErrorReason::kBadValue, absl::StatusCode::kInvalidArgument, "BAD_VALUE"},
    {ErrorReason::kDuplicateEdge, absl::StatusCode::kInvalidArgument, "DUPLICATE_EDGE"},
    {ErrorReason::kDuplicateNode, absl::StatusCode::kInvalidArgument, "DUPLICATE_NODE"},
    {ErrorReason::kEmptyBatch, absl::StatusCode::kInvalidArgument, "EMPTY_BATCH"},
    {ErrorReason::kEmptyShape, absl::StatusCode::kInvalidArgument, "EMPTY_SHAPE"},
    {ErrorReason::kMissingField, absl::StatusCode::kInvalidArgument, "MISSING_FIELD"},
    {ErrorReason::kRequestIdReused, absl::StatusCode::kInvalidArgument, "REQUEST_ID_REUSED"},
    {ErrorReason::kTruncated, absl::StatusCode::kInvalidArgument, "TRUNCATED"},
    {ErrorReason::kUnknownEnumValue, absl::StatusCode::kInvalidArgument, "UNKNOWN_ENUM_VALUE"},
    {ErrorReason::kUnknownTerrain, absl::StatusCode::kInvalidArgument, "UNKNOWN_TERRAIN"},
    {ErrorReason::kFutureRevision, absl::StatusCode::kOutOfRange, "FUTURE_REVISION"},
    {ErrorReason::kOffMap, absl::StatusCode::kOutOfRange, "OFF_MAP"},
    {ErrorReason::kAgentNotFound, absl::StatusCode::kNotFound, "AGENT_NOT_FOUND"},
    {ErrorReason::kEdgeNotFound, absl::StatusCode::kNotFound, "EDGE_NOT_FOUND"},
    {ErrorReason::kMapNotFound, absl::StatusCode::kNotFound, "MAP_NOT_FOUND"},
    {ErrorReason::kNodeNotFound, absl::StatusCode::kNotFound, "NODE_NOT_FOUND"},
    {ErrorReason::kObstacleNotFound, absl::StatusCode::kNotFound, "OBSTACLE_NOT_FOUND"},
    {ErrorReason::kPortalNotFound, absl::StatusCode::kNotFound, "PORTAL_NOT_FOUND"},
    {ErrorReason::kProfileNotFound, absl::StatusCode::kNotFound, "PROFILE_NOT_FOUND"},
    {ErrorReason::kStreamNotFound, absl::StatusCode::kNotFound, "STREAM_NOT_FOUND"},
    {ErrorReason::kEdgeExists, absl::StatusCode::kAlreadyExists, "EDGE_EXISTS"},
    {ErrorReason::kMapExists, absl::StatusCode::kAlreadyExists, "MAP_EXISTS"},
    {ErrorReason::kNodeExists, absl::StatusCode::kAlreadyExists, "NODE_EXISTS"},
    {ErrorReason::kObstacleExists, absl::StatusCode::kAlreadyExists, "OBSTACLE_EXISTS"},
    {ErrorReason::kPortalExists, absl::StatusCode::kAlreadyExists, "PORTAL_EXISTS"},
    {ErrorReason::kPortalOverlaps, absl::StatusCode::kAlreadyExists, "PORTAL_OVERLAPS"},
    {ErrorReason::kAlgorithmUnsuited, absl::StatusCode::kFailedPrecondition, "ALGORITHM_UNSUITED"},
    {ErrorReason::kDigestMismatch, absl::StatusCode::kFailedPrecondition, "DIGEST_MISMATCH"},
    {ErrorReason::kGoalBlocked, absl::StatusCode::kFailedPrecondition, "GOAL_BLOCKED"},
    {ErrorReason::kMapReplaced, absl::StatusCode::kFailedPrecondition, "MAP_REPLACED"},
    {ErrorReason::kNotExpressible, absl::StatusCode::kFailedPrecondition, "NOT_EXPRESSIBLE"},
    {ErrorReason::kNoNodeNear, absl::StatusCode::kFailedPrecondition, "NO_NODE_NEAR"},
    {ErrorReason::kRequestIdExpired, absl::StatusCode::kFailedPrecondition, "REQUEST_ID_EXPIRED"},
    {ErrorReason::kStartBlocked, absl::StatusCode::kFailedPrecondition, "START_BLOCKED"},
    {ErrorReason::kWrongMapKind, absl::StatusCode::kFailedPrecondition, "WRONG_MAP_KIND"},
    {ErrorReason::kSnapshotEvicted, absl::StatusCode::kAborted, "SNAPSHOT_EVICTED"},
    {ErrorReason::kStaleRevision, absl::StatusCode::kAborted, "STALE_REVISION"},
    {ErrorReason::kAnswersUnread, absl::StatusCode::kResourceExhausted, "ANSWERS_UNREAD"},
    {ErrorReason::kBatchTooLarge, absl::StatusCode::kResourceExhausted, "BATCH_TOO_LARGE"},
    {ErrorReason::kClientBusy, absl::StatusCode::kResourceExhausted, "CLIENT_BUSY"},
    {ErrorReason::kImportTooLarge, absl::StatusCode::kResourceExhausted, "IMPORT_TOO_LARGE"},
    {ErrorReason::kMapsMemoryFull, absl::StatusCode::kResourceExhausted, "MAPS_MEMORY_FULL"},
    {ErrorReason::kPathTooLong, absl::StatusCode::kResourceExhausted, "PATH_TOO_LONG"},
    {ErrorReason::kQueueFull, absl::StatusCode::kResourceExhausted, "QUEUE_FULL"},
    {ErrorReason::kQueueTimeout, absl::StatusCode::kResourceExhausted, "QUEUE_TIMEOUT"},
    {ErrorReason::kRegionTooLarge, absl::StatusCode::kResourceExhausted, "REGION_TOO_LARGE"},
    {ErrorReason::kRequestTooLarge, absl::StatusCode::kResourceExhausted, "REQUEST_TOO_LARGE"},
    {ErrorReason::kResponseTooLarge, absl::StatusCode::kResourceExhausted, "RESPONSE_TOO_LARGE"},
    {ErrorReason::kStorageFull, absl::StatusCode::kResourceExhausted, "STORAGE_FULL"},
    {ErrorReason::kTooManyAgents, absl::StatusCode::kResourceExhausted, "TOO_MANY_AGENTS"},
    {ErrorReason::kTooManyEdges, absl::StatusCode::kResourceExhausted, "TOO_MANY_EDGES"},
    {ErrorReason::kTooManyItems, absl::StatusCode::kResourceExhausted, "TOO_MANY_ITEMS"},
    {ErrorReason::kTooManyMaps, absl::StatusCode::kResourceExhausted, "TOO_MANY_MAPS"},
    {ErrorReason::kTooManyNodes, absl::StatusCode::kResourceExhausted, "TOO_MANY_NODES"},
    {ErrorReason::kTooManyObstacles, absl::StatusCode::kResourceExhausted, "TOO_MANY_OBSTACLES"},
    {ErrorReason::kTooManyPortals, absl::StatusCode::kResourceExhausted, "TOO_MANY_PORTALS"},
    {ErrorReason::kTooManyProfiles, absl::StatusCode::kResourceExhausted, "TOO_MANY_PROFILES"},
    {ErrorReason::kTooManyTags, absl::StatusCode::kResourceExhausted, "TOO_MANY_TAGS"},
    {ErrorReason::kTooManyWatches, absl::StatusCode::kResourceExhausted, "TOO_MANY_WATCHES"},
    {ErrorReason::kTransfersBusy, absl::StatusCode::kResourceExhausted, "TRANSFERS_BUSY"},
    {ErrorReason::kUpdatesBusy, absl::StatusCode::kResourceExhausted, "UPDATES_BUSY"},
    {ErrorReason::kDeadlineExceeded, absl::StatusCode::kDeadlineExceeded, "DEADLINE_EXCEEDED"},
    {ErrorReason::kTransferTimeout, absl::StatusCode::kDeadlineExceeded, "TRANSFER_TIMEOUT"},
    {ErrorReason::kCancelled, absl::StatusCode::kCancelled, "CANCELLED"},
    {ErrorReason::kDraining, absl::StatusCode::kUnavailable, "DRAINING"},
    {ErrorReason::kMapsLoading, absl::StatusCode::kUnavailable, "MAPS_LOADING"},
    {ErrorReason::kMapLoading, absl::StatusCode::kUnavailable, "MAP_LOADING"},
    {ErrorReason::kRevisionNotYet, absl::StatusCode::kUnavailable, "REVISION_NOT_YET"},
    {ErrorReason::kStorageFailed, absl::StatusCode::kUnavailable, "STORAGE_FAILED"},
    {ErrorReason::kBadToken, absl::StatusCode::kUnauthenticated, "BAD_TOKEN"},
    {ErrorReason::kMissingToken, absl::StatusCode::kUnauthenticated, "MISSING_TOKEN"},
    {ErrorReason::kNotPermitted, absl::StatusCode::kPermissionDenied, "NOT_PERMITTED"},
    {ErrorReason::kOriginNotAllowed, absl::StatusCode::kPermissionDenied, "ORIGIN_NOT_ALLOWED"},
    {ErrorReason::kNotImplemented, absl::StatusCode::kUnimplemented, "NOT_IMPLEMENTED"},
    {ErrorReason::kUnknownMethod, absl::StatusCode::kUnimplemented, "UNKNOWN_METHOD"},
    {ErrorReason::kBadGround, absl::StatusCode::kInvalidArgument, "BAD_GROUND"},
    {ErrorReason::kGroundNotFound, absl::StatusCode::kNotFound, "GROUND_NOT_FOUND"},
};

constexpr bool AreInOrder() {
  for (std::size_t i = 0; i < std::size(kRows); ++i) {
    if (kRows[i].reason != static_cast<ErrorReason>(i)) {
      return false;
    }
  }
  return true;
}
static_assert(AreInOrder());

const Row& RowOf(ErrorReason reason) { return kRows[static_cast<std::size_t>(reason)]; }

}  // namespace

absl::StatusCode CodeOf(ErrorReason reason) { return RowOf(reason).code; }

absl::string_view ErrorReasonName(ErrorReason reason) { return RowOf(reason).name; }

absl::Status MakeError(ErrorReason reason, absl::string_view field, absl::string_view message) {
  absl::Status status(CodeOf(reason), message);
  status.SetPayload(kReasonPayload, absl::Cord(ErrorReasonName(reason)));
  if (!field.empty()) {
    status.SetPayload(kFieldPayload, absl::Cord(field));
  }
  return status;
}

absl::Status NotImplemented(absl::string_view field) {
  return MakeError(ErrorReason::kNotImplemented, field,
                   absl::StrCat("this version of the server does not support ", field, " yet"));
}

absl::Status Refusal(ErrorReason reason, absl::Duration retry_delay, absl::string_view message) {
  return WithRetryDelay(MakeError(reason, "", message), retry_delay);
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

absl::Status BadNumber(ErrorReason reason, absl::string_view field, double number, absl::string_view must) {
  // Enough digits to distinguish the ends of all ranges from values beyond them.
  return MakeError(reason, field,
                   absl::StrFormat("%s must be %s, got %.12g", absl::StripPrefix(field, "."), must, number));
}

absl::Status WithRetryDelay(absl::Status error, absl::Duration delay) {
  error.SetPayload(kRetryDelayPayload, absl::Cord(absl::StrCat(absl::ToInt64Nanoseconds(delay))));
  return error;
}

}  // namespace waystar
