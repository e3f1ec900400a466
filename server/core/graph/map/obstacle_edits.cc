// The part of GraphEditor that handles obstacles.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/core/elements/obstacle.h"
#include "server/core/elements/obstacle_table.h"
#include "server/core/graph/map/graph_editor.h"
#include "server/core/graph/map/sight_line.h"
#include "server/core/grid/shapes/shape_check.h"

namespace waystar::core {
namespace {

constexpr std::size_t kArcsPerPoll = 1024;

// Checks an obstacle of a graph. It may lie anywhere, since there are no cells.
absl::Status CheckOnGraph(const Obstacle& obstacle) {
  WAYSTAR_RETURN_IF_ERROR(CheckObstacle(obstacle, Rectangle{}));
  return CheckOnlyBlocks(obstacle, "a waypoint graph");
}

}  // namespace

absl::Status GraphEditor::PutObstacle(std::shared_ptr<const Obstacle> obstacle, bool replace) {
  WAYSTAR_RETURN_IF_ERROR(CheckOnGraph(*obstacle));
  std::shared_ptr<const Obstacle> before = graph_.sight_.obstacles().Find(obstacle->id);
  if (before != nullptr && !replace) {
    return MakeError(ErrorReason::kObstacleExists, ".id",
                     absl::StrCat("the map has an obstacle \"", before->id, "\" already"));
  }
  if (before == nullptr && graph_.sight_.obstacles().size() >= kMaxObstacles) {
    return MakeError(ErrorReason::kTooManyObstacles, "",
                     absl::StrCat("a map has at most ", kMaxObstacles, " named obstacles"));
  }
  return ReplaceObstacle(std::move(before), std::move(obstacle));
}

absl::Status GraphEditor::MoveObstacle(absl::string_view id, double dx, double dy) {
  WAYSTAR_ASSIGN_OR_RETURN(std::shared_ptr<const Obstacle> before,
                           FindObstacle(graph_.sight_.obstacles(), id, ".id"));
  auto moved = std::make_shared<Obstacle>(*before);
  WAYSTAR_ASSIGN_OR_RETURN(moved->shape, ShiftShape(before->shape, dx, dy, Rectangle{}));
  return ReplaceObstacle(std::move(before), std::move(moved));
}

absl::Status GraphEditor::ResizeObstacle(absl::string_view id, Shape shape) {
  WAYSTAR_ASSIGN_OR_RETURN(std::shared_ptr<const Obstacle> before,
                           FindObstacle(graph_.sight_.obstacles(), id, ".id"));
  auto resized = std::make_shared<Obstacle>(*before);
  resized->shape = std::move(shape);
  WAYSTAR_RETURN_IF_ERROR(CheckOnGraph(*resized));
  return ReplaceObstacle(std::move(before), std::move(resized));
}

absl::Status GraphEditor::RemoveObstacle(absl::string_view id) {
  WAYSTAR_ASSIGN_OR_RETURN(std::shared_ptr<const Obstacle> before,
                           FindObstacle(graph_.sight_.obstacles(), id, ""));
  return ReplaceObstacle(std::move(before), nullptr);
}

absl::Status GraphEditor::RemoveAllObstacles() {
  std::vector<std::shared_ptr<const Obstacle>> obstacles;
  graph_.sight_.obstacles().VisitAfter("", [&](const Obstacle& obstacle) {
    obstacles.push_back(graph_.sight_.obstacles().Find(obstacle.id));
    return true;
  });
  for (std::shared_ptr<const Obstacle>& obstacle : obstacles) {
    WAYSTAR_RETURN_IF_ERROR(ReplaceObstacle(std::move(obstacle), nullptr));
  }
  return absl::OkStatus();
}

absl::Status GraphEditor::BlockArea(Shape shape) {
  WAYSTAR_RETURN_IF_ERROR(CheckShape(shape, Rectangle{}, ShapeOverlap::kNone));
  auto area =
      std::make_shared<const Obstacle>(Obstacle{.id = std::string(kAreaId), .shape = std::move(shape)});
  return ReplaceObstacle(graph_.sight_.obstacles().Find(kAreaId), std::move(area));
}

absl::Status GraphEditor::ReplaceObstacle(std::shared_ptr<const Obstacle> before,
                                          std::shared_ptr<const Obstacle> after) {
  std::vector<ArcChange> changes;
  PairSet pairs;
  for (const Obstacle* obstacle : {before.get(), after.get()}) {
    if (obstacle != nullptr) {
      for (std::size_t part = 0; part < PartCount(obstacle->shape); ++part) {
        const FixedBox box = BoxOfPart(obstacle->shape, part);
        const auto at = [](std::int64_t value) { return static_cast<double>(value) / kFixedScale; };
        changes_.areas.Add(UnitsAround({at(box.x_low), at(box.y_low), at(box.x_high), at(box.y_high)}));
        changes_.places.sight.Add(BoxAroundPart(obstacle->shape, part));
      }
      WAYSTAR_RETURN_IF_ERROR(CollectOwnArcs(obstacle->shape, changes));
      WAYSTAR_RETURN_IF_ERROR(CollectPairs(obstacle->shape, pairs));
    }
  }
  if (after != nullptr) {
    graph_.sight_.Put(std::move(after), owner_);
  } else {
    graph_.sight_.Remove(before->id, owner_);
  }
  std::size_t seen = 0;
  for (ArcChange& change : changes) {
    WAYSTAR_RETURN_IF_ERROR(CheckStopAt(stop_, seen++));
    const bool is_clear =
        graph_.sight_.IsClearOfObstacles(graph_.PositionOf(change.from), graph_.PositionOf(change.arc.to));
    change.arc.flags &= ~std::uint32_t{Arc::kBlocked};
    change.arc.flags |= is_clear ? 0U : std::uint32_t{Arc::kBlocked};
  }
  for (const Pair& pair : pairs) {
    WAYSTAR_RETURN_IF_ERROR(CheckStopAt(stop_, seen++));
    ConnectPair(pair, AreConnected(pair.low, pair.high), changes);
  }
  return Write(std::move(changes));
}

absl::Status GraphEditor::CollectOwnArcs(const Shape& shape, std::vector<ArcChange>& touched) const {
  // Several parts may touch one arc.
  const auto merge = [&] {
    std::sort(touched.begin(), touched.end());
    touched.erase(std::unique(touched.begin(), touched.end(), std::mem_fn(&ArcChange::IsSameArc)),
                  touched.end());
  };
  std::size_t merged = touched.size();
  std::size_t seen = 0;
  for (std::size_t part = 0; part < PartCount(shape); ++part) {
    WAYSTAR_RETURN_IF_ERROR(CheckStop(stop_));
    const Box around = BoxAroundPart(shape, part);
    graph_.places_.VisitOverlapping(around, [&](const PlacedNode& node) {
      for (const Arc& arc : graph_.ArcsOf(node.number)) {
        if (arc.is_auto()) {
          continue;
        }
        const WorldPoint& end = graph_.PositionOf(arc.to);
        if (around.MayTouch(node.position.x, node.position.y, end.x, end.y) &&
            TouchesPart({ToFixed(node.position), ToFixed(end)}, shape, part)) {
          touched.push_back({.from = node.number, .arc = arc, .tags = graph_.TagsOfArc(node.number, arc)});
        }
      }
      return ++seen % kArcsPerPoll != 0 || CheckStop(stop_).ok();
    });
    if (touched.size() > 2 * merged + kArcsPerPoll) {
      merge();
      merged = touched.size();
    }
  }
  merge();
  return CheckStop(stop_);
}

absl::Status GraphEditor::CollectPairs(const Shape& shape, PairSet& touched) {
  if (!graph_.max_distance_) {
    return absl::OkStatus();
  }
  const double reach = *graph_.max_distance_;
  std::vector<PlacedNode> near;
  std::vector<NodeNumber> others;
  for (std::size_t part = 0; part < PartCount(shape); ++part) {
    WAYSTAR_RETURN_IF_ERROR(CheckStop(stop_));
    const Box around = BoxAroundPart(shape, part);
    near.clear();
    graph_.places_.VisitOverlapping(
        {around.x_low - reach, around.y_low - reach, around.x_high + reach, around.y_high + reach},
        [&](const PlacedNode& node) {
          near.push_back(node);
          return true;
        });
    for (const PlacedNode& node : near) {
      if (around.SquaredDistance(node.x(), node.y()) > reach * reach) {
        continue;
      }
      others.clear();
      graph_.VisitNodesWithin(node.position, reach, [&](NodeNumber other) { others.push_back(other); });
      WAYSTAR_RETURN_IF_ERROR(CountPairs(others.size()));
      for (const NodeNumber other : others) {
        const WorldPoint& end = graph_.PositionOf(other);
        if (other > node.number && around.MayTouch(node.x(), node.y(), end.x, end.y) &&
            TouchesPart({ToFixed(node.position), ToFixed(end)}, shape, part)) {
          touched.insert({node.number, other});
        }
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace waystar::core
