#include "server/render/scene/cell_looks.h"

#include <cstddef>

#include "absl/strings/str_cat.h"
#include "server/render/scene/theme.h"

namespace waystar::core {
namespace {

LegendEntry EntryOf(const Terrain& terrain, picture::Color color) {
  return {.color = color,
          .symbol = terrain.symbol,
          .text = terrain.impassable ? absl::StrCat(terrain.name, ", impassable")
                                     : absl::StrCat(terrain.name, ", cost ", terrain.cost)};
}

// Kinds of cells that occur in a part of a map.
struct Survey {
  std::array<bool, kMaxTerrains> terrains{};
  bool nameless = false;
  bool named = false;
  bool dearer = false;
  bool cheaper = false;
};

}  // namespace

CellLooks::CellLooks(const GridMap& map, const Rectangle& part)
    : map_(map),
      paper_(theme::kPaper),
      obstacle_{.color = theme::kObstacle, .symbol = kObstacleSymbol, .is_wall = true},
      named_{.color = theme::kNamedObstacle, .symbol = '%', .is_wall = true} {
  const std::vector<Terrain>& terrains = map.settings().terrains;
  for (std::size_t i = 0; i < terrains.size(); ++i) {
    terrains_[i] = {
        .color = ColorOf(terrains[i], i), .symbol = terrains[i].symbol, .is_wall = terrains[i].impassable};
  }
  const auto& hexagons = map.settings().frame.hexagons;
  if (hexagons.has_value() && HasOffsets(hexagons->layout)) {
    for (int y = 0; y < map.height(); ++y) {
      board_spans_.push_back(hexagons->InRow(y, part));
    }
  }
}

CellLook CellLooks::WithCost(Cell cell, TerrainId terrain) const {
  CellLook look = terrains_[terrain];
  const Cost usual = map_.step_costs().straight[terrain];
  const Cost own = map_.cell_costs()->At(cell).straight;
  if (own != 0 && own != usual && usual > 0 && !look.is_wall) {
    look.color = TintByCost(look.color, static_cast<double>(own) / static_cast<double>(usual));
    look.symbol = own > usual ? '!' : '+';
  }
  return look;
}

std::vector<LegendEntry> CellLooks::LegendOf(const Rectangle& region, const StopCheck& stop) const {
  Survey found;
  for (int y = region.y; y < region.y + region.height && !IsStopped(&stop); ++y) {
    const TerrainId* terrains = map_.TerrainRow(y);
    for (int x = region.x; x < region.x + region.width; ++x) {
      if (!board_spans_.empty() && !IsOnBoard({x, y})) {
        continue;
      }
      const bool nameless = map_.HasNamelessObstacle({x, y});
      const bool named = !nameless && map_.IsCovered({x, y});
      found.nameless |= nameless;
      found.named |= named;
      if (nameless || named) {
        continue;
      }
      found.terrains[terrains[x]] = true;
      if (map_.cell_costs() != nullptr) {
        const char symbol = WithCost({x, y}, terrains[x]).symbol;
        found.dearer |= symbol == '!';
        found.cheaper |= symbol == '+';
      }
    }
  }
  std::vector<LegendEntry> legend;
  const std::vector<Terrain>& terrains = map_.settings().terrains;
  for (std::size_t i = 0; i < terrains.size(); ++i) {
    if (found.terrains[i]) {
      legend.push_back(EntryOf(terrains[i], terrains_[i].color));
    }
  }
  const auto add = [&](bool is_there, const CellLook& look, const char* text) {
    if (is_there) {
      legend.push_back({.color = look.color, .symbol = look.symbol, .text = text});
    }
  };
  add(found.nameless, obstacle_, "obstacle");
  add(found.named, named_, "named obstacle");
  add(found.dearer, {.color = TintByCost(theme::kPaper, 4), .symbol = '!'}, "costs more");
  add(found.cheaper, {.color = TintByCost(theme::kPaper, 0.25), .symbol = '+'}, "costs less");
  return legend;
}

}  // namespace waystar::core
