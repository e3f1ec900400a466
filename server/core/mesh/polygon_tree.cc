#include "server/core/mesh/polygon_tree.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace waystar::core {
namespace {

using Axis = double WorldPoint::*;

double TwiceCentre(const MeshBounds& box, Axis axis) { return box.low.*axis + box.high.*axis; }

float RoundedDown(double value) {
  const auto rounded = static_cast<float>(value);
  return rounded > value ? std::nextafter(rounded, -std::numeric_limits<float>::infinity()) : rounded;
}
float RoundedUp(double value) { return -RoundedDown(-value); }

}  // namespace

PolygonTree::PolygonTree(const std::vector<MeshBounds>& boxes, const StopCheck* stop) {
  std::vector<PolygonNumber> polygons(boxes.size());
  std::iota(polygons.begin(), polygons.end(), PolygonNumber{0});
  if (!boxes.empty()) {
    nodes_.reserve(boxes.size() - 1);
    root_ = Build(boxes, polygons, 0, boxes.size(), stop).at;
  }
}

PolygonTree::Built PolygonTree::Build(const std::vector<MeshBounds>& boxes,
                                      std::vector<PolygonNumber>& polygons, std::size_t begin,
                                      std::size_t end, const StopCheck* stop) {
  // Smaller ones take no longer than the check of a larger one is worth.
  constexpr std::size_t kCheckedPolygons = 4096;
  if (end - begin == 1 || (end - begin >= kCheckedPolygons && IsStopped(stop))) {
    return {boxes[polygons[begin]], polygons[begin] | kLeaf};
  }
  MeshBounds centres;
  for (std::size_t i = begin; i < end; ++i) {
    const MeshBounds& polygon = boxes[polygons[i]];
    centres.Add(WorldPoint{TwiceCentre(polygon, &WorldPoint::x), TwiceCentre(polygon, &WorldPoint::y),
                           TwiceCentre(polygon, &WorldPoint::z)});
  }
  Axis longest = &WorldPoint::x;
  for (const Axis axis : {&WorldPoint::y, &WorldPoint::z}) {
    if (centres.high.*axis - centres.low.*axis > centres.high.*longest - centres.low.*longest) {
      longest = axis;
    }
  }
  const std::size_t middle = begin + (end - begin) / 2;
  const auto from_start = [&](std::size_t i) { return polygons.begin() + static_cast<std::ptrdiff_t>(i); };
  std::nth_element(
      from_start(begin), from_start(middle), from_start(end), [&](PolygonNumber a, PolygonNumber b) {
        return std::pair(TwiceCentre(boxes[a], longest), a) < std::pair(TwiceCentre(boxes[b], longest), b);
      });
  const auto at = static_cast<std::uint32_t>(nodes_.size());
  nodes_.emplace_back();
  const Built lower = Build(boxes, polygons, begin, middle, stop);
  const Built upper = Build(boxes, polygons, middle, end, stop);
  const auto half = [](const Built& built) {
    const auto& [low, high] = built.box;
    return Half{{RoundedDown(low.x), RoundedDown(low.y), RoundedDown(low.z)},
                {RoundedUp(high.x), RoundedUp(high.y), RoundedUp(high.z)},
                built.at};
  };
  nodes_[at].halves = {half(lower), half(upper)};
  MeshBounds box = lower.box;
  box.Add(upper.box);
  return {box, at};
}

}  // namespace waystar::core
