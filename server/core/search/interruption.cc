#include "server/core/search/interruption.h"

#include "absl/strings/str_cat.h"
#include "server/base/error.h"

namespace waystar::core {

absl::Status InterruptionError(SearchEnd end, std::uint64_t expanded) {
  switch (end) {
    case SearchEnd::kDeadline:
      return MakeError(ErrorReason::kDeadlineExceeded, "",
                       absl::StrCat("the deadline passed after ", expanded, " expansions"));
    case SearchEnd::kCancelled:
      return MakeError(ErrorReason::kCancelled, "",
                       absl::StrCat("cancelled after ", expanded, " expansions"));
    default:
      return MakeError(ErrorReason::kSnapshotEvicted, "",
                       absl::StrCat("the map changed much since the search began, and the server needs the "
                                    "memory of its old state; stopped after ",
                                    expanded, " expansions"));
  }
}

}  // namespace waystar::core
