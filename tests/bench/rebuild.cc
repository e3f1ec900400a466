#include "tests/bench/rebuild.h"

#include <cstddef>
#include <cstdint>
#include <utility>

#include "server/core/grid/map/grid_map_editor.h"

namespace waystar::bench {

CellRows RowsOf(const core::GridMap& map) {
  CellRows rows(static_cast<std::size_t>(map.height()));
  for (int y = 0; y < map.height(); ++y) {
    std::vector<core::TerrainId>& row = rows[static_cast<std::size_t>(y)];
    for (int x = 0; x < map.width(); ++x) {
      row.push_back(map.HasObstacle({x, y}) ? core::GridMapEditor::kObstacle : map.TerrainAt({x, y}));
    }
  }
  return rows;
}

core::GridMap MakeMap(const CellRows& rows, const core::GridSettings& settings) {
  const auto width = static_cast<std::int64_t>(rows.front().size());
  const core::GridMap empty = *core::GridMap::Create(width, static_cast<std::int64_t>(rows.size()), settings);
  core::GridMapEditor editor(empty);
  for (std::size_t y = 0; y < rows.size(); ++y) {
    editor.SetRow(static_cast<int>(y), rows[y]);
  }
  return std::move(editor).Finish();
}

}  // namespace waystar::bench
