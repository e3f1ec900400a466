#include "client/cli/draw/overlay.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "absl/strings/string_view.h"

namespace waystar::cli {
namespace {

// Each set has a mark for start, goal, end and path.
constexpr absl::string_view kSets[] = {"SGE*", "ABC*", "123+", "<>!+"};

void Put(Picture& picture, const v1::Cell& cell, Glyph glyph) {
  const View& view = picture.view;
  const int x = cell.x() - view.left;
  const int y = cell.y() - view.top;
  if (x >= 0 && y >= 0 && x < view.width && y < view.height) {
    picture.rows[y / view.scale][x / view.scale] = glyph;
  }
}

}  // namespace

Markers ChooseMarkers(const Picture& picture) {
  std::array<bool, 256> taken{};
  for (const auto& row : picture.rows) {
    for (const Glyph glyph : row) {
      taken[static_cast<unsigned char>(glyph.symbol)] = true;
    }
  }
  const auto is_free = [&](absl::string_view set) {
    return std::none_of(set.begin(), set.end(),
                        [&](char symbol) { return taken[static_cast<unsigned char>(symbol)]; });
  };
  const auto* const chosen = std::find_if(std::begin(kSets), std::end(kSets), is_free);
  const absl::string_view set = chosen == std::end(kSets) ? kSets[0] : *chosen;
  return {set[0], set[1], set[2], set[3]};
}

void DrawOverlay(const Overlay& overlay, const Markers& markers, Picture& picture) {
  for (const v1::Cell& cell : overlay.path) {
    Put(picture, cell, {markers.path, Mark::kPath});
  }
  if (overlay.end) {
    Put(picture, *overlay.end, {markers.end, Mark::kEnd});
  }
  if (overlay.goal) {
    Put(picture, *overlay.goal, {markers.goal, Mark::kGoal});
  }
  if (overlay.start) {
    Put(picture, *overlay.start, {markers.start, Mark::kStart});
  }
}

}  // namespace waystar::cli
