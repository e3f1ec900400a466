#include "server/core/edit/edit_work.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
#include <string>

#include "server/core/map/obstacle.h"
#include "server/core/map/obstacle_table.h"
#include "server/core/shape/shape_check.h"
#include "server/core/shape/shape_raster.h"
#include "server/core/shape/shape_shift.h"

namespace waystar::core {
namespace {

constexpr std::int64_t kWorkOfOne = 64;

// Adds up the work of edits that have not been checked.
class Estimator {
 public:
  // One of the two is null.
  Estimator(const GridMap* grid, const WaypointGraph* graph) : grid_(grid), graph_(graph) {}

  std::int64_t work() const { return work_; }

  void operator()(const BlockCells& edit) { AddPaint(edit.shape); }
  void operator()(const UnblockCells& edit) { AddPaint(edit.shape); }
  void operator()(const SetTerrain& edit) { AddPaint(edit.shape); }
  void operator()(const PutObstacle& edit) {
    AddKnown(edit.obstacle.id);
    AddObstacle(edit.obstacle.shape, edit.obstacle.effect);
  }
  void operator()(const MoveObstacle& edit) {
    if (const auto before = Find(edit.id); before != nullptr) {
      AddObstacle(before->shape, before->effect);
      if (const auto moved = ShiftShape(before->shape, edit.dx, edit.dy, bounds()); moved.ok()) {
        AddObstacle(*moved, before->effect);
      }
    }
  }
  void operator()(const ResizeObstacle& edit) {
    if (const auto before = Find(edit.id); before != nullptr) {
      AddObstacle(before->shape, before->effect);
      AddObstacle(edit.shape, before->effect);
    }
  }
  void operator()(const RemoveObstacle& edit) { AddKnown(edit.id); }
  void operator()(const Overlay& overlay) {
    AddPaint(overlay.blocked);
    std::ranges::for_each(overlay.ignored_obstacles, [&](const std::string& id) { AddKnown(id); });
  }
  void operator()(const PutNodes& edit) { AddEach(edit.nodes.size()); }
  void operator()(const RemoveNodes& edit) { AddEach(edit.nodes.size()); }
  void operator()(const PutEdges& edit) { AddEach(edit.edges.size()); }
  void operator()(const RemoveEdges& edit) { AddEach(edit.edges.size()); }
  void operator()(const SetEnabled& edit) { AddEach(edit.nodes.size() + edit.edges.size()); }
  // Those of portals and profiles.
  template <typename Other>
  void operator()(const Other& /*edit*/) {}

 private:
  Rectangle bounds() const { return grid_ != nullptr ? grid_->bounds() : Rectangle(); }

  std::shared_ptr<const Obstacle> Find(const std::string& id) const {
    return (grid_ != nullptr ? grid_->obstacles() : graph_->sight().obstacles()).Find(id);
  }

  void AddPaint(const Shape& shape) { Add(shape, 1); }
  void AddObstacle(const Shape& shape, const ObstacleEffect& effect) {
    Add(shape, effect.kind == ObstacleEffect::Kind::kBlock ? 1 : kWorkOfCost);
  }
  void AddKnown(const std::string& id) {
    if (const auto obstacle = Find(id); obstacle != nullptr) {
      AddObstacle(obstacle->shape, obstacle->effect);
    }
  }
  void AddEach(std::size_t count) { Add(static_cast<std::int64_t>(count), kWorkOfOne); }

  void Add(const Shape& shape, std::int64_t times) {
    if (grid_ != nullptr && CheckShape(shape, bounds(), ShapeOverlap::kNone).ok()) {
      Add(static_cast<std::int64_t>(shape.cells.size()), kWorkOfOne * times);
      Add(WorkOf(shape, bounds()), times);
    }
  }
  void Add(std::int64_t work, std::int64_t times) {
    constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
    work_ = work > (kMax - work_) / times ? kMax : work_ + work * times;
  }

  const GridMap* const grid_;
  const WaypointGraph* const graph_;
  std::int64_t work_ = 0;
};

}  // namespace

std::int64_t EstimateWork(absl::Span<const Edit> edits, const std::variant<GridMap, WaypointGraph>& map) {
  Estimator estimator(std::get_if<GridMap>(&map), std::get_if<WaypointGraph>(&map));
  for (const Edit& edit : edits) {
    std::visit(estimator, edit);
  }
  return estimator.work();
}

std::int64_t EstimateWork(const Overlay& overlay, const GridMap& map) {
  Estimator estimator(&map, nullptr);
  estimator(overlay);
  return estimator.work();
}

}  // namespace waystar::core
