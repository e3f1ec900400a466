#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "waystar/v1/path_service.pb.h"

namespace waystar::cli {

// What a search did with which cells, gathered from its events.
class SearchCells {
 public:
  // The next event.
  void Add(const v1::SearchEvent& event);

  // In the order in which they were expanded, each once.
  const std::vector<v1::Cell>& expanded() const { return expanded_; }

  // Those that were generated and not expanded, in the order in which they were first generated.
  std::vector<v1::Cell> Open() const;

 private:
  std::vector<v1::Cell> generated_;
  std::vector<v1::Cell> expanded_;
  // From a cell that was generated to whether it was expanded.
  absl::flat_hash_map<std::uint64_t, bool> is_expanded_;
};

}  // namespace waystar::cli
