#include "client/cli/search_intervals.h"

namespace waystar::cli {

void SearchIntervals::Add(const v1::SearchEvent& event) {
  const auto [entry, is_new] = indices_.try_emplace(event.interval().id(), intervals_.size());
  if (is_new) {
    intervals_.push_back({.interval = event.interval(), .g = event.g(), .f = event.f()});
  }
  SearchedInterval& interval = intervals_[entry->second];
  if (event.kind() == v1::SearchEvent::KIND_EXPANDED && !interval.is_expanded) {
    interval.is_expanded = true;
    expanded_.push_back(entry->second);
  }
}

std::vector<SearchedInterval> SearchIntervals::All() const {
  std::vector<SearchedInterval> all;
  all.reserve(intervals_.size());
  for (const std::size_t index : expanded_) {
    all.push_back(intervals_[index]);
  }
  for (const SearchedInterval& interval : intervals_) {
    if (!interval.is_expanded) {
      all.push_back(interval);
    }
  }
  return all;
}

}  // namespace waystar::cli
