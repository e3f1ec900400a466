// Allocates ids and symbols to the terrains of a map whose file does not name them by symbols.
#pragma once

#include <bitset>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/core/grid/grid_settings.h"
#include "server/core/map/grid_map_editor.h"

namespace waystar::core {

// What a file says that a cell is.
struct CellRule {
  // A nameless obstacle lies on the cell; the other fields are ignored.
  bool blocked = false;
  // If it is empty, the name is "ground" at cost 1, and otherwise one like "cost-2.5".
  std::string name;
  double cost = 1.0;
  bool impassable = false;
  // 0 means any free symbol.
  char symbol = 0;

  friend bool operator==(const CellRule&, const CellRule&) = default;
};

// Terrains that differ in their name or cost are different; the first is the ground, '.' at cost 1. A symbol
// that nobody asked for is a letter of the name, the first that is free, else any free one; so terrains that
// ask for a symbol must be added first.
//
// Thread safety: none.
class TerrainTable {
 public:
  // Returns the id, or GridMapEditor::kObstacle for what is blocked. Returns INVALID_ARGUMENT / BAD_TERRAIN
  // without a field for what CheckGridSettings refuses, a symbol that another terrain has, or more terrains
  // than there are symbols.
  absl::StatusOr<TerrainId> Add(const CellRule& rule);

  const std::vector<Terrain>& terrains() const { return terrains_; }

 private:
  std::optional<char> FreeSymbol(absl::string_view name) const;
  bool IsFree(char symbol) const;

  std::vector<Terrain> terrains_ = {Terrain{}};
  std::bitset<256> taken_ = std::bitset<256>().set('.');
};

}  // namespace waystar::core
