#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/base/file_errors.h"
#include "server/core/elements/obstacle_table.h"
#include "server/formats/grid/grid_readers.h"
#include "server/formats/grid/tiled_map.h"
#include "server/formats/grid/tiled_plane.h"
#include "server/formats/grid/tiled_tiles.h"
#include "server/formats/text/rows.h"
#include "server/formats/text/text.h"

namespace waystar::core {
namespace {

constexpr std::int64_t kMaxTiles = std::int64_t{1} << 28;

// Placeholders for cells without a tile, and for cells whose tiles have no meaning.
constexpr TerrainId kEmptyCell = 0xFE;
constexpr TerrainId kSilentCell = 0xFD;
static_assert(kMaxTerrains <= kSilentCell);

absl::Status InLayer(const TiledLayer& layer, const absl::Status& status) {
  return BadFormat(absl::StrCat(PlaceOf(layer), ": ", status.message()));
}

absl::StatusOr<std::optional<HexLayout>> LayoutOf(const TiledMap& map) {
  if (map.orientation == "orthogonal" || map.orientation == "isometric" || map.orientation == "oblique") {
    return std::nullopt;
  }
  if (map.orientation.empty()) {
    return BadFormat("this is not a map of Tiled: it has no orientation");
  }
  if (map.orientation == "staggered") {
    return BadFormat(
        "orientation \"staggered\" is not read: its tiles are the squares of an isometric map, in other "
        "columns "
        "and rows; orthogonal, isometric, oblique and hexagonal maps are read");
  }
  if (map.orientation != "hexagonal") {
    return BadFormat(absl::StrCat("orientation ", Quoted(map.orientation),
                                  " is not read: orthogonal, isometric, oblique and hexagonal are"));
  }
  if ((map.stagger_index != "even" && map.stagger_index != "odd" && !map.stagger_index.empty()) ||
      (map.stagger_axis != "x" && map.stagger_axis != "y" && !map.stagger_axis.empty())) {
    return BadFormat(absl::StrCat("staggeraxis ", Quoted(map.stagger_axis), " and staggerindex ",
                                  Quoted(map.stagger_index), " are not x or y, and odd or even"));
  }
  const bool is_even = map.stagger_index == "even";
  if (map.stagger_axis == "x") {
    return is_even ? HexLayout::kEvenColumns : HexLayout::kOddColumns;
  }
  return is_even ? HexLayout::kEvenRows : HexLayout::kOddRows;
}

// Loads external tilesets from files next to the map.
absl::Status ReadTilesets(const NeighbourFiles& neighbours, ImportNotes& notes,
                          std::vector<TiledTileset>& tilesets) {
  for (TiledTileset& tileset : tilesets) {
    if (!tileset.source.empty()) {
      WAYSTAR_RETURN_IF_ERROR(LoadTileset(neighbours, notes, tileset));
    }
  }
  return absl::OkStatus();
}

// A layer that is read.
struct WantedLayer {
  const TiledLayer* layer = nullptr;
  // Unset if the layer's offset is not a whole number of cells.
  std::optional<TileShift> shift;
};

absl::StatusOr<bool> IsWanted(const TiledLayer& layer, const std::vector<std::string>& names,
                              ImportNotes& notes) {
  if (!names.empty()) {
    return std::find(names.begin(), names.end(), layer.name) != names.end();
  }
  const absl::StatusOr<std::optional<bool>> ignore = FindFlag(layer.properties, "ignore");
  if (!ignore.ok()) {
    return InLayer(layer, ignore.status());
  }
  if (ignore->value_or(false)) {
    return false;
  }
  if (!layer.visible) {
    notes.Add("hidden layers are not read", PlaceOf(layer));
  }
  return layer.visible;
}

absl::StatusOr<std::vector<WantedLayer>> WantedLayers(const TiledMap& map, std::optional<HexLayout> layout,
                                                      const std::vector<std::string>& names,
                                                      ImportNotes& notes) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (std::none_of(map.layers.begin(), map.layers.end(),
                     [&](const TiledLayer& layer) { return layer.name == names[i]; })) {
      return MakeError(ErrorReason::kBadValue, absl::StrCat(kLayersField, "[", i, "]"),
                       absl::StrCat("the map has no layer ", Quoted(names[i])));
    }
  }
  const auto has_offset = [](const TiledLayer& layer) { return layer.offset != Point{}; };
  std::vector<WantedLayer> layers;
  for (const TiledLayer& layer : map.layers) {
    WAYSTAR_ASSIGN_OR_RETURN(const bool is_wanted, IsWanted(layer, names, notes));
    if (!is_wanted) {
      continue;
    }
    if (has_offset(layer) || !layer.objects.empty()) {
      WAYSTAR_RETURN_IF_ERROR(CheckTileSizes(map, layout));
    }
    layers.push_back(
        {&layer, has_offset(layer) ? ShiftOf(map, layout, layer.offset) : std::optional(TileShift{})});
  }
  return layers;
}

// Returns the bounds of the grid in tiles.
absl::StatusOr<Rectangle> BoundsOf(const TiledMap& map, const std::vector<WantedLayer>& layers,
                                   bool has_hexagons, int max_side) {
  const auto check = [&](std::int64_t width, std::int64_t height) {
    return WithField(CheckMapSize(width, height, max_side), "");
  };
  if (!map.infinite) {
    WAYSTAR_RETURN_IF_ERROR(check(map.width, map.height));
  }
  const Rectangle whole{0, 0, static_cast<int>(map.infinite ? 0 : map.width),
                        static_cast<int>(map.infinite ? 0 : map.height)};
  constexpr std::int64_t kBeyond = std::int64_t{1} << 32;
  std::int64_t left = kBeyond;
  std::int64_t top = kBeyond;
  std::int64_t right = -kBeyond;
  std::int64_t bottom = -kBeyond;
  std::int64_t tiles = 0;
  for (const auto& [layer, shift] : layers) {
    for (const TiledTileData& data : layer->tiles) {
      const Rectangle& area = data.area;
      if (!map.infinite && area != whole) {
        return InLayer(*layer, BadFormat("it is not of the map's size"));
      }
      absl::Status status = map.infinite ? check(area.width, area.height) : absl::OkStatus();
      for (const auto& [x, y] : {shift.value_or(TileShift{}).even, shift.value_or(TileShift{}).odd}) {
        left = std::min(left, std::int64_t{area.x} + x);
        top = std::min(top, std::int64_t{area.y} + y);
        right = std::max(right, std::int64_t{area.x} + x + area.width);
        bottom = std::max(bottom, std::int64_t{area.y} + y + area.height);
      }
      if (map.infinite) {
        status.Update(check(right - left, bottom - top));
      }
      if (!status.ok()) {
        return MakeError(ErrorReason::kBadSize, "", absl::StrCat(PlaceOf(*layer), ": ", status.message()));
      }
      tiles += std::int64_t{area.width} * area.height;
    }
  }
  if (tiles > kMaxTiles) {
    return MakeError(ErrorReason::kBadSize, "",
                     absl::StrCat("all layers together have ", tiles, " tiles, more than ", kMaxTiles));
  }
  if (!map.infinite) {
    return whole;
  }
  if (right <= left) {
    return BadFormat("there are no tiles");
  }
  if (has_hexagons) {
    // Keeps the parity of rows and columns.
    left -= left & 1;
    top -= top & 1;
  }
  WAYSTAR_RETURN_IF_ERROR(check(right - left, bottom - top));
  constexpr std::int64_t kFarthest = std::int64_t{1} << 30;
  if (std::min(left, top) < -kFarthest || std::max(right, bottom) > kFarthest) {
    return BadFormat("the tiles lie more than 2^30 from the origin");
  }
  return Rectangle{static_cast<int>(left), static_cast<int>(top), static_cast<int>(right - left),
                   static_cast<int>(bottom - top)};
}

// Cells of the grid, as built up from the layers.
class TileCells {
 public:
  // `empty_ground` is the value of cells without a tile.
  TileCells(const Rectangle& bounds, std::optional<HexLayout> layout, TerrainId empty_ground,
            TiledTiles& tiles, ImportNotes& notes, const StopCheck* stop)
      : bounds_(bounds),
        empty_ground_(empty_ground),
        has_odd_columns_(layout && IsFlatTopped(*layout)),
        tiles_(tiles),
        notes_(notes),
        stop_(stop),
        cells_(static_cast<std::size_t>(bounds.width) * static_cast<std::size_t>(bounds.height), kEmptyCell) {
  }

  // Writes the tiles of a layer over those below; tiles without a meaning get `of_layer`.
  absl::Status Lay(const WantedLayer& wanted, std::optional<TerrainId> of_layer) {
    const TiledLayer& layer = *wanted.layer;
    bool has_tiles = false;
    bool says_something = false;
    for (const TiledTileData& data : layer.tiles) {
      const auto lay = [&](std::size_t i, std::uint32_t gid) {
        WAYSTAR_RETURN_IF_ERROR(CheckStopAt(stop_, i));
        if (gid == 0) {
          return absl::OkStatus();
        }
        const auto width = static_cast<std::size_t>(data.area.width);
        const std::int64_t x = data.area.x + static_cast<std::int64_t>(i % width);
        const std::int64_t y = data.area.y + static_cast<std::int64_t>(i / width);
        const absl::StatusOr<std::optional<TerrainId>> says = tiles_.MeaningOf(gid);
        if (!says.ok()) {
          return BadFormat(absl::StrCat("tile (", x, ", ", y, "): ", says.status().message()));
        }
        const std::optional<TerrainId> meaning = says->has_value() ? *says : of_layer;
        has_tiles = true;
        says_something = says_something || meaning.has_value();
        return Put(wanted, x, y, meaning);
      };
      if (const absl::Status status = ForEachTile(data, lay); !status.ok()) {
        WAYSTAR_RETURN_IF_ERROR(CheckStop(stop_));
        return InLayer(layer, status);
      }
    }
    if (has_tiles && !says_something && (SoundsLikeWall(layer.name) || SoundsLikeWall(layer.class_name))) {
      notes_.Add("layers that sound like walls block nothing, for neither they nor their tiles say so",
                 PlaceOf(layer));
    }
    return absl::OkStatus();
  }

  // Returns true if a tile or a layer makes some cell impassable.
  bool HasBlocked(const std::vector<Terrain>& terrains) const {
    return std::any_of(cells_.begin(), cells_.end(), [&](TerrainId cell) {
      return cell == GridMapEditor::kObstacle || (cell < terrains.size() && terrains[cell].impassable);
    });
  }

  std::vector<TerrainId> Finish() && {
    std::replace(cells_.begin(), cells_.end(), kEmptyCell, empty_ground_);
    std::replace(cells_.begin(), cells_.end(), kSilentCell, TerrainId{0});
    return std::move(cells_);
  }

 private:
  absl::Status Put(const WantedLayer& wanted, std::int64_t x, std::int64_t y,
                   std::optional<TerrainId> meaning) {
    if (!wanted.shift) {
      if (!meaning && empty_ground_ != GridMapEditor::kObstacle) {
        return absl::OkStatus();
      }
      return BadFormat(absl::StrCat("its offset of ", ShortestText(wanted.layer->offset.x), ", ",
                                    ShortestText(wanted.layer->offset.y),
                                    " pixels does not move tiles by whole cells"));
    }
    const bool is_odd = ((has_odd_columns_ ? x : y) & 1) != 0;
    const std::array<int, 2>& shift = is_odd ? wanted.shift->odd : wanted.shift->even;
    const std::int64_t column = x + shift[0] - bounds_.x;
    const std::int64_t row = y + shift[1] - bounds_.y;
    if (column < 0 || row < 0 || column >= bounds_.width || row >= bounds_.height) {
      notes_.Add("tiles that their layer's offset moves off the map are not read", PlaceOf(*wanted.layer));
      return absl::OkStatus();
    }
    TerrainId& cell = cells_[static_cast<std::size_t>(row * bounds_.width + column)];
    if (meaning) {
      cell = *meaning;
    } else if (cell == kEmptyCell) {
      cell = kSilentCell;
    }
    return absl::OkStatus();
  }

  Rectangle bounds_;
  TerrainId empty_ground_;
  bool has_odd_columns_;
  TiledTiles& tiles_;
  ImportNotes& notes_;
  const StopCheck* stop_;
  std::vector<TerrainId> cells_;
};

absl::Status LayLayer(const WantedLayer& wanted, const TerrainMapping& mapping, TerrainTable& terrains,
                      ImportNotes& notes, TileCells& cells) {
  const TiledLayer& layer = *wanted.layer;
  if (layer.tiles.empty()) {
    return absl::OkStatus();
  }
  NoteOthers(layer.properties,
             {"blocked", "collides", "walkable", "impassable", "cost", "terrain", "symbol", "ignore"},
             PlaceOf(layer), notes);
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
  return cells.Lay(wanted, of_layer);
}

absl::StatusOr<TerrainId> EmptyGround(const TiledMap& map) {
  const std::string* const text = FindProperty(map.properties, "empty");
  const std::string empty = text == nullptr ? "" : absl::AsciiStrToLower(*text);
  if (text != nullptr && empty != "free" && empty != "blocked") {
    return BadFormat(
        absl::StrCat("the map's property \"empty\" is ", Quoted(*text), ", neither free nor blocked"));
  }
  const bool is_blocked = text == nullptr ? map.infinite : empty == "blocked";
  return is_blocked ? GridMapEditor::kObstacle : TerrainId{0};
}

absl::StatusOr<WorldFrame> FrameOf(const TiledMap& map, std::optional<HexLayout> layout,
                                   const Rectangle& bounds, const GridOverrides& overrides) {
  WorldFrame frame;
  const absl::StatusOr<std::optional<double>> size = FindNumber(map.properties, "cell_size");
  if (!size.ok()) {
    return BadFormat(absl::StrCat("of the map: ", size.status().message()));
  }
  frame.cell_size = size->value_or(frame.cell_size);
  const double cell_size = overrides.cell_size.value_or(frame.cell_size);
  // Distance between rows of hexagons that touch along rows, in cell widths.
  constexpr double kHexRow = 0.8660254037844386;
  const double column = layout && IsFlatTopped(*layout) ? kHexRow : 1.0;
  const double row = layout && !IsFlatTopped(*layout) ? kHexRow : 1.0;
  frame.origin = {bounds.x * column * cell_size, bounds.y * row * cell_size, 0.0};
  return frame;
}

}  // namespace

absl::StatusOr<GridMap> ParseTiled(absl::string_view bytes, const TerrainMapping& mapping,
                                   const ImportOptions& options, ImportNotes& notes) {
  const StopCheck* const stop = options.grid.stop;
  WAYSTAR_ASSIGN_OR_RETURN(TiledMap map, ParseTiledMap(bytes, notes, stop));
  WAYSTAR_ASSIGN_OR_RETURN(const std::optional<HexLayout> layout, LayoutOf(map));
  WAYSTAR_ASSIGN_OR_RETURN(const std::vector<WantedLayer> layers,
                           WantedLayers(map, layout, options.layers, notes));
  WAYSTAR_ASSIGN_OR_RETURN(const Rectangle bounds,
                           BoundsOf(map, layers, layout.has_value(), options.grid.max_side));
  WAYSTAR_ASSIGN_OR_RETURN(const TerrainId empty_ground, EmptyGround(map));
  WAYSTAR_RETURN_IF_ERROR(ReadTilesets(options.neighbours, notes, map.tilesets));
  NoteOthers(map.properties, {"empty", "cell_size", "object_rule"}, "the map", notes);

  TerrainTable terrains;
  TiledTiles tiles(map.tilesets, mapping, terrains, notes);
  WAYSTAR_RETURN_IF_ERROR(tiles.ReserveSymbols());
  TileCells cells(bounds, layout, empty_ground, tiles, notes, stop);
  for (const WantedLayer& layer : layers) {
    WAYSTAR_RETURN_IF_ERROR(LayLayer(layer, mapping, terrains, notes, cells));
  }

  const bool has_blocked = cells.HasBlocked(terrains.terrains());

  GridSettings settings;
  settings.terrains = terrains.terrains();
  WAYSTAR_ASSIGN_OR_RETURN(settings.frame, FrameOf(map, layout, bounds, options.grid));
  if (layout) {
    settings.connectivity = Connectivity::kSix;
    settings.diagonal_cost = 1.0;
    settings.frame.hexagons = HexBoard{.layout = *layout};
  }
  WAYSTAR_ASSIGN_OR_RETURN(settings, ApplyOverrides(std::move(settings), options.grid));
  WAYSTAR_ASSIGN_OR_RETURN(GridMap grid, BuildMap(bounds.width, bounds.height, std::move(settings),
                                                  std::move(cells).Finish(), stop));
  std::vector<const TiledLayer*> with_objects;
  for (const WantedLayer& wanted : layers) {
    if (!wanted.layer->objects.empty()) {
      with_objects.push_back(wanted.layer);
    }
  }
  if (!with_objects.empty()) {
    const std::optional<HexBoard>& board = grid.settings().frame.hexagons;
    const TiledPlane plane(map, board ? &*board : nullptr, {bounds.x, bounds.y});
    TiledTemplates templates(options.neighbours, tiles, notes);
    WAYSTAR_ASSIGN_OR_RETURN(
        grid, PutObjects(map, mapping, with_objects, plane, templates, notes, std::move(grid), stop));
  }
  if (!has_blocked && grid.obstacles().size() == 0) {
    notes.Add(
        "nothing in the file says that anything blocks: give tiles or layers the property \"blocked\", or "
        "objects the class \"obstacle\"");
  }
  return grid;
}

}  // namespace waystar::core
