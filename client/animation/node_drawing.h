#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "client/animation/search_drawing.h"

namespace waystar::animation {

// A search on a waypoint graph: open nodes are rings, expanded ones are filled, and the edge by which a node
// was reached takes the node's colour. All nodes lie above all edges and above the path.
class NodeDrawing final : public SearchDrawing {
 public:
  NodeDrawing(const TracedSearch& search, picture::Canvas map, const picture::Tiling& tiling);

  std::uint64_t KeyOf(const v1::SearchEvent& event) const override { return indices_.at(event.node()); }
  void DrawOpen(const v1::SearchEvent& generated) override;
  void DrawExpanded(const v1::SearchEvent& generated, double share) override;
  void DrawPath() override;
  picture::Canvas Picture() const override;

 private:
  struct Node {
    picture::Point at;
    bool is_drawn = false;
    // The color of an expanded node.
    std::optional<picture::Color> filled;
  };

  void AddNodes(const TracedSearch& search, const picture::Tiling& tiling);
  // Returns where on the picture a place lies, if the search tells.
  std::optional<picture::Point> Find(const v1::Location& location, const picture::Tiling& tiling) const;
  void AddEnds(const TracedSearch& search, const picture::Tiling& tiling);
  void DrawLine(picture::Point from, picture::Point to, picture::Color color, double width);
  void DrawNode(const Node& node, picture::Surface& surface) const;

  // The map with edges and path, without what lies above them.
  picture::Canvas below_;
  // Maps ids to indices of nodes_, of all nodes that the search came to.
  absl::flat_hash_map<std::string, std::size_t> indices_;
  std::vector<Node> nodes_;
  SearchEnds ends_;
  std::vector<picture::Point> path_;
  double radius_ = 5.0;
};

}  // namespace waystar::animation
