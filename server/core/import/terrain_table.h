// The terrains of a map whose file names them otherwise than by symbols.
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
  // A nameless obstacle; the rest is not looked at.
  bool blocked = false;
  // What is left empty is "ground" at cost 1, and "cost-2.5" and so on otherwise.
  std::string name;
  double cost = 1.0;
  bool impassable = false;
  // 0: any that is free.
  char symbol = 0;

  friend bool operator==(const CellRule&, const CellRule&) = default;
};

// Gives terrains their ids and symbols. Terrains that differ in their name or cost are different; the first
// is the ground, '.' at cost 1. A symbol that nobody asked for is a letter of the name, the first that is
// free, else any, so those that were asked for have to be added first.
//
// Thread safety: none.
class TerrainTable {
 public:
  // GridMapEditor::kObstacle for what is blocked. INVALID_ARGUMENT / BAD_TERRAIN without a field: those of
  // CheckGridSettings; a symbol that another terrain has; more terrains than there are symbols.
  absl::StatusOr<TerrainId> Add(const CellRule& rule);

  const std::vector<Terrain>& terrains() const { return terrains_; }

 private:
  std::optional<char> FreeSymbol(absl::string_view name) const;
  bool IsFree(char symbol) const;

  std::vector<Terrain> terrains_ = {Terrain{}};
  std::bitset<256> taken_ = std::bitset<256>().set('.');
};

}  // namespace waystar::core
