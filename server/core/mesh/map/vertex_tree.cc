#include "server/core/mesh/map/vertex_tree.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "server/base/status_macros.h"

namespace waystar::core {
namespace {

constexpr std::uint32_t kLeafVertices = 8;

}  // namespace

VertexTree::VertexTree(const std::vector<WorldPoint>& vertices, std::vector<std::uint32_t> chosen)
    : vertices_(vertices), chosen_(std::move(chosen)) {
  if (!chosen_.empty()) {
    Build(0, static_cast<std::uint32_t>(chosen_.size()));
  }
}

void VertexTree::Build(std::uint32_t begin, std::uint32_t end) {
  MeshBounds box;
  for (std::uint32_t i = begin; i < end; ++i) {
    box.Add(vertices_[chosen_[i]]);
  }
  const std::size_t place = nodes_.size();
  nodes_.push_back({box, begin, end, 0});
  if (end - begin <= kLeafVertices) {
    return;
  }
  const double width = box.high.x - box.low.x;
  const double depth = box.high.y - box.low.y;
  const double height = box.high.z - box.low.z;
  const auto key = [&](std::uint32_t vertex) {
    const WorldPoint& point = vertices_[vertex];
    const bool is_by_height = height > std::max(width, depth);
    return std::pair(is_by_height ? point.z : width >= depth ? point.x : point.y, vertex);
  };
  const std::uint32_t middle = begin + (end - begin) / 2;
  std::nth_element(chosen_.begin() + begin, chosen_.begin() + middle, chosen_.begin() + end,
                   [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
  Build(begin, middle);
  nodes_[place].upper = static_cast<std::uint32_t>(nodes_.size());
  Build(middle, end);
}

absl::Status VertexTree::FindOnEdge(std::uint32_t from, std::uint32_t to, double plan, double height,
                                    const StopCheck* stop, std::size_t& steps,
                                    std::vector<VertexOnEdge>& found) const {
  const WorldPoint& a = vertices_[from];
  const WorldPoint& b = vertices_[to];
  const double dx = b.x - a.x;
  const double dy = b.y - a.y;
  const double squared = dx * dx + dy * dy;
  const double length = std::sqrt(squared);
  MeshBounds around;
  around.Add(WorldPoint{std::min(a.x, b.x) - plan, std::min(a.y, b.y) - plan, std::min(a.z, b.z) - height});
  around.Add(WorldPoint{std::max(a.x, b.x) + plan, std::max(a.y, b.y) + plan, std::max(a.z, b.z) + height});
  // Returns true if a part of the box may be near the edge: neither the box around the edge nor the line
  // through it separates them.
  const auto is_near = [&](const MeshBounds& box) {
    if (box.low.x > around.high.x || box.high.x < around.low.x || box.low.y > around.high.y ||
        box.high.y < around.low.y || box.low.z > around.high.z || box.high.z < around.low.z) {
      return false;
    }
    const double x = (box.low.x + box.high.x) / 2.0;
    const double y = (box.low.y + box.high.y) / 2.0;
    const double side = dx * (y - a.y) - dy * (x - a.x);
    const double reach =
        std::abs(dx) * (box.high.y - box.low.y) / 2.0 + std::abs(dy) * (box.high.x - box.low.x) / 2.0;
    // Twice the tolerance, to allow for rounding.
    return std::abs(side) <= reach + 2.0 * plan * length;
  };
  const auto add = [&](std::uint32_t vertex) {
    const WorldPoint& p = vertices_[vertex];
    const double share = ((p.x - a.x) * dx + (p.y - a.y) * dy) / squared;
    const double side = dx * (p.y - a.y) - dy * (p.x - a.x);
    if (vertex != from && vertex != to && share > 0.0 && share < 1.0 && std::abs(side) <= plan * length &&
        std::abs(a.z + share * (b.z - a.z) - p.z) <= height) {
      found.push_back({share, vertex});
    }
  };
  std::vector<std::uint32_t> open;
  if (!nodes_.empty() && squared > 0.0) {
    open.push_back(0);
  }
  while (!open.empty()) {
    WAYSTAR_RETURN_IF_ERROR(CheckStopAt(stop, ++steps));
    const std::uint32_t place = open.back();
    const Node& node = nodes_[place];
    open.pop_back();
    if (!is_near(node.box)) {
      continue;
    }
    if (node.upper != 0) {
      open.push_back(node.upper);
      open.push_back(place + 1);
      continue;
    }
    for (std::uint32_t i = node.begin; i < node.end; ++i) {
      add(chosen_[i]);
    }
  }
  return absl::OkStatus();
}

}  // namespace waystar::core
