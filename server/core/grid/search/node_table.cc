#include "server/core/grid/search/node_table.h"

#include <bit>
#include <cstddef>
#include <cstdint>

namespace waystar::core {

void NodeTable::Grow() {
  nodes_.reserve(GrownCapacity());
  const std::size_t slots = SlotsFor(nodes_.capacity());
  slots_.assign(slots, kNoNode);
  shift_ = 64U - static_cast<unsigned>(std::countr_zero(slots));
  for (NodeIndex i = 0; i < nodes_.size(); ++i) {
    // Marks the slots of nodes not inserted yet as free.
    nodes_[i].slot = kNoNode;
  }
  for (NodeIndex i = 0; i < nodes_.size(); ++i) {
    const Place place = Probe(nodes_[i].cell);
    nodes_[i].slot = place.slot;
    slots_[place.slot] = i;
  }
}

}  // namespace waystar::core
