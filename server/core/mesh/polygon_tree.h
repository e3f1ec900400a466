// Bounding volume hierarchy over the polygons of a mesh.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "server/base/stop_check.h"
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
// changed once it is built: a tile whose polygons change gets a new one. A node has the boxes of both halves
// in single precision, rounded outwards, so that one line of the cache says which way to go. It takes 64
// bytes a polygon.
//
// Thread safety: const methods may run beside each other.
class PolygonTree {
 public:
  // Makes an empty tree.
  PolygonTree() = default;
  // `boxes` are those of the polygons, by number. Once `stop` has returned an error, the tree is not to be
  // used. REQUIRES: none is empty.
  explicit PolygonTree(const std::vector<MeshBounds>& boxes, const StopCheck* stop = nullptr);

  // Calls visit(polygon) for all polygons whose box has a point within `reach` whose squared distance from
  // the position is at most `limit`, and for some others, mostly nearer ones first. `visit` may lower
  // `limit`.
  template <typename Visitor>
  void VisitNear(const MeshReach& reach, const double& limit, Visitor visit) const {
    // Halves that are not looked at yet: one a level.
    std::array<Waiting, kMostLevels> waiting;
    std::size_t count = 0;
    std::uint32_t at = root_;
    while (at != kNothing) {
      if ((at & kLeaf) != 0) {
        visit(at & ~kLeaf);
        at = kNothing;
      } else {
        const Node& node = nodes_[at];
        Waiting near{OffsetOf(node.halves[0], reach.position), node.halves[0].at};
        Waiting far{OffsetOf(node.halves[1], reach.position), node.halves[1].at};
        if (SquaredLength(far.offset) < SquaredLength(near.offset)) {
          std::swap(near, far);
        }
        if (IsWithin(far.offset, reach, limit)) {
          waiting[count++] = far;
        }
        at = IsWithin(near.offset, reach, limit) ? near.at : kNothing;
      }
      while (at == kNothing && count > 0) {
        const Waiting& last = waiting[--count];
        at = SquaredLength(last.offset) <= limit ? last.at : kNothing;
      }
    }
  }

  // Calls visit(polygon) for all polygons whose box `may_touch` accepts, and for some others. REQUIRES: it
  // accepts a box around one that it accepts.
  template <typename MayTouch, typename Visitor>
  void VisitTouching(const MayTouch& may_touch, Visitor visit) const {
    if (root_ != kNothing) {
      VisitTouchingAt(root_, may_touch, visit);
    }
  }

  std::size_t memory_bytes() const { return nodes_.capacity() * sizeof(Node); }

 private:
  // Halves differ by one polygon at most, so each level has half as many.
  static constexpr std::size_t kMostLevels = 32;
  // Marks a single polygon instead of a node.
  static constexpr std::uint32_t kLeaf = 0x80000000;
  static constexpr std::uint32_t kNothing = 0xFFFFFFFF;
  static_assert(kMaxMeshPolygons < kLeaf);

  struct Half {
    std::array<float, 3> low;
    std::array<float, 3> high;
    // A node, or a polygon with kLeaf.
    std::uint32_t at;
  };
  struct alignas(64) Node {
    std::array<Half, 2> halves;
  };

  struct Offset {
    double plan = 0.0;
    double up = 0.0;
  };
  struct Waiting {
    Offset offset;
    std::uint32_t at;
  };
  // Returns the squared distance seen from above, and the distance up or down. Both are 0 within the box.
  // They grow with the distance of coordinates even after rounding, so no point in the box has lower ones.
  static Offset OffsetOf(const Half& half, const WorldPoint& position) {
    const double dx = Beyond(half.low[0], position.x, half.high[0]);
    const double dy = Beyond(half.low[1], position.y, half.high[1]);
    return {dx * dx + dy * dy, Beyond(half.low[2], position.z, half.high[2])};
  }
  static double Beyond(double low, double value, double high) {
    return std::max(std::max(low - value, value - high), 0.0);
  }
  static double SquaredLength(const Offset& offset) { return offset.plan + offset.up * offset.up; }
  static bool IsWithin(const Offset& offset, const MeshReach& reach, double limit) {
    return offset.plan <= reach.radius * reach.radius && offset.up <= reach.height &&
           SquaredLength(offset) <= limit;
  }

  template <typename MayTouch, typename Visitor>
  void VisitTouchingAt(std::uint32_t at, const MayTouch& may_touch, Visitor& visit) const {
    if ((at & kLeaf) != 0) {
      visit(at & ~kLeaf);
      return;
    }
    for (const Half& half : nodes_[at].halves) {
      const MeshBounds box{.low = {half.low[0], half.low[1], half.low[2]},
                           .high = {half.high[0], half.high[1], half.high[2]}};
      if (may_touch(box)) {
        VisitTouchingAt(half.at, may_touch, visit);
      }
    }
  }

  struct Built {
    MeshBounds box;
    std::uint32_t at;
  };
  // Adds the nodes of polygons[begin] to polygons[end - 1], which it puts in order. REQUIRES: begin < end.
  Built Build(const std::vector<MeshBounds>& boxes, std::vector<PolygonNumber>& polygons, std::size_t begin,
              std::size_t end, const StopCheck* stop);

  std::vector<Node> nodes_;
  // As Half::at.
  std::uint32_t root_ = kNothing;
};

}  // namespace waystar::core
