#include "server/render/scene/graph_part.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/core/elements/obstacle_table.h"
#include "server/core/search/interruption.h"
#include "server/core/search/random_draws.h"
#include "server/render/scene/world_plot.h"

namespace waystar::core {
namespace {

absl::Status TooMuch(std::size_t limit, const char* what) {
  return MakeError(ErrorReason::kRegionTooLarge, "region",
                   absl::StrCat("there are more than ", limit, " ", what,
                                " in the region to draw: ask for a smaller one"));
}

void AddArc(const WaypointGraph& graph, NodeNumber from, const Arc& arc, std::vector<DrawnArc>& arcs) {
  const Arc* back = graph.FindArc(arc.to, from);
  const bool is_same =
      back != nullptr && back->is_open() == arc.is_open() && back->is_auto() == arc.is_auto();
  if (!is_same || from < arc.to) {
    arcs.push_back({.from = from,
                    .to = arc.to,
                    .is_auto = arc.is_auto(),
                    .is_open = arc.is_open(),
                    .is_one_way = !is_same});
  }
}

}  // namespace

absl::StatusOr<GraphPart> GatherGraph(const WaypointGraph& graph, const Box& area, const Budget& budget) {
  constexpr NodeNumber kNodesBetweenLooks = 4096;
  GraphPart part;
  for (NodeNumber node = 0; node < graph.number_limit(); ++node) {
    if (node % kNodesBetweenLooks == 0) {
      if (const std::optional<SearchEnd> end = Interruption(budget)) {
        return InterruptionError(*end, 0);
      }
    }
    if (!graph.Exists(node)) {
      continue;
    }
    const WorldPoint& at = graph.PositionOf(node);
    if (area.Overlaps(Box::Around(at.x, at.y, 0))) {
      part.nodes.push_back(node);
    }
    for (const Arc& arc : graph.ArcsOf(node)) {
      if (const WorldPoint& to = graph.PositionOf(arc.to); area.MayTouch(at.x, at.y, to.x, to.y)) {
        AddArc(graph, node, arc, part.arcs);
      }
    }
    if (part.nodes.size() > kMaxDrawnNodes) {
      return TooMuch(kMaxDrawnNodes, "nodes");
    }
    if (part.arcs.size() > kMaxDrawnArcs) {
      return TooMuch(kMaxDrawnArcs, "edges");
    }
  }
  return part;
}

Box AllOf(const WaypointGraph& graph) {
  Box box;
  for (NodeNumber node = 0; node < graph.number_limit(); ++node) {
    if (graph.Exists(node)) {
      const WorldPoint& at = graph.PositionOf(node);
      box = box.And(Box::Around(at.x, at.y, 0));
    }
  }
  graph.obstacles().VisitAfter("", [&](const Obstacle& obstacle) {
    for (std::size_t i = 0; i < PartCount(obstacle.shape); ++i) {
      box = box.And(BoxAroundPart(obstacle.shape, i));
    }
    return true;
  });
  return WithMargin(box);
}

namespace {

constexpr std::size_t kMostPushed = 300;
constexpr int kRounds = 120;
// Side of the area, in world units of the picture.
constexpr double kSide = 100.0;

// Returns the nodes sorted by id, since node numbers depend on the history of the graph.
std::vector<NodeNumber> NodesById(const WaypointGraph& graph) {
  std::vector<NodeNumber> nodes;
  for (NodeNumber node = 0; node < graph.number_limit(); ++node) {
    if (graph.Exists(node)) {
      nodes.push_back(node);
    }
  }
  std::sort(nodes.begin(), nodes.end(),
            [&](NodeNumber a, NodeNumber b) { return graph.IdOf(a) < graph.IdOf(b); });
  return nodes;
}

bool LieAtOnePoint(const WaypointGraph& graph, const std::vector<NodeNumber>& nodes) {
  const WorldPoint& first = graph.PositionOf(nodes.front());
  return std::ranges::all_of(nodes, [&](NodeNumber node) {
    const WorldPoint& at = graph.PositionOf(node);
    return at.x == first.x && at.y == first.y;
  });
}

using Links = std::vector<std::pair<std::size_t, std::size_t>>;

// Returns each pair of nodes joined by an edge, as indexes in `nodes`.
Links LinksOf(const WaypointGraph& graph, const std::vector<NodeNumber>& nodes) {
  std::vector<std::size_t> places(graph.number_limit());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    places[nodes[i]] = i;
  }
  Links links;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (const Arc& arc : graph.ArcsOf(nodes[i])) {
      links.emplace_back(std::min(i, places[arc.to]), std::max(i, places[arc.to]));
    }
  }
  std::sort(links.begin(), links.end());
  links.erase(std::unique(links.begin(), links.end()), links.end());
  return links;
}

// Moves points by forces, in ever smaller steps.
class ForceLayout {
 public:
  explicit ForceLayout(std::size_t count)
      : points_(count), moves_(count), distance_(kSide / std::sqrt(static_cast<double>(count))) {
    SplitMix random(count);
    constexpr std::uint64_t kSteps = 1 << 20;
    for (WorldPoint& point : points_) {
      point.x = kSide * static_cast<double>(random.Below(kSteps)) / kSteps;
      point.y = kSide * static_cast<double>(random.Below(kSteps)) / kSteps;
    }
  }

  void Step(const Links& links, double longest) {
    std::fill(moves_.begin(), moves_.end(), WorldPoint());
    for (std::size_t i = 0; i < points_.size(); ++i) {
      for (std::size_t j = i + 1; j < points_.size(); ++j) {
        Push(i, j);
      }
    }
    for (const auto& [i, j] : links) {
      Pull(i, j);
    }
    for (std::size_t i = 0; i < points_.size(); ++i) {
      const double length = std::sqrt(moves_[i].x * moves_[i].x + moves_[i].y * moves_[i].y);
      const double share = length > longest ? longest / length : 1.0;
      points_[i].x = std::clamp(points_[i].x + moves_[i].x * share, 0.0, kSide);
      points_[i].y = std::clamp(points_[i].y + moves_[i].y * share, 0.0, kSide);
    }
  }

  const std::vector<WorldPoint>& points() const { return points_; }

 private:
  static constexpr double kLeast = 1e-3;

  void Push(std::size_t i, std::size_t j) {
    const double dx = points_[i].x - points_[j].x;
    const double dy = points_[i].y - points_[j].y;
    const double squared = std::max(dx * dx + dy * dy, kLeast);
    Move(i, j, dx, dy, distance_ * distance_ / squared);
  }

  void Pull(std::size_t i, std::size_t j) {
    const double dx = points_[i].x - points_[j].x;
    const double dy = points_[i].y - points_[j].y;
    Move(i, j, dx, dy, -std::sqrt(dx * dx + dy * dy) / distance_);
  }

  void Move(std::size_t i, std::size_t j, double dx, double dy, double force) {
    moves_[i].x += dx * force;
    moves_[i].y += dy * force;
    moves_[j].x -= dx * force;
    moves_[j].y -= dy * force;
  }

  std::vector<WorldPoint> points_;
  std::vector<WorldPoint> moves_;
  // Distance between nodes if they were spread evenly.
  const double distance_;
};

absl::StatusOr<std::vector<WorldPoint>> ByForces(const Links& links, std::size_t count,
                                                 const StopCheck& stop) {
  ForceLayout layout(count);
  for (int round = 0; round < kRounds; ++round) {
    WAYSTAR_RETURN_IF_ERROR(stop.Check());
    layout.Step(links, kSide / 8 * (kRounds - round) / kRounds);
  }
  return layout.points();
}

std::vector<WorldPoint> InRows(std::size_t count) {
  const auto columns = static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(count))));
  const double step = kSide / static_cast<double>(columns);
  std::vector<WorldPoint> points;
  points.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t row = i / columns;
    points.push_back(
        {.x = (static_cast<double>(i % columns) + 0.5) * step, .y = (static_cast<double>(row) + 0.5) * step});
  }
  return points;
}

}  // namespace

absl::StatusOr<GraphLayout> GraphLayout::Of(const WaypointGraph& graph, const StopCheck& stop) {
  GraphLayout layout;
  if (graph.node_count() < 2) {
    return layout;
  }
  const std::vector<NodeNumber> nodes = NodesById(graph);
  if (!LieAtOnePoint(graph, nodes)) {
    return layout;
  }
  std::vector<WorldPoint> points;
  if (nodes.size() <= kMostPushed) {
    WAYSTAR_ASSIGN_OR_RETURN(points, ByForces(LinksOf(graph, nodes), nodes.size(), stop));
  } else {
    points = InRows(nodes.size());
  }
  layout.places_.resize(graph.number_limit());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    layout.places_[nodes[i]] = points[i];
  }
  constexpr double kMargin = 6.0;
  layout.area_ = {-kMargin, -kMargin, kSide + kMargin, kSide + kMargin};
  return layout;
}

}  // namespace waystar::core
