#include "server/core/format/rows.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/map/grid_map_editor.h"

namespace waystar::core {
namespace {

constexpr TerrainId kUnknownSymbol = 0xFE;
static_assert(kMaxTerrains <= kUnknownSymbol);

using SymbolTable = std::array<TerrainId, 256>;

SymbolTable SymbolsOf(const GridSettings& settings) {
  SymbolTable table;
  table.fill(kUnknownSymbol);
  for (std::size_t i = 0; i < settings.terrains.size(); ++i) {
    table[static_cast<unsigned char>(settings.terrains[i].symbol)] = static_cast<TerrainId>(i);
  }
  for (std::size_t symbol = 0; symbol < table.size(); ++symbol) {
    if (IsObstacleSymbol(static_cast<char>(symbol))) {
      table[symbol] = GridMapEditor::kObstacle;
    }
  }
  return table;
}

absl::Status RowError(ErrorReason reason, std::size_t row, RowSource source, absl::string_view message) {
  if (source.first_line == 0) {
    return InvalidArgument(reason, absl::StrCat("rows[", row, "]"), absl::StrCat("row ", row, ": ", message));
  }
  return InvalidArgument(reason, "", absl::StrCat("line ", source.first_line + row, ": ", message));
}

}  // namespace

absl::StatusOr<GridMap> ParseRows(absl::Span<const absl::string_view> rows, GridSettings settings,
                                  RowSource source) {
  if (rows.empty()) {
    return InvalidArgument(ErrorReason::kBadSize, source.first_line == 0 ? "rows" : "",
                           "a map has at least one row");
  }
  const std::size_t width = rows.front().size();
  const auto height = static_cast<std::int64_t>(rows.size());
  if (absl::Status status = CheckMapSize(static_cast<std::int64_t>(width), height, source.max_side);
      !status.ok()) {
    return InvalidArgument(ErrorReason::kBadSize, source.first_line == 0 ? "rows" : "", status.message());
  }
  WAYSTAR_ASSIGN_OR_RETURN(const GridMap blank,
                           GridMap::Create(static_cast<std::int64_t>(width), height, std::move(settings)));
  GridMapEditor editor(blank);
  const SymbolTable symbols = SymbolsOf(blank.settings());
  std::vector<TerrainId> cells(width);
  for (std::size_t y = 0; y < rows.size(); ++y) {
    if (rows[y].size() != width) {
      return RowError(ErrorReason::kBadRow, y, source,
                      absl::StrCat("has ", rows[y].size(), " cells, the first row ", width));
    }
    for (std::size_t x = 0; x < width; ++x) {
      const char symbol = rows[y][x];
      cells[x] = symbols[static_cast<unsigned char>(symbol)];
      if (cells[x] == kUnknownSymbol) {
        return RowError(ErrorReason::kUnknownTerrain, y, source,
                        absl::StrCat("no terrain has the symbol '",
                                     absl::CHexEscape(absl::string_view(&symbol, 1)), "' of column ", x));
      }
    }
    editor.SetRow(static_cast<int>(y), cells);
  }
  return std::move(editor).Finish();
}

std::string FormatRow(const GridMap& map, int y, char obstacle_symbol) {
  std::string row(static_cast<std::size_t>(map.width()), obstacle_symbol);
  for (int x = 0; x < map.width(); ++x) {
    const Cell cell{x, y};
    if (!map.HasObstacle(cell)) {
      row[static_cast<std::size_t>(x)] = map.settings().terrains[map.TerrainAt(cell)].symbol;
    }
  }
  return row;
}

}  // namespace waystar::core
