#include "server/core/import/tiled.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/format/file_errors.h"
#include "server/core/format/rows.h"
#include "server/core/import/tiled_data.h"
#include "server/core/import/tiled_map.h"
#include "server/core/import/tiled_objects.h"
#include "server/core/import/tiled_tiles.h"

namespace waystar::core {
namespace {

constexpr std::int64_t kMaxTiles = std::int64_t{1} << 28;
constexpr std::size_t kTilesBetweenChecks = 1 << 14;

// Cells that are no terrain yet: without a tile, and with tiles that say nothing.
constexpr TerrainId kEmptyCell = 0xFE;
constexpr TerrainId kSilentCell = 0xFD;
static_assert(kMaxTerrains <= kSilentCell);

std::string NameOfLayer(const TiledLayer& layer) {
  return absl::StrCat("layer ", Quoted(layer.name), " (line ", layer.line, ")");
}

absl::Status InLayer(const TiledLayer& layer, const absl::Status& status) {
  return BadFormat(absl::StrCat(NameOfLayer(layer), ": ", status.message()));
}

absl::StatusOr<std::optional<HexLayout>> LayoutOf(const TiledMap& map) {
  if (map.orientation == "orthogonal" || map.orientation == "isometric") {
    return std::nullopt;
  }
  if (map.orientation.empty()) {
    return BadFormat("this is no map of Tiled: it has no orientation");
  }
  if (map.orientation != "hexagonal") {
    return BadFormat(absl::StrCat("orientation ", Quoted(map.orientation),
                                  " is not read: orthogonal, isometric and hexagonal are"));
  }
  const bool is_even = map.stagger_index == "even";
  if (map.stagger_axis == "x") {
    return is_even ? HexLayout::kEvenColumns : HexLayout::kOddColumns;
  }
  return is_even ? HexLayout::kEvenRows : HexLayout::kOddRows;
}

// Reads tilesets that lie in other files from beside the map.
absl::Status ReadTilesets(const NeighbourFiles& neighbours, std::vector<TiledTileset>& tilesets) {
  for (TiledTileset& tileset : tilesets) {
    if (tileset.source.empty()) {
      continue;
    }
    if (!neighbours) {
      return BadFormat(
          absl::StrCat("the tileset ", Quoted(tileset.source),
                       " is a file of its own: put it into the map, in Tiled by \"Embed Tileset\""));
    }
    const absl::StatusOr<std::string> bytes = neighbours(tileset.source);
    if (!bytes.ok()) {
      return BadFormat(absl::StrCat("the tileset ", Quoted(tileset.source), ": ", bytes.status().message()));
    }
    absl::StatusOr<TiledTileset> read = ParseTileset(*bytes);
    if (!read.ok()) {
      return BadFormat(absl::StrCat("the tileset ", Quoted(tileset.source), ": ", read.status().message()));
    }
    tileset.tiles = std::move(read->tiles);
    tileset.source.clear();
  }
  return absl::OkStatus();
}

bool IsWanted(const TiledLayer& layer, const std::vector<std::string>& names) {
  if (!names.empty()) {
    return std::find(names.begin(), names.end(), layer.name) != names.end();
  }
  const std::string* const ignore = FindProperty(layer.properties, "ignore");
  return layer.visible && (ignore == nullptr || *ignore != "true");
}

absl::StatusOr<std::vector<const TiledLayer*>> WantedLayers(const TiledMap& map,
                                                            const std::vector<std::string>& names) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (std::none_of(map.layers.begin(), map.layers.end(),
                     [&](const TiledLayer& layer) { return layer.name == names[i]; })) {
      return MakeError(ErrorReason::kBadValue, absl::StrCat(kLayersField, "[", i, "]"),
                       absl::StrCat("the map has no layer ", Quoted(names[i])));
    }
  }
  std::vector<const TiledLayer*> layers;
  for (const TiledLayer& layer : map.layers) {
    if (IsWanted(layer, names)) {
      layers.push_back(&layer);
    }
  }
  return layers;
}

// The tiles that the grid has, with sides that a map may have.
class GridBounds {
 public:
  explicit GridBounds(int max_side) : max_side_(max_side) {}

  absl::Status Include(const Rectangle& area) {
    WAYSTAR_RETURN_IF_ERROR(Check(area.width, area.height));
    left_ = std::min<std::int64_t>(left_, area.x);
    top_ = std::min<std::int64_t>(top_, area.y);
    right_ = std::max<std::int64_t>(right_, std::int64_t{area.x} + area.width);
    bottom_ = std::max<std::int64_t>(bottom_, std::int64_t{area.y} + area.height);
    return Check(right_ - left_, bottom_ - top_);
  }

  // Rows and columns of hexagons stay odd and even.
  void StartEven() {
    left_ -= left_ & 1;
    top_ -= top_ & 1;
  }

  absl::StatusOr<Rectangle> Get() const {
    if (right_ <= left_) {
      return BadFormat("there are no tiles");
    }
    WAYSTAR_RETURN_IF_ERROR(Check(right_ - left_, bottom_ - top_));
    return Rectangle{static_cast<int>(left_), static_cast<int>(top_), static_cast<int>(right_ - left_),
                     static_cast<int>(bottom_ - top_)};
  }

 private:
  absl::Status Check(std::int64_t width, std::int64_t height) const {
    return WithField(CheckMapSize(width, height, max_side_), "");
  }

  int max_side_;
  std::int64_t left_ = std::int64_t{1} << 32;
  std::int64_t top_ = std::int64_t{1} << 32;
  std::int64_t right_ = -(std::int64_t{1} << 32);
  std::int64_t bottom_ = -(std::int64_t{1} << 32);
};

absl::StatusOr<Rectangle> BoundsOf(const TiledMap& map, const std::vector<const TiledLayer*>& layers,
                                   bool has_hexagons, int max_side) {
  if (!map.infinite) {
    WAYSTAR_RETURN_IF_ERROR(WithField(CheckMapSize(map.width, map.height, max_side), ""));
  }
  const Rectangle whole{0, 0, static_cast<int>(map.infinite ? 0 : map.width),
                        static_cast<int>(map.infinite ? 0 : map.height)};
  GridBounds bounds(max_side);
  std::int64_t tiles = 0;
  for (const TiledLayer* const layer : layers) {
    for (const TiledTileData& data : layer->tiles) {
      if (!map.infinite && data.area != whole) {
        return InLayer(*layer, BadFormat("it is not of the map's size"));
      }
      if (const absl::Status status = bounds.Include(data.area); !status.ok()) {
        return MakeError(ErrorReason::kBadSize, "",
                         absl::StrCat(NameOfLayer(*layer), ": ", status.message()));
      }
      tiles += std::int64_t{data.area.width} * data.area.height;
    }
  }
  if (tiles > kMaxTiles) {
    return MakeError(ErrorReason::kBadSize, "",
                     absl::StrCat("all layers together have ", tiles, " tiles, more than ", kMaxTiles));
  }
  if (!map.infinite) {
    return whole;
  }
  if (has_hexagons) {
    bounds.StartEven();
  }
  return bounds.Get();
}

// Lays the tiles of a layer over those below.
absl::Status LayTiles(const TiledLayer& layer, std::optional<TerrainId> of_layer, const Rectangle& bounds,
                      TiledTiles& tiles, std::vector<TerrainId>& cells, const StopCheck* stop) {
  const auto columns = static_cast<std::size_t>(bounds.width);
  for (const TiledTileData& data : layer.tiles) {
    const auto width = static_cast<std::size_t>(data.area.width);
    const auto left = static_cast<std::size_t>(data.area.x - bounds.x);
    const auto top = static_cast<std::size_t>(data.area.y - bounds.y);
    const auto lay = [&](std::size_t i, std::uint32_t gid) {
      if (i % kTilesBetweenChecks == 0) {
        WAYSTAR_RETURN_IF_ERROR(CheckStop(stop));
      }
      if (gid == 0) {
        return absl::OkStatus();
      }
      const absl::StatusOr<std::optional<TerrainId>> says = tiles.MeaningOf(gid);
      if (!says.ok()) {
        return BadFormat(absl::StrCat("tile (", data.area.x + static_cast<std::int64_t>(i % width), ", ",
                                      data.area.y + static_cast<std::int64_t>(i / width),
                                      "): ", says.status().message()));
      }
      TerrainId& cell = cells[(top + i / width) * columns + left + i % width];
      const std::optional<TerrainId> meaning = says->has_value() ? *says : of_layer;
      if (meaning) {
        cell = *meaning;
      } else if (cell == kEmptyCell) {
        cell = kSilentCell;
      }
      return absl::OkStatus();
    };
    if (const absl::Status status = ForEachTile(data, lay); !status.ok()) {
      WAYSTAR_RETURN_IF_ERROR(CheckStop(stop));
      return InLayer(layer, status);
    }
  }
  return absl::OkStatus();
}

absl::Status LayLayer(const TiledLayer& layer, const Rectangle& bounds, const TerrainMapping& mapping,
                      TiledTiles& tiles, TerrainTable& terrains, std::vector<TerrainId>& cells,
                      const StopCheck* stop) {
  const absl::StatusOr<std::optional<CellRule>> rule = RuleOfProperties(layer.properties, "", mapping);
  if (!rule.ok()) {
    return InLayer(layer, rule.status());
  }
  std::optional<TerrainId> of_layer;
  if (rule->has_value()) {
    const absl::StatusOr<TerrainId> id = terrains.Add(**rule);
    if (!id.ok()) {
      return InLayer(layer, id.status());
    }
    of_layer = *id;
  }
  return LayTiles(layer, of_layer, bounds, tiles, cells, stop);
}

absl::StatusOr<TerrainId> EmptyGround(const TiledMap& map) {
  const std::string* const empty = FindProperty(map.properties, "empty");
  if (empty != nullptr && *empty != "free" && *empty != "blocked") {
    return BadFormat(
        absl::StrCat("the map's property \"empty\" is ", Quoted(*empty), ", neither free nor blocked"));
  }
  const bool is_blocked = empty == nullptr ? map.infinite : *empty == "blocked";
  return is_blocked ? GridMapEditor::kObstacle : TerrainId{0};
}

absl::StatusOr<WorldFrame> FrameOf(const TiledMap& map, std::optional<HexLayout> layout,
                                   const Rectangle& bounds, const GridOverrides& overrides) {
  WorldFrame frame;
  const std::string* const size = FindProperty(map.properties, "cell_size");
  if (size != nullptr && !absl::SimpleAtod(*size, &frame.cell_size)) {
    return BadFormat(absl::StrCat("the map's property \"cell_size\" is ", Quoted(*size), ", no number"));
  }
  const double cell_size = overrides.cell_size.value_or(frame.cell_size);
  // Where hexagons touch along rows, the next row is this much further down.
  constexpr double kHexRow = 0.8660254037844386;
  const double column = layout && IsFlatTopped(*layout) ? kHexRow : 1.0;
  const double row = layout && !IsFlatTopped(*layout) ? kHexRow : 1.0;
  frame.origin = {bounds.x * column * cell_size, bounds.y * row * cell_size, 0.0};
  return frame;
}

}  // namespace

absl::StatusOr<GridMap> ParseTiled(absl::string_view bytes, const TerrainMapping& mapping,
                                   const ImportOptions& options) {
  WAYSTAR_ASSIGN_OR_RETURN(TiledMap map, ParseTiledMap(bytes, options.grid.stop));
  WAYSTAR_ASSIGN_OR_RETURN(const std::optional<HexLayout> layout, LayoutOf(map));
  WAYSTAR_ASSIGN_OR_RETURN(const std::vector<const TiledLayer*> layers, WantedLayers(map, options.layers));
  WAYSTAR_ASSIGN_OR_RETURN(const Rectangle bounds,
                           BoundsOf(map, layers, layout.has_value(), options.grid.max_side));
  WAYSTAR_ASSIGN_OR_RETURN(const TerrainId empty_ground, EmptyGround(map));
  WAYSTAR_RETURN_IF_ERROR(ReadTilesets(options.neighbours, map.tilesets));

  TerrainTable terrains;
  TiledTiles tiles(map.tilesets, mapping, terrains);
  WAYSTAR_RETURN_IF_ERROR(tiles.ReserveSymbols());
  std::vector<TerrainId> cells(
      static_cast<std::size_t>(bounds.width) * static_cast<std::size_t>(bounds.height), kEmptyCell);
  for (const TiledLayer* const layer : layers) {
    WAYSTAR_RETURN_IF_ERROR(LayLayer(*layer, bounds, mapping, tiles, terrains, cells, options.grid.stop));
  }
  std::replace(cells.begin(), cells.end(), kEmptyCell, empty_ground);
  std::replace(cells.begin(), cells.end(), kSilentCell, TerrainId{0});

  GridSettings settings;
  settings.terrains = terrains.terrains();
  WAYSTAR_ASSIGN_OR_RETURN(settings.frame, FrameOf(map, layout, bounds, options.grid));
  if (layout) {
    settings.connectivity = Connectivity::kSix;
    settings.diagonal_cost = 1.0;
    settings.frame.hexagons = HexBoard{.layout = *layout};
  }
  WAYSTAR_ASSIGN_OR_RETURN(settings, ApplyOverrides(std::move(settings), options.grid));
  WAYSTAR_ASSIGN_OR_RETURN(
      GridMap grid, BuildMap(bounds.width, bounds.height, std::move(settings), cells, options.grid.stop));
  const std::optional<HexBoard>& board = grid.settings().frame.hexagons;
  if (std::none_of(layers.begin(), layers.end(), [](const auto* layer) { return !layer->objects.empty(); })) {
    return grid;
  }
  if (!(map.tile_width > 0.0 && map.tile_height > 0.0 && map.hex_side_length >= 0.0)) {
    return BadFormat("the sizes of tiles are not more than 0");
  }
  const TiledPlane plane(map, board ? &*board : nullptr, {bounds.x, bounds.y});
  return PutObjects(layers, plane, std::move(grid), options.grid.stop);
}

}  // namespace waystar::core
