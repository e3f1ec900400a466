// The versions of map images.
#pragma once

#include <cstdint>

namespace waystar::core {

// In images of the first version, rows of grids have a byte a cell. In those of the first two, nodes of
// graphs have no labels, and in those of the first three meshes have no portals. docs/image-format.md
// describes them.
enum class ImageVersion : std::uint8_t { kFirst = 1, kSecond = 2, kThird = 3, kNewest = 4 };

}  // namespace waystar::core
