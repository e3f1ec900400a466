// Joining of adjacent convex faces.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "server/base/error.h"
#include "server/base/stop_check.h"
#include "server/core/mesh/map/mesh_spec.h"
#include "server/core/mesh/map/plan.h"
#include "server/geometry/world_point.h"

namespace waystar::core {

// Faces of a planar subdivision as half-edges: each edge of a face starts at one of its corners. Two faces
// are joined if their union is convex, the longest common edges first (Hertel, Mehlhorn, "Fast Triangulation
// of Simple Polygons", 1983), until no two can be joined.
//
// Not thread-safe.
class ConvexJoin {
 public:
  using Half = std::uint32_t;
  static constexpr Half kNone = std::numeric_limits<Half>::max();
  static constexpr std::uint32_t kAnyFaces = std::uint32_t{1} << 31;

  // For each half-edge: the next one of its face, its face, and the half-edge in the opposite direction. That
  // is kNone at a wall, and where the faces must not be joined.
  ConvexJoin(std::vector<Half> next, std::vector<std::uint32_t> face_of, std::vector<Half> twin,
             std::size_t face_count)
      : next_(std::move(next)),
        previous_(next_.size()),
        face_of_(std::move(face_of)),
        twin_(std::move(twin)),
        joined_(face_count),
        corner_counts_(face_count),
        face_counts_(face_count, 1) {
    std::iota(joined_.begin(), joined_.end(), 0);
    for (Half half = 0; half < next_.size(); ++half) {
      previous_[next_[half]] = half;
      ++corner_counts_[face_of_[half]];
    }
  }

  // Joins at most `most_faces` faces to one. point_at(half) returns where the half-edge starts, in multiples
  // of 2^-20. With a limit, faces double in each round, so that equal ones become round faces and not strips.
  // A round costs O(n log n) and the common edges. Returns the error of `stop`.
  template <typename PointAt>
  absl::Status Join(const PointAt& point_at, std::uint32_t most_faces = kAnyFaces,
                    const StopCheck* stop = nullptr) {
    struct Edge {
      double length;
      Half half;
    };
    std::vector<Edge> edges;
    for (Half half = 0; half < next_.size(); ++half) {
      if (twin_[half] != kNone && half < twin_[half]) {
        edges.push_back({0.0, half});
      }
    }
    std::size_t steps = 0;
    bool has_joined = true;
    for (std::uint32_t most = most_faces == kAnyFaces ? kAnyFaces : 2; has_joined || most < most_faces;
         most = std::min(most, most_faces / 2) * 2) {
      for (Edge& edge : edges) {
        WAYSTAR_RETURN_IF_ERROR(CheckStopAt(stop, steps++));
        const Seam seam = SeamAt(edge.half);
        edge.length = SquaredPlanDistance(point_at(seam.first), point_at(twin_[seam.last]));
      }
      std::ranges::sort(edges, [](const Edge& a, const Edge& b) {
        return std::tie(b.length, a.half) < std::tie(a.length, b.half);
      });
      has_joined = false;
      for (const Edge& edge : edges) {
        WAYSTAR_RETURN_IF_ERROR(CheckStopAt(stop, steps++));
        has_joined |= !IsRemoved(edge.half) && JoinAcross(edge.half, point_at, most);
      }
      std::erase_if(edges, [&](const Edge& edge) { return IsRemoved(edge.half); });
    }
    return absl::OkStatus();
  }

  // Returns true if the faces beside the half-edge have been joined.
  bool IsRemoved(Half half) const { return next_[half] == kNone; }
  // Return the neighbours of a half-edge in the loop of its joined face.
  // REQUIRES: it is not removed.
  Half Next(Half half) const { return next_[half]; }
  Half Previous(Half half) const { return previous_[half]; }
  Half TwinOf(Half half) const { return twin_[half]; }
  // Returns the face that stands for all that were joined to this one.
  std::uint32_t RootOf(std::uint32_t face) {
    while (joined_[face] != face) {
      joined_[face] = joined_[joined_[face]];
      face = joined_[face];
    }
    return face;
  }
  std::uint32_t FaceOf(Half half) const { return face_of_[half]; }
  std::uint32_t RootBeside(Half half) { return RootOf(face_of_[half]); }

 private:
  // Returns true if the path over three points turns left or continues straight.
  static bool IsConvex(const WorldPoint& a, const WorldPoint& b, const WorldPoint& c) {
    const double side = Side(a, b, c);
    return side > 0.0 || (side == 0.0 && (b.x - a.x) * (c.x - b.x) + (b.y - a.y) * (c.y - b.y) > 0.0);
  }

  // The common edges of two faces next to each other, from `first` to `last`.
  struct Seam {
    Half first;
    Half last;
    std::uint32_t edges;
  };

  Seam SeamAt(Half half) const {
    Seam seam{half, half, 1};
    while (twin_[next_[seam.last]] != kNone && twin_[next_[seam.last]] == previous_[twin_[seam.last]] &&
           next_[seam.last] != seam.first) {
      seam.last = next_[seam.last];
      ++seam.edges;
    }
    while (twin_[previous_[seam.first]] != kNone &&
           twin_[previous_[seam.first]] == next_[twin_[seam.first]] && previous_[seam.first] != seam.last) {
      seam.first = previous_[seam.first];
      ++seam.edges;
    }
    return seam;
  }

  template <typename PointAt>
  bool JoinAcross(Half half, const PointAt& point_at, std::uint32_t most_faces) {
    const std::uint32_t face = RootBeside(half);
    const std::uint32_t other = RootBeside(twin_[half]);
    if (face == other || face_counts_[face] + face_counts_[other] > most_faces) {
      return false;
    }
    const auto [first, last, edges] = SeamAt(half);
    const std::uint32_t corners = corner_counts_[face] + corner_counts_[other] - 2 * edges;
    const Half after = next_[last];
    const Half before = previous_[first];
    const Half other_after = next_[twin_[first]];
    const Half other_before = previous_[twin_[last]];
    if (corners > kMaxPolygonCorners ||
        !IsConvex(point_at(before), point_at(first), point_at(next_[other_after])) ||
        !IsConvex(point_at(other_before), point_at(twin_[last]), point_at(next_[after]))) {
      return false;
    }
    for (Half at = first; at != after;) {
      const Half following = next_[at];
      next_[at] = kNone;
      next_[twin_[at]] = kNone;
      at = following;
    }
    Link(before, other_after);
    Link(other_before, after);
    joined_[other] = face;
    corner_counts_[face] = corners;
    face_counts_[face] += face_counts_[other];
    return true;
  }

  void Link(Half from, Half to) {
    next_[from] = to;
    previous_[to] = from;
  }

  std::vector<Half> next_;
  std::vector<Half> previous_;
  std::vector<std::uint32_t> face_of_;
  std::vector<Half> twin_;
  // For each face, one on the way to its root.
  std::vector<std::uint32_t> joined_;
  // For each root, the corners of its face, and the faces that were joined to it.
  std::vector<std::uint32_t> corner_counts_;
  std::vector<std::uint32_t> face_counts_;
};

}  // namespace waystar::core
