#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "waystar/v1/path_service.pb.h"

namespace waystar::cli {

// A node of a waypoint graph, as a search left it.
struct SearchedNode {
  std::string id;
  // The node that the cheapest way comes from; empty where a way begins.
  std::string parent;
  double g = 0.0;
  double f = 0.0;
  bool is_expanded = false;
};

// The nodes of a search, gathered from its events.
class SearchNodes {
 public:
  // Takes the next event.
  void Add(const v1::SearchEvent& event);

  // Returns how many were generated and not expanded.
  std::size_t open() const { return nodes_.size() - expanded_.size(); }

  // Returns the expanded nodes in the order in which they were expanded, and then the open ones in the order
  // in which they were first generated.
  std::vector<SearchedNode> All() const;

 private:
  // In the order in which they were first generated.
  std::vector<SearchedNode> nodes_;
  // Indices of nodes_.
  std::vector<std::size_t> expanded_;
  absl::flat_hash_map<std::string, std::size_t> indices_;
};

}  // namespace waystar::cli
