#include "tests/stress/random_requests.h"

#include <string>

#include "absl/strings/str_cat.h"

namespace waystar::stress {
namespace {

// Few enough that most edits meet an obstacle that is there.
constexpr int kObstacleIds = 40;
constexpr int kMaps = 3;
constexpr int kPortalIds = 6;
constexpr int kProfileNames = 3;

}  // namespace

std::string RandomRequests::MapId() { return absl::StrCat("map-", random_.Between(1, kMaps)); }

v1::CreateMapRequest RandomRequests::CreateMap(const std::string& map) {
  v1::CreateMapRequest request;
  request.set_map(map);
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

v1::Portal RandomRequests::Portal() {
  v1::Portal portal;
  portal.set_id(PortalId());
  *portal.mutable_from() = CellOnMap();
  *portal.mutable_to() = CellOnMap();
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

v1::Edit RandomRequests::AnyEdit() {
  v1::Edit edit;
  switch (random_.Between(0, 11)) {
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
      *edit.mutable_put_portal() = Portal();
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
      if (random_.Chance(0.1)) {
        edit.set_remove_profile(ProfileName());
      } else {
        v1::NamedProfile& named = *edit.mutable_put_profile();
        named.set_name(ProfileName());
        *named.mutable_profile() = Profile();
      }
      break;
    default: {
      v1::Obstacle& obstacle = *edit.mutable_put_obstacle();
      obstacle.set_id(ObstacleId());
      *obstacle.mutable_shape() = ShapeOnMap();
      if (random_.Chance(0.4)) {
        obstacle.set_cost_addition(random_.Between(-2, 8));
      } else if (random_.Chance(0.3)) {
        obstacle.set_cost_factor(random_.Between(1, 6) / 2.0);
      }
      if (obstacle.effect_case() != v1::Obstacle::EFFECT_NOT_SET && obstacle.shape().discs_size() == 1) {
        obstacle.set_falloff(v1::FALLOFF_LINEAR);
      }
      if (random_.Chance(0.5)) {
        obstacle.mutable_lifetime()->set_nanos(random_.Between(1, 900) * 1'000'000);
      }
      break;
    }
  }
  return edit;
}

v1::UpdateMapRequest RandomRequests::UpdateMap(const std::string& map) {
  v1::UpdateMapRequest request;
  request.set_map(map);
  for (int i = random_.Between(1, 4); i > 0; --i) {
    *request.add_edits() = AnyEdit();
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
  v1::FindPathRequest request;
  request.set_map(map);
  *request.mutable_start()->mutable_cell() = CellOnMap();
  *request.add_goals()->mutable_cell() = CellOnMap();
  request.mutable_agent()->set_corner_rule(static_cast<v1::CornerRule>(random_.Between(0, 3)));
  request.set_unreachable_policy(static_cast<v1::UnreachablePolicy>(random_.Between(0, 2)));
  request.set_path_form(static_cast<v1::PathForm>(random_.Between(0, 4)));
  request.set_algorithm(static_cast<v1::Algorithm>(random_.Between(0, 6)));
  request.mutable_agent()->set_footprint(random_.Chance(0.7) ? random_.Between(0, 1) : random_.Between(2, 5));
  if (random_.Chance(0.2)) {
    *request.mutable_agent()->mutable_profile() = Profile();
  } else if (random_.Chance(0.2)) {
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
  v1::ValidatePathsRequest request;
  request.set_map(map);
  for (int i = 0; i < 3; ++i) {
    v1::Path& path = *request.add_paths();
    *path.add_points() = CellOnMap();
    *path.add_points() = CellOnMap();
  }
  return request;
}

}  // namespace waystar::stress
