#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "waystar/v1/path_service.pb.h"

namespace waystar::cli {

// The places of a search, gathered from its events: cells of a grid, nodes of a waypoint graph, or intervals
// of edges of a navigation mesh.
class SearchedPlaces {
 public:
  // Takes the next event.
  void Add(const v1::SearchEvent& event);

  // Returns how many were generated and not expanded.
  std::size_t open() const { return places_.size() - expanded_.size(); }

  // Return for each place the event that last reached it, with the costs of the last event about it: those
  // that were expanded, in the order of their expansion, and those that are open, in the order in which they
  // were first generated.
  std::vector<v1::SearchEvent> Expanded() const;
  std::vector<v1::SearchEvent> Open() const;

 private:
  struct Place {
    v1::SearchEvent reached;
    bool is_expanded = false;
  };

  // In the order in which they were first generated.
  std::vector<Place> places_;
  // Indices of places_.
  std::vector<std::size_t> expanded_;
  absl::flat_hash_map<std::string, std::size_t> indices_;
};

}  // namespace waystar::cli
