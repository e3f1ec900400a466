// What a map is asked to change, and what it answers.
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
#include "server/core/edit/change_summary.h"
#include "server/core/edit/edit.h"

namespace waystar::core {

// Edits that are applied in order as one new revision, all or none.
struct UpdateBatch {
  std::vector<Edit> edits;
  // Apply only if this is the latest revision when the batch's turn comes, batches before it counted.
  std::optional<std::uint64_t> expected_revision;
  // As CheckRequestId says; empty for none. Makes a retry harmless: a batch whose id the map remembers is not
  // applied again but answered as it was the first time.
  std::string request_id;
};

struct UpdateResult {
  std::uint64_t revision = 0;
  ChangeSummary summary;
  // The batch was applied before, under the same request_id; the rest is what was answered then.
  bool already_applied = false;
};

using UpdateDone = absl::AnyInvocable<void(absl::StatusOr<UpdateResult>) &&>;

inline constexpr std::size_t kMaxRequestIdBytes = 128;

// How many of the batches it has applied under a request_id a map remembers, the last ones.
inline constexpr std::size_t kRememberedRequests = 10'000;

// OK for 1 to kMaxRequestIdBytes printable ASCII characters; else INVALID_ARGUMENT / BAD_VALUE with field
// "request_id".
absl::Status CheckRequestId(absl::string_view id);

}  // namespace waystar::core
