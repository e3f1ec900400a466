// Maps of the Tiled editor as plain values, whether they came as XML (.tmx) or as JSON (.tmj).
//
// Formats: "TMX Map Format" and "JSON Map Format" of the Tiled documentation, versions 0.9 to 1.12.
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
#include "server/core/import/import_notes.h"
#include "server/core/import/tiled_properties.h"
#include "server/core/shape/shape.h"

namespace waystar::core {

// What was drawn in a layer of objects, or on a tile in the collision editor. What the file does not say may
// come from the object's template or tile.
struct TiledObject {
  enum class Form : std::uint8_t { kRectangle, kEllipse, kCapsule, kPoint, kPolygon, kPolyline, kText };

  std::int64_t id = 0;
  // The position in pixels. For a picture of a tile the tileset says which point of the picture lies there.
  Point position;
  std::optional<std::string> name;
  std::optional<std::string> class_name;
  // The size in pixels.
  std::optional<double> width;
  std::optional<double> height;
  // The angle in degrees, clockwise, around the position.
  std::optional<double> rotation;
  std::optional<bool> visible;
  std::optional<Form> form;
  // The points relative to the position.
  std::vector<Point> points;
  // The tile that it is a picture of, with the bits that flip it.
  std::optional<std::uint32_t> gid;
  // The file of its template; empty if it has none.
  std::string template_file;
  TiledProperties properties;
};

// The bits of a tile's number that say how it is flipped, or turned by a quarter (on maps of hexagons, by 60
// and by 120 degrees), and the rest.
inline constexpr std::uint32_t kFlippedAcross = 0x8000'0000;
inline constexpr std::uint32_t kFlippedDown = 0x4000'0000;
inline constexpr std::uint32_t kTurned = 0x2000'0000;
inline constexpr std::uint32_t kTurnedTwice = 0x1000'0000;
inline constexpr std::uint32_t kTileBits = 0x0FFF'FFFF;

struct TiledTile {
  std::uint32_t id = 0;
  // The tile's "class", or "type" as most versions call it.
  std::string class_name;
  TiledProperties properties;
  // What was drawn on it in the collision editor.
  std::vector<TiledObject> shapes;
  // The size of its picture in pixels, if it has one of its own.
  std::optional<double> width;
  std::optional<double> height;
};

struct TiledTileset {
  std::uint32_t first_gid = 1;
  // The file that the tileset is in; empty if it is embedded.
  std::string source;
  // Sizes in pixels.
  double tile_width = 0.0;
  double tile_height = 0.0;
  // The size of the diamond whose sides the coordinates of shapes on its tiles are counted along, in pixels
  // of the screen; 0 if they are pixels of the picture.
  double diamond_width = 0.0;
  double diamond_height = 0.0;
  // What pictures of its tiles are moved by, in pixels.
  Point tile_offset;
  // Which point of a picture lies at the position of its object: "topleft", "center" and so on; empty or
  // "unspecified" for what the map's orientation says.
  std::string object_alignment;
  // The tiles that say something, or have a picture of their own.
  std::vector<TiledTile> tiles;
};

// Tile numbers as the file has them.
struct TiledTileData {
  Rectangle area;
  // True for a part of a layer of an infinite map.
  bool is_chunk = false;
  // "csv", "base64", or "" for `numbers`.
  std::string encoding;
  // "", "zlib", "gzip" or "zstd".
  std::string compression;
  std::string text;
  std::vector<double> numbers;
};

struct TiledLayer {
  std::string name;
  std::string class_name;
  // The line in which it begins in the file.
  std::size_t line = 0;
  // True if the layer and all groups that it is in are visible.
  bool visible = true;
  // The offset in pixels of the screen, those of its groups included.
  Point offset;
  // Its own properties, and those of its groups that it does not have itself.
  TiledProperties properties;
  // The chunks of a layer of tiles, and the objects of a layer of objects.
  std::vector<TiledTileData> tiles;
  std::vector<TiledObject> objects;
};

struct TiledMap {
  // "orthogonal", "isometric", "staggered", "hexagonal", "oblique".
  std::string orientation;
  // "x" or "y"; "odd" or "even"; empty where the file does not say.
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
  // How far each row of tiles of an oblique map lies to the right of the one above, and each column below.
  double skew_x = 0.0;
  double skew_y = 0.0;
  TiledProperties properties;
  std::vector<TiledTileset> tilesets;
  // From the bottom to the top; the layers of a group lie where the group does.
  std::vector<TiledLayer> layers;
};

// An object that maps hold copies of.
struct TiledTemplate {
  TiledObject object;
  // The tileset of its tile, if it is a picture of one.
  std::optional<TiledTileset> tileset;
};

// How deep groups may be nested.
inline constexpr int kMaxTiledGroups = 16;

// Parse a map, or a tileset or a template from a file of its own, in XML or JSON, and note what they pass
// over. They return INVALID_ARGUMENT / BAD_FORMAT without a field, naming the line, for what is no such file.
// Values are only checked as far as needed to hold them. The first returns the error of `stop`, too.
absl::StatusOr<TiledMap> ParseTiledMap(absl::string_view bytes, ImportNotes& notes,
                                       const StopCheck* stop = nullptr);
absl::StatusOr<TiledTileset> ParseTileset(absl::string_view bytes, ImportNotes& notes);
absl::StatusOr<TiledTemplate> ParseTiledTemplate(absl::string_view bytes, ImportNotes& notes);

}  // namespace waystar::core
