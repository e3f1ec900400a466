#include "server/core/graph/map/node_pages.h"

#include <iterator>
#include <tuple>

namespace waystar::core {

void ArcCostBound::Add(std::vector<CheapArc> arcs) {
  cheap.insert(cheap.end(), std::make_move_iterator(arcs.begin()), std::make_move_iterator(arcs.end()));
  const auto key = [](const CheapArc& arc) {
    return std::tuple(arc.ratio, arc.from.x, arc.from.y, arc.from.z, arc.to.x, arc.to.y, arc.to.z);
  };
  const std::size_t kept = std::min(cheap.size(), kMostCheap + 1);
  std::partial_sort(cheap.begin(), cheap.begin() + static_cast<std::ptrdiff_t>(kept), cheap.end(),
                    [&](const CheapArc& a, const CheapArc& b) { return key(a) < key(b); });
  cheap.resize(kept);
  while (cheap.size() > kMostCheap) {
    TakeDearestAsOther();
  }
  least_before_trim_ = least;
  TakeOthers();
  cheap.shrink_to_fit();
}

void ArcCostBound::Close() {
  if (least == std::numeric_limits<double>::infinity() && !cheap.empty()) {
    TakeDearestAsOther();
    TakeOthers();
  }
}

bool ArcCostBound::DependsOnChange(const ArcCostBound& before, const ArcCostBound& after) const {
  const double limit = least_before_trim_;
  const auto end_below = [&](const ArcCostBound& bound) {
    return std::ranges::lower_bound(bound.cheap, limit, {}, &CheapArc::ratio);
  };
  const auto count_at_limit = [&](const ArcCostBound& bound) {
    return std::ranges::count(bound.cheap, limit, &CheapArc::ratio);
  };
  return !std::equal(before.cheap.begin(), end_below(before), after.cheap.begin(), end_below(after)) ||
         std::min(before.least, limit) != std::min(after.least, limit) ||
         (after.least != limit && (before.least == limit || count_at_limit(before) > count_at_limit(after)));
}

void ArcCostBound::TakeOthers() {
  while (!cheap.empty() && cheap.back().ratio > kWorthwhile * least) {
    TakeDearestAsOther();
  }
}

void ArcCostBound::TakeDearestAsOther() {
  least = std::min(least, cheap.back().ratio);
  cheap.pop_back();
}

}  // namespace waystar::core
