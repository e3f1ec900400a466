// Errors as values: an absl::Status with a canonical code, a sentence for people, a machine-readable reason
// and the request field to blame.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace waystar {

// What went wrong, for programs. Names are part of the public contract: add, never rename.
enum class ErrorReason : std::uint8_t {
  kUnknown,
  // INVALID_ARGUMENT
  kBadDisc,
  kBadEdit,
  kBadEffect,
  kBadFormat,
  kBadLifetime,
  kBadLine,
  kBadMapId,
  kBadObstacleId,
  kBadPolygon,
  kBadRectangle,
  kBadRow,
  kBadSize,
  kBadSource,
  kBadStream,
  kBadTerrain,
  kBadValue,
  kEmptyBatch,
  kEmptyShape,
  kMissingField,
  kRequestIdReused,
  kTruncated,
  kUnknownEnumValue,
  kUnknownTerrain,
  kBadPortal,
  kBadPortalId,
  // OUT_OF_RANGE
  kFutureRevision,
  kOffMap,
  // NOT_FOUND, ALREADY_EXISTS
  kMapNotFound,
  kMapExists,
  kObstacleNotFound,
  kObstacleExists,
  kPortalNotFound,
  kPortalExists,
  kPortalOverlaps,
  // FAILED_PRECONDITION
  kAlgorithmUnsuited,
  kDigestMismatch,
  kGoalBlocked,
  kMapReplaced,
  kNotExpressible,
  kRequestIdExpired,
  kStartBlocked,
  // ABORTED
  kSnapshotEvicted,
  kStaleRevision,
  // RESOURCE_EXHAUSTED
  kBatchTooLarge,
  kImportTooLarge,
  kPathTooLong,
  kQueueFull,
  kQueueTimeout,
  kResponseTooLarge,
  kTooManyMaps,
  kTooManyObstacles,
  kTooManyPortals,
  kTooManyWatches,
  kTransfersBusy,
  kUpdatesBusy,
  // DEADLINE_EXCEEDED, CANCELLED, UNAVAILABLE
  kCancelled,
  kDeadlineExceeded,
  kDraining,
  kMapsLoading,
  kTransferTimeout,
  // Fields: RESOURCE_EXHAUSTED
  kRegionTooLarge,
  kTooManyItems,
  // Movement profiles: INVALID_ARGUMENT, NOT_FOUND, RESOURCE_EXHAUSTED
  kBadProfile,
  kProfileNotFound,
  kTooManyProfiles,
  // Waypoint graphs: INVALID_ARGUMENT
  kBadEdge,
  kBadNodeId,
  kBadTag,
  kDuplicateEdge,
  kDuplicateNode,
  // NOT_FOUND, ALREADY_EXISTS
  kEdgeExists,
  kEdgeNotFound,
  kNodeExists,
  kNodeNotFound,
  // FAILED_PRECONDITION
  kNoNodeNear,
  kWrongMapKind,
  // RESOURCE_EXHAUSTED
  kTooManyEdges,
  kTooManyNodes,
  kTooManyTags,
  // Streams of queries: RESOURCE_EXHAUSTED
  kAnswersUnread,
  // Tokens: UNAUTHENTICATED, PERMISSION_DENIED
  kBadToken,
  kMissingToken,
  kNotPermitted,
  // The server's limits: RESOURCE_EXHAUSTED
  kMapsMemoryFull,
  kClientBusy,
  // Storage: UNAVAILABLE
  kStorageFailed,
  // HTTP: INVALID_ARGUMENT, UNIMPLEMENTED, RESOURCE_EXHAUSTED, PERMISSION_DENIED
  kBadHeader,
  kUnknownMethod,
  kRequestTooLarge,
  kOriginNotAllowed,
};

// Returns the name in the contract, such as "MAP_NOT_FOUND" for kMapNotFound; "UNKNOWN" for kUnknown.
absl::string_view ErrorReasonName(ErrorReason reason);

// Makes an error. `field` is the path of the offending field from the request's root, such as
// "edits[3].block.cells[0]", and empty where no field is to blame.
absl::Status MakeError(absl::StatusCode code, ErrorReason reason, absl::string_view field,
                       absl::string_view message);

inline absl::Status InvalidArgument(ErrorReason reason, absl::string_view field, absl::string_view message) {
  return MakeError(absl::StatusCode::kInvalidArgument, reason, field, message);
}

// Makes a refusal that passes by itself: RESOURCE_EXHAUSTED, to be retried after `retry_delay`.
absl::Status Refusal(ErrorReason reason, absl::Duration retry_delay, absl::string_view message);

// Return what MakeError and Refusal put in; empty and zero for any other status.
std::string ErrorReasonOf(const absl::Status& status);
std::string ErrorFieldOf(const absl::Status& status);
absl::Duration RetryDelayOf(const absl::Status& status);

// Returns the same error with another field.
absl::Status WithField(const absl::Status& status, absl::string_view field);

// Returns the same error with `prefix` put before its field: "edits[3]." + "block.cells[0]".
absl::Status WithFieldPrefix(const absl::Status& status, absl::string_view prefix);

}  // namespace waystar
