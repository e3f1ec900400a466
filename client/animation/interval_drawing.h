#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "client/animation/search_drawing.h"

namespace waystar::animation {

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

}  // namespace waystar::animation
