// The corners of a polygon in the order in which searches by intervals look at them.
#pragma once

#include <array>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"
#include "server/core/graph/world_point.h"
#include "server/core/mesh/mesh_spec.h"
#include "server/core/mesh/plan.h"

namespace waystar::core {

// A line of sight, from a point to another that it leads through.
struct Sight {
  const WorldPoint& from;
  const WorldPoint& to;
};

// The corners c[1] to c[n] of a polygon or a cell, from the right end of the edge that it is entered through
// counterclockwise to the left end. Edge j leads from c[j] to c[j + 1]. They are copied once for all that an
// expansion asks of them, and so are the sides of two lines of sight that they lie on.
//
// Whatever includes this must be compiled with -ffp-contract=off.
class FaceRing {
 public:
  // For each corner the side of a line: see Side. There is one place more at either end.
  using Sides = std::array<double, kMaxPolygonCorners + 2>;

  // Reads a polygon of the mesh, or a cell of the layer. It costs O(corners).
  //
  // REQUIRES: it has a corner at this left end of the edge.
  template <typename Mesh>
  void Load(const Mesh& mesh, PolygonNumber polygon, std::uint32_t edge_left) {
    const absl::Span<const std::uint32_t> corners = mesh.VerticesOf(polygon);
    const absl::Span<const PolygonNumber> neighbours = mesh.NeighboursOf(polygon);
    size_ = static_cast<std::uint32_t>(corners.size());
    std::uint32_t entry = 0;
    while (corners[entry] != edge_left) {
      ++entry;
      assert(entry < size_);
    }
    std::uint32_t j = 0;
    const auto load = [&](std::uint32_t k) {
      const std::uint32_t vertex = corners[k];
      const WorldPoint& point = mesh.VertexAt(vertex);
      vertices_[j] = vertex;
      neighbours_[j] = neighbours[k];
      x_[j] = point.x;
      y_[j] = point.y;
      ++j;
    };
    for (std::uint32_t k = entry; k < size_; ++k) {
      load(k);
    }
    for (std::uint32_t k = 0; k <= entry; ++k) {
      load(k);
    }
  }

  std::uint32_t size() const { return size_; }
  // REQUIRES, of these three: 1 <= j <= size().
  std::uint32_t VertexAt(std::uint32_t j) const {
    assert(HasCorner(j));
    return vertices_[j];
  }
  double XAt(std::uint32_t j) const {
    assert(HasCorner(j));
    return x_[j];
  }
  double YAt(std::uint32_t j) const {
    assert(HasCorner(j));
    return y_[j];
  }
  // Returns the polygon behind edge j, or kNoPolygon for a wall.
  //
  // REQUIRES: 1 <= j < size().
  PolygonNumber NeighbourAt(std::uint32_t j) const {
    assert(HasCorner(j) && j < size_);
    return neighbours_[j];
  }

  // Notes on which side of the line corners `first` to `last` lie, exactly, as Side does. Corners that are no
  // further from it than `dent` lie on it.
  void NoteSides(const Sight& sight, std::uint32_t first, std::uint32_t last, double dent,
                 Sides& sides) const {
    const double from_x = sight.from.x;
    const double from_y = sight.from.y;
    const double dx = sight.to.x - from_x;
    const double dy = sight.to.y - from_y;
    bool is_near = dent > 0.0;
    for (std::uint32_t j = first; j <= last; ++j) {
      const double left = dx * (y_[j] - from_y);
      const double right = dy * (x_[j] - from_x);
      sides[j] = left - right;
      is_near |= !IsSideCertain(left, right);
    }
    if (is_near) {
      NoteNearSides(sight, first, last, dent, sides);
    }
  }

 private:
  bool HasCorner(std::uint32_t j) const { return 1 <= j && j <= size_; }

  [[gnu::noinline, gnu::cold]] void NoteNearSides(const Sight& sight, std::uint32_t first, std::uint32_t last,
                                                  double dent, Sides& sides) const {
    const double dx = sight.to.x - sight.from.x;
    const double dy = sight.to.y - sight.from.y;
    const double within = dent * std::sqrt(dx * dx + dy * dy);
    for (std::uint32_t j = first; j <= last; ++j) {
      const double side = Side(sight.from, sight.to, {x_[j], y_[j], 0.0});
      sides[j] = std::abs(side) <= within ? 0.0 : side;
    }
  }

  std::uint32_t size_ = 0;
  // c[0] is c[n]. Places that Load has not written are never read.
  std::array<std::uint32_t, kMaxPolygonCorners + 1> vertices_;
  std::array<PolygonNumber, kMaxPolygonCorners + 1> neighbours_;
  std::array<double, kMaxPolygonCorners + 1> x_;
  std::array<double, kMaxPolygonCorners + 1> y_;
};

}  // namespace waystar::core
