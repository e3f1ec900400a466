#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "client/animation/search_drawing.h"
#include "server/render/canvas/color.h"

namespace waystar::animation {
namespace {

using picture::Point;

constexpr double kFillOpacity = 0.82;

Point PlanOf(const v1::Position& position) { return {position.x(), position.y()}; }

// A search on a navigation mesh: open intervals are lines on their edges. For an expanded one, what is seen
// between the interval before, or its root, and itself is filled. Open intervals and the path lie above that.
class IntervalDrawing final : public SearchDrawing {
 public:
  IntervalDrawing(const TracedSearch& search, picture::Canvas map, const picture::Tiling& tiling);

  std::uint64_t KeyOf(const v1::SearchEvent& event) const override { return event.interval().id(); }
  // Returns the cost to reach the middle of the interval.
  double CostOf(const v1::SearchEvent& event) const override;
  void DrawOpen(const v1::SearchEvent& generated) override;
  void DrawExpanded(const v1::SearchEvent& generated, double share) override;
  void DrawPath() override { has_path_ = true; }
  picture::Canvas Picture() const override;

 private:
  // In units of the world.
  struct Interval {
    picture::Point left;
    picture::Point right;
    picture::Point root;
    std::uint32_t parent = 0;
    double cost = 0.0;
  };

  void AddIntervals(const TracedSearch& search);
  void AddEnds(const TracedSearch& search);
  picture::Point At(picture::Point point) const { return tiling_.At(point.x, point.y); }
  // Returns the corners of the area that an expanded interval covers.
  std::vector<picture::Point> SeenBefore(const Interval& interval) const;

  const picture::Tiling tiling_;
  // The map and what is filled.
  picture::Canvas below_;
  // Intervals by id.
  absl::flat_hash_map<std::uint32_t, Interval> intervals_;
  // The lines of intervals that are open.
  absl::btree_map<std::uint32_t, std::vector<picture::Point>> open_;
  SearchEnds ends_;
  std::vector<picture::Point> path_;
  bool has_path_ = false;
};

}  // namespace

IntervalDrawing::IntervalDrawing(const TracedSearch& search, picture::Canvas map,
                                 const picture::Tiling& tiling)
    : tiling_(tiling), below_(std::move(map)) {
  AddIntervals(search);
  AddEnds(search);
  for (const v1::Position& position : search.answer.positions()) {
    path_.push_back(At(PlanOf(position)));
  }
}

void IntervalDrawing::AddIntervals(const TracedSearch& search) {
  for (const v1::SearchEvent& event : search.events) {
    if (event.kind() == v1::SearchEvent::KIND_EXPANDED) {
      continue;
    }
    const v1::MeshInterval& told = event.interval();
    Interval interval{.left = PlanOf(told.left()),
                      .right = PlanOf(told.right()),
                      .root = PlanOf(told.root()),
                      .parent = told.parent()};
    const Point middle = (interval.left + interval.right) * 0.5;
    interval.cost = event.g() + picture::Distance(interval.root, middle);
    intervals_.try_emplace(told.id(), interval);
  }
}

void IntervalDrawing::AddEnds(const TracedSearch& search) {
  const auto find = [this](const v1::Location& place) -> std::optional<Point> {
    const Point at = At(PlanOf(place.position()));
    return IsWithin(below_, at) ? std::optional(at) : std::nullopt;
  };
  ends_.radius = std::clamp(std::min(below_.width(), below_.height()) / 50.0, 4.0, 8.0);
  ends_.start = find(search.query.start());
  for (const v1::Location& goal : search.query.goals()) {
    if (const auto at = find(goal)) {
      ends_.goals.push_back(*at);
    }
  }
}

double IntervalDrawing::CostOf(const v1::SearchEvent& event) const {
  const auto found = intervals_.find(event.interval().id());
  return found == intervals_.end() ? event.g() : found->second.cost;
}

void IntervalDrawing::DrawOpen(const v1::SearchEvent& generated) {
  const v1::MeshInterval& interval = generated.interval();
  const picture::Box box = {0, 0, static_cast<double>(below_.width()), static_cast<double>(below_.height())};
  if (const auto shown = picture::ClipTo(box, At(PlanOf(interval.left())), At(PlanOf(interval.right())))) {
    open_[interval.id()] = {shown->first, shown->second};
  }
}

std::vector<Point> IntervalDrawing::SeenBefore(const Interval& interval) const {
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

void IntervalDrawing::DrawExpanded(const v1::SearchEvent& generated, double share) {
  open_.erase(generated.interval().id());
  if (const auto found = intervals_.find(generated.interval().id()); found != intervals_.end()) {
    picture::RasterSurface(below_).Fill(SeenBefore(found->second),
                                        {picture::SearchColor(share), kFillOpacity});
  }
}

picture::Canvas IntervalDrawing::Picture() const {
  picture::Canvas canvas = below_;
  picture::RasterSurface surface(canvas);
  for (const auto& [id, line] : open_) {
    surface.Stroke(line, {{picture::kOpenColor}, 2.5});
  }
  if (has_path_ && path_.size() > 1) {
    DrawPathLine(path_, 3.5, surface);
  }
  DrawEnds(ends_, surface);
  return canvas;
}

std::unique_ptr<SearchDrawing> MakeIntervalDrawing(const TracedSearch& search, picture::Canvas map,
                                                   const picture::Tiling& tiling) {
  return std::make_unique<IntervalDrawing>(search, std::move(map), tiling);
}

}  // namespace waystar::animation
