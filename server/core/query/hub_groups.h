// Groups of path queries that share a start or a goal.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"

namespace waystar::core {

// A hub is an end that several queries may share, with all that a flood from it depends on. It can be hashed.
template <typename Hub>
struct HubGroups {
  struct Group {
    Hub hub;
    std::vector<std::size_t> members;
  };

  std::vector<Group> groups;
  // Members of no group.
  std::vector<std::size_t> singles;
};

// The queries that could join the group of a hub.
struct HubEntry {
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  std::size_t queries = 0;
  // Index of the group, once created.
  std::size_t group = kNone;
};

// Puts each query into the larger of the groups of its two ends. `ends` has the start and the goal of each
// query, or nullopt for a query that shares nothing. Groups of fewer than `least` queries are singles.
template <typename Hub>
HubGroups<Hub> GroupByHub(absl::Span<const std::optional<std::pair<Hub, Hub>>> ends, std::size_t least) {
  absl::flat_hash_map<Hub, HubEntry> entries;
  // Entries keep their addresses.
  entries.reserve(2 * ends.size());
  // For each query, the entries of its start and its goal.
  std::vector<std::pair<HubEntry*, HubEntry*>> of_query(ends.size());
  for (std::size_t i = 0; i < ends.size(); ++i) {
    if (ends[i]) {
      of_query[i] = {&entries[ends[i]->first], &entries[ends[i]->second]};
      ++of_query[i].first->queries;
      ++of_query[i].second->queries;
    }
  }
  HubGroups<Hub> made;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const auto [start, goal] = of_query[i];
    if (start == nullptr || std::max(start->queries, goal->queries) < least) {
      made.singles.push_back(i);
      continue;
    }
    const bool is_start = start->queries >= goal->queries;
    HubEntry& larger = is_start ? *start : *goal;
    if (larger.group == HubEntry::kNone) {
      larger.group = made.groups.size();
      made.groups.push_back({is_start ? ends[i]->first : ends[i]->second, {}});
    }
    made.groups[larger.group].members.push_back(i);
  }
  return made;
}

}  // namespace waystar::core
