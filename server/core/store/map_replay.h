// Applies what a log has of a map to its state.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "server/core/map/map_changes.h"
#include "server/core/store/applied_requests.h"
#include "server/core/store/durable_log.h"
#include "server/core/store/map_editor.h"
#include "server/core/store/map_snapshot.h"

namespace waystar::core {

// Thread safety: one thread at a time.
class MapReplay {
 public:
  // The state is that of the map before; nobody else has it until Finish. Both must outlive the replay.
  MapReplay(MapSnapshot& snapshot, std::vector<AppliedRequest>& requests)
      : snapshot_(snapshot), requests_(requests) {}

  // Applies a commit and returns what it has changed; nothing, and it is passed over, if the state has it.
  // Returns DATA_LOSS if it does not follow or does not lead to its digest, and the errors of
  // MapEditor::Apply.
  absl::StatusOr<std::optional<ChangeSummary>> Apply(const LoggedCommit& logged);
  // To be called when nothing is applied any more.
  void Finish();

 private:
  void Remember(const LoggedCommit& logged);

  MapSnapshot& snapshot_;
  std::vector<AppliedRequest>& requests_;
  std::optional<MapEditor> editor_;
  std::size_t commits_of_editor_ = 0;
};

}  // namespace waystar::core
