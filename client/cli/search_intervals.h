#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "waystar/v1/path_service.pb.h"

namespace waystar::cli {

// An interval of an edge of a navigation mesh, as a search left it.
struct SearchedInterval {
  v1::MeshInterval interval;
  double g = 0.0;
  double f = 0.0;
  bool is_expanded = false;
};

// The intervals of a search, gathered from its events.
class SearchIntervals {
 public:
  // Takes the next event.
  void Add(const v1::SearchEvent& event);

  // Returns how many were generated and not expanded.
  std::size_t open() const { return intervals_.size() - expanded_.size(); }

  // Returns the expanded intervals in the order in which they were expanded, and then the open ones in the
  // order in which they were generated.
  std::vector<SearchedInterval> All() const;

 private:
  // In the order in which they were generated.
  std::vector<SearchedInterval> intervals_;
  // Indices of intervals_.
  std::vector<std::size_t> expanded_;
  // The same, by the ids.
  absl::flat_hash_map<std::uint32_t, std::size_t> indices_;
};

}  // namespace waystar::cli
