#include "server/core/grid/field/flood_gates.h"

#include <algorithm>
#include <utility>

namespace waystar::core {

void FloodGates::Read(const FloodGround& ground, absl::Span<const Passage> passages, FloodSense sense) {
  gates_.clear();
  for (const Passage& passage : passages) {
    if (!ground.Contains(passage.from) || !ground.Contains(passage.to)) {
      continue;
    }
    Gate gate{.from = ground.IndexOf(passage.from),
              .to = ground.IndexOf(passage.to),
              .cost = passage.cost,
              .portal = passage.portal};
    if (sense == FloodSense::kToSeeds) {
      std::swap(gate.from, gate.to);
    }
    gates_.push_back(gate);
  }
  std::stable_sort(gates_.begin(), gates_.end(),
                   [](const Gate& a, const Gate& b) { return a.from < b.from; });
  at_.assign(gates_.empty() ? 0 : ground.cell_count() / kWordBits + 1, 0);
  for (const Gate& gate : gates_) {
    at_[gate.from / kWordBits] |= Word{1} << (gate.from % kWordBits);
  }
}

absl::Span<const Gate> FloodGates::From(std::uint32_t index) const {
  const auto begin = std::lower_bound(gates_.begin(), gates_.end(), index,
                                      [](const Gate& gate, std::uint32_t from) { return gate.from < from; });
  const auto end =
      std::find_if(begin, gates_.end(), [index](const Gate& gate) { return gate.from != index; });
  return absl::MakeConstSpan(gates_).subspan(static_cast<std::size_t>(begin - gates_.begin()),
                                             static_cast<std::size_t>(end - begin));
}

}  // namespace waystar::core
