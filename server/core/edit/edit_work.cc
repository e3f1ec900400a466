#include "server/core/edit/edit_work.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/core/elements/obstacle.h"
#include "server/core/elements/obstacle_table.h"
#include "server/core/grid/shapes/shape_check.h"
#include "server/core/grid/shapes/shape_raster.h"

namespace waystar::core {
namespace {

constexpr std::int64_t kWorkOfOne = 64;
// Cutting a hole takes some 50 us, and deriving a polygon's part of a mesh, with landmarks, some 2 us.
constexpr std::int64_t kWorkOfHole = 1 << 17;
constexpr std::int64_t kWorkOfPolygon = 1 << 12;

// Sums the work of unchecked edits.
class Estimator {
 public:
  // If `cells` is unset, each part of a shape counts as `work_of_part`.
  // An edit of ground counts as `work_of_ground`.
  Estimator(const ObstacleTable& obstacles, const std::optional<Rectangle>& cells, std::int64_t work_of_part,
            std::int64_t work_of_ground = 0)
      : obstacles_(obstacles), cells_(cells), work_of_part_(work_of_part), work_of_ground_(work_of_ground) {}

  std::int64_t work() const { return work_; }

  void operator()(const BlockCells& edit) { AddPaint(edit.shape); }
  void operator()(const UnblockCells& edit) { AddPaint(edit.shape); }
  void operator()(const SetTerrain& edit) { AddPaint(edit.shape); }
  void operator()(const PutObstacle& edit) {
    AddKnown(edit.obstacle.id);
    put_[edit.obstacle.id] = {&edit.obstacle.shape, edit.obstacle.effect.kind};
    AddKnown(edit.obstacle.id);
  }
  void operator()(const PutMeshObstacle& edit) { (*this)(edit.put); }
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
  void operator()(const PutGround& edit) {
    Add(work_of_ground_ + static_cast<std::int64_t>(edit.ground.polygons.size()) * kWorkOfPolygon, 1);
    if (edit.ground.region) {
      AddPaint(*edit.ground.region);
    }
  }
  void operator()(const RemoveGround& /*edit*/) { Add(work_of_ground_, 1); }
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
  const std::int64_t work_of_ground_;
  std::map<absl::string_view, Known> put_;
  std::int64_t work_ = 0;
};

Estimator EstimatorOf(const GridMap& map) { return {map.obstacles(), map.bounds(), 0}; }
Estimator EstimatorOf(const WaypointGraph& graph) { return {graph.obstacles(), std::nullopt, 0}; }
Estimator EstimatorOf(const NavMesh& mesh) {
  auto polygons = static_cast<std::int64_t>(mesh.polygon_count());
  for (const NavMesh& surface : mesh.larger()) {
    polygons += static_cast<std::int64_t>(surface.polygon_count());
  }
  const auto surfaces = 1 + static_cast<std::int64_t>(mesh.larger().size());
  const auto holes = static_cast<std::int64_t>(mesh.obstacles().size()) * surfaces;
  return {mesh.obstacles(), std::nullopt, kWorkOfHole * surfaces,
          kWorkOfPolygon * polygons + kWorkOfHole * holes};
}

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

namespace {

// Maximum size of the row bands that planes clone, unless a single row is larger.
constexpr std::size_t kMostBandBytes = 4096;
// Upper bound on a plane's overhead per row: an entry in the band table, and bits.
constexpr std::size_t kTableBytesPerRow = 9;
// Bit planes written when walkable cells change, including those of indexes that follow the change.
constexpr std::size_t kBitPlanes = 8;
constexpr std::size_t kBytesPerCellCost = 18;
constexpr std::size_t kTileBytes = std::size_t{1024} * kBytesPerCellCost;

std::size_t BitRowBytes(int cells) { return static_cast<std::size_t>(cells) / 8 + 16; }

// Returns the bytes of the bands that are cloned by writes to `touched` of a plane's rows.
std::size_t PlaneBytes(std::int64_t touched, int rows, std::size_t row_bytes) {
  if (touched == 0) {
    return 0;
  }
  const auto all = static_cast<std::size_t>(rows);
  const std::size_t cloned =
      static_cast<std::size_t>(std::min<std::int64_t>(touched, rows)) * std::max(row_bytes, kMostBandBytes);
  return std::min(cloned, all * row_bytes) + all * kTableBytesPerRow;
}

// Counts the rows, columns and tiles that shapes touch, per shape.
class Touched {
 public:
  explicit Touched(const GridMap& map) : map_(map) {}

  void AddWalkable(const Shape& shape) { Add(shape, walkable_); }
  void AddTerrain(const Shape& shape) {
    Add(shape, walkable_);
    Add(shape, terrain_);
    if (map_.obstacles().cost_obstacles() > 0) {
      Add(shape, costs_);
    }
  }
  void AddObstacle(const Obstacle& obstacle) {
    if (obstacle.effect.kind == ObstacleEffect::Kind::kBlock) {
      Add(obstacle.shape, walkable_);
      Add(obstacle.shape, covered_);
    } else {
      Add(obstacle.shape, costs_);
    }
  }

  std::size_t bytes() const {
    const int width = map_.width();
    const int height = map_.height();
    const auto cells = static_cast<std::size_t>(width);
    const std::size_t tiles =
        (static_cast<std::size_t>(width) / 32 + 1) * (static_cast<std::size_t>(height) / 32 + 1);
    const std::int64_t plain = terrain_.rows + costs_.rows;
    return kBitPlanes / 2 * PlaneBytes(walkable_.rows, height, BitRowBytes(width)) +
           kBitPlanes / 2 * PlaneBytes(walkable_.columns, width, BitRowBytes(height)) +
           2 * PlaneBytes(plain, height, BitRowBytes(width)) +
           PlaneBytes(terrain_.columns + costs_.columns, width, BitRowBytes(height)) +
           PlaneBytes(terrain_.rows, height, cells) +
           PlaneBytes(covered_.rows, height, cells * sizeof(std::uint16_t)) +
           kTileBytes * std::min(static_cast<std::size_t>(costs_.tiles), tiles);
  }

 private:
  struct Extent {
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    // Number of tiles of 32 x 32 cells.
    std::int64_t tiles = 0;
  };

  void Add(const Shape& shape, Extent& extent) const {
    const auto cells = static_cast<std::int64_t>(shape.cells.size());
    extent.rows += cells;
    extent.columns += cells;
    extent.tiles += cells;
    if (cells > 0 && shape.rectangles.empty() && shape.discs.empty() && shape.polygons.empty() &&
        shape.lines.empty()) {
      return;
    }
    const Rectangle box = BoundsOf(shape, map_.lattice(), map_.bounds());
    extent.rows += box.height;
    extent.columns += box.width;
    extent.tiles += (static_cast<std::int64_t>(box.height) / 32 + 2) * (box.width / 32 + 2);
  }

  const GridMap& map_;
  // In this order: obstacles change; terrains change; blocking named obstacles change; costs change.
  Extent walkable_;
  Extent terrain_;
  Extent covered_;
  Extent costs_;
};

}  // namespace

std::size_t MostBytesOf(const EditPlan& plan, const GridMap& map) {
  Touched touched(map);
  for (const PlannedEdit& edit : plan.edits) {
    switch (edit.kind) {
      case PlannedEdit::Kind::kBlock:
      case PlannedEdit::Kind::kUnblock:
        touched.AddWalkable(*edit.shape);
        break;
      case PlannedEdit::Kind::kSetTerrain:
        touched.AddTerrain(*edit.shape);
        break;
      case PlannedEdit::Kind::kReplace:
        for (const Obstacle* obstacle : {edit.before.get(), edit.after.get()}) {
          if (obstacle != nullptr) {
            touched.AddObstacle(*obstacle);
          }
        }
        break;
    }
  }
  return touched.bytes();
}

std::size_t MostBytesOfView(const GridMap& map) {
  const std::size_t costs = map.cell_costs() == nullptr ? 0 : map.cell_costs()->memory_bytes();
  return 2 * MostBytesOfWalk(map) + costs;
}

std::size_t MostBytesOfWalk(const GridMap& map) {
  return kBitPlanes / 2 *
         (PlaneBytes(map.height(), map.height(), BitRowBytes(map.width())) +
          PlaneBytes(map.width(), map.width(), BitRowBytes(map.height()))) /
         2;
}

absl::Status SystemMemoryFull() {
  return MakeError(ErrorReason::kMapsMemoryFull, "", "the system has no more memory for this process");
}

absl::Status MapsMemoryFull(const MemoryAccount& account, absl::string_view field) {
  return MakeError(ErrorReason::kMapsMemoryFull, field,
                   absl::StrCat("all maps together would take more than ", account.max_bytes() >> 20,
                                " MiB, the server's limit"));
}

absl::Status ReserveFor(const GridMap& map, std::size_t bytes, absl::string_view field,
                        MemoryAccount::Reservation& reservation) {
  MemoryAccount* const account = map.memory_account();
  return account == nullptr || account->Reserve(bytes, reservation) ? absl::OkStatus()
                                                                    : MapsMemoryFull(*account, field);
}

}  // namespace waystar::core
