// Maps of the Tiled editor as plain values, whether they came as XML (.tmx) or as JSON (.tmj).
//
// Formats: "TMX Map Format" and "JSON Map Format" of the Tiled documentation, versions 1.0 to 1.11.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/base/stop_check.h"
#include "server/core/grid/cell.h"
#include "server/core/shape/shape.h"

namespace waystar::core {

// Names and values, the latter as XML writes them: "true", "2.5". Only those that mean something to a map.
using TiledProperties = std::vector<std::pair<std::string, std::string>>;

struct TiledTile {
  std::uint32_t id = 0;
  // The tile's "class", or "type" as most versions call it.
  std::string class_name;
  TiledProperties properties;
  // True if shapes were drawn on it in the collision editor.
  bool has_collision_shapes = false;
};

struct TiledTileset {
  std::uint32_t first_gid = 1;
  // The file that the tileset is in; empty if it is embedded.
  std::string source;
  // The tiles that say something.
  std::vector<TiledTile> tiles;
};

// Tile numbers as the file has them.
struct TiledTileData {
  Rectangle area;
  // "csv", "base64", or "" for `numbers`.
  std::string encoding;
  // "", "zlib", "gzip" or "zstd".
  std::string compression;
  std::string text;
  std::vector<double> numbers;
};

struct TiledObject {
  enum class Form : std::uint8_t { kRectangle, kEllipse, kPoint, kPolygon, kPolyline };

  int id = 0;
  std::string name;
  std::string class_name;
  Form form = Form::kRectangle;
  // The position in pixels. For a picture of a tile it is the lower left corner.
  Point position;
  double width = 0.0;
  double height = 0.0;
  // The angle in degrees, clockwise, around the position.
  double rotation = 0.0;
  // The points relative to the position.
  std::vector<Point> points;
  bool is_tile = false;
  // True if another file says what the object is.
  bool has_template = false;
  TiledProperties properties;
};

struct TiledLayer {
  std::string name;
  std::string class_name;
  // The line in which it begins in the file.
  std::size_t line = 0;
  // True if the layer and all groups that it is in are visible.
  bool visible = true;
  // The offset in pixels, those of its groups included.
  Point offset;
  // Its own properties, and those of its groups that it does not have itself.
  TiledProperties properties;
  // The chunks of a layer of tiles, and the objects of a layer of objects.
  std::vector<TiledTileData> tiles;
  std::vector<TiledObject> objects;
};

struct TiledMap {
  // "orthogonal", "isometric", "staggered", "hexagonal".
  std::string orientation;
  // "x" or "y"; "odd" or "even".
  std::string stagger_axis;
  std::string stagger_index;
  // The size in tiles.
  std::int64_t width = 0;
  std::int64_t height = 0;
  bool infinite = false;
  // Sizes in pixels.
  double tile_width = 0.0;
  double tile_height = 0.0;
  double hex_side_length = 0.0;
  TiledProperties properties;
  std::vector<TiledTileset> tilesets;
  // From the bottom to the top; the layers of a group lie where the group does.
  std::vector<TiledLayer> layers;
};

// How deep groups may be nested.
inline constexpr int kMaxTiledGroups = 16;

// Keeps a property if its name means something and is not there yet; at most 100 bytes of the value are kept.
void AddProperty(absl::string_view name, absl::string_view value, TiledProperties& properties);
// Returns null if there is none.
const std::string* FindProperty(const TiledProperties& properties, absl::string_view name);
// Adds the properties whose names are not there.
void AddMissing(const TiledProperties& others, TiledProperties& properties);

// Applies what a group hands down to a layer in it.
void PutIntoGroup(const TiledLayer& group, TiledLayer& layer);

// Parse a map, or a tileset from a file of its own, in XML or JSON. They return INVALID_ARGUMENT / BAD_FORMAT
// without a field, naming the line, for what is no such file. Values are only checked as far as needed to
// hold them. The first returns the error of `stop`, too.
absl::StatusOr<TiledMap> ParseTiledMap(absl::string_view bytes, const StopCheck* stop = nullptr);
absl::StatusOr<TiledTileset> ParseTileset(absl::string_view bytes);

}  // namespace waystar::core
