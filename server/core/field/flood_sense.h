// Which way a flood goes.
#pragma once

#include <cstdint>

namespace waystar::core {

enum class FloodSense : std::uint8_t {
  // Costs of going from the seeds to a cell.
  kFromSeeds,
  // Costs of going from a cell to the seeds. Steps pay for the cell they enter, so that where cells differ in
  // cost, the way back costs something else than the way there; and portals may lead one way.
  kToSeeds,
};

}  // namespace waystar::core
