// Update batches and their results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/base/stop_check.h"
#include "server/core/edit/edit.h"
#include "server/core/store/expected_version.h"

namespace waystar::core {

// Edits that are applied in order as one new revision, all or none.
struct UpdateBatch {
  std::vector<Edit> edits;
  // Apply only if this is the latest version when the batch's turn comes, batches before it counted.
  ExpectedVersion expected;
  // An id that obeys CheckRequestId, or empty for none. It makes a retry harmless: a batch whose id the map
  // remembers is not applied again but gets the result of the first time.
  std::string request_id;
  // When the client first sent the batch, by its own clock; a retry has the same time. See AppliedRequests.
  std::optional<absl::Time> request_time;
  // Who sends it. It means nothing to the store, which hands it to StoreOptions::defer.
  std::uint64_t client = 0;
  // Asked when the batch's turn comes, right before it is applied: one that nobody waits for any more is not,
  // and gets this error. What it names must live until the batch is answered.
  CallerStop caller;
};

struct UpdateResult {
  std::uint64_t epoch = 0;
  std::uint64_t revision = 0;
  ChangeSummary summary;
  // The map's digest at that revision.
  std::uint64_t digest = 0;
  // True if the batch was applied before under the same request_id; the rest is the result of that time.
  bool already_applied = false;
};

using UpdateDone = absl::AnyInvocable<void(absl::StatusOr<UpdateResult>) &&>;

inline constexpr std::size_t kMaxRequestIdBytes = 128;

// Returns OK for 1 to kMaxRequestIdBytes printable ASCII characters; else INVALID_ARGUMENT / BAD_VALUE with
// field "request_id".
absl::Status CheckRequestId(absl::string_view id);

}  // namespace waystar::core
