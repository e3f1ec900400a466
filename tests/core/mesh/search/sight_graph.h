// Shortest paths on small meshes by brute force, and what draws such meshes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "server/core/mesh/map/mesh_spec.h"
#include "server/core/mesh/map/nav_mesh.h"
#include "server/core/mesh/search/mesh_scratch.h"
#include "tests/core/mesh/map/drawn_mesh.h"
#include "tests/testing/random.h"
#include "tests/testing/seeds.h"

namespace waystar {

// A mesh of unit squares, one for each character that is not '#': the first row lies at y from 0 to 1. If a
// source of random numbers is given, squares are merged into random rectangles, of which some are cut into
// triangles; rectangles have corners where others beside them end.
core::MeshSpec DrawRooms(const std::vector<std::string>& rows, Random* random = nullptr);

// Polygons around (4, 4), of which some meet there in the vertex alone: each group has a vertex of its own.
core::MeshSpec DrawFans();

// A mesh of storeys above each other, each drawn as by DrawRooms from rows of the same size, 4 units above
// the last. From each to the next, a ramp leads up from the right of row 0, and another back to row 1.
core::MeshSpec DrawStoreys(const std::vector<std::vector<std::string>>& storeys);

// Rows for DrawRooms, of 2 to 9 characters and as many rows. The first character is not '#'.
std::vector<std::string> RandomRooms(Random& random);
// The same of that size. `walls` is the chance of a '#'.
std::vector<std::string> RandomRooms(int columns, int rows, double walls, Random& random);

// Returns the place at that position. REQUIRES: a polygon is there.
core::MeshPlace PlaceAt(const core::NavMesh& mesh, double x, double y, double z = 0.0);

// Returns a place that was rounded to an edge, or one of a point on a bent floor: the former may lie half a
// unit of rounding outside.
core::MeshPlace RoundedPlace(const core::NavMesh& mesh, Random& random);

// Calls `body` with a mesh of up to so many bent floors above each other, and with one of rooms whose squares
// and rectangles have many corners in line with each other, for each seed.
template <typename Body>
void ForMeshes(std::uint64_t seeds, int floors, Body body) {
  ForSeeds(seeds, [&](Random& random) {
    body(MeshOf(BentFloors(random, random.Between(1, floors))), random);
    body(MeshOf(DrawRooms(RandomRooms(random), &random)), random);
  });
}

// Steps around a post, or without one around a single vertex, eight a turn.
core::NavMesh SpiralStairs(int steps, bool has_post);

// Returns a mesh of WAYSTAR_DATA; nothing if that names no folder with meshes/polyanya.
std::optional<core::NavMesh> LoadMesh(const std::string& name);

// Describes a question in a trace.
::testing::Message Between(const core::MeshPlace& start, const core::WorldPoint& goal);

// Returns the length of the path that a search finds, or infinity.
double LengthOf(const core::NavMesh& mesh, const core::MeshPlace& start, const core::MeshPlace& goal,
                core::MeshScratch& scratch);

// Distances as seen from above.
double PlanDistance(const core::WorldPoint& a, const core::WorldPoint& b);
double DistanceToSegment(const core::WorldPoint& a, const core::WorldPoint& b, const core::WorldPoint& p);
// Returns the distance to the nearest of all walls of these polygons, whatever lies between.
double DistanceToWalls(const core::NavMesh& mesh, const core::WorldPoint& point, core::PolygonNumber begin,
                       core::PolygonNumber end);

// Returns a place inside of a random polygon, on one of its edges, or in one of its corners.
core::MeshPlace RandomPlace(const core::NavMesh& mesh, Random& random);

// Visibility graph: which vertices see each other, by integers. One sees another if the straight line between
// them, as seen from above, leads from polygon to polygon through edges and never back; so it stays on its
// floor where others lie above. A vertex counts once for each group of polygons around it that edges join.
class SightGraph {
 public:
  // REQUIRES: the mesh outlives this.
  explicit SightGraph(const core::NavMesh& mesh);

  // Returns the length of the shortest path, or infinity. An end on a vertex is in all groups of polygons
  // that have one there, at its height. REQUIRES: the polygons contain the points.
  double Length(const core::MeshPlace& start, const core::MeshPlace& goal) const;

 private:
  struct Node {
    core::WorldPoint point;
    // Polygons around the point.
    std::vector<core::PolygonNumber> around;
  };

  Node NodeOf(const core::MeshPlace& place) const;
  Node EndOf(const core::MeshPlace& place) const;
  double Distance(const Node& a, const Node& b) const;

  const core::NavMesh& mesh_;
  std::vector<Node> nodes_;
  std::vector<std::vector<double>> distances_;
};

}  // namespace waystar
