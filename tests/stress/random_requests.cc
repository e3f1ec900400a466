#include "tests/stress/random_requests.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "tests/service/about_map.h"

namespace waystar::stress {
namespace {

// Few enough that most edits meet an obstacle that is there.
constexpr int kObstacleIds = 40;
constexpr int kMaps = 3;
constexpr int kPortalIds = 6;
constexpr int kProfileNames = 3;
constexpr char kMesh[] = "mesh-1";
// In each direction of the mesh, which rises by 1 with each row.
constexpr int kSquares = 20;

}  // namespace

std::string RandomRequests::MapId() {
  const int map = random_.Between(0, kMaps);
  return map == 0 ? kMesh : absl::StrCat("map-", map);
}

bool RandomRequests::IsForMesh(const std::string& map) { return map == kMesh && !random_.Chance(0.02); }

std::string RandomRequests::Slope() {
  std::string slope;
  for (int i = 0; i < (kSquares + 1) * (kSquares + 1); ++i) {
    const int row = i / (kSquares + 1);
    const int column = i % (kSquares + 1);
    absl::StrAppend(&slope, "v ", column * side_ / kSquares, " ", row, " ", row * side_ / kSquares, "\n");
    if (row > 0 && column > 0 && !random_.Chance(0.05)) {
      absl::StrAppend(&slope, "f -1 -2 -", kSquares + 3, " -", kSquares + 2, "\n");
    }
  }
  return slope;
}

v1::CreateMapRequest RandomRequests::CreateMap(const std::string& map) {
  auto request = About<v1::CreateMapRequest>(map);
  if (map == kMesh) {
    request.set_data(Slope());
    request.mutable_import_options()->set_agent_radius(random_.Between(0, 4) / 4.0);
    return request;
  }
  request.mutable_blank()->set_width(side_);
  request.mutable_blank()->set_height(side_);
  if (random_.Chance(0.5)) {
    v1::Terrain& mud = *request.mutable_grid()->add_terrains();
    mud.set_symbol("~");
    mud.set_cost(2.5);
  }
  if (random_.Chance(0.25)) {
    request.mutable_grid()->mutable_squares()->set_connectivity(v1::CONNECTIVITY_FOUR);
  }
  return request;
}

v1::Cell RandomRequests::CellOnMap() {
  v1::Cell cell;
  cell.set_x(random_.Between(0, side_ - 1));
  cell.set_y(random_.Between(0, side_ - 1));
  return cell;
}

v1::Position RandomRequests::PositionOnMesh() {
  v1::Position position;
  position.set_x(random_.Between(0, 1000) * side_ / 1000.0);
  position.set_y(random_.Between(0, 1000) * side_ / 1000.0);
  return position;
}

v1::Location RandomRequests::Place(bool is_on_mesh) {
  v1::Location place;
  if (is_on_mesh) {
    *place.mutable_position() = PositionOnMesh();
  } else {
    *place.mutable_cell() = CellOnMap();
  }
  return place;
}

std::string RandomRequests::ObstacleId() { return absl::StrCat("unit-", random_.Between(1, kObstacleIds)); }

std::string RandomRequests::PortalId() { return absl::StrCat("door-", random_.Between(1, kPortalIds)); }

std::string RandomRequests::ProfileName() {
  return absl::StrCat("agent-", random_.Between(1, kProfileNames));
}

v1::MovementProfile RandomRequests::Profile() {
  v1::MovementProfile profile;
  profile.set_footprint(random_.Between(0, 3));
  profile.set_corner_rule(static_cast<v1::CornerRule>(random_.Between(0, 3)));
  profile.set_diagonals(random_.Chance(0.7));
  if (random_.Chance(0.4)) {
    v1::TerrainCost& ground = *profile.add_terrain_costs();
    ground.set_terrain(".");
    ground.set_cost(random_.Between(1, 8) / 2.0);
  }
  if (random_.Chance(0.3)) {
    profile.add_forbidden_terrains("~");
  } else if (random_.Chance(0.3)) {
    v1::TerrainCost& mud = *profile.add_terrain_costs();
    mud.set_terrain("~");
    mud.set_cost(random_.Between(1, 8) / 2.0);
  }
  if (random_.Chance(0.2)) {
    profile.add_required_tags("dry");
  }
  return profile;
}

v1::Portal RandomRequests::Portal(bool is_on_mesh) {
  v1::Portal portal;
  portal.set_id(PortalId());
  if (is_on_mesh) {
    *portal.mutable_from_position() = PositionOnMesh();
    *portal.mutable_to_position() = PositionOnMesh();
    portal.set_width(random_.Chance(0.3) ? random_.Between(1, 20) : 0);
  } else {
    *portal.mutable_from() = CellOnMap();
    *portal.mutable_to() = CellOnMap();
  }
  portal.set_cost(random_.Between(0, 20) / 2.0);
  if (random_.Chance(0.3)) {
    portal.set_to_map(MapId());
  } else {
    portal.set_both_ways(random_.Chance(0.5));
  }
  if (random_.Chance(0.5)) {
    portal.add_tags("dry");
  }
  portal.set_closed(random_.Chance(0.1));
  return portal;
}

v1::Shape RandomRequests::ShapeOnMap() {
  v1::Shape shape;
  const v1::Cell at = CellOnMap();
  switch (random_.Between(0, 4)) {
    case 0:
      for (int i = random_.Between(1, 10); i > 0; --i) {
        *shape.add_cells() = CellOnMap();
      }
      break;
    case 1: {
      v1::Rectangle& rectangle = *shape.add_rectangles();
      rectangle.set_x(at.x());
      rectangle.set_y(at.y());
      rectangle.set_width(random_.Between(1, 12));
      rectangle.set_height(random_.Between(1, 12));
      break;
    }
    case 2: {
      v1::Disc& disc = *shape.add_discs();
      disc.mutable_center()->set_x(at.x());
      disc.mutable_center()->set_y(at.y());
      disc.set_radius(random_.Between(0, 24) / 4.0);
      break;
    }
    case 3: {
      v1::Polygon& polygon = *shape.add_polygons();
      for (const auto& [dx, dy] : {std::pair{0, 0}, {9, 2}, {3, 8}}) {
        v1::Point& vertex = *polygon.add_vertices();
        vertex.set_x(at.x() + dx);
        vertex.set_y(at.y() + dy);
      }
      break;
    }
    default: {
      v1::Line& line = *shape.add_lines();
      line.mutable_start()->set_x(at.x());
      line.mutable_start()->set_y(at.y());
      line.mutable_end()->set_x(at.x() + random_.Between(-20, 20));
      line.mutable_end()->set_y(at.y() + random_.Between(-20, 20));
      line.set_width(random_.Between(0, 3));
      break;
    }
  }
  return shape;
}

v1::Obstacle RandomRequests::Obstacle(bool is_on_mesh) {
  v1::Obstacle obstacle;
  obstacle.set_id(ObstacleId());
  *obstacle.mutable_shape() = ShapeOnMap();
  if (is_on_mesh && random_.Chance(0.5)) {
    obstacle.mutable_heights()->set_low(random_.Between(0, kSquares));
    obstacle.mutable_heights()->set_high(obstacle.heights().low() + random_.Between(-1, kSquares));
  }
  const double effects = is_on_mesh ? 0.02 : 0.4;
  if (random_.Chance(effects)) {
    obstacle.set_cost_addition(random_.Between(-2, 8));
  } else if (random_.Chance(effects)) {
    obstacle.set_cost_factor(random_.Between(1, 6) / 2.0);
  }
  if (obstacle.effect_case() != v1::Obstacle::EFFECT_NOT_SET && obstacle.shape().discs_size() == 1) {
    obstacle.set_falloff(v1::FALLOFF_LINEAR);
  }
  if (random_.Chance(0.5)) {
    obstacle.mutable_lifetime()->set_nanos(random_.Between(1, 900) * 1'000'000);
  }
  return obstacle;
}

v1::Edit RandomRequests::AnyEdit(bool is_on_mesh) {
  v1::Edit edit;
  switch (is_on_mesh ? random_.Between(6, 15) : random_.Between(0, 12)) {
    case 0:
    case 1:
      *edit.mutable_block() = ShapeOnMap();
      break;
    case 2:
    case 3:
    case 4:
      *edit.mutable_unblock() = ShapeOnMap();
      break;
    case 5:
      *edit.mutable_set_terrain()->mutable_shape() = ShapeOnMap();
      edit.mutable_set_terrain()->set_terrain(random_.Chance(0.3) ? "~" : ".");
      break;
    case 6: {
      v1::MoveObstacle& move = *edit.mutable_move_obstacle();
      move.set_id(ObstacleId());
      move.set_dx(random_.Between(-2, 2));
      move.set_dy(random_.Between(-2, 2));
      break;
    }
    case 7:
      edit.set_remove_obstacle(ObstacleId());
      break;
    case 8:
      *edit.mutable_put_portal() = Portal(is_on_mesh);
      break;
    case 9:
      if (random_.Chance(0.3)) {
        edit.set_remove_portal(PortalId());
      } else {
        edit.mutable_switch_portal()->set_id(PortalId());
        edit.mutable_switch_portal()->set_closed(random_.Chance(0.3));
      }
      break;
    case 10:
      if (is_on_mesh) {
        *edit.mutable_add_obstacle() = Obstacle(is_on_mesh);
      } else if (random_.Chance(0.1)) {
        edit.set_remove_profile(ProfileName());
      } else {
        v1::NamedProfile& named = *edit.mutable_put_profile();
        named.set_name(ProfileName());
        *named.mutable_profile() = Profile();
      }
      break;
    case 11:
      edit.mutable_resize_obstacle()->set_id(ObstacleId());
      *edit.mutable_resize_obstacle()->mutable_shape() = ShapeOnMap();
      break;
    default:
      *edit.mutable_put_obstacle() = Obstacle(is_on_mesh);
      break;
  }
  return edit;
}

v1::UpdateMapRequest RandomRequests::UpdateMap(const std::string& map) {
  auto request = About<v1::UpdateMapRequest>(map);
  for (int i = random_.Between(1, 4); i > 0; --i) {
    *request.add_edits() = AnyEdit(IsForMesh(map));
  }
  if (random_.Chance(0.2)) {
    request.set_request_id(absl::StrCat("request-", random_.Between(1, 1'000'000'000)));
  }
  if (random_.Chance(0.05)) {
    request.mutable_expected_version()->set_epoch(static_cast<std::uint64_t>(random_.Between(0, 1)));
    request.mutable_expected_version()->set_revision(static_cast<std::uint64_t>(random_.Between(1, 1000)));
  }
  return request;
}

v1::FindPathRequest RandomRequests::FindPath(const std::string& map) {
  auto request = About<v1::FindPathRequest>(map);
  const bool is_for_mesh = IsForMesh(map);
  *request.mutable_start() = Place(is_for_mesh);
  *request.add_goals() = Place(is_for_mesh);
  request.set_unreachable_policy(static_cast<v1::UnreachablePolicy>(random_.Between(0, 2)));
  if (is_for_mesh) {
    request.mutable_snap()->set_radius(random_.Between(1, 20));
    request.set_with_corridor(random_.Chance(0.5));
    request.set_with_polygons(random_.Chance(0.2));
  } else {
    request.mutable_agent()->set_corner_rule(static_cast<v1::CornerRule>(random_.Between(0, 3)));
    request.set_path_form(static_cast<v1::PathForm>(random_.Between(0, 4)));
    request.set_algorithm(static_cast<v1::Algorithm>(random_.Between(0, 6)));
    request.mutable_agent()->set_footprint(random_.Chance(0.7) ? random_.Between(0, 1)
                                                               : random_.Between(2, 5));
  }
  if (is_for_mesh && random_.Chance(0.2)) {
    request.mutable_agent()->mutable_profile()->add_required_tags("dry");
  } else if (random_.Chance(is_for_mesh ? 0.02 : 0.2)) {
    *request.mutable_agent()->mutable_profile() = Profile();
  } else if (random_.Chance(is_for_mesh ? 0.02 : 0.2)) {
    request.mutable_agent()->set_profile_name(ProfileName());
  }
  if (random_.Chance(0.1)) {
    request.set_goal_map(MapId());
  }
  if (random_.Chance(0.2)) {
    *request.mutable_view()->mutable_overlay()->mutable_blocked() = ShapeOnMap();
    request.mutable_view()->mutable_overlay()->add_ignored_obstacles(ObstacleId());
  }
  return request;
}

v1::ValidatePathsRequest RandomRequests::ValidatePaths(const std::string& map) {
  auto request = About<v1::ValidatePathsRequest>(map);
  for (int i = 0; i < 3; ++i) {
    v1::Path& path = *request.add_paths();
    if (IsForMesh(map)) {
      *path.add_positions() = PositionOnMesh();
      *path.add_positions() = PositionOnMesh();
    } else {
      *path.add_points() = CellOnMap();
      *path.add_points() = CellOnMap();
    }
  }
  return request;
}

}  // namespace waystar::stress
