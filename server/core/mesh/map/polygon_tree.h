// Bounding volume hierarchy over the polygons of a mesh, or over its walls.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "server/base/stop_check.h"
#include "server/core/mesh/map/mesh_spec.h"
#include "server/geometry/world_point.h"

namespace waystar::core {

// Search range around a point. Both distances may be infinite.
struct MeshReach {
  WorldPoint position;
  // Maximum distance seen from above.
  double radius = 0.0;
  // Maximum vertical distance.
  double height = 0.0;
};

// Tree of boxes with up to four children, split along the longest side of the box around the centres.
// Immutable once built: a tile whose polygons change gets a new tree. A node stores the boxes of all its
// children, rounded outwards to 8 bits per side as in Ylitie, Karras and Laine (2017), so that one cache line
// determines where to descend. All nodes but one per level are full; the tree takes 22 bytes per polygon.
//
// Thread safety: const methods may run concurrently.
class PolygonTree {
 public:
  PolygonTree() = default;
  // Builds the tree over the boxes of polygons, by polygon number. Once `stop` has returned an error, the
  // tree must not be used.
  // REQUIRES: no box is empty.
  explicit PolygonTree(const std::vector<MeshBounds>& boxes, const StopCheck* stop = nullptr);

  // Calls visit(polygon) for all polygons whose box has a point within `reach` whose squared distance from
  // the position is at most `limit`, and for some others, mostly nearer ones first. `visit` may lower
  // `limit`.
  //
  // Before that, calls foresee(polygon) for polygons that it may visit, so that the caller can prefetch them.
  template <typename Foresee, typename Visitor>
  void VisitNear(const MeshReach& reach, const double& limit, const Foresee& foresee, Visitor visit) const {
    // Boxes not visited yet: at most three per level.
    std::array<Waiting, std::size_t{kMostLevels} * (kMostBelow - 1)> waiting;
    std::size_t count = 0;
    std::uint32_t at = root_;
    while (at != kNothing) {
      if ((at & kLeaf) != 0) {
        visit(at & ~kLeaf);
        at = kNothing;
      } else {
        const Node& node = nodes_[at];
        const Distances distances = DistancesTo(node, reach, limit);
        unsigned left = distances.within;
        at = kNothing;
        if (left != 0) {
          // Prefetches all candidates at once, so that their latencies overlap.
          const auto take = [&](unsigned& boxes) {
            const auto i = static_cast<unsigned>(std::countr_zero(boxes));
            boxes &= boxes - 1;
            if ((node.at[i] & kLeaf) != 0) {
              foresee(node.at[i] & ~kLeaf);
            } else {
              __builtin_prefetch(&nodes_[node.at[i]]);
            }
            return Waiting{distances.squared[i], node.at[i]};
          };
          Waiting nearest = take(left);
          while (left != 0) {
            Waiting other = take(left);
            if (other.squared_distance < nearest.squared_distance) {
              std::swap(other, nearest);
            }
            waiting[count++] = other;
          }
          at = nearest.at;
        }
      }
      while (at == kNothing && count > 0) {
        const Waiting& last = waiting[--count];
        at = last.squared_distance <= WithRoom(limit) ? last.at : kNothing;
      }
    }
  }

  // Calls visit(polygon, squared distance) in the order of the squared distances that distance_to(polygon)
  // returns, up to `limit` and until it returns false. Costs O(log polygons) per visit if the position is far
  // from all polygons.
  // REQUIRES: the distance is that from the position to a point in the box of the polygon.
  template <typename DistanceTo, typename Visitor>
  void VisitInOrder(const WorldPoint& position, double limit, const DistanceTo& distance_to,
                    Visitor visit) const {
    struct Next {
      double squared_distance;
      std::uint32_t at;
    };
    constexpr auto kIsAfter = [](const Next& a, const Next& b) {
      return a.squared_distance > b.squared_distance;
    };
    constexpr double kAnywhere = std::numeric_limits<double>::infinity();
    absl::InlinedVector<Next, 64> next;  // Heap, nearest first.
    const auto push = [&](double squared_distance, std::uint32_t at) {
      next.push_back({squared_distance, at});
      std::push_heap(next.begin(), next.end(), kIsAfter);
    };
    if (root_ != kNothing) {
      push((root_ & kLeaf) != 0 ? distance_to(root_ & ~kLeaf) : 0.0, root_);
    }
    while (!next.empty() && next.front().squared_distance <= limit) {
      std::pop_heap(next.begin(), next.end(), kIsAfter);
      const auto [squared_distance, at] = next.back();
      next.pop_back();
      if ((at & kLeaf) != 0) {
        if (!visit(at & ~kLeaf, squared_distance)) {
          return;
        }
        continue;
      }
      const Node& node = nodes_[at];
      const Distances distances = DistancesTo(node, {position, kAnywhere, kAnywhere}, limit);
      for (std::size_t i = 0; i < kMostBelow; ++i) {
        const std::uint32_t below = node.at[i];
        if ((distances.within >> i & 1) != 0 && below != kNothing) {
          push((below & kLeaf) != 0 ? distance_to(below & ~kLeaf) : double{distances.squared[i]}, below);
        }
      }
    }
  }

  // Calls visit(polygon) for all polygons whose box `may_touch` accepts, and for some others.
  // REQUIRES: if `may_touch` accepts a box, it accepts every box around it.
  template <typename MayTouch, typename Visitor>
  void VisitTouching(const MayTouch& may_touch, Visitor visit) const {
    if (root_ != kNothing) {
      VisitTouchingAt(root_, may_touch, visit);
    }
  }

  std::size_t memory_bytes() const { return nodes_.capacity() * sizeof(Node); }

 private:
  static constexpr std::size_t kMostBelow = 4;
  // Maximum number of levels; each has a quarter as many nodes as the one below.
  static constexpr std::size_t kMostLevels = 16;
  // Marks a polygon instead of a node.
  static constexpr std::uint32_t kLeaf = 0x80000000;
  static constexpr std::uint32_t kNothing = 0xFFFFFFFF;
  static_assert(kMaxMeshPolygons < kLeaf);

  struct alignas(64) Node {
    // Origin of the box of the whole node, and the powers of two in which its sides are counted from there.
    std::array<float, 3> origin;
    std::array<float, 3> step;
    // Lower sides of all boxes along each axis, then the upper ones.
    std::array<std::uint8_t, 6 * kMostBelow> sides;
    // Nodes, or polygons with kLeaf; kNothing for unused entries.
    std::array<std::uint32_t, kMostBelow> at;
  };

  // Vector of values for all four children.
  using Four = float __attribute__((vector_size(4 * sizeof(float))));
  static_assert(kMostBelow == 4);

  // Squared distances of boxes from a position; 0 inside. Slightly too low, so that no point in a box is
  // nearer.
  struct Distances {
    std::array<float, kMostBelow> squared;
    // One bit per box within reach and limit.
    unsigned within = 0;
  };
  struct Waiting {
    float squared_distance;
    std::uint32_t at;
  };
  // Returns the number plus a tolerance for the rounding of values compared with it.
  static float WithRoom(double number) {
    constexpr double kRoom = 1.0 + 1.0 / (1 << 20);
    return static_cast<float>(std::min(number * kRoom, double{std::numeric_limits<float>::max()}));
  }
  static Distances DistancesTo(const Node& node, const MeshReach& reach, double limit) {
    alignas(Four) std::array<float, 6 * kMostBelow> sides;
    for (std::size_t i = 0; i < sides.size(); ++i) {
      sides[i] = node.sides[i];
    }
    const auto offsets_along = [&](std::size_t axis, double coordinate) {
      // Exact except for the conversion to float.
      const auto position = static_cast<float>(coordinate - node.origin[axis]);
      const float room = std::abs(position) * (1.0F / (1 << 22));
      Four low;
      Four high;
      std::memcpy(&low, &sides[axis * kMostBelow], sizeof(Four));
      std::memcpy(&high, &sides[(3 + axis) * kMostBelow], sizeof(Four));
      const Four below = low * node.step[axis] - (position + room);
      const Four above = (position - room) - high * node.step[axis];
      const Four offset = below > above ? below : above;
      return offset > 0.0F ? offset : Four{};
    };
    const Four x = offsets_along(0, reach.position.x);
    const Four y = offsets_along(1, reach.position.y);
    const Four z = offsets_along(2, reach.position.z);
    const Four plan = x * x + y * y;
    const Four squared = plan + z * z;
    const auto is_within = (plan <= WithRoom(reach.radius * reach.radius)) & (z <= WithRoom(reach.height)) &
                           (squared <= WithRoom(limit));
    Distances distances;
    std::memcpy(distances.squared.data(), &squared, sizeof(Four));
    const auto bits = is_within & (decltype(is_within){1, 2, 4, 8});
    distances.within = static_cast<unsigned>(bits[0] | bits[1] | bits[2] | bits[3]);
    return distances;
  }

  template <typename MayTouch, typename Visitor>
  void VisitTouchingAt(std::uint32_t at, const MayTouch& may_touch, Visitor& visit) const {
    if ((at & kLeaf) != 0) {
      visit(at & ~kLeaf);
      return;
    }
    const Node& node = nodes_[at];
    for (std::size_t i = 0; i < kMostBelow && node.at[i] != kNothing; ++i) {
      if (may_touch(BoxOf(node, i))) {
        VisitTouchingAt(node.at[i], may_touch, visit);
      }
    }
  }
  static MeshBounds BoxOf(const Node& node, std::size_t i) {
    const auto side = [&](std::size_t axis, std::size_t from) {
      return node.origin[axis] + node.sides[(from + axis) * kMostBelow + i] * double{node.step[axis]};
    };
    return {.low = {side(0, 0), side(1, 0), side(2, 0)}, .high = {side(0, 3), side(1, 3), side(2, 3)}};
  }

  struct Built {
    MeshBounds box;
    std::uint32_t at = kNothing;
  };
  using Below = absl::InlinedVector<Built, kMostBelow>;
  class Builder;

  // REQUIRES: there are 1 to kMostBelow children.
  static Node MakeNode(const Below& below);

  std::vector<Node> nodes_;
  // Root node, polygon with kLeaf, or kNothing, as in Node::at.
  std::uint32_t root_ = kNothing;
};

}  // namespace waystar::core
