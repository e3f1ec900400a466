// A mapping from the colours, values and names of a level editor's file to terrains, as lines of text.
//
//   # A comment: a number sign and a space.
//   #3060a0 water 3
//   #3060a080 shallows 2 ~
//   #000000 blocked
//   value 2 mud 4
//   terrain lava impassable
//   transparent blocked
//   grey 1 9
//   else ground 1
//
// A line says of pixels of a colour (#rrggbb or #rrggbbaa), of pixels that are wholly transparent, of a value
// (of LDtk's IntGrid, or of an image's palette), of whatever a file calls by a name (`terrain`), or of what
// no other line speaks of (`else`) that they are `blocked`, or a terrain: its name, its cost or `impassable`,
// and if one likes its symbol. After `terrain` the name is that of the terrain. `grey 1 9`: pixels whose red,
// green and blue are equal cost from 1 where they are white to 9 where they are black, in 64 steps.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/core/import/terrain_table.h"

namespace waystar::core {

struct GreyRamp {
  double white = 1.0;
  double black = 1.0;
};

struct TerrainMapping {
  // The rules by red, green, blue and alpha, red in the highest byte.
  std::map<std::uint32_t, CellRule> colors;
  std::map<std::uint32_t, CellRule> values;
  std::map<std::string, CellRule, std::less<>> names;
  std::optional<CellRule> transparent;
  std::optional<GreyRamp> grey;
  std::optional<CellRule> otherwise;

  // Gives terrains that ask for a symbol that symbol. It never fails for a mapping made by
  // ParseTerrainMapping and an empty table.
  absl::Status ReserveSymbols(TerrainTable& terrains) const;
};

// The field of its errors, from the root of a request to create a map.
inline constexpr absl::string_view kTerrainsField = "import_options.terrains";

// Returns INVALID_ARGUMENT / BAD_FORMAT with field kTerrainsField, naming the line or the terrain whose
// symbol is taken.
absl::StatusOr<TerrainMapping> ParseTerrainMapping(absl::string_view text);

}  // namespace waystar::core
