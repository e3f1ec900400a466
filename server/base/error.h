// Errors as values: an absl::Status with a canonical code, a message for people, a machine-readable reason
// and the request field at fault. The reason determines the code.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace waystar {

// Machine-readable cause of an error: ErrorReason of the public API, with the same numbers and names. Append
// new reasons at the end; never rename.
enum class ErrorReason : std::uint8_t {
  kUnknown,
  // INVALID_ARGUMENT
  kBadDisc,
  kBadEdge,
  kBadEdit,
  kBadEffect,
  kBadFormat,
  kBadHeader,
  kBadLifetime,
  kBadLine,
  kBadMapId,
  kBadNodeId,
  kBadObstacleId,
  kBadPolygon,
  kBadPortal,
  kBadPortalId,
  kBadProfile,
  kBadRectangle,
  kBadRow,
  kBadSize,
  kBadSource,
  kBadStream,
  kBadTag,
  kBadTerrain,
  kBadValue,
  kDuplicateEdge,
  kDuplicateNode,
  kEmptyBatch,
  kEmptyShape,
  kMissingField,
  kRequestIdReused,
  kTruncated,
  kUnknownEnumValue,
  kUnknownTerrain,
  // OUT_OF_RANGE
  kFutureRevision,
  kOffMap,
  // NOT_FOUND
  kEdgeNotFound,
  kMapNotFound,
  kNodeNotFound,
  kObstacleNotFound,
  kPortalNotFound,
  kProfileNotFound,
  // ALREADY_EXISTS
  kEdgeExists,
  kMapExists,
  kNodeExists,
  kObstacleExists,
  kPortalExists,
  kPortalOverlaps,
  // FAILED_PRECONDITION
  kAlgorithmUnsuited,
  kDigestMismatch,
  kGoalBlocked,
  kMapReplaced,
  kNotExpressible,
  kNoNodeNear,
  kRequestIdExpired,
  kStartBlocked,
  kWrongMapKind,
  // ABORTED
  kSnapshotEvicted,
  kStaleRevision,
  // RESOURCE_EXHAUSTED
  kAnswersUnread,
  kBatchTooLarge,
  kClientBusy,
  kImportTooLarge,
  kMapsMemoryFull,
  kPathTooLong,
  kQueueFull,
  kQueueTimeout,
  kRegionTooLarge,
  kRequestTooLarge,
  kResponseTooLarge,
  kStorageFull,
  kTooManyEdges,
  kTooManyItems,
  kTooManyMaps,
  kTooManyNodes,
  kTooManyObstacles,
  kTooManyPortals,
  kTooManyProfiles,
  kTooManyTags,
  kTooManyWatches,
  kTransfersBusy,
  kUpdatesBusy,
  // DEADLINE_EXCEEDED
  kDeadlineExceeded,
  kTransferTimeout,
  // CANCELLED
  kCancelled,
  // UNAVAILABLE
  kDraining,
  kMapsLoading,
  kMapLoading,
  kRevisionNotYet,
  kStorageFailed,
  // UNAUTHENTICATED
  kBadToken,
  kMissingToken,
  // PERMISSION_DENIED
  kNotPermitted,
  kOriginNotAllowed,
  // UNIMPLEMENTED
  kNotImplemented,
  kUnknownMethod,
};

// Returns the name in the API, such as "MAP_NOT_FOUND" for kMapNotFound; "UNKNOWN" for kUnknown.
absl::string_view ErrorReasonName(ErrorReason reason);

// Returns the canonical code of errors with that reason.
absl::StatusCode CodeOf(ErrorReason reason);

// Creates an error. `field` is the path of the offending field from the request's root, such as
// "edits[3].block.cells[0]"; empty if no field is at fault.
absl::Status MakeError(ErrorReason reason, absl::string_view field, absl::string_view message);

// Creates the error for a part of the contract that is not built yet: NOT_IMPLEMENTED.
absl::Status NotImplemented(absl::string_view field);

// Creates a transient error that may be retried after `retry_delay`.
absl::Status Refusal(ErrorReason reason, absl::Duration retry_delay, absl::string_view message);

// Return the parts set by MakeError and Refusal; empty or zero for any other status.
std::string ErrorReasonOf(const absl::Status& status);
std::string ErrorFieldOf(const absl::Status& status);
absl::Duration RetryDelayOf(const absl::Status& status);

// Returns the same error with another field.
absl::Status WithField(const absl::Status& status, absl::string_view field);

// Returns the same error with `prefix` before its field: "edits[3]." + "block.cells[0]".
absl::Status WithFieldPrefix(const absl::Status& status, absl::string_view prefix);

}  // namespace waystar
