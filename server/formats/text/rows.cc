#include "server/formats/text/rows.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/core/grid/cells/world_frame.h"
#include "server/core/grid/map/grid_map_editor.h"

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
    return MakeError(reason, absl::StrCat("rows[", row, "]"), absl::StrCat("row ", row, ": ", message));
  }
  return MakeError(reason, "", absl::StrCat("line ", source.first_line + row, ": ", message));
}

bool HasBoard(const GridSettings& settings) {
  return settings.frame.hexagons.has_value() && HasOffsets(settings.frame.hexagons->layout);
}

// Sets a row of the map, or of its board, whose rows may be slanted on the plane.
void SetRow(const GridSettings& settings, int row, absl::Span<const TerrainId> cells, GridMapEditor& editor) {
  if (!HasBoard(settings)) {
    editor.SetRow(row, cells);
    return;
  }
  const HexBoard& board = *settings.frame.hexagons;
  for (std::size_t column = 0; column < cells.size(); ++column) {
    const Cell cell = board.PlaneCellOf({static_cast<int>(column), row});
    const bool is_obstacle = cells[column] == GridMapEditor::kObstacle;
    editor.SetObstacle(cell, is_obstacle);
    if (!is_obstacle) {
      editor.SetTerrains(cell.y, cell.x, cell.x + 1, cells[column]);
    }
  }
}

}  // namespace

absl::StatusOr<GridMap> CreateFilled(int width, int height, GridSettings settings, TerrainId fill,
                                     bool blocked, const StopCheck* stop) {
  if (!HasBoard(settings)) {
    return GridMap::Create(width, height, std::move(settings), fill, blocked, stop);
  }
  HexBoard& board = *settings.frame.hexagons;
  board.columns = width;
  board.rows = height;
  WAYSTAR_ASSIGN_OR_RETURN(const GridMap plane, GridMap::Create(board.plane_width(), board.plane_height(),
                                                                settings, fill, true, stop));
  GridMapEditor editor(plane);
  for (int y = 0; !blocked && y < plane.height(); ++y) {
    WAYSTAR_RETURN_IF_ERROR(CheckStop(stop));
    const HexBoard::Span row = board.InRow(y);
    editor.SetObstacles(y, row.begin, row.end, false);
  }
  return std::move(editor).Finish();
}

namespace {

// Returns an empty map to fill with rows. A bad size is an error of `size_field`.
absl::StatusOr<GridMap> CreateBlank(int width, int height, GridSettings settings,
                                    absl::string_view size_field, const StopCheck* stop) {
  const bool has_board = HasBoard(settings);
  absl::StatusOr<GridMap> blank = CreateFilled(width, height, std::move(settings), 0, has_board, stop);
  return ErrorReasonOf(blank.status()) == ErrorReasonName(ErrorReason::kBadSize)
             ? MakeError(ErrorReason::kBadSize, size_field, blank.status().message())
             : std::move(blank);
}

}  // namespace

absl::StatusOr<GridMap> ParseRows(absl::Span<const absl::string_view> rows, GridSettings settings,
                                  RowSource source) {
  const absl::string_view size_field = source.first_line == 0 ? "rows" : "";
  if (rows.empty()) {
    return MakeError(ErrorReason::kBadSize, size_field, "a map has at least one row");
  }
  const std::size_t width = rows.front().size();
  const auto height = static_cast<std::int64_t>(rows.size());
  if (absl::Status status = CheckMapSize(static_cast<std::int64_t>(width), height, source.max_side);
      !status.ok()) {
    return MakeError(ErrorReason::kBadSize, size_field, status.message());
  }
  WAYSTAR_ASSIGN_OR_RETURN(const GridMap blank, CreateBlank(static_cast<int>(width), static_cast<int>(height),
                                                            std::move(settings), size_field, source.stop));
  GridMapEditor editor(blank);
  const SymbolTable symbols = SymbolsOf(blank.settings());
  std::vector<TerrainId> cells(width);
  for (std::size_t y = 0; y < rows.size(); ++y) {
    WAYSTAR_RETURN_IF_ERROR(CheckStop(source.stop));
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
    SetRow(blank.settings(), static_cast<int>(y), cells, editor);
  }
  return std::move(editor).Finish();
}

absl::StatusOr<GridMap> BuildMap(int width, int height, GridSettings settings,
                                 absl::Span<const TerrainId> cells, const StopCheck* stop) {
  // The size of a file's map is not a field of the request.
  WAYSTAR_ASSIGN_OR_RETURN(const GridMap blank, CreateBlank(width, height, std::move(settings), "", stop));
  GridMapEditor editor(blank);
  const auto columns = static_cast<std::size_t>(width);
  for (int y = 0; y < height; ++y) {
    WAYSTAR_RETURN_IF_ERROR(CheckStop(stop));
    SetRow(blank.settings(), y, cells.subspan(static_cast<std::size_t>(y) * columns, columns), editor);
  }
  return std::move(editor).Finish();
}

int RowCount(const GridMap& map) {
  return HasBoard(map.settings()) ? map.settings().frame.hexagons->rows : map.height();
}

std::string FormatRow(const GridMap& map, int y, char obstacle_symbol) {
  const bool has_board = HasBoard(map.settings());
  const int width = has_board ? map.settings().frame.hexagons->columns : map.width();
  std::string row(static_cast<std::size_t>(width), obstacle_symbol);
  for (int x = 0; x < width; ++x) {
    const Cell cell = has_board ? map.settings().frame.hexagons->PlaneCellOf({x, y}) : Cell{x, y};
    if (!map.HasObstacle(cell)) {
      row[static_cast<std::size_t>(x)] = map.settings().terrains[map.TerrainAt(cell)].symbol;
    }
  }
  return row;
}

namespace {

Terrain Overridden(Terrain terrain, const TerrainOverride& changes) {
  terrain.name = changes.name.value_or(terrain.name);
  // A cost implies passable unless the override says otherwise: a price for water means that it can be
  // crossed.
  terrain.impassable = changes.impassable.value_or(terrain.impassable && !changes.cost.has_value());
  terrain.cost = changes.cost.value_or(terrain.cost);
  return terrain;
}

absl::Status CheckCells(const GridSettings& settings, const GridOverrides& overrides) {
  const bool has_hexagons = settings.frame.hexagons.has_value();
  if (overrides.cells == GridOverrides::Cells::kSquares && has_hexagons) {
    return MakeError(ErrorReason::kBadValue, "squares", "the map's file has hexagons");
  }
  if (overrides.cells == GridOverrides::Cells::kHexagons && !has_hexagons) {
    return MakeError(ErrorReason::kMissingField, "hexagons.layout", "hexagons need a layout");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<GridSettings> ApplyOverrides(GridSettings base, const GridOverrides& overrides) {
  base.connectivity = overrides.connectivity.value_or(base.connectivity);
  if (overrides.hexagons) {
    base.connectivity = overrides.connectivity.value_or(Connectivity::kSix);
    base.frame.hexagons = HexBoard{.layout = *overrides.hexagons};
    base.diagonal_cost = 1.0;
  }
  WAYSTAR_RETURN_IF_ERROR(CheckCells(base, overrides));
  base.diagonal_cost = overrides.diagonal_cost.value_or(base.diagonal_cost);
  base.world = overrides.world.value_or(base.world);
  base.frame.origin = overrides.origin.value_or(base.frame.origin);
  base.frame.cell_size = overrides.cell_size.value_or(base.frame.cell_size);

  // Checked apart from the base, so that an error's index counts the caller's overrides.
  GridSettings written{.diagonal_cost = base.diagonal_cost};
  written.terrains.clear();
  for (const TerrainOverride& changes : overrides.terrains) {
    const auto known = std::find_if(base.terrains.begin(), base.terrains.end(),
                                    [&](const Terrain& terrain) { return terrain.symbol == changes.symbol; });
    const Terrain fallback{.symbol = changes.symbol, .name = std::string(1, changes.symbol)};
    written.terrains.push_back(Overridden(known == base.terrains.end() ? fallback : *known, changes));
  }
  if (!written.terrains.empty()) {
    WAYSTAR_RETURN_IF_ERROR(CheckGridSettings(written));
  }
  for (Terrain& terrain : written.terrains) {
    const auto known = std::find_if(base.terrains.begin(), base.terrains.end(),
                                    [&](const Terrain& other) { return other.symbol == terrain.symbol; });
    if (known == base.terrains.end()) {
      base.terrains.push_back(std::move(terrain));
    } else {
      *known = std::move(terrain);
    }
  }
  WAYSTAR_RETURN_IF_ERROR(CheckGridSettings(base));
  return base;
}

}  // namespace waystar::core
