#include "server/core/mesh/polygon_tree.h"

#include <numeric>
#include <utility>

namespace waystar::core {
namespace {

using Axis = double WorldPoint::*;

double TwiceCentre(const MeshBounds& box, Axis axis) { return box.low.*axis + box.high.*axis; }

}  // namespace

PolygonTree::PolygonTree(const std::vector<MeshBounds>& boxes) : polygons_(boxes.size()) {
  std::iota(polygons_.begin(), polygons_.end(), PolygonNumber{0});
  if (!boxes.empty()) {
    Build(boxes, 0, boxes.size());
    nodes_.shrink_to_fit();
  }
}

void PolygonTree::Build(const std::vector<MeshBounds>& boxes, std::size_t begin, std::size_t end) {
  const std::size_t at = nodes_.size();
  nodes_.emplace_back();
  MeshBounds box;
  MeshBounds centres;
  for (std::size_t i = begin; i < end; ++i) {
    const MeshBounds& polygon = boxes[polygons_[i]];
    box.Add(polygon);
    centres.Add(WorldPoint{TwiceCentre(polygon, &WorldPoint::x), TwiceCentre(polygon, &WorldPoint::y),
                           TwiceCentre(polygon, &WorldPoint::z)});
  }
  nodes_[at].box = box;
  if (end - begin <= kLeafPolygons) {
    nodes_[at].begin = static_cast<std::uint32_t>(begin);
    nodes_[at].count = static_cast<std::uint32_t>(end - begin);
    return;
  }
  Axis longest = &WorldPoint::x;
  for (const Axis axis : {&WorldPoint::y, &WorldPoint::z}) {
    if (centres.high.*axis - centres.low.*axis > centres.high.*longest - centres.low.*longest) {
      longest = axis;
    }
  }
  const std::size_t middle = begin + (end - begin) / 2;
  const auto from_start = [&](std::size_t i) { return polygons_.begin() + static_cast<std::ptrdiff_t>(i); };
  std::nth_element(
      from_start(begin), from_start(middle), from_start(end), [&](PolygonNumber a, PolygonNumber b) {
        return std::pair(TwiceCentre(boxes[a], longest), a) < std::pair(TwiceCentre(boxes[b], longest), b);
      });
  Build(boxes, begin, middle);
  nodes_[at].begin = static_cast<std::uint32_t>(nodes_.size());
  Build(boxes, middle, end);
}

}  // namespace waystar::core
