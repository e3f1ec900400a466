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
  // For grids of `side` x `side` cells, and a navigation mesh of that extent.
  RandomRequests(std::uint64_t seed, int side) : random_(seed), side_(side) {}

  Random& random() { return random_; }

  // Returns the id of one of a few maps, to some of which portals lead. Some requests take the mesh for a
  // grid.
  std::string MapId();

  // An empty grid with a few kinds of terrain, or a mesh of squares on a slope.
  v1::CreateMapRequest CreateMap(const std::string& map);
  v1::UpdateMapRequest UpdateMap(const std::string& map);
  v1::FindPathRequest FindPath(const std::string& map);
  // Returns paths between random places, which may be blocked.
  v1::ValidatePathsRequest ValidatePaths(const std::string& map);

 private:
  bool IsForMesh(const std::string& map);
  // The mesh as Wavefront OBJ.
  std::string Slope();
  v1::Cell CellOnMap();
  v1::Position PositionOnMesh();
  v1::Location Place(bool is_on_mesh);
  v1::Shape ShapeOnMap();
  std::string ObstacleId();
  std::string PortalId();
  std::string ProfileName();
  v1::MovementProfile Profile();
  v1::Portal Portal(bool is_on_mesh);
  v1::Obstacle Obstacle(bool is_on_mesh);
  v1::Edit AnyEdit(bool is_on_mesh);

  Random random_;
  const int side_;
};

}  // namespace waystar::stress
