// k-d tree over vertices of a mesh, for what lies along an edge.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "server/base/stop_check.h"
#include "server/core/graph/world_point.h"
#include "server/core/mesh/mesh_bounds.h"

namespace waystar::core {

// A vertex between the ends of an edge.
struct VertexOnEdge {
  // Where it is: 0 at the first end, 1 at the second.
  double share = 0.0;
  std::uint32_t vertex = 0;
};

// Thread safety: const methods may run beside each other.
class VertexTree {
 public:
  // Holds some of `vertices`, which must outlive this. REQUIRES: there are such vertices.
  VertexTree(const std::vector<WorldPoint>& vertices, std::vector<std::uint32_t> chosen);

  // Appends the vertices between the ends of the edge that are at most `plan` away from it seen from above,
  // and at most `height` above or below, in no certain order. The ends themselves are not among them. `steps`
  // counts what was looked at, and tells when to ask `stop`, whose error is returned.
  absl::Status FindOnEdge(std::uint32_t from, std::uint32_t to, double plan, double height,
                          const StopCheck* stop, std::size_t& steps, std::vector<VertexOnEdge>& found) const;

 private:
  struct Node {
    MeshBounds box;
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    // The upper half, and 0 in a leaf. The lower half follows this node.
    std::uint32_t upper = 0;
  };

  void Build(std::uint32_t begin, std::uint32_t end);

  const std::vector<WorldPoint>& vertices_;
  std::vector<std::uint32_t> chosen_;
  std::vector<Node> nodes_;
};

}  // namespace waystar::core
