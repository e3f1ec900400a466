#include "server/core/mesh/map/polygon_tree.h"

#include <algorithm>
#include <cmath>

namespace waystar::core {
namespace {

using Axis = double WorldPoint::*;
constexpr std::array<Axis, 3> kAxes = {&WorldPoint::x, &WorldPoint::y, &WorldPoint::z};

// Returns the smallest power of two such that sides from `low` to `high` fit into 8 bits, counted from a
// multiple of it that single precision represents exactly.
double StepOf(double low, double high) {
  constexpr double kMostSteps = 255.0;
  constexpr double kExact = 1 << 24;
  int exponent = 0;
  std::frexp(std::max((high - low) / kMostSteps, std::abs(low) / kExact), &exponent);
  double step = std::max(std::ldexp(0.5, exponent), 1.0 / kFixedScale);
  while (std::ceil(high / step) - std::floor(low / step) > kMostSteps || std::abs(low / step) >= kExact) {
    step *= 2.0;
  }
  return step;
}

}  // namespace

class PolygonTree::Builder {
 public:
  Builder(const std::vector<MeshBounds>& boxes, const StopCheck* stop, std::vector<Node>& nodes)
      : boxes_(boxes), stop_(stop), nodes_(nodes) {
    entries_.reserve(boxes.size());
    for (const MeshBounds& box : boxes) {
      entries_.push_back({{box.low.x + box.high.x, box.low.y + box.high.y, box.low.z + box.high.z},
                          static_cast<PolygonNumber>(entries_.size())});
    }
  }

  // Adds the nodes of entries_[begin] to entries_[end - 1], and reorders these.
  // REQUIRES: begin < end.
  Built Build(std::size_t begin, std::size_t end) {
    // A stop check costs too much for smaller ranges.
    constexpr std::size_t kCheckedPolygons = 4096;
    if (end - begin == 1 || (end - begin >= kCheckedPolygons && IsStopped(stop_))) {
      const PolygonNumber polygon = entries_[begin].polygon;
      return {boxes_[polygon], polygon | kLeaf};
    }
    std::size_t part = 1;
    while (part * kMostBelow < end - begin) {
      part *= kMostBelow;
    }
    const auto at = static_cast<std::uint32_t>(nodes_.size());
    nodes_.emplace_back();
    Below below;
    AddParts(begin, end, part, below);
    nodes_[at] = MakeNode(below);
    Built built{{}, at};
    for (const Built& each : below) {
      built.box.Add(each.box);
    }
    return built;
  }

 private:
  struct Entry {
    // Twice the centre of the polygon's box.
    WorldPoint centre;
    PolygonNumber polygon = 0;
  };

  // Builds parts of `part` polygons each; the last may have fewer.
  void AddParts(std::size_t begin, std::size_t end, std::size_t part, Below& below) {
    if (end - begin <= part) {
      below.push_back(Build(begin, end));
      return;
    }
    const std::size_t parts = (end - begin + part - 1) / part;
    const std::size_t middle = begin + parts / 2 * part;
    const Axis axis = LongestAxis(begin, end);
    Entry* const entries = entries_.data();
    std::nth_element(entries + begin, entries + middle, entries + end,
                     [axis](const Entry& a, const Entry& b) {
                       return std::pair(a.centre.*axis, a.polygon) < std::pair(b.centre.*axis, b.polygon);
                     });
    AddParts(begin, middle, part, below);
    AddParts(middle, end, part, below);
  }

  Axis LongestAxis(std::size_t begin, std::size_t end) const {
    MeshBounds centres;
    for (std::size_t i = begin; i < end; ++i) {
      centres.Add(entries_[i].centre);
    }
    Axis longest = &WorldPoint::x;
    for (const Axis axis : kAxes) {
      if (centres.high.*axis - centres.low.*axis > centres.high.*longest - centres.low.*longest) {
        longest = axis;
      }
    }
    return longest;
  }

  const std::vector<MeshBounds>& boxes_;
  const StopCheck* const stop_;
  std::vector<Node>& nodes_;
  std::vector<Entry> entries_;
};

PolygonTree::PolygonTree(const std::vector<MeshBounds>& boxes, const StopCheck* stop) {
  if (!boxes.empty()) {
    nodes_.reserve(boxes.size() / (kMostBelow - 1) + kMostLevels);
    root_ = Builder(boxes, stop, nodes_).Build(0, boxes.size()).at;
    nodes_.shrink_to_fit();
  }
}

PolygonTree::Node PolygonTree::MakeNode(const Below& below) {
  MeshBounds whole;
  for (const Built& each : below) {
    whole.Add(each.box);
  }
  Node node{};
  node.at.fill(kNothing);
  for (std::size_t i = 0; i < below.size(); ++i) {
    node.at[i] = below[i].at;
  }
  for (std::size_t k = 0; k < kAxes.size(); ++k) {
    const Axis axis = kAxes[k];
    const double step = StepOf(whole.low.*axis, whole.high.*axis);
    const double first = std::floor(whole.low.*axis / step);
    node.origin[k] = static_cast<float>(first * step);
    node.step[k] = static_cast<float>(step);
    for (std::size_t i = 0; i < below.size(); ++i) {
      node.sides[k * kMostBelow + i] =
          static_cast<std::uint8_t>(std::floor(below[i].box.low.*axis / step) - first);
      node.sides[(3 + k) * kMostBelow + i] =
          static_cast<std::uint8_t>(std::ceil(below[i].box.high.*axis / step) - first);
    }
  }
  return node;
}

}  // namespace waystar::core
