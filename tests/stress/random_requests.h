// Requests of every kind, at random, most of them such as the server carries out.
#pragma once

#include <string>

#include "tests/testing/random.h"
#include "waystar/v1/map_service.pb.h"
#include "waystar/v1/path_service.pb.h"
#include "waystar/v1/types.pb.h"

namespace waystar::stress {

// Thread safety: one thread. The same seed gives the same requests.
class RandomRequests {
 public:
  // For maps of `side` x `side` cells.
  RandomRequests(std::uint64_t seed, int side) : random_(seed), side_(side) {}

  Random& random() { return random_; }

  // Of one of a few maps, to some of which portals lead.
  std::string MapId();

  // An empty map with a few kinds of terrain.
  v1::CreateMapRequest CreateMap(const std::string& map);
  v1::UpdateMapRequest UpdateMap(const std::string& map);
  v1::FindPathRequest FindPath(const std::string& map);
  // Of a path between two random cells, which may be blocked.
  v1::ValidatePathsRequest ValidatePaths(const std::string& map);

 private:
  v1::Cell CellOnMap();
  v1::Shape ShapeOnMap();
  std::string ObstacleId();
  std::string PortalId();
  std::string ProfileName();
  v1::MovementProfile Profile();
  v1::Portal Portal();
  v1::Edit AnyEdit();

  Random random_;
  const int side_;
};

}  // namespace waystar::stress
