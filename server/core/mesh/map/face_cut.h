// Cutting of holes out of one polygon of a navigation mesh.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "server/core/mesh/map/convex_join.h"
#include "server/core/mesh/map/cut_table.h"
#include "server/core/mesh/map/mesh_spec.h"
#include "server/core/mesh/map/shape_outlines.h"
#include "server/core/mesh/map/triangulation.h"
#include "server/geometry/world_point.h"

namespace waystar::core {

// A point on the border of a polygon, and the edge that starts there.
struct BorderPoint {
  WorldPoint point;
  // Vertex of the uncut mesh, or VertexWalls::kNone for a new vertex: where a hole meets an edge of the
  // polygon, or touches a vertex.
  std::uint32_t vertex = VertexWalls::kNone;
  // True if it is between the ends of an edge of the polygon.
  bool is_split = false;
  // Polygon of the uncut mesh across the edge, or kNoPolygon.
  PolygonNumber beyond = kNoPolygon;
  // True if the same holes touch the edge from both sides.
  bool is_alike = true;
};

// Cuts one polygon in two steps, because walls depend on which ground remains across its edges.
//
// The pieces are those of a constrained Delaunay triangulation that are outside of all outlines, joined where
// the union is convex (ConvexJoin). Their corners are points of the border, corners of outlines, and
// crossings. The pieces of two adjacent polygons meet in whole edges, as the border gets no further points.
//
// It can also divide a polygon instead: then triangles inside of outlines are ground too, and are joined only
// to those inside of the same ones. A corner where several outlines or the border meet has a vertex for each
// run of joined triangles around it, with walls to all sides (VertexWalls::kSeveral).
//
// Not thread-safe.
class FaceCut {
 public:
  enum class Mode : std::uint8_t { kCut, kDivide };

  // Cuts or divides. The outlines are in an order that depends only on them.
  // REQUIRES: the border is counterclockwise, and has a point wherever an outline meets it.
  FaceCut(std::vector<BorderPoint> border, const std::vector<ConvexOutline>& outlines,
          Mode mode = Mode::kCut);

  // Returns false if the lines were too intricate. Nothing else may be called then.
  bool is_cut() const { return is_cut_; }
  // Returns true if ground remains along the edge that starts at this point of the border.
  bool HasGroundAt(std::size_t border_point) const;

  // The outlines around a piece, by their places in the list, in ascending order.
  using Cover = std::vector<std::uint32_t>;
  // Returns the cover of each piece, in their order.
  // REQUIRES: the polygon was divided.
  std::vector<Cover> CoversOfPieces() const;

  // Sets, for each edge of the border, whether it leads to ground.
  void SetOpen(std::vector<bool> is_open) { is_open_ = std::move(is_open); }

  // Returns the pieces, or nullopt if there are too many. height_at(point) returns the height of the polygon
  // at a point inside.
  // REQUIRES: SetOpen was called.
  template <typename HeightAt>
  std::optional<CutFace> Finish(PolygonNumber polygon, const CutNumbers& numbers, const HeightAt& height_at) {
    std::optional<CutFace> face = Number(polygon, numbers);
    if (face) {
      for (std::size_t i = 0; i < face->points.size(); ++i) {
        if (own_points_[i] >= static_cast<int>(border_.size()) + Triangulation::kFirstOfBorder) {
          face->points[i].z = height_at(face->points[i]);
        }
      }
    }
    return face;
  }

 private:
  // An edge of a triangle: three times its number, plus the place of the corner where it starts.
  using Half = ConvexJoin::Half;
  static constexpr Half kNoHalf = ConvexJoin::kNone;
  // The corners of pieces around one point that edges connect.
  struct Fan {
    Half first = kNoHalf;
    Half last = kNoHalf;
    std::uint32_t vertex = 0;
  };

  static Triangulation::Corner CornerOf(Half half) {
    return {static_cast<int>(half / 3), static_cast<int>(half % 3)};
  }
  static Half HalfOf(const Triangulation::Corner& corner) {
    return static_cast<Half>(3 * corner.triangle + corner.place);
  }
  static std::size_t Index(int number) { return static_cast<std::size_t>(number); }
  int PointOf(Half half) const { return mesh_.PointOf(CornerOf(half)); }
  bool IsGround(int triangle) const {
    return triangle != Triangulation::kNone && mesh_.At(triangle).is_inside &&
           (mode_ == Mode::kDivide || mesh_.At(triangle).outlines == 0);
  }
  // Returns false if there are too many triangles and outlines.
  bool NoteCovers(const std::vector<ConvexOutline>& outlines);
  // Returns the edge in the other direction if there is ground of the same polygon, else kNoHalf.
  Half Opposite(Half half) const;
  // Returns the same if the triangles may be joined.
  Half TwinOf(Half half) const;
  // Returns the edge of the border at this edge, or nullopt.
  std::optional<std::size_t> BorderOf(Half half) const;
  bool IsOpen(Half half) const;

  void JoinTriangles();

  std::optional<CutFace> Number(PolygonNumber polygon, const CutNumbers& numbers);
  void FindFans();
  // Returns the point up to which a hole continues the wall beyond the border, or nullopt.
  std::optional<int> WallBeyond(const Fan& fan) const;

  const Mode mode_;
  std::vector<BorderPoint> border_;
  Triangulation mesh_;
  // If the polygon is divided: the covers, and for each triangle the number of its cover.
  std::vector<Cover> covers_ = {{}};
  std::vector<std::uint32_t> cover_of_;
  bool is_cut_ = false;
  std::vector<bool> is_open_;
  // Joins the triangles to pieces.
  std::optional<ConvexJoin> join_;
  // One edge of each piece.
  std::vector<Half> pieces_;
  std::vector<Fan> fans_;
  std::vector<int> fan_of_;
  // Points of the new vertices.
  std::vector<int> own_points_;
};

}  // namespace waystar::core
