#include "server/core/edit/edit_work.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "server/core/elements/obstacle.h"
#include "server/core/elements/obstacle_table.h"
#include "server/core/grid/shapes/shape_check.h"
#include "server/core/grid/shapes/shape_raster.h"

namespace waystar::core {
namespace {

constexpr std::int64_t kWorkOfOne = 64;

// Sums the work of unchecked edits.
class Estimator {
 public:
  // If `cells` is unset, each part of a shape counts as `work_of_part`.
  Estimator(const ObstacleTable& obstacles, const std::optional<Rectangle>& cells, std::int64_t work_of_part)
      : obstacles_(obstacles), cells_(cells), work_of_part_(work_of_part) {}

  std::int64_t work() const { return work_; }

  void operator()(const BlockCells& edit) { AddPaint(edit.shape); }
  void operator()(const UnblockCells& edit) { AddPaint(edit.shape); }
  void operator()(const SetTerrain& edit) { AddPaint(edit.shape); }
  void operator()(const PutObstacle& edit) {
    AddKnown(edit.obstacle.id);
    put_[edit.obstacle.id] = {&edit.obstacle.shape, edit.obstacle.effect.kind};
    AddKnown(edit.obstacle.id);
  }
  // Counted in full at the target too, although it may be partly off the map there.
  void operator()(const MoveObstacle& edit) {
    AddKnown(edit.id);
    AddKnown(edit.id);
  }
  void operator()(const ResizeObstacle& edit) {
    AddKnown(edit.id);
    if (const std::optional<Known> before = Find(edit.id)) {
      put_[edit.id] = {&edit.shape, before->kind};
      AddKnown(edit.id);
    }
  }
  void operator()(const RemoveObstacle& edit) { AddKnown(edit.id); }
  void operator()(const Overlay& overlay) {
    AddPaint(overlay.blocked);
    AddEach(overlay.blocked_nodes.size() + overlay.blocked_edges.size());
    std::ranges::for_each(overlay.ignored_obstacles, [&](const std::string& id) { AddKnown(id); });
  }
  void operator()(const PutNodes& edit) { AddEach(edit.nodes.size()); }
  void operator()(const RemoveNodes& edit) { AddEach(edit.nodes.size()); }
  void operator()(const PutEdges& edit) { AddEach(edit.edges.size()); }
  void operator()(const RemoveEdges& edit) { AddEach(edit.edges.size()); }
  void operator()(const SetEnabled& edit) { AddEach(edit.nodes.size() + edit.edges.size()); }
  // Edits of portals and profiles count nothing.
  template <typename Other>
  void operator()(const Other& /*edit*/) {}

 private:
  // An obstacle of the map or of an earlier edit.
  struct Known {
    const Shape* shape = nullptr;
    ObstacleEffect::Kind kind = ObstacleEffect::Kind::kBlock;
  };

  std::optional<Known> Find(const std::string& id) const {
    if (const auto found = put_.find(id); found != put_.end()) {
      return found->second;
    }
    const auto obstacle = obstacles_.Find(id);
    return obstacle == nullptr ? std::nullopt
                               : std::optional<Known>({&obstacle->shape, obstacle->effect.kind});
  }

  void AddPaint(const Shape& shape) { Add(shape, 1); }
  void AddKnown(const std::string& id) {
    if (const std::optional<Known> known = Find(id)) {
      Add(*known->shape, known->kind == ObstacleEffect::Kind::kBlock ? 1 : kWorkOfCost);
    }
  }
  void AddEach(std::size_t count) { Add(static_cast<std::int64_t>(count), kWorkOfOne); }

  void Add(const Shape& shape, std::int64_t times) {
    if (!cells_.has_value()) {
      // `work_of_part_` may be 0, and Add() divides by `times`, which is never 0.
      Add(static_cast<std::int64_t>(PartCount(shape)) * work_of_part_, times);
    } else if (CheckShape(shape, *cells_, ShapeOverlap::kNone).ok()) {
      Add(static_cast<std::int64_t>(shape.cells.size()), kWorkOfOne * times);
      Add(WorkOf(shape, *cells_), times);
    }
  }
  void Add(std::int64_t work, std::int64_t times) {
    constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
    work_ = work > (kMax - work_) / times ? kMax : work_ + work * times;
  }

  const ObstacleTable& obstacles_;
  const std::optional<Rectangle> cells_;
  const std::int64_t work_of_part_;
  std::map<absl::string_view, Known> put_;
  std::int64_t work_ = 0;
};

Estimator EstimatorOf(const GridMap& map) { return {map.obstacles(), map.bounds(), 0}; }
Estimator EstimatorOf(const WaypointGraph& graph) { return {graph.obstacles(), std::nullopt, 0}; }
Estimator EstimatorOf(const NavMesh& mesh) { return {mesh.obstacles(), std::nullopt, 0}; }

}  // namespace

std::int64_t EstimateWork(absl::Span<const Edit> edits, const AnyMap& map) {
  Estimator estimator = std::visit([](const auto& of_kind) { return EstimatorOf(of_kind); }, map);
  for (const Edit& edit : edits) {
    std::visit(estimator, edit);
  }
  return estimator.work();
}

std::int64_t EstimateWork(const Overlay& overlay, const GridMap& map) {
  Estimator estimator = EstimatorOf(map);
  estimator(overlay);
  return estimator.work();
}

std::int64_t EstimateWork(const Overlay& overlay, const WaypointGraph& graph) {
  // Assumes the worst, since the nodes and arcs near a shape are unknown.
  const auto all = static_cast<std::int64_t>(graph.node_count() + graph.arc_count());
  Estimator estimator(graph.obstacles(), std::nullopt, all);
  estimator(overlay);
  return estimator.work();
}

}  // namespace waystar::core
