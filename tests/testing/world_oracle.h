// Oracle of paths through portals: a slow, obvious judge.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/map/grid_map.h"
#include "server/geometry/cell.h"

namespace waystar {

// The agent that walks. Its tags are sorted.
struct Walker {
  core::CornerRule corner_rule = core::CornerRule::kNoCornerCutting;
  int footprint = 1;
  std::vector<std::string> required_tags = {};
};

// Cheapest costs from one cell to every cell of several maps, through the portals between them, by textbook
// Dijkstra.
class WorldOracle {
 public:
  // From a start where the walker cannot stand nothing can be reached. Portals to maps that are not there are
  // not taken.
  WorldOracle(const std::map<std::string, core::GridMap>& maps, const Walker& walker, const std::string& map,
              core::Cell start);

  // Returns nothing if the cell cannot be reached.
  std::optional<double> CostTo(const std::string& map, core::Cell cell) const;

 private:
  std::map<std::pair<std::string, std::pair<int, int>>, double> costs_;
};

}  // namespace waystar
