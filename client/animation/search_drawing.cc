#include "client/animation/search_drawing.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>

#include "absl/container/btree_map.h"
#include "server/render/canvas/marks.h"

namespace waystar::animation {
namespace {

using picture::Color;
using picture::Point;

// Base of the drawings of all kinds of maps: has the picture, the path, the start and the goals.
class PlacedDrawing : public SearchDrawing {
 public:
  picture::Canvas Picture() const final {
    picture::Canvas canvas = below_;
    picture::RasterSurface surface(canvas);
    DrawAbove(surface);
    for (const Point goal : goals_) {
      DrawGoal(goal, sizes_, kColors, surface);
    }
    if (start_.has_value()) {
      DrawStart(*start_, sizes_, kColors, surface);
    }
    return canvas;
  }

 protected:
  PlacedDrawing(picture::Canvas map, const picture::Tiling& tiling)
      : below_(std::move(map)), tiling_(tiling) {}

  // Draws on top of `below_`; the start and the goals follow.
  virtual void DrawAbove(picture::Surface& /*surface*/) const {}

  // Sets the start and the goals. `place_of` maps a location to its place on the picture, or nullopt.
  template <typename PlaceOf>
  void SetEnds(const v1::FindPathRequest& query, double radius, PlaceOf place_of) {
    sizes_.disc = radius;
    start_ = place_of(query.start());
    for (const v1::Location& goal : query.goals()) {
      if (const std::optional<Point> at = place_of(goal)) {
        goals_.push_back(*at);
      }
    }
  }

  Point At(Point point) const { return tiling_.At(point.x, point.y); }
  Point At(const v1::Position& position) const { return tiling_.At(position.x(), position.y()); }

  bool IsWithin(Point point) const {
    return point.x >= 0 && point.x < below_.width() && point.y >= 0 && point.y < below_.height();
  }

  // Returns the part of a line on the picture, or an empty one.
  std::vector<Point> Clip(Point from, Point to) const {
    const picture::Box box = {0, 0, static_cast<double>(below_.width()),
                              static_cast<double>(below_.height())};
    const auto shown = picture::ClipTo(box, from, to);
    return shown.has_value() ? std::vector<Point>{shown->first, shown->second} : std::vector<Point>();
  }

  void DrawPathLine(double width, picture::Surface& surface) const {
    const picture::Box box = {0, 0, static_cast<double>(below_.width()),
                              static_cast<double>(below_.height())};
    for (const std::vector<Point>& part : picture::PartsIn(box, path_)) {
      picture::DrawPath(part, {.path = width, .halo = 1.25}, kColors, surface);
    }
  }

  // The map with what was drawn on it.
  picture::Canvas below_;
  const picture::Tiling tiling_;
  std::vector<Point> path_;
  // Unset if it does not lie on the picture.
  std::optional<Point> start_;
  std::vector<Point> goals_;
  picture::MarkSizes sizes_ = {.halo = 1.0};
};

// A search on a grid: open cells have a rim, expanded ones are filled.
class CellDrawing final : public PlacedDrawing {
 public:
  CellDrawing(const TracedSearch& search, picture::Canvas map, const picture::Tiling& tiling)
      : PlacedDrawing(std::move(map), tiling),
        layout_(search.layout),
        is_any_angle_(search.answer.info().statistics().algorithm() == v1::ALGORITHM_LAZY_THETA_STAR) {
    SetEnds(search.query, std::clamp(tiling_.CellPixels() * 0.36, 4.0, 14.0), [&](const v1::Location& end) {
      return end.has_cell() ? std::optional(CenterOf(end.cell())) : std::nullopt;
    });
    start_ = CenterOf(search.answer.path().start().cell());
    for (const v1::Cell& point : search.answer.path().points()) {
      if (const Point at = CenterOf(point); IsWithin(at)) {
        path_.push_back(at);
      }
    }
  }

  std::uint64_t KeyOf(const v1::SearchEvent& event) const override {
    const v1::Cell& cell = event.cell();
    return std::uint64_t{static_cast<std::uint32_t>(cell.y())} << 32 | static_cast<std::uint32_t>(cell.x());
  }

  void DrawOpen(const v1::SearchEvent& generated) override {
    constexpr double kRimmedCell = 5.0;
    const v1::Cell place = AxialOf(layout_, generated.cell());
    const double cell = tiling_.CellPixels();
    picture::RasterSurface surface(below_);
    if (cell < kRimmedCell) {
      surface.Fill(tiling_.OutlineOf(place.x(), place.y()), {picture::Mix(kColors.paper, kColors.open, 0.6)});
      return;
    }
    picture::Polygon rim = tiling_.OutlineOf(place.x(), place.y(), cell * 0.16);
    rim.push_back(rim.front());
    surface.Stroke(rim, {{kColors.open}, std::clamp(cell * 0.08, 1.0, 2.5)});
  }

  void DrawExpanded(const v1::SearchEvent& generated, double share) override {
    const v1::Cell place = AxialOf(layout_, generated.cell());
    const v1::Cell parent = AxialOf(layout_, generated.parent());
    const double cell = tiling_.CellPixels();
    // Leaves the lines between the cells.
    const double inset = cell >= 8 ? 0.5 : 0.0;
    picture::RasterSurface surface(below_);
    surface.Fill(tiling_.OutlineOf(place.x(), place.y(), inset),
                 {picture::Mix(kColors.paper, picture::SearchColor(share), 0.85)});
    if (!generated.has_parent() ||
        (std::abs(parent.x() - place.x()) <= 1 && std::abs(parent.y() - place.y()) <= 1)) {
      return;
    }
    const std::vector<Point> line =
        is_any_angle_ ? std::vector<Point>{CenterOf(generated.parent()), CenterOf(generated.cell())}
                      : tiling_.BentLine(parent.x(), parent.y(), place.x(), place.y());
    surface.Stroke(line,
                   {{picture::Mix(kColors.paper, kColors.ink, 0.6)}, std::clamp(cell * 0.08, 1.0, 2.0)});
  }

  void DrawPath() override {
    if (!path_.empty()) {
      picture::RasterSurface surface(below_);
      DrawPathLine(std::clamp(tiling_.CellPixels() * 0.22, 2.5, 7.0), surface);
    }
  }

 private:
  Point CenterOf(const v1::Cell& cell) const {
    const v1::Cell axial = AxialOf(layout_, cell);
    return tiling_.At(axial.x(), axial.y());
  }

  const v1::HexLayout layout_;
  const bool is_any_angle_;
};

// A search on a waypoint graph: open nodes are rings, expanded ones are filled, and the edge by which a node
// was reached takes the node's colour. All nodes lie above all edges and above the path.
class NodeDrawing final : public PlacedDrawing {
 public:
  NodeDrawing(const TracedSearch& search, picture::Canvas map, const picture::Tiling& tiling)
      : PlacedDrawing(std::move(map), tiling) {
    for (const v1::SearchEvent& event : search.events) {
      if (indices_.try_emplace(event.node(), nodes_.size()).second) {
        const auto place = search.places.find(event.node());
        nodes_.push_back({.at = place == search.places.end() ? At(event.position()) : place->second});
      }
    }
    radius_ = picture::NodeRadius(std::max(search.graph_nodes, nodes_.size()));
    SetEnds(search.query, radius_ + 3, [&](const v1::Location& end) -> std::optional<Point> {
      std::optional<Point> at;
      if (end.has_position()) {
        at = At(end.position());
      } else if (const auto found = indices_.find(end.node()); found != indices_.end()) {
        at = nodes_[found->second].at;
      }
      return at.has_value() && IsWithin(*at) ? at : std::nullopt;
    });
    if (search.places.empty()) {
      for (const v1::Position& position : search.answer.path().positions()) {
        path_.push_back(At(position));
      }
      return;
    }
    for (const std::string& node : search.answer.path().nodes()) {
      if (const auto place = search.places.find(node); place != search.places.end()) {
        path_.push_back(place->second);
      }
    }
  }

  std::uint64_t KeyOf(const v1::SearchEvent& event) const override { return indices_.at(event.node()); }

  void DrawOpen(const v1::SearchEvent& generated) override {
    nodes_[indices_.at(generated.node())].is_drawn = true;
  }

  void DrawExpanded(const v1::SearchEvent& generated, double share) override {
    Node& node = nodes_[indices_.at(generated.node())];
    node.is_drawn = true;
    node.share = share;
    if (const auto parent = indices_.find(generated.parent_node()); parent != indices_.end()) {
      DrawLine(nodes_[parent->second].at, node.at, picture::SearchColor(share), std::max(1.2, radius_ * 0.7));
    }
  }

  void DrawPath() override {
    const double width = std::clamp(radius_ * 0.9, 2.5, 4.5);
    picture::RasterSurface surface(below_);
    DrawPathLine(width, surface);
  }

 private:
  struct Node {
    Point at;
    bool is_drawn = false;
    // Set for an expanded node.
    std::optional<double> share;
  };

  void DrawAbove(picture::Surface& surface) const override {
    for (const Node& node : nodes_) {
      if (node.is_drawn && IsWithin(node.at)) {
        DrawReachedNode(node.at, radius_, node.share, kColors, surface);
      }
    }
  }

  void DrawLine(Point from, Point to, Color color, double width) {
    if (const std::vector<Point> line = Clip(from, to); !line.empty()) {
      picture::RasterSurface(below_).Stroke(line, {{color}, width});
    }
  }

  // Indices in nodes_ of all nodes that the search reached, by id.
  absl::flat_hash_map<std::string, std::size_t> indices_;
  std::vector<Node> nodes_;
  double radius_ = 5.0;
};

// A search on a navigation mesh: open intervals are lines on their edges. An expanded interval fills the area
// seen between its parent, or its root, and itself. Open intervals and the path lie above that.
class IntervalDrawing final : public PlacedDrawing {
 public:
  IntervalDrawing(const TracedSearch& search, picture::Canvas map, const picture::Tiling& tiling)
      : PlacedDrawing(std::move(map), tiling) {
    for (const v1::SearchEvent& event : search.events) {
      if (event.kind() == v1::SearchEvent::KIND_EXPANDED) {
        continue;
      }
      const v1::MeshInterval& generated = event.interval();
      Interval interval{.left = PlanOf(generated.left()),
                        .right = PlanOf(generated.right()),
                        .root = PlanOf(generated.root()),
                        .parent = generated.parent()};
      const Point middle = (interval.left + interval.right) * 0.5;
      interval.cost = event.g() + picture::Distance(interval.root, middle);
      intervals_.try_emplace(generated.id(), interval);
    }
    const double radius = std::clamp(std::min(below_.width(), below_.height()) / 50.0, 4.0, 8.0);
    SetEnds(search.query, radius, [this](const v1::Location& end) {
      const Point at = At(end.position());
      return IsWithin(at) ? std::optional(at) : std::nullopt;
    });
    for (const v1::Position& position : search.answer.path().positions()) {
      path_.push_back(At(position));
    }
  }

  std::uint64_t KeyOf(const v1::SearchEvent& event) const override { return event.interval().id(); }

  // Returns the cost to reach the middle of the interval.
  double CostOf(const v1::SearchEvent& event) const override {
    const auto found = intervals_.find(event.interval().id());
    return found == intervals_.end() ? event.g() : found->second.cost;
  }

  void DrawOpen(const v1::SearchEvent& generated) override {
    const v1::MeshInterval& interval = generated.interval();
    if (std::vector<Point> line = Clip(At(interval.left()), At(interval.right())); !line.empty()) {
      open_[interval.id()] = std::move(line);
    }
  }

  void DrawExpanded(const v1::SearchEvent& generated, double share) override {
    constexpr double kFillOpacity = 0.82;
    open_.erase(generated.interval().id());
    if (const auto found = intervals_.find(generated.interval().id()); found != intervals_.end()) {
      picture::RasterSurface(below_).Fill(SeenBefore(found->second),
                                          {picture::SearchColor(share), kFillOpacity});
    }
  }

  void DrawPath() override { has_path_ = path_.size() > 1; }

 private:
  // In units of the world.
  struct Interval {
    Point left;
    Point right;
    Point root;
    std::uint32_t parent = 0;
    double cost = 0.0;
  };

  static Point PlanOf(const v1::Position& position) { return {position.x(), position.y()}; }

  // Returns the corners of the area that an expanded interval covers.
  std::vector<Point> SeenBefore(const Interval& interval) const {
    const auto found = intervals_.find(interval.parent);
    if (found == intervals_.end() || found->second.root != interval.root) {
      return {At(interval.root), At(interval.right), At(interval.left)};
    }
    const Interval& parent = found->second;
    const auto crossing = [&](Point end) {
      const double share = picture::ShareAtCrossing(interval.root, end, parent.left, parent.right);
      return At(parent.left + (parent.right - parent.left) * share);
    };
    return {crossing(interval.right), At(interval.right), At(interval.left), crossing(interval.left)};
  }

  void DrawAbove(picture::Surface& surface) const override {
    for (const auto& [id, line] : open_) {
      surface.Stroke(line, {{kColors.open}, 2.5});
    }
    if (has_path_) {
      DrawPathLine(3.5, surface);
    }
  }

  // Intervals by id.
  absl::flat_hash_map<std::uint32_t, Interval> intervals_;
  // The lines of open intervals, by id.
  absl::btree_map<std::uint32_t, std::vector<Point>> open_;
  bool has_path_ = false;
};

}  // namespace

v1::Cell AxialOf(v1::HexLayout layout, const v1::Cell& cell) {
  const bool is_even = layout == v1::HEX_LAYOUT_EVEN_ROWS || layout == v1::HEX_LAYOUT_EVEN_COLUMNS;
  const int more = is_even ? 1 : 0;
  v1::Cell axial = cell;
  if (layout == v1::HEX_LAYOUT_ODD_ROWS || layout == v1::HEX_LAYOUT_EVEN_ROWS) {
    axial.set_x(cell.x() - ((cell.y() + more) >> 1));
  } else if (layout == v1::HEX_LAYOUT_ODD_COLUMNS || layout == v1::HEX_LAYOUT_EVEN_COLUMNS) {
    axial.set_y(cell.y() - ((cell.x() + more) >> 1));
  }
  return axial;
}

std::unique_ptr<SearchDrawing> MakeSearchDrawing(const TracedSearch& search, picture::Canvas map,
                                                 const picture::Tiling& tiling) {
  if (search.on_graph) {
    return std::make_unique<NodeDrawing>(search, std::move(map), tiling);
  }
  if (search.on_mesh) {
    return std::make_unique<IntervalDrawing>(search, std::move(map), tiling);
  }
  return std::make_unique<CellDrawing>(search, std::move(map), tiling);
}

}  // namespace waystar::animation
