#include "client/cli/export_losses.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"

namespace waystar::cli {
namespace {

void AddCounted(int count, const char* thing, std::vector<std::string>& losses) {
  if (count > 0) {
    losses.push_back(absl::StrCat(count, " ", thing, count == 1 ? "" : "s"));
  }
}

// Lists the properties that the Moving AI format cannot express: it only has letters for terrains of cost 1.
void AddOptions(const v1::GridInfo& grid, std::vector<std::string>& losses) {
  AddCounted(grid.profiles_size(), "profile", losses);
  if (grid.squares().connectivity() == v1::CONNECTIVITY_FOUR) {
    losses.emplace_back("the connectivity of 4");
  } else if (grid.has_squares() && grid.squares().diagonal_cost() != std::sqrt(2.0)) {
    losses.emplace_back("the diagonal cost");
  }
  if (!grid.world().empty()) {
    losses.push_back(absl::StrCat("the world ", grid.world()));
  }
  if (grid.cell_size() != 1 || grid.origin().x() != 0 || grid.origin().y() != 0 || grid.origin().z() != 0) {
    losses.emplace_back("the origin and the size of cells");
  }
  if (std::any_of(grid.terrains().begin(), grid.terrains().end(),
                  [](const v1::Terrain& terrain) { return !terrain.impassable() && terrain.cost() != 1; })) {
    losses.emplace_back("the costs of terrains");
  }
}

}  // namespace

std::vector<std::string> LossesOf(v1::MapFormat format, const v1::MapInfo& map) {
  std::vector<std::string> losses;
  if (format == v1::MAP_FORMAT_TEXT || format == v1::MAP_FORMAT_MOVING_AI) {
    AddCounted(map.grid().named_obstacles(), "named obstacle", losses);
    AddCounted(map.grid().portals(), "portal", losses);
  }
  if (format == v1::MAP_FORMAT_MOVING_AI) {
    AddOptions(map.grid(), losses);
  }
  return losses;
}

}  // namespace waystar::cli
