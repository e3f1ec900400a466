// k-d tree over vertices of a mesh, for finding vertices along an edge.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "server/base/stop_check.h"
#include "server/core/mesh/map/mesh_bounds.h"
#include "server/geometry/world_point.h"

namespace waystar::core {

// A vertex between the ends of an edge.
struct VertexOnEdge {
  // Position along the edge: 0 at the first end, 1 at the second.
  double share = 0.0;
  std::uint32_t vertex = 0;
};

// k-d tree. Thread safety: const methods may run concurrently.
class VertexTree {
 public:
  // Stores some of `vertices`, which must outlive this.
  // REQUIRES: all chosen vertices exist.
  VertexTree(const std::vector<WorldPoint>& vertices, std::vector<std::uint32_t> chosen);

  // Appends the vertices strictly between the ends of the edge that are at most `plan` away seen from above,
  // and at most `height` above or below, in no particular order. `steps` counts the visited vertices and
  // nodes and determines when `stop` is checked, whose error is returned.
  absl::Status FindOnEdge(std::uint32_t from, std::uint32_t to, double plan, double height,
                          const StopCheck* stop, std::size_t& steps, std::vector<VertexOnEdge>& found) const;

 private:
  struct Node {
    MeshBounds box;
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    // Index of the upper half; 0 in a leaf. The lower half follows this node.
    std::uint32_t upper = 0;
  };

  void Build(std::uint32_t begin, std::uint32_t end);

  const std::vector<WorldPoint>& vertices_;
  std::vector<std::uint32_t> chosen_;
  std::vector<Node> nodes_;
};

}  // namespace waystar::core
