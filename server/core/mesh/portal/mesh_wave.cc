#include "server/core/mesh/portal/mesh_wave.h"

#include <algorithm>
#include <cassert>

#include "server/core/mesh/search/polygons_around.h"

namespace waystar::core {
namespace {

// Up to this many targets, each interval evaluates every target for its heuristic.
constexpr std::size_t kFewTargets = 8;

}  // namespace

MeshWave::MeshWave(const NavMesh& mesh, std::vector<WaveTarget> targets, absl::Span<const MeshPlace> seeds,
                   MeshScratch& scratch)
    : Expansion(mesh, scratch), targets_(std::move(targets)), reached_(targets_.size()) {
  has_started_ = scratch_.Start(mesh_.vertex_count(), mesh_.room_count());
  if (!has_started_) {
    return;
  }
  for (std::uint32_t i = 0; i < targets_.size(); ++i) {
    around_.clear();
    FindPolygonsOfAllFans(mesh_, targets_[i].place, around_);
    for (const PolygonNumber polygon : around_) {
      polygons_.push_back({polygon, i});
      MarkOuterRooms(polygon);
    }
  }
  single_targets_ = targets_.size();
  if (single_targets_ > kFewTargets) {
    const auto is_end = [](const WaveTarget& target) { return target.rest > 0.0; };
    const auto ends = static_cast<std::size_t>(std::ranges::find_if(targets_, is_end) - targets_.begin());
    single_targets_ = ends > kFewTargets ? 0 : ends;
  }
  for (std::size_t i = single_targets_; i < targets_.size(); ++i) {
    least_rest_ = std::min(least_rest_, targets_[i].rest);
  }
  std::sort(polygons_.begin(), polygons_.end());
  for (const MeshPlace& seed : seeds) {
    for (const MeshPlace& place : FindPlacesAround(mesh_, seed)) {
      MarkOuterRooms(place.polygon);
    }
  }
}

template <typename Visitor>
void MeshWave::VisitTargets(PolygonNumber polygon, Visitor visit) const {
  for (auto i = std::lower_bound(polygons_.begin(), polygons_.end(), std::pair(polygon, std::uint32_t{0}));
       i != polygons_.end() && i->first == polygon; ++i) {
    visit(i->second);
  }
}

std::size_t MeshWave::TargetsIn(PolygonNumber polygon) const {
  std::size_t count = 0;
  VisitTargets(polygon, [&](std::uint32_t /*target*/) { ++count; });
  return count;
}

// A neighbour may be entered as seen from the root, and from both ends of the interval.
std::size_t MeshWave::MostSuccessors(PolygonNumber polygon) const {
  constexpr std::size_t kMostRoots = 3;
  const absl::Span<const PolygonNumber> neighbours = mesh_.NeighboursOf(polygon);
  std::size_t most = neighbours.size() + 4;
  if (!polygons_.empty()) {
    for (const PolygonNumber neighbour : neighbours) {
      most += neighbour == kNoPolygon ? 0 : kMostRoots * TargetsIn(neighbour);
    }
  }
  return most;
}

bool MeshWave::AddSeed(const MeshPlace& place, double g) {
  assert(seeds_.size() < std::size_t{1} << 20);
  if (!has_started_) {
    return false;
  }
  const auto seed = static_cast<std::uint32_t>(MeshInterval::kStart - seeds_.size());
  seeds_.push_back(place);
  around_.clear();
  FindPolygonsOfAllFans(mesh_, place, around_);
  std::size_t most = 0;
  for (const PolygonNumber polygon : around_) {
    most += TargetsIn(polygon) + MostSuccessors(polygon);
  }
  if (!scratch_.Reserve(most)) {
    return false;
  }
  for (const PolygonNumber polygon : around_) {
    VisitTargets(polygon, [&](std::uint32_t target) {
      MeshInterval interval;
      interval.g = g;
      interval.root = seed;
      interval.before = seed;
      interval.polygon = polygon;
      interval.edge_left = MeshInterval::kNoEdge;
      Reach(target, interval, g + DistanceInPlan(place.point, targets_[target].place.point));
    });
  }
  return ExpandSeed(seed, around_, g);
}

void MeshWave::Reach(std::uint32_t target, const MeshInterval& interval, double g) {
  Reached& reached = reached_[target];
  if (g >= reached.g) {
    return;
  }
  MeshInterval last = interval;
  last.is_final = true;
  // A final interval has no sight; the field holds the target.
  last.right_sight = target;
  reached = {g, scratch_.Add(last)};
  scratch_.Push({g + targets_[target].rest, reached.arrival});
  ++generated_;
}

MeshWave::Step MeshWave::Next() {
  const IntervalNumber number = scratch_.Pop().interval;
  const MeshInterval& interval = scratch_.At(number);
  if (interval.is_final) {
    Step step;
    step.arrival = Arrival{interval.right_sight, reached_[interval.right_sight].g};
    // A shorter path may have been found since.
    if (reached_[interval.right_sight].arrival != number) {
      step.arrival.reset();
    }
    return step;
  }
  if (!IsSeed(interval.root) && scratch_.IsBeaten(interval.g, interval.root)) {
    return {};
  }
  if (!scratch_.Reserve(MostSuccessors(interval.polygon))) {
    return {.is_full = true, .is_expansion = false, .arrival = {}};
  }
  Expand(number);
  return {.is_full = false, .is_expansion = true, .arrival = {}};
}

void MeshWave::AddSuccessor(const Root& root, IntervalNumber parent, PolygonNumber polygon,
                            std::uint32_t edge_right, std::uint32_t edge_left, const End& right,
                            const End& left) {
  if (!scratch_.IsRoomMarked(mesh_.RoomOf(polygon))) {
    return;
  }
  const WorldPoint& from = PointOf(root.vertex);
  if (!NoteEnds(from, root, edge_right, edge_left, right, left)) {
    return;
  }
  MeshInterval interval;
  Fill(interval, from, root, parent, polygon, edge_left, right, left);
  VisitTargets(polygon, [&](std::uint32_t target) {
    const WorldPoint& point = targets_[target].place.point;
    if (const std::optional<Expansion::Arrival> arrival = ArrivalAt(point, interval, root, edge_right)) {
      MeshInterval last = interval;
      last.root = arrival->root.vertex;
      last.before = arrival->root.before;
      last.g = arrival->root.g;
      last.is_turned = arrival->is_turned;
      Reach(target, last, arrival->length);
    }
  });
  scratch_.Push({root.g + RestOf(interval, from, edge_right), scratch_.Add(interval)});
  ++generated_;
}

double MeshWave::RestOf(const MeshInterval& interval, const WorldPoint& root, std::uint32_t right) const {
  // Measured from the root, as are the lengths of paths through the interval.
  const double x = std::clamp(root.x, std::min(interval.left_x, interval.right_x),
                              std::max(interval.left_x, interval.right_x));
  const double y = std::clamp(root.y, std::min(interval.left_y, interval.right_y),
                              std::max(interval.left_y, interval.right_y));
  double rest = DistanceInPlan(root.x, root.y, x, y) + least_rest_;
  for (std::size_t i = 0; i < single_targets_; ++i) {
    const WaveTarget& target = targets_[i];
    rest = std::min(rest, LeastDistance(target.place.point, interval, root, right) + target.rest);
  }
  return rest;
}

std::uint32_t MeshWave::Trace(std::uint32_t target, std::vector<WorldPoint>& corners,
                              std::vector<PolygonNumber>& corridor) const {
  return MeshInterval::kStart -
         TracePath(reached_[target].arrival, targets_[target].place.point, corners, corridor);
}

}  // namespace waystar::core
