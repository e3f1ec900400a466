#pragma once

#include <cstdint>
#include <vector>

#include "client/animation/search_drawing.h"

namespace waystar::animation {

// A search on a grid: open cells have a rim, expanded ones are filled.
class CellDrawing final : public SearchDrawing {
 public:
  CellDrawing(const TracedSearch& search, picture::Canvas map, const picture::Tiling& tiling);

  std::uint64_t KeyOf(const v1::SearchEvent& event) const override;
  void DrawOpen(const v1::SearchEvent& generated) override;
  void DrawExpanded(const v1::SearchEvent& generated, double share) override;
  void DrawPath() override;
  picture::Canvas Picture() const override;

 private:
  picture::Point CenterOf(const v1::Cell& cell) const { return tiling_.At(cell.x(), cell.y()); }

  picture::Canvas map_;
  const picture::Tiling tiling_;
  SearchEnds ends_;
  std::vector<picture::Point> path_;
  bool is_any_angle_ = false;
};

}  // namespace waystar::animation
