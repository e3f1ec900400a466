#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "waystar/v1/path_service.pb.h"

namespace waystar::cli {

// The cells of a search, gathered from its events.
class SearchCells {
 public:
  // Takes the next event.
  void Add(const v1::SearchEvent& event);

  // The expanded cells in the order in which they were expanded, each once.
  const std::vector<v1::Cell>& expanded() const { return expanded_; }

  // The cells that were generated and not expanded, in the order in which they were first generated.
  std::vector<v1::Cell> Open() const;

 private:
  std::vector<v1::Cell> generated_;
  std::vector<v1::Cell> expanded_;
  // Maps a cell that was generated to whether it was expanded.
  absl::flat_hash_map<std::uint64_t, bool> is_expanded_;
};

}  // namespace waystar::cli
