// Version of a map: its epoch and its revision.
#pragma once

#include <cstdint>

namespace waystar::core {

struct MapVersion {
  // Random number that identifies the incarnation: drawn for each map that is created, and unique across
  // maps, servers and restarts. Never 0.
  std::uint64_t epoch = 0;
  // 1 for a new map; grows by one with each commit. Revisions are comparable only within one epoch, since a
  // map that reuses an id starts at 1 again.
  std::uint64_t revision = 1;

  friend bool operator==(const MapVersion&, const MapVersion&) = default;
};

}  // namespace waystar::core
