#include "server/core/watch/mesh_answer.h"

#include <algorithm>
#include <cstddef>

#include "server/core/mesh/map/plan.h"

namespace waystar::core {
namespace {

// Exceeds the tolerance of positions and of cuts.
constexpr double kRoom = 4 * kMeshTolerance;
constexpr double kRounding = 1e-9;

}  // namespace

bool MeshChange::ConcernsEnds(const Reach& reach) const {
  return may_end_all_ || reach.is_unlimited ||
         std::ranges::any_of(places_.opened.boxes(), [&](const Box& box) {
           // An end in opened ground may be on another floor now.
           return box.Distance(reach.start.x, reach.start.y) <= kRoom ||
                  box.Distance(reach.goal.x, reach.goal.y) <= kRoom;
         });
}

bool MeshChange::MayBeShorter(const Reach& reach) const {
  return std::ranges::any_of(places_.opened.boxes(), [&](const Box& box) {
    return box.Distance(reach.start.x, reach.start.y) + box.Distance(reach.goal.x, reach.goal.y) <
           reach.limit + kRoom;
  });
}

MeshAnswer::MeshAnswer(const absl::StatusOr<Route>& route, bool is_plain) : error_(route.status()) {
  if (!route.ok()) {
    return;
  }
  outcome_ = route->path.outcome;
  cost_ = route->path.cost;
  corners_ = route->positions;
  corners_on_map_ = corners_.size();
  for (const MeshCrossing& crossing : route->mesh_crossings) {
    portals_.push_back(crossing.portal->id);
    leaps_.push_back(crossing.index);
    if (!crossing.map.empty()) {
      corners_on_map_ = std::min(corners_on_map_, crossing.index);
    }
  }
  // Lengths bound no costs.
  const bool is_weighted = route->mesh_agent != nullptr && route->mesh_agent->mesh().is_weighted();
  if (is_plain && !is_weighted && outcome_ == Outcome::kFound && !corners_.empty()) {
    TakeReach();
  }
}

void MeshAnswer::TakeReach() {
  reach_ = {};
  for (const WorldPoint& corner : corners_) {
    reach_.path = reach_.path.And(Box::Around(corner.x, corner.y, kRoom));
  }
  reach_.start = corners_.front();
  reach_.goal = corners_.back();
  // No path is shorter than a straight line.
  reach_.limit = cost_ > DistanceInPlan(reach_.start, reach_.goal) + kRounding ? cost_ : 0.0;
  reach_.is_unlimited = false;
}

Course MeshAnswer::CourseOn(const MapSnapshot& /*snapshot*/) const {
  return {{corners_.begin(), corners_.begin() + static_cast<std::ptrdiff_t>(corners_on_map_)}, leaps_};
}

std::shared_ptr<const KeptAnswer> MeshAnswer::Rest(const Course::Place& place,
                                                   const MapSnapshot& /*snapshot*/) const {
  return reach_.is_unlimited ? nullptr : RestFrom(place);
}

std::shared_ptr<MeshAnswer> MeshAnswer::RestFrom(const Course::Place& place) const {
  if (corners_.empty()) {
    return nullptr;
  }
  auto rest = std::make_shared<MeshAnswer>(*this);
  const bool is_leap = place.next < corners_on_map_ && std::ranges::binary_search(leaps_, place.next);
  const std::size_t passed = place.next - (is_leap ? 0 : 1);
  std::vector<WorldPoint>& corners = rest->corners_;
  corners.erase(corners.begin(), corners.begin() + static_cast<std::ptrdiff_t>(passed));
  rest->corners_on_map_ -= passed;
  const auto portals = std::ranges::upper_bound(leaps_, passed) - leaps_.begin();
  rest->portals_.erase(rest->portals_.begin(), rest->portals_.begin() + portals);
  rest->leaps_.erase(rest->leaps_.begin(), rest->leaps_.begin() + portals);
  for (std::size_t& leap : rest->leaps_) {
    leap -= passed;
  }
  if (!is_leap && place.next < corners_on_map_) {
    const WorldPoint& from = corners.front();
    const WorldPoint& to = corners[1];
    corners.front() = {from.x + place.share * (to.x - from.x), from.y + place.share * (to.y - from.y),
                       from.z + place.share * (to.z - from.z)};
  }
  rest->cost_ = 0.0;
  for (std::size_t i = 1; i < corners.size(); ++i) {
    rest->cost_ += DistanceInPlan(corners[i - 1], corners[i]);
  }
  // The costs of portals are unknown.
  rest->reach_.is_unlimited = reach_.is_unlimited || !rest->portals_.empty();
  if (!rest->reach_.is_unlimited) {
    rest->TakeReach();
  }
  return rest;
}

bool MeshAnswer::IsSameAs(const MeshAnswer& other) const {
  if (error_ != other.error_ || outcome_ != other.outcome_ || portals_ != other.portals_ ||
      corners_.size() != other.corners_.size()) {
    return false;
  }
  const std::ptrdiff_t skipped = corners_.empty() ? 0 : 1;
  return std::equal(corners_.begin() + skipped, corners_.end(), other.corners_.begin() + skipped);
}

ChangeEffect MeshAnswer::EffectOf(const MeshChange& change) const {
  if (!change.MayEnd(reach_)) {
    return ChangeEffect::kNone;
  }
  if (change.ConcernsEnds(reach_)) {
    return ChangeEffect::kEnd;
  }
  const bool is_blocked = std::ranges::any_of(change.places_.blocked.boxes(), [&](const Box& box) {
    const Box wider{box.x_low - kRoom, box.y_low - kRoom, box.x_high + kRoom, box.y_high + kRoom};
    for (std::size_t i = 0; i < corners_.size(); ++i) {
      const WorldPoint& from = corners_[i == 0 ? 0 : i - 1];
      if (wider.MayTouch(from.x, from.y, corners_[i].x, corners_[i].y)) {
        return true;
      }
    }
    return false;
  });
  if (is_blocked) {
    return ChangeEffect::kEnd;
  }
  return change.MayBeShorter(reach_) ? ChangeEffect::kCheaper : ChangeEffect::kNone;
}

ChangeEffect MeshAnswer::EffectOf(const MapChanges& changes, const MapSnapshot& snapshot) const {
  return EffectOf(MeshChange(changes, *snapshot.as_mesh()));
}

}  // namespace waystar::core
