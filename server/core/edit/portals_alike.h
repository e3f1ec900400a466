// Search for portals that connect the same places.
#pragma once

#include "server/core/elements/id_table.h"

namespace waystar::core {

// Returns another portal that connects the same places, or null. Linear in the number of portals.
template <typename Portal>
const Portal* FindAlike(const IdTable<Portal>& portals, const Portal& portal) {
  const Portal* found = nullptr;
  portals.VisitAfter("", [&](const Portal& other) {
    const bool is_alike =
        other.to_map == portal.to_map &&
        ((other.from == portal.from && other.to == portal.to) ||
         ((other.both_ways || portal.both_ways) && other.from == portal.to && other.to == portal.from));
    if (is_alike && other.id != portal.id) {
      found = &other;
    }
    return found == nullptr;
  });
  return found;
}

}  // namespace waystar::core
