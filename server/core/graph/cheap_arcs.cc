#include "server/core/graph/cheap_arcs.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

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
  const bool has_others = least < std::numeric_limits<double>::infinity();
  if (!has_others && !cheap.empty()) {
    least = cheap.back().ratio;
    cheap.pop_back();
  }
  while (!cheap.empty() && (cheap.size() > kMostCheap || cheap.back().ratio > kWorthwhile * least)) {
    least = std::min(least, cheap.back().ratio);
    cheap.pop_back();
  }
  cheap.shrink_to_fit();
}

}  // namespace waystar::core
