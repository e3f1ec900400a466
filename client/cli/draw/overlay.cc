#include "client/cli/draw/overlay.h"

#include <algorithm>
#include <array>
#include <cstddef>
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

char SymbolOf(const MarkedCell& marked, const Markers& markers, RowShift shift) {
  switch (marked.mark) {
    case Mark::kReached:
      return markers.reached;
    case Mark::kArrow:
      return (shift == RowShift::kNone
                  ? kArrows
                  : kHexArrows)[v1::Direction_IsValid(marked.direction) ? marked.direction : 0];
    case Mark::kPortal:
      return kPortal;
    case Mark::kOpen:
      return markers.open;
    case Mark::kExpanded:
      return markers.expanded;
    case Mark::kEnd:
      return markers.end;
    case Mark::kGoal:
      return markers.goal;
    case Mark::kStart:
      return markers.start;
    default:
      return markers.path;
  }
}

}  // namespace

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
  const View& view = picture.view;
  const auto is_expanded = [](const MarkedCell& marked) { return marked.mark == Mark::kExpanded; };
  const auto expanded = std::count_if(overlay.begin(), overlay.end(), is_expanded);
  std::ptrdiff_t number = 0;
  for (const MarkedCell& marked : overlay) {
    const int shade = is_expanded(marked) ? static_cast<int>(number++ * kShadeCount / expanded) : 0;
    const int x = marked.cell.x() - view.left;
    const int y = marked.cell.y() - view.top;
    if (x < 0 || y < 0 || x >= view.width || y >= view.height) {
      continue;
    }
    Glyph& glyph = picture.rows[y / view.scale][x / view.scale];
    if (glyph.mark < marked.mark || (glyph.mark == marked.mark && !is_expanded(marked))) {
      const char symbol = SymbolOf(marked, markers, picture.shift);
      glyph = {static_cast<char>(symbol + shade), marked.mark, shade};
    }
  }
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
