// Corners of a polygon in the order in which interval searches visit them.
#pragma once

#include <array>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"
#include "server/core/mesh/map/mesh_spec.h"
#include "server/core/mesh/map/plan.h"
#include "server/geometry/world_point.h"

namespace waystar::core {

// Line of sight from a point through another.
struct Sight {
  const WorldPoint& from;
  const WorldPoint& to;
};

// Corners c[1] to c[n] of a polygon or cell, counterclockwise from the right end of the edge through which it
// is entered to the left end. Edge j leads from c[j] to c[j + 1]. Corners are copied once for all uses in an
// expansion, and so are their sides relative to two lines of sight.
class FaceRing {
 public:
  // For each corner, its side of a line: see Side. One more entry at either end.
  using Sides = std::array<double, kMaxPolygonCorners + 2>;

  // Reads a polygon of the mesh, or a cell of the layer. Costs O(corners).
  //
  // REQUIRES: the polygon has `edge_left` as a corner.
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
  // REQUIRES, for these three: 1 <= j <= size().
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
  // Returns the polygon across edge j, or kNoPolygon for a wall.
  //
  // REQUIRES: 1 <= j < size().
  PolygonNumber NeighbourAt(std::uint32_t j) const {
    assert(HasCorner(j) && j < size_);
    return neighbours_[j];
  }

  // Computes the exact sides, as Side does, of corners `first` to `last` relative to the line. Corners within
  // `dent` of the line count as on it.
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
  // c[0] equals c[n]. Entries not written by Load are never read.
  std::array<std::uint32_t, kMaxPolygonCorners + 1> vertices_;
  std::array<PolygonNumber, kMaxPolygonCorners + 1> neighbours_;
  std::array<double, kMaxPolygonCorners + 1> x_;
  std::array<double, kMaxPolygonCorners + 1> y_;
};

}  // namespace waystar::core
