// Bounding volume hierarchy over the polygons of a mesh.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "server/core/graph/world_point.h"
#include "server/core/mesh/mesh_bounds.h"
#include "server/core/mesh/mesh_spec.h"

namespace waystar::core {

// A point near which polygons are looked for. Both distances may be infinite.
struct MeshReach {
  WorldPoint position;
  // The greatest distance seen from above.
  double radius = 0.0;
  // The greatest distance up or down.
  double height = 0.0;
};

// Binary tree of boxes, split at the median along the longest side of the box around the centres. It is not
// changed once it is built: a tile whose polygons change gets a new one.
//
// Thread safety: const methods may run beside each other.
class PolygonTree {
 public:
  // Makes an empty tree.
  PolygonTree() = default;
  // `boxes` are those of the polygons, by number. REQUIRES: none is empty.
  explicit PolygonTree(const std::vector<MeshBounds>& boxes);

  // Calls visit(polygon) for all polygons whose box has a point within `reach` whose squared distance from
  // the position is at most `limit`, and for some others, mostly nearer ones first. `visit` may lower
  // `limit`.
  template <typename Visitor>
  void VisitNear(const MeshReach& reach, const double& limit, Visitor visit) const {
    if (!nodes_.empty()) {
      Visit(0, reach, limit, visit);
    }
  }

  // Calls visit(polygon) for all polygons whose box `may_touch` accepts, and for some others. REQUIRES: it
  // accepts a box around one that it accepts.
  template <typename MayTouch, typename Visitor>
  void VisitTouching(const MayTouch& may_touch, Visitor visit) const {
    if (!nodes_.empty()) {
      VisitTouchingBelow(0, may_touch, visit);
    }
  }

  std::size_t memory_bytes() const {
    return nodes_.capacity() * sizeof(Node) + polygons_.capacity() * sizeof(PolygonNumber);
  }

 private:
  static constexpr std::size_t kLeafPolygons = 4;

  struct Node {
    MeshBounds box;
    // A leaf has the polygons from `begin` on. Else the lower half follows this node, and `begin` is the node
    // of the upper half.
    std::uint32_t begin = 0;
    std::uint32_t count = 0;
  };

  struct Offset {
    double plan = 0.0;
    double up = 0.0;
  };
  // Returns the squared distance seen from above, and the distance up or down. Both are 0 within the box.
  // They grow with the distance of coordinates even after rounding, so no point in the box has lower ones.
  static Offset OffsetOf(const MeshBounds& box, const WorldPoint& position) {
    const double dx = std::max({box.low.x - position.x, 0.0, position.x - box.high.x});
    const double dy = std::max({box.low.y - position.y, 0.0, position.y - box.high.y});
    return {dx * dx + dy * dy, std::max({box.low.z - position.z, 0.0, position.z - box.high.z})};
  }
  static double SquaredLength(const Offset& offset) { return offset.plan + offset.up * offset.up; }
  static bool IsWithin(const Offset& offset, const MeshReach& reach, double limit) {
    return offset.plan <= reach.radius * reach.radius && offset.up <= reach.height &&
           SquaredLength(offset) <= limit;
  }

  template <typename Visitor>
  void Visit(std::uint32_t at, const MeshReach& reach, const double& limit, Visitor& visit) const {
    const Node& node = nodes_[at];
    if (node.count > 0) {
      for (std::uint32_t i = node.begin; i < node.begin + node.count; ++i) {
        visit(polygons_[i]);
      }
      return;
    }
    std::uint32_t near = at + 1;
    std::uint32_t far = node.begin;
    Offset near_offset = OffsetOf(nodes_[near].box, reach.position);
    Offset far_offset = OffsetOf(nodes_[far].box, reach.position);
    if (SquaredLength(far_offset) < SquaredLength(near_offset)) {
      std::swap(near, far);
      std::swap(near_offset, far_offset);
    }
    if (IsWithin(near_offset, reach, limit)) {
      Visit(near, reach, limit, visit);
    }
    if (IsWithin(far_offset, reach, limit)) {
      Visit(far, reach, limit, visit);
    }
  }

  template <typename MayTouch, typename Visitor>
  void VisitTouchingBelow(std::uint32_t at, const MayTouch& may_touch, Visitor& visit) const {
    const Node& node = nodes_[at];
    if (!may_touch(node.box)) {
      return;
    }
    if (node.count == 0) {
      VisitTouchingBelow(at + 1, may_touch, visit);
      VisitTouchingBelow(node.begin, may_touch, visit);
      return;
    }
    for (std::uint32_t i = node.begin; i < node.begin + node.count; ++i) {
      visit(polygons_[i]);
    }
  }

  // Adds the node of the polygons from `begin` to `end`, and all below it.
  void Build(const std::vector<MeshBounds>& boxes, std::size_t begin, std::size_t end);

  std::vector<Node> nodes_;
  std::vector<PolygonNumber> polygons_;
};

}  // namespace waystar::core
