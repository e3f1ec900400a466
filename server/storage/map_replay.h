// Maps, brought from their images to where the log ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "server/storage/image_file.h"
#include "server/storage/live_maps.h"
#include "server/storage/log_history.h"

namespace waystar::storage {

// The commits that were applied, and what that took, counted as WorkOfCommit.
struct Replayed {
  std::size_t commits = 0;
  std::uint64_t work = 0;
};

// Applies the commits of a map's entries that its state does not have yet. Returns DATA_LOSS, with the path
// and the offset, if an entry cannot be applied to what is there or leads to another digest than it did when
// it was written.
absl::StatusOr<Replayed> Replay(const LogHistory& history, absl::Span<const LocatedEntry> entries,
                                const LiveMap& live, MapState& state);

// Returns the state that a map's creation tells of, or DATA_LOSS. REQUIRES: the entry is one.
absl::StatusOr<MapState> ReadCreation(const LogHistory& history, const LocatedEntry& creation);

}  // namespace waystar::storage
