// Requests that change or create a map, their results, and map ids.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/base/stop_check.h"
#include "server/core/edit/edit.h"
#include "server/core/edit/edit_digest.h"
#include "server/core/map/map_version.h"

namespace waystar::core {

// Version that a change requires the map to have. An unset field matches any value.
struct ExpectedVersion {
  std::optional<std::uint64_t> epoch;
  std::optional<std::uint64_t> revision;
};

// Return OK if the map's version matches; else FAILED_PRECONDITION / MAP_REPLACED with field
// "expected_version.epoch", or ABORTED / STALE_REVISION with field "expected_version".
absl::Status CheckEpoch(absl::string_view id, const MapVersion& version, const ExpectedVersion& expected);
absl::Status CheckRevision(absl::string_view id, const MapVersion& version, const ExpectedVersion& expected);
absl::Status CheckVersion(absl::string_view id, const MapVersion& version, const ExpectedVersion& expected);

// Edits that are applied in order and atomically, as one new revision.
struct UpdateBatch {
  std::vector<Edit> edits;
  // Apply only if this is the latest version when the batch is applied, after the batches before it.
  ExpectedVersion expected;
  // An id that obeys CheckRequestId, or empty. Makes retries idempotent: a batch whose id the map remembers
  // is not applied again and gets its first result.
  std::string request_id;
  // When the client first sent the batch, by its own clock; the same in every retry. See AppliedRequests.
  std::optional<absl::Time> request_time;
  // Id of the sender. The store only passes it to StoreOptions::defer.
  std::uint64_t client = 0;
  // Checked right before the batch is applied. If the caller no longer waits, the batch is dropped with this
  // error. Objects that it refers to must live until the batch is answered.
  CallerStop caller;
};

struct UpdateResult {
  std::uint64_t epoch = 0;
  std::uint64_t revision = 0;
  ChangeSummary summary;
  // The map's digest at that revision.
  std::uint64_t digest = 0;
  // True if an earlier batch with the same request_id was applied; the other fields are its result.
  bool already_applied = false;
};

using UpdateDone = absl::AnyInvocable<void(absl::StatusOr<UpdateResult>) &&>;

inline constexpr std::size_t kMaxRequestIdBytes = 128;

// Returns OK for 1 to kMaxRequestIdBytes printable ASCII characters; else INVALID_ARGUMENT / BAD_VALUE with
// field "request_id".
absl::Status CheckRequestId(absl::string_view id);

// Request that created a map, for idempotent retries.
struct CreationRequest {
  // An id that obeys CheckRequestId, or empty. The map remembers it with the ids of its updates.
  std::string request_id;
  // Covers the whole request, so that a different request is not taken for a retry.
  Fingerprint fingerprint;
};

inline constexpr std::size_t kMaxMapIdBytes = 63;

// Returns OK for 1 to 63 bytes that match [a-z0-9][a-z0-9_.-]*; else INVALID_ARGUMENT / BAD_MAP_ID with field
// "map".
absl::Status CheckMapId(absl::string_view id);

// Transparent hash for tables with std::string keys, for lookups by absl::string_view.
struct IdHash {
  using is_transparent = void;
  std::size_t operator()(absl::string_view id) const {
    return std::hash<std::string_view>()({id.data(), id.size()});
  }
};

}  // namespace waystar::core
