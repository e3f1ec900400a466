#include "server/render/scene/graph_part.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/core/elements/obstacle_table.h"
#include "server/core/search/interruption.h"
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

}  // namespace waystar::core
