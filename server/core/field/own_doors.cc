#include "server/core/field/own_doors.h"

#include "server/core/map/portal_table.h"
#include "server/core/search/portal_doors.h"
#include "server/core/search/world.h"

namespace waystar::core {

std::vector<Door> OwnDoors(const GridMap& map, const Agent& agent) {
  std::vector<Door> doors;
  if (!map.portals().empty()) {
    NoWorld world;
    std::vector<PortalScratch::Map> maps;
    PortalDoors finder(world, agent.footprint, agent.required_tags, maps, doors);
    finder.AddHome(map);
    finder.FindDoors();
  }
  return doors;
}

}  // namespace waystar::core
