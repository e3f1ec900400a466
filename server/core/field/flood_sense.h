// The sense of a flood: from its seeds or to them.
#pragma once

#include <cstdint>

namespace waystar::core {

enum class FloodSense : std::uint8_t {
  // The flood finds the costs of going from the seeds to each cell.
  kFromSeeds,
  // The flood finds the costs of going from each cell to the seeds. Steps pay for the cell they enter, so
  // that where cells differ in cost the way back costs something else than the way there; and portals may
  // lead one way.
  kToSeeds,
};

}  // namespace waystar::core
