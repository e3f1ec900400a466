// Replay of logged commits on a map's state.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "server/core/elements/map_changes.h"
#include "server/core/map/map_snapshot.h"
#include "server/core/store/applied_requests.h"
#include "server/core/store/durable_log.h"
#include "server/core/store/map_editor.h"

namespace waystar::core {

// Applies logged commits to a snapshot and records their requests.
//
// Thread safety: one thread at a time.
class MapReplay {
 public:
  // `snapshot` must not be shared until Finish. Both arguments must outlive the replay.
  MapReplay(MapSnapshot& snapshot, std::vector<AppliedRequest>& requests)
      : snapshot_(snapshot), requests_(requests) {}

  // Applies a commit and returns its changes. Returns nullopt without effect if the snapshot already has it.
  // Returns DATA_LOSS if the commit does not follow the snapshot or does not lead to its digest, and the
  // errors of MapEditor::Apply.
  absl::StatusOr<std::optional<ChangeSummary>> Apply(const LoggedCommit& logged);
  // Stores the edited map in the snapshot. Call after the last Apply.
  void Finish();

 private:
  void Remember(const LoggedCommit& logged);

  MapSnapshot& snapshot_;
  std::vector<AppliedRequest>& requests_;
  std::optional<MapEditor> editor_;
  std::size_t commits_of_editor_ = 0;
};

}  // namespace waystar::core
