#include "tests/testing/drawn_map.h"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "server/formats/text/rows.h"

namespace waystar {
namespace {

// Finds the one cell drawn as `symbol` and puts `ground` there.
core::Cell TakeOut(char symbol, char ground, std::vector<std::string>& rows) {
  for (std::size_t y = 0; y < rows.size(); ++y) {
    if (const std::size_t x = rows[y].find(symbol); x != std::string::npos) {
      rows[y][x] = ground;
      return {static_cast<int>(x), static_cast<int>(y)};
    }
  }
  ADD_FAILURE() << "nothing is drawn as '" << symbol << "'";
  return {};
}

char& At(std::vector<std::string>& rows, core::Cell cell) {
  return rows[static_cast<std::size_t>(cell.y)][static_cast<std::size_t>(cell.x)];
}

}  // namespace

core::GridMap DrawMap(const std::vector<std::string>& rows, core::GridSettings settings) {
  const std::vector<absl::string_view> views(rows.begin(), rows.end());
  absl::StatusOr<core::GridMap> map = core::ParseRows(views, std::move(settings), core::RowSource{});
  EXPECT_TRUE(map.ok()) << map.status();
  return *std::move(map);
}

DrawnQuery DrawQuery(std::vector<std::string> rows, core::GridSettings settings) {
  const char ground = settings.terrains.front().symbol;
  const core::Cell start = TakeOut('s', ground, rows);
  const core::Cell goal = TakeOut('g', ground, rows);
  return {.map = DrawMap(rows, std::move(settings)), .start = start, .goal = goal};
}

std::vector<std::string> DrawPath(const core::GridMap& map, absl::Span<const core::Cell> points) {
  std::vector<std::string> rows;
  for (int y = 0; y < map.height(); ++y) {
    rows.push_back(core::FormatRow(map, y, core::kObstacleSymbol));
  }
  for (const core::Cell point : points) {
    At(rows, point) = '*';
  }
  if (!points.empty()) {
    At(rows, points.front()) = 's';
    At(rows, points.back()) = 'g';
  }
  return rows;
}

core::GridSettings FourConnected() {
  core::GridSettings settings;
  settings.connectivity = core::Connectivity::kFour;
  return settings;
}

}  // namespace waystar
