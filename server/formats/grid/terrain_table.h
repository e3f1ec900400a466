// Assigns ids and symbols to terrains of files that do not use symbols.
#pragma once

#include <bitset>
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

// Terrains are distinct if their name, cost or passability differs. The first is the ground, '.' at cost 1. A
// terrain that asks for no symbol gets the first free letter of its name, else any free symbol, so terrains
// that ask for one must be added first.
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

}  // namespace waystar::core
