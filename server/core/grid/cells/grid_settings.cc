#include "server/core/grid/cells/grid_settings.h"

#include <algorithm>
#include <bitset>
#include <limits>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "server/base/error.h"

namespace waystar::core {
namespace {

bool IsPrintable(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](unsigned char c) { return absl::ascii_isgraph(c); });
}

absl::Status CheckTerrain(const Terrain& terrain) {
  if (!absl::ascii_isgraph(static_cast<unsigned char>(terrain.symbol)) || IsObstacleSymbol(terrain.symbol)) {
    return MakeError(ErrorReason::kBadTerrain, "symbol",
                     "a terrain's symbol is one printable ASCII character other than a space, '#', '@' "
                     "and 'O'");
  }
  if (terrain.name.empty() || terrain.name.size() > kMaxTerrainNameBytes || !IsPrintable(terrain.name)) {
    return MakeError(ErrorReason::kBadTerrain, "name",
                     "a terrain's name has 1 to 63 printable ASCII characters and no spaces");
  }
  // Negated so that NaN fails.
  if (!(terrain.cost >= kMinTerrainCost && terrain.cost <= kMaxTerrainCost)) {
    return MakeError(ErrorReason::kBadTerrain, "cost",
                     absl::StrCat("a terrain's cost must be 0.001 to 1000, got ", terrain.cost));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckGridSettings(const GridSettings& settings) {
  if (!(settings.diagonal_cost >= 1.0 && settings.diagonal_cost <= 2.0)) {
    return MakeError(ErrorReason::kBadValue, "squares.diagonal_cost",
                     absl::StrCat("the diagonal cost must be 1 to 2, got ", settings.diagonal_cost));
  }
  if (settings.connectivity == Connectivity::kSix && settings.diagonal_cost != 1.0) {
    return MakeError(ErrorReason::kBadValue, "squares.diagonal_cost", "hexagons have no diagonals");
  }
  if ((settings.connectivity == Connectivity::kSix) != settings.frame.hexagons.has_value()) {
    return MakeError(ErrorReason::kBadValue, "squares.connectivity",
                     "a map of hexagons has a layout of hexagons, and no connectivity but its own");
  }
  if (settings.world.size() > kMaxWorldBytes || !IsPrintable(settings.world)) {
    return MakeError(ErrorReason::kBadValue, "world",
                     "a world's name has at most 63 printable ASCII characters and no spaces");
  }
  WAYSTAR_RETURN_IF_ERROR(CheckWorldFrame(settings.frame));
  if (settings.terrains.empty() || settings.terrains.size() > kMaxTerrains) {
    return MakeError(
        ErrorReason::kBadTerrain, "terrains",
        absl::StrCat("a map must have 1 to ", kMaxTerrains, " terrains, got ", settings.terrains.size()));
  }
  std::bitset<256> seen;
  for (std::size_t i = 0; i < settings.terrains.size(); ++i) {
    const Terrain& terrain = settings.terrains[i];
    const std::string field = absl::StrCat("terrains[", i, "].");
    if (absl::Status status = CheckTerrain(terrain); !status.ok()) {
      return WithFieldPrefix(status, field);
    }
    if (seen.test(static_cast<unsigned char>(terrain.symbol))) {
      return MakeError(ErrorReason::kBadTerrain, field + "symbol",
                       absl::StrCat("two terrains have the symbol '", std::string(1, terrain.symbol), "'"));
    }
    seen.set(static_cast<unsigned char>(terrain.symbol));
  }
  return absl::OkStatus();
}

std::size_t TerrainOf(char symbol, const GridSettings& settings) {
  const auto it = std::find_if(settings.terrains.begin(), settings.terrains.end(),
                               [symbol](const Terrain& terrain) { return terrain.symbol == symbol; });
  return static_cast<std::size_t>(it - settings.terrains.begin());
}

Cost DiagonalCost(Cost straight, double diagonal_cost) {
  return static_cast<Cost>(std::llround(static_cast<double>(straight) * diagonal_cost));
}

StepCosts::StepCosts(const GridSettings& settings) {
  Cost min_cost = std::numeric_limits<Cost>::max();
  Cost max_cost = 0;
  for (std::size_t i = 0; i < settings.terrains.size(); ++i) {
    const Terrain& terrain = settings.terrains[i];
    straight[i] = CostFromDouble(terrain.cost);
    diagonal[i] = DiagonalCost(straight[i], settings.diagonal_cost);
    passable[i] = !terrain.impassable;
    if (passable[i]) {
      min_cost = std::min(min_cost, straight[i]);
      max_cost = std::max(max_cost, straight[i]);
      if (straight[i] == min_cost) {
        min_diagonal = diagonal[i];
      }
    }
  }
  if (max_cost > 0) {
    min_straight = min_cost;
    uniform = min_cost == max_cost;
  }
}

}  // namespace waystar::core
