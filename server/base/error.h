// Errors as values: an absl::Status with a canonical code, a message for people, a machine-readable reason
// and the request field at fault. The reason determines the code.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
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
  kAgentNotFound,
  kEdgeNotFound,
  kMapNotFound,
  kNodeNotFound,
  kObstacleNotFound,
  kPortalNotFound,
  kProfileNotFound,
  kStreamNotFound,
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
  kTooManyAgents,
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
  // INVALID_ARGUMENT
  kBadGround,
  // NOT_FOUND
  kGroundNotFound,
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

// Returns INVALID_ARGUMENT with a message such as "edges[2].cost must be 0 to 1000, got -1", where
// `must` is "0 to 1000". The message names the field as given here; adding a prefix to the field later does
// not change it.
absl::Status BadNumber(ErrorReason reason, absl::string_view field, double number, absl::string_view must);

// Status payload with the delay in nanoseconds.
inline constexpr char kRetryDelayPayload[] = "waystar/retry-delay-nanos";

// Returns the error with a payload of the delay, which RetryDelayOf reads.
absl::Status WithRetryDelay(absl::Status error, absl::Duration delay);

}  // namespace waystar

// Returns from the enclosing function if `expr`, an absl::Status, is not OK.
#define WAYSTAR_RETURN_IF_ERROR(expr)                                 \
  do {                                                                \
    if (absl::Status waystar_status = (expr); !waystar_status.ok()) { \
      return waystar_status;                                          \
    }                                                                 \
  } while (false)

// As above, with `prefix` before the field of the error.
#define WAYSTAR_RETURN_IF_ERROR_AT(prefix, expr)                             \
  do {                                                                       \
    if (const absl::Status& waystar_status = (expr); !waystar_status.ok()) { \
      return WithFieldPrefix(waystar_status, prefix);                        \
    }                                                                        \
  } while (false)

// Evaluates `expr`, an absl::StatusOr; returns its error from the enclosing function, or assigns its value to
// `lhs`, which may be a declaration.
#define WAYSTAR_ASSIGN_OR_RETURN(lhs, expr) \
  WAYSTAR_ASSIGN_OR_RETURN_IMPL(WAYSTAR_CONCAT(waystar_status_or_, __LINE__), lhs, expr)

#define WAYSTAR_ASSIGN_OR_RETURN_IMPL(result, lhs, expr) \
  auto result = (expr);                                  \
  if (!result.ok()) {                                    \
    return std::move(result).status();                   \
  }                                                      \
  lhs = *std::move(result)

#define WAYSTAR_CONCAT(a, b) WAYSTAR_CONCAT_IMPL(a, b)
#define WAYSTAR_CONCAT_IMPL(a, b) a##b
