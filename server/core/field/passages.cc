#include "server/core/field/passages.h"

#include "server/core/map/portal_table.h"
#include "server/core/portal/portal_doors.h"
#include "server/core/portal/world.h"

namespace waystar::core {

std::vector<Passage> OwnPassages(const GridMap& map, const Agent& agent) {
  std::vector<Passage> passages;
  if (map.portals().empty()) {
    return passages;
  }
  NoWorld world;
  std::vector<PortalScratch::Map> maps;
  std::vector<Door> doors;
  PortalDoors finder(world, agent.footprint, agent.required_tags, maps, doors);
  finder.AddHome(map);
  finder.FindDoors();
  for (const Door& door : doors) {
    passages.push_back({.from = door.from, .to = door.to, .cost = door.portal->cost, .portal = door.portal});
  }
  return passages;
}

}  // namespace waystar::core
