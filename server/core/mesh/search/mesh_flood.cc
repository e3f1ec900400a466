#include "server/core/mesh/search/mesh_flood.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>

#include "server/base/error.h"
#include "server/core/mesh/search/interval_expansion.h"
#include "server/core/mesh/search/polygons_around.h"
#include "server/core/search/checks.h"
#include "server/core/search/interruption.h"

namespace waystar::core {
namespace {

class IntervalFlood : private IntervalExpansion<IntervalFlood> {
  using Expansion = IntervalExpansion<IntervalFlood>;
  friend Expansion;

 public:
  IntervalFlood(const NavMesh& mesh, const MeshFloodTask& task, const Budget& budget, MeshScratch& scratch)
      : Expansion(mesh, scratch), task_(task), budget_(budget) {}

  MeshFloodReport Run() {
    report_.end = SearchEnd::kScratchLimit;
    if (scratch_.Start(mesh_.vertex_count(), 0, mesh_.polygon_count()) && Seed()) {
      report_.end = Loop();
    }
    if (report_.end == SearchEnd::kExhausted) {
      CollectPaths();
    }
    return std::move(report_);
  }

 private:
  bool IsSeed(std::uint32_t root) const { return MeshInterval::kStart - root < task_.seeds.size(); }
  const WorldPoint& SeedAt(std::uint32_t root) const {
    return task_.seeds[MeshInterval::kStart - root].point;
  }

  bool Seed() {
    std::vector<PolygonNumber>& polygons = scratch_.start_polygons();
    for (std::uint32_t i = 0; i < task_.seeds.size(); ++i) {
      polygons.clear();
      FindPolygonsOfAllFans(mesh_, task_.seeds[i], polygons);
      std::size_t most = polygons.size();
      for (const PolygonNumber polygon : polygons) {
        most += mesh_.VerticesOf(polygon).size();
      }
      if (!scratch_.Reserve(most) || !scratch_.ReservePolygons(most)) {
        return false;
      }
      for (const PolygonNumber polygon : polygons) {
        EnterAtSeed(MeshInterval::kStart - i, polygon);
      }
      if (!ExpandSeed(MeshInterval::kStart - i, polygons)) {
        return false;
      }
    }
    return true;
  }

  // Adds the seed as an interval of length 0 through which the polygon is entered.
  void EnterAtSeed(std::uint32_t seed, PolygonNumber polygon) {
    const WorldPoint& at = SeedAt(seed);
    MeshInterval interval;
    interval.root = seed;
    interval.before = seed;
    interval.polygon = polygon;
    interval.is_final = true;
    const IntervalNumber number = scratch_.Add(interval);
    FloodedPolygon& flooded = Flood(polygon);
    if (task_.aim == FloodAim::kMiddle) {
      Improve(flooded, number, FloodedPolygon::kNoTurn, DistanceInPlan(at, flooded.point));
    } else if (Improve(flooded, number, FloodedPolygon::kNoTurn, 0.0)) {
      flooded.point = at;
    }
  }

  SearchEnd Loop() {
    while (!scratch_.is_open_empty()) {
      const IntervalNumber number = scratch_.Pop().interval;
      const MeshInterval& interval = scratch_.At(number);
      if (!IsSeed(interval.root) && scratch_.IsBeaten<true>(interval.g, interval.root)) {
        continue;
      }
      if (const std::optional<SearchEnd> end = BudgetEnd(budget_, report_.statistics.expanded)) {
        return *end;
      }
      ++report_.statistics.expanded;
      const PolygonNumber polygon = interval.polygon;
      if (!ReserveFor(polygon) || !scratch_.ReservePolygons(mesh_.VerticesOf(polygon).size())) {
        return SearchEnd::kScratchLimit;
      }
      Expand(number);
    }
    return SearchEnd::kExhausted;
  }

  void AddSuccessor(const Root& root, IntervalNumber parent, PolygonNumber polygon, std::uint32_t edge_right,
                    std::uint32_t edge_left, const End& right, const End& left) {
    const WorldPoint& from = PointOf(root.vertex);
    if (!NoteEnds(from, root, edge_right, edge_left, right, left)) {
      return;
    }
    const Sighted nearest = NearestOf(from, right, left);
    const double length = root.g + nearest.distance;
    // The path to the rounded point may be shorter.
    if (length > task_.max_length + kFloodRounding) {
      return;
    }
    MeshInterval interval;
    Fill(interval, from, root, parent, polygon, edge_left, right, left);
    const IntervalNumber number = scratch_.Add(interval);
    ++report_.statistics.generated;
    scratch_.Push({length, number});
    FloodedPolygon& flooded = Flood(polygon);
    if (task_.aim == FloodAim::kNearest) {
      if (Improve(flooded, number, FloodedPolygon::kNoTurn, length)) {
        flooded.point = {nearest.x, nearest.y, 0.0};
      }
    } else if (const std::optional<Arrival> arrival = ArrivalAt(flooded.point, interval, root, edge_right)) {
      Improve(flooded, number, arrival->is_turned ? arrival->root.vertex : FloodedPolygon::kNoTurn,
              arrival->length);
    }
  }

  FloodedPolygon& Flood(PolygonNumber polygon) {
    const std::size_t known = scratch_.flooded().size();
    FloodedPolygon& flooded = scratch_.Flood(polygon);
    if (task_.aim == FloodAim::kMiddle && scratch_.flooded().size() > known) {
      flooded.point = MiddleOf(polygon);
    }
    return flooded;
  }

  WorldPoint MiddleOf(PolygonNumber polygon) const {
    const absl::Span<const std::uint32_t> corners = mesh_.VerticesOf(polygon);
    double x = 0.0;
    double y = 0.0;
    for (const std::uint32_t corner : corners) {
      x += mesh_.VertexAt(corner).x;
      y += mesh_.VertexAt(corner).y;
    }
    const auto count = static_cast<double>(corners.size());
    return mesh_.NearestPoint(polygon, x / count, y / count);
  }

  static bool Improve(FloodedPolygon& flooded, IntervalNumber interval, std::uint32_t turn, double length) {
    if (length >= flooded.length) {
      return false;
    }
    flooded.interval = interval;
    flooded.turn = turn;
    flooded.length = length;
    return true;
  }

  void CollectPaths() {
    report_.paths.reserve(scratch_.flooded().size());
    for (const FloodedPolygon& flooded : scratch_.flooded()) {
      // Only a path to a nearer point of the polygon may be known.
      if (!std::isfinite(flooded.length)) {
        continue;
      }
      const MeshFloodPath path = PathOf(flooded);
      if (path.length <= task_.max_length) {
        report_.paths.push_back(path);
      }
    }
    std::ranges::sort(report_.paths, [&](const MeshFloodPath& a, const MeshFloodPath& b) {
      return mesh_.Precedes(a.polygon, b.polygon);
    });
  }

  MeshFloodPath PathOf(const FloodedPolygon& flooded) const {
    MeshFloodPath path{.polygon = flooded.polygon, .point = flooded.point, .length = flooded.length};
    const MeshInterval& interval = scratch_.At(flooded.interval);
    if (task_.aim == FloodAim::kNearest && !interval.is_final) {
      path.point = mesh_.NearestPoint(flooded.polygon, flooded.point.x, flooded.point.y);
      path.length = interval.g + DistanceInPlan(PointOf(interval.root), path.point);
    }
    path.next = NextOf(path.point, flooded);
    return path;
  }

  // Returns where the path first turns, not counting turning points on the way to the next; else its end.
  WorldPoint NextOf(const WorldPoint& point, const FloodedPolygon& flooded) const {
    WorldPoint next = point;
    // Returns true if the path turns before it reaches this root.
    const auto is_beyond = [&](std::uint32_t root) {
      const WorldPoint& to = PointOf(root);
      if (IsSamePlace(next, to)) {
        return false;
      }
      if (!IsSamePlace(point, next) && !IsOnTheWay(point, next, to)) {
        return true;
      }
      next = to;
      return false;
    };
    if (flooded.turn != FloodedPolygon::kNoTurn) {
      is_beyond(flooded.turn);
    }
    IntervalNumber number = flooded.interval;
    while (true) {
      const std::uint32_t root = scratch_.At(number).root;
      if (is_beyond(root) || IsSeed(root) || is_beyond(scratch_.At(number).before)) {
        return next;
      }
      while (scratch_.At(number).root == root) {
        number = scratch_.At(number).parent;
      }
    }
  }

  const MeshFloodTask& task_;
  const Budget& budget_;
  MeshFloodReport report_;
};

}  // namespace

absl::Status StatusOfMeshFlood(SearchEnd end, std::uint64_t expanded) {
  if (end == SearchEnd::kExpansionLimit || end == SearchEnd::kScratchLimit) {
    return MakeError(ErrorReason::kRegionTooLarge, "",
                     "a search over so large a mesh would take more than the server's limits for one answer");
  }
  return StatusOfEnd(end, expanded);
}

MeshFloodReport FloodMesh(const NavMesh& mesh, const MeshFloodTask& task, const Budget& budget,
                          MeshScratch& scratch) {
  assert(!task.seeds.empty());
  return IntervalFlood(mesh, task, budget, scratch).Run();
}

}  // namespace waystar::core
