#include "server/formats/grid/terrain_table.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/formats/text/number.h"

namespace waystar::core {
namespace {

Terrain TerrainOf(const CellRule& rule) {
  Terrain terrain{.symbol = rule.symbol, .name = rule.name, .cost = rule.cost, .impassable = rule.impassable};
  if (terrain.name.empty()) {
    terrain.name = rule.impassable    ? "impassable"
                   : rule.cost == 1.0 ? "ground"
                                      : absl::StrCat("cost-", ShortestText(rule.cost));
  }
  return terrain;
}

// Compares everything but the symbols.
bool IsSame(const Terrain& a, const Terrain& b) {
  return a.name == b.name && a.cost == b.cost && a.impassable == b.impassable;
}

absl::Status BadTerrain(const Terrain& terrain, absl::string_view message) {
  return MakeError(ErrorReason::kBadTerrain, "",
                   absl::StrCat("terrain \"", absl::CHexEscape(terrain.name.substr(0, 60)), "\": ", message));
}

}  // namespace

absl::StatusOr<TerrainId> TerrainTable::Add(const CellRule& rule) {
  if (rule.blocked) {
    return GridMapEditor::kObstacle;
  }
  Terrain terrain = TerrainOf(rule);
  const auto known = std::find_if(terrains_.begin(), terrains_.end(), [&](const Terrain& other) {
    return IsSame(other, terrain) && (terrain.symbol == 0 || terrain.symbol == other.symbol);
  });
  if (known != terrains_.end()) {
    return static_cast<TerrainId>(known - terrains_.begin());
  }
  if (terrain.symbol == 0) {
    const std::optional<char> symbol = FreeSymbol(terrain.name);
    if (!symbol) {
      return BadTerrain(terrain,
                        absl::StrCat("a file has at most ", terrains_.size(), " different terrains"));
    }
    terrain.symbol = *symbol;
  } else if (!IsFree(terrain.symbol)) {
    return BadTerrain(terrain, absl::StrCat("'", absl::CHexEscape(std::string(1, terrain.symbol)),
                                            "' is another terrain's symbol, or can be none"));
  }
  GridSettings alone;
  alone.terrains = {terrain};
  if (const absl::Status status = CheckGridSettings(alone); !status.ok()) {
    return BadTerrain(terrain, status.message());
  }
  taken_.set(static_cast<unsigned char>(terrain.symbol));
  terrains_.push_back(std::move(terrain));
  return static_cast<TerrainId>(terrains_.size() - 1);
}

bool TerrainTable::IsFree(char symbol) const {
  return absl::ascii_isgraph(static_cast<unsigned char>(symbol)) && !IsObstacleSymbol(symbol) &&
         !taken_.test(static_cast<unsigned char>(symbol));
}

std::optional<char> TerrainTable::FreeSymbol(absl::string_view name) const {
  for (const char letter : name) {
    for (const char symbol : {absl::ascii_tolower(static_cast<unsigned char>(letter)),
                              absl::ascii_toupper(static_cast<unsigned char>(letter))}) {
      if (absl::ascii_isalnum(static_cast<unsigned char>(symbol)) && IsFree(symbol)) {
        return symbol;
      }
    }
  }
  for (char symbol = '~'; symbol > ' '; --symbol) {
    if (IsFree(symbol)) {
      return symbol;
    }
  }
  return std::nullopt;
}

}  // namespace waystar::core
