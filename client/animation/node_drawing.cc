#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "client/animation/search_drawing.h"
#include "server/render/canvas/color.h"

namespace waystar::animation {
namespace {

using picture::Color;
using picture::Point;

// With more nodes than this they are drawn as dots, and with four times as many as small ones.
constexpr std::size_t kLargeNodes = 600;
constexpr double kRimmedRadius = 4.0;

double RadiusFor(std::size_t nodes) {
  return nodes > 4 * kLargeNodes ? 1.2 : nodes > kLargeNodes ? 2.0 : 5.0;
}

Point PointOf(const v1::Position& position, const picture::Tiling& tiling) {
  return tiling.At(position.x(), position.y());
}

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

}  // namespace

NodeDrawing::NodeDrawing(const TracedSearch& search, picture::Canvas map, const picture::Tiling& tiling)
    : below_(std::move(map)) {
  AddNodes(search, tiling);
  radius_ = RadiusFor(std::max(search.graph_nodes, nodes_.size()));
  AddEnds(search, tiling);
  if (search.places.empty()) {
    for (const v1::Position& position : search.answer.positions()) {
      path_.push_back(PointOf(position, tiling));
    }
    return;
  }
  for (const std::string& node : search.answer.nodes()) {
    if (const auto place = search.places.find(node); place != search.places.end()) {
      path_.push_back(place->second);
    }
  }
}

void NodeDrawing::AddNodes(const TracedSearch& search, const picture::Tiling& tiling) {
  for (const v1::SearchEvent& event : search.events) {
    const auto [entry, is_new] = indices_.try_emplace(event.node(), nodes_.size());
    if (is_new) {
      const auto place = search.places.find(event.node());
      nodes_.push_back(
          {.at = place == search.places.end() ? PointOf(event.position(), tiling) : place->second});
    }
  }
}

std::optional<Point> NodeDrawing::Find(const v1::Location& location, const picture::Tiling& tiling) const {
  std::optional<Point> at;
  if (location.has_position()) {
    at = PointOf(location.position(), tiling);
  } else if (const auto found = indices_.find(location.node()); found != indices_.end()) {
    at = nodes_[found->second].at;
  }
  return at.has_value() && IsWithin(below_, *at) ? at : std::nullopt;
}

void NodeDrawing::AddEnds(const TracedSearch& search, const picture::Tiling& tiling) {
  ends_.radius = radius_ + 3;
  ends_.start = Find(search.query.start(), tiling);
  for (const v1::Location& goal : search.query.goals()) {
    if (const auto at = Find(goal, tiling)) {
      ends_.goals.push_back(*at);
    }
  }
}

void NodeDrawing::DrawOpen(const v1::SearchEvent& generated) {
  nodes_[indices_.at(generated.node())].is_drawn = true;
}

void NodeDrawing::DrawExpanded(const v1::SearchEvent& generated, double share) {
  Node& node = nodes_[indices_.at(generated.node())];
  node.is_drawn = true;
  node.filled = picture::SearchColor(share);
  if (const auto parent = indices_.find(generated.parent_node()); parent != indices_.end()) {
    DrawLine(nodes_[parent->second].at, node.at, *node.filled, std::max(1.2, radius_ * 0.7));
  }
}

void NodeDrawing::DrawLine(Point from, Point to, Color color, double width) {
  const picture::Box box = {0, 0, static_cast<double>(below_.width()), static_cast<double>(below_.height())};
  if (const auto shown = picture::ClipTo(box, from, to)) {
    const std::vector<Point> line = {shown->first, shown->second};
    picture::RasterSurface(below_).Stroke(line, {{color}, width});
  }
}

void NodeDrawing::DrawPath() {
  const double width = std::clamp(radius_ * 0.9, 2.5, 4.5);
  for (const bool is_halo : {true, false}) {
    for (std::size_t i = 0; i + 1 < path_.size(); ++i) {
      DrawLine(path_[i], path_[i + 1], is_halo ? kPaper : kPathGreen, is_halo ? width + 2.5 : width);
    }
  }
}

void NodeDrawing::DrawNode(const Node& node, picture::Surface& surface) const {
  const Color color = node.filled.value_or(picture::kOpenColor);
  if (radius_ < kRimmedRadius) {
    surface.FillDisc(node.at, radius_, {color});
    return;
  }
  surface.FillDisc(node.at, radius_ + 2, {node.filled.has_value() ? kInk : color});
  surface.FillDisc(node.at, node.filled.has_value() ? radius_ + 0.8 : radius_ - 0.6,
                   {node.filled.value_or(kPaper)});
}

picture::Canvas NodeDrawing::Picture() const {
  picture::Canvas canvas = below_;
  picture::RasterSurface surface(canvas);
  for (const Node& node : nodes_) {
    if (node.is_drawn && IsWithin(canvas, node.at)) {
      DrawNode(node, surface);
    }
  }
  DrawEnds(ends_, surface);
  return canvas;
}

std::unique_ptr<SearchDrawing> MakeNodeDrawing(const TracedSearch& search, picture::Canvas map,
                                               const picture::Tiling& tiling) {
  return std::make_unique<NodeDrawing>(search, std::move(map), tiling);
}

}  // namespace waystar::animation
