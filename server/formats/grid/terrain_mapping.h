// Mapping from the colours, values and names in a level editor's file to terrains, as lines of text.
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
// The first words of a line select pixels of a colour (#rrggbb or #rrggbbaa), fully transparent pixels, a
// value (of an LDtk IntGrid or an image palette), anything with a name in the file (`terrain`), or everything
// else (`else`). The rest says that they are `blocked`, or gives a terrain: its name, its cost or
// `impassable`, and optionally its symbol. After `terrain`, the name is that of the terrain. `grey 1 9` maps
// pixels with equal red, green and blue to costs from 1 for white to 9 for black, in 64 steps.
#pragma once

#include <bitset>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/map/grid_map_editor.h"

namespace waystar::core {

// Meaning of a cell in a file.
struct CellRule {
  // True for an unnamed obstacle; the other fields are ignored then.
  bool blocked = false;
  // If empty, the name becomes "ground" at cost 1, otherwise one like "cost-2.5".
  std::string name;
  double cost = 1.0;
  bool impassable = false;
  // 0 for any free symbol.
  char symbol = 0;

  friend bool operator==(const CellRule&, const CellRule&) = default;
};

// Terrains of a map, distinct if their name, cost or passability differs. The first is the ground, '.' at
// cost 1. A rule without a symbol gets the first free letter of its name, else any free symbol, so rules with
// a symbol must be added first.
//
// Thread safety: none.
class TerrainTable {
 public:
  // Returns the id, or GridMapEditor::kObstacle if the rule is blocked. Returns INVALID_ARGUMENT /
  // BAD_TERRAIN without a field for a terrain that CheckGridSettings rejects, a symbol that is taken, or more
  // terrains than symbols.
  absl::StatusOr<TerrainId> Add(const CellRule& rule);

  const std::vector<Terrain>& terrains() const { return terrains_; }

 private:
  std::optional<char> FreeSymbol(absl::string_view name) const;
  bool IsFree(char symbol) const;

  std::vector<Terrain> terrains_ = {Terrain{}};
  std::bitset<256> taken_ = std::bitset<256>().set('.');
};

struct GreyRamp {
  double white = 1.0;
  double black = 1.0;
};

struct TerrainMapping {
  // Rules by RGBA colour, red in the highest byte.
  std::map<std::uint32_t, CellRule> colors;
  std::map<std::uint32_t, CellRule> values;
  std::map<std::string, CellRule, std::less<>> names;
  std::optional<CellRule> transparent;
  std::optional<GreyRamp> grey;
  std::optional<CellRule> otherwise;

  // Reserves the symbols of the mapping's rules. Never fails for a mapping made by ParseTerrainMapping and an
  // empty table.
  absl::Status ReserveSymbols(TerrainTable& terrains) const;
};

// Error field, from the root of a request to create a map.
inline constexpr absl::string_view kTerrainsField = "import_options.terrains";

// Parses the text of a mapping. Returns INVALID_ARGUMENT / BAD_FORMAT with field kTerrainsField, naming the
// line, or the terrain whose symbol is taken.
absl::StatusOr<TerrainMapping> ParseTerrainMapping(absl::string_view text);

}  // namespace waystar::core
