#include "client/cli/draw/overlay.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace waystar::cli {
namespace {

// Each set has a mark for start, goal, end and path.
constexpr absl::string_view kSets[] = {"SGE*", "ABC*", "123+", "<>!+"};

// Each set has a mark for open cells, and then ten for expanded ones.
constexpr absl::string_view kSearchSets[] = {"o0123456789", "-abcdefghij", "-pqrstuvwxy"};

// Marks for cells that are reached.
constexpr absl::string_view kReachSets[] = {"+", ":", "x"};

// Indexed by Direction.
constexpr absl::string_view kArrows = "?^/>\\v/<\\";

// The same among hexagons with a corner on top, where north is up to the left.
constexpr absl::string_view kHexArrows = "?\\/>?\\/<?";

constexpr char kPortal = '@';

using Taken = std::array<bool, 256>;

void Take(absl::string_view symbols, Taken& taken) {
  for (const char symbol : symbols) {
    taken[static_cast<unsigned char>(symbol)] = true;
  }
}

// The first set that has no symbol in common with `taken`; the first of all if each has.
absl::string_view ChooseSet(absl::Span<const absl::string_view> sets, const Taken& taken) {
  const auto is_free = [&taken](absl::string_view set) {
    return std::none_of(set.begin(), set.end(),
                        [&taken](char symbol) { return taken[static_cast<unsigned char>(symbol)]; });
  };
  const auto* const chosen = std::find_if(sets.begin(), sets.end(), is_free);
  return chosen == sets.end() ? sets.front() : *chosen;
}

// All lists of an overlay that hold cells alone.
std::array<std::vector<v1::Cell>*, 6> ListsOf(Overlay& overlay) {
  return {&overlay.path,  &overlay.expanded, &overlay.open,
          &overlay.goals, &overlay.reached,  &overlay.portals};
}

std::array<std::optional<v1::Cell>*, 3> SinglesOf(Overlay& overlay) {
  return {&overlay.start, &overlay.goal, &overlay.end};
}

void Put(Picture& picture, const v1::Cell& cell, Glyph glyph) {
  const View& view = picture.view;
  const int x = cell.x() - view.left;
  const int y = cell.y() - view.top;
  if (x >= 0 && y >= 0 && x < view.width && y < view.height) {
    picture.rows[y / view.scale][x / view.scale] = glyph;
  }
}

}  // namespace

void LeaveOutCellsBeyond(int width, int height, Overlay& overlay) {
  const auto is_off = [=](const v1::Cell& cell) {
    return cell.x() < 0 || cell.y() < 0 || cell.x() >= width || cell.y() >= height;
  };
  for (std::vector<v1::Cell>* cells : ListsOf(overlay)) {
    std::erase_if(*cells, is_off);
  }
  std::erase_if(overlay.arrows, [&](const auto& arrow) { return is_off(arrow.first); });
  for (std::optional<v1::Cell>* cell : SinglesOf(overlay)) {
    if (*cell && is_off(**cell)) {
      cell->reset();
    }
  }
}

Markers ChooseMarkers(const Picture& picture) {
  Taken taken{};
  for (const auto& row : picture.rows) {
    for (const Glyph glyph : row) {
      taken[static_cast<unsigned char>(glyph.symbol)] = true;
    }
  }
  const absl::string_view set = ChooseSet(kSets, taken);
  Take(set, taken);
  const absl::string_view search = ChooseSet(kSearchSets, taken);
  Take(search, taken);
  const absl::string_view reach = ChooseSet(kReachSets, taken);
  return {set[0], set[1], set[2], set[3], search[0], reach[0], search[1]};
}

void DrawOverlay(const Overlay& overlay, const Markers& markers, Picture& picture) {
  const auto put_all = [&](const std::vector<v1::Cell>& cells, Glyph glyph) {
    for (const v1::Cell& cell : cells) {
      Put(picture, cell, glyph);
    }
  };
  const auto put = [&](const std::optional<v1::Cell>& cell, Glyph glyph) {
    if (cell) {
      Put(picture, *cell, glyph);
    }
  };
  put_all(overlay.reached, {markers.reached, Mark::kReached});
  const absl::string_view arrows = picture.shift == RowShift::kNone ? kArrows : kHexArrows;
  for (const auto& [cell, direction] : overlay.arrows) {
    put(cell, {v1::Direction_IsValid(direction) ? arrows[direction] : arrows[0], Mark::kArrow});
  }
  put_all(overlay.portals, {kPortal, Mark::kPortal});
  put_all(overlay.open, {markers.open, Mark::kOpen});
  for (size_t i = overlay.expanded.size(); i-- > 0;) {
    const int shade = static_cast<int>(i * kShadeCount / overlay.expanded.size());
    put(overlay.expanded[i], {static_cast<char>(markers.expanded + shade), Mark::kExpanded, shade});
  }
  put_all(overlay.path, {markers.path, Mark::kPath});
  put(overlay.end, {markers.end, Mark::kEnd});
  put_all(overlay.goals, {markers.goal, Mark::kGoal});
  put(overlay.goal, {markers.goal, Mark::kGoal});
  put(overlay.start, {markers.start, Mark::kStart});
}

namespace {

v1::Cell MakeCell(int x, int y) {
  v1::Cell cell;
  cell.set_x(x);
  cell.set_y(y);
  return cell;
}

v1::Cell Step(const v1::Cell& from, v1::Direction direction) {
  static constexpr int kDx[] = {0, 0, 1, 1, 1, 0, -1, -1, -1};
  static constexpr int kDy[] = {0, -1, -1, 0, 1, 1, 1, 0, -1};
  if (!v1::Direction_IsValid(direction)) {
    return from;
  }
  return MakeCell(from.x() + kDx[direction], from.y() + kDy[direction]);
}

// numerator / denominator to the nearest integer. REQUIRES: denominator > 0.
int64_t RoundedQuotient(int64_t numerator, int64_t denominator) {
  const int64_t half = numerator < 0 ? -denominator / 2 : denominator / 2;
  return (numerator + half) / denominator;
}

// The cells that a straight line to `to` passes after the last of `cells`.
void AppendLine(const v1::Cell& to, std::vector<v1::Cell>& cells) {
  const v1::Cell from = cells.back();
  const int64_t dx = int64_t{to.x()} - from.x();
  const int64_t dy = int64_t{to.y()} - from.y();
  const int64_t steps = std::max(std::abs(dx), std::abs(dy));
  for (int64_t step = 1; step <= steps; ++step) {
    cells.push_back(MakeCell(static_cast<int>(from.x() + RoundedQuotient(dx * step, steps)),
                             static_cast<int>(from.y() + RoundedQuotient(dy * step, steps))));
  }
}

}  // namespace

std::vector<PathLeg> PathLegs(const v1::Cell& start, const v1::FindPathResponse& answer) {
  if (!answer.path().has_end()) {
    return {};
  }
  std::vector<PathLeg> legs = {{.cells = {start}}};
  const bool has_points = answer.path().points_size() > 0;
  const int count = has_points ? answer.path().points_size() : answer.path().directions_size();
  int crossed = 0;
  for (int i = 0; i <= count; ++i) {
    for (; crossed < answer.path().crossings_size() && answer.path().crossings(crossed).index() == i;
         ++crossed) {
      const v1::PortalCrossing& crossing = answer.path().crossings(crossed);
      const std::string& map = crossing.map().empty() ? legs.back().map : crossing.map();
      legs.push_back({.map = map, .cells = {crossing.arrival()}});
    }
    if (i < count && has_points) {
      AppendLine(answer.path().points(i), legs.back().cells);
    } else if (i < count) {
      legs.back().cells.push_back(
          Step(legs.back().cells.back(), static_cast<v1::Direction>(answer.path().directions(i))));
    }
  }
  return legs;
}

std::vector<v1::Cell> PathCells(const std::string& map, const v1::Cell& start,
                                const v1::FindPathResponse& answer) {
  std::vector<v1::Cell> cells;
  for (const PathLeg& leg : PathLegs(start, answer)) {
    if (leg.map.empty() || leg.map == map) {
      cells.insert(cells.end(), leg.cells.begin(), leg.cells.end());
    }
  }
  return cells;
}

}  // namespace waystar::cli
