// Maps of the Tiled editor as plain values, from XML (.tmx) or JSON (.tmj).
//
// Formats: "TMX Map Format" and "JSON Map Format" of the Tiled documentation, versions 0.9 to 1.12.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "server/base/file_errors.h"
#include "server/base/stop_check.h"
#include "server/formats/parts/import_options.h"
#include "server/formats/parts/json_value.h"
#include "server/geometry/cell.h"
#include "server/geometry/shape.h"

namespace waystar::core {

// Lower-case names, and values as XML writes them: "true", "2.5". Only meaningful names are kept; names in
// files are case-insensitive. At most 100 bytes of a value are kept.
using TiledProperties = std::vector<std::pair<std::string, std::string>>;

// Returns the value of a property, or null if not found.
// REQUIRES: `name` is lower-case.
const std::string* FindProperty(const TiledProperties& properties, absl::string_view name);

// These return nullopt if not found, and INVALID_ARGUMENT / BAD_TERRAIN without a field if the value is not a
// boolean (true, false, yes, no, 1, 0) or not a number.
absl::StatusOr<std::optional<bool>> FindFlag(const TiledProperties& properties, absl::string_view name);
absl::StatusOr<std::optional<double>> FindNumber(const TiledProperties& properties, absl::string_view name);

// Returns true if `blocked` or `collides` is true or `walkable` is false, and false for the opposite; the
// first one present decides. Returns nullopt if none is present, and the errors of FindFlag.
absl::StatusOr<std::optional<bool>> SaysBlocked(const TiledProperties& properties);

// Returns SaysBlocked, or else the flag `impassable`.
absl::StatusOr<std::optional<bool>> SaysImpassable(const TiledProperties& properties);

// Adds the properties whose names are missing. Properties used by SaysImpassable are added only if none of
// them is present.
void AddMissing(const TiledProperties& others, TiledProperties& properties);

// Returns the objects of a list named `name`; none if it is null. Returns INVALID_ARGUMENT / BAD_FORMAT,
// naming the line, for other values.
absl::StatusOr<std::vector<const JsonValue*>> ObjectsIn(const JsonValue& list, absl::string_view name);

// Adds properties: a list, or before Tiled 1.2 an object of values; null has none. Properties within
// class-typed properties are added too unless already present, and are noted.
absl::Status AddPropertiesIn(const JsonValue& value, ImportNotes& notes, TiledProperties& properties);

// Adds the member "properties" of a value, if present.
absl::Status ReadProperties(const JsonValue& value, ImportNotes& notes, TiledProperties& properties);

// Notes the properties that are not in `read`, since they have no meaning there.
void NoteOthers(const TiledProperties& properties, std::initializer_list<absl::string_view> read,
                absl::string_view place, ImportNotes& notes);

// Object of an object layer, or collision shape of a tile. Unset values may come from the object's template
// or tile.
struct TiledObject {
  enum class Form : std::uint8_t { kRectangle, kEllipse, kCapsule, kPoint, kPolygon, kPolyline, kText };

  std::int64_t id = 0;
  // Position in pixels. For a tile object, the tileset's object_alignment says which point of the image is
  // there.
  Point position;
  std::optional<std::string> name;
  std::optional<std::string> class_name;
  // Size in pixels.
  std::optional<double> width;
  std::optional<double> height;
  // Clockwise rotation around the position, in degrees.
  std::optional<double> rotation;
  std::optional<bool> visible;
  std::optional<Form> form;
  // Points relative to the position.
  std::vector<Point> points;
  // The tile of a tile object, with its flip bits.
  std::optional<std::uint32_t> gid;
  // Template file; empty if none.
  std::string template_file;
  TiledProperties properties;
};

// Bits of a tile number: flips and a quarter turn (on hexagonal maps rotations by 60 and 120 degrees), and
// the number itself.
inline constexpr std::uint32_t kFlippedAcross = 0x8000'0000;
inline constexpr std::uint32_t kFlippedDown = 0x4000'0000;
inline constexpr std::uint32_t kTurned = 0x2000'0000;
inline constexpr std::uint32_t kTurnedTwice = 0x1000'0000;
inline constexpr std::uint32_t kTileBits = 0x0FFF'FFFF;

struct TiledTile {
  std::uint32_t id = 0;
  // The tile's "class", called "type" in most versions.
  std::string class_name;
  TiledProperties properties;
  // Shapes of the collision editor.
  std::vector<TiledObject> shapes;
  // Size of the tile's own image in pixels, if it has one.
  std::optional<double> width;
  std::optional<double> height;
};

struct TiledTileset {
  std::uint32_t first_gid = 1;
  // File of the tileset; empty if embedded.
  std::string source;
  // Sizes in pixels.
  double tile_width = 0.0;
  double tile_height = 0.0;
  // Size in screen pixels of the isometric diamond along whose sides shape coordinates on tiles are measured;
  // 0 if they are image pixels.
  double diamond_width = 0.0;
  double diamond_height = 0.0;
  // Offset of tile images in pixels.
  Point tile_offset;
  // Point of an image that lies at the object's position: "topleft", "center" and so on. Empty or
  // "unspecified" means the default of the map's orientation.
  std::string object_alignment;
  // Tiles that carry information or have an image of their own, by id.
  std::map<std::uint32_t, TiledTile> tiles;
};

// Tile numbers as encoded in the file.
struct TiledTileData {
  Rectangle area;
  // True for a chunk of an infinite map's layer.
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
  // Line on which the layer begins.
  std::size_t line = 0;
  // True if the layer and all its groups are visible.
  bool visible = true;
  // Offset in screen pixels, including those of its groups.
  Point offset;
  // Its own properties and those inherited from its groups.
  TiledProperties properties;
  // Chunks of a tile layer, and objects of an object layer.
  std::vector<TiledTileData> tiles;
  std::vector<TiledObject> objects;
};

// Returns the place of a layer in errors and notes: layer "decor" (line 12).
inline std::string PlaceOf(const TiledLayer& layer) {
  return absl::StrCat("layer ", Quoted(layer.name), " (line ", layer.line, ")");
}

struct TiledMap {
  // "orthogonal", "isometric", "staggered", "hexagonal", "oblique".
  std::string orientation;
  // "x" or "y"; "odd" or "even"; empty if not in the file.
  std::string stagger_axis;
  std::string stagger_index;
  // Size in tiles.
  std::int64_t width = 0;
  std::int64_t height = 0;
  bool infinite = false;
  // Sizes in pixels.
  double tile_width = 0.0;
  double tile_height = 0.0;
  double hex_side_length = 0.0;
  // Offset of each row of an oblique map to the right of the row above, and of each column downwards.
  double skew_x = 0.0;
  double skew_y = 0.0;
  TiledProperties properties;
  std::vector<TiledTileset> tilesets;
  // Bottom to top; layers of a group are in the place of the group.
  std::vector<TiledLayer> layers;
};

// Template of an object.
struct TiledTemplate {
  TiledObject object;
  // Tileset of its tile, if it is a tile object.
  std::optional<TiledTileset> tileset;
};

// Returns the known members of objects in JSON form; XML attributes and elements are converted to members.
const MemberTables& TiledMembers();

// Converts Tiled XML (.tmx, .tsx, .tx) to the equivalent Tiled JSON. Returns the element `root` ("map",
// "tileset" or "template") as an object. Numbers and booleans are text, and elements unknown in JSON are
// null. Returns INVALID_ARGUMENT / BAD_FORMAT without a field, naming the line, for bytes that are not XML,
// declare entities, lack the root element or have too many elements; or the error of `stop`, which is polled
// after the text is parsed and before each element except cells.
absl::StatusOr<JsonValue> TiledXmlAsJson(absl::string_view bytes, const char* root,
                                         const StopCheck* stop = nullptr);

// Calls visit(i, gid) for each cell of the area, by row. gid 0 means no tile; flip flags are removed. Stops
// at the first error of `visit`. Returns INVALID_ARGUMENT / BAD_FORMAT without a field if the data is broken
// or does not have exactly one entry per cell.
// REQUIRES: the area's sides are from 1 to kMaxMapSide.
absl::Status ForEachTile(const TiledTileData& data,
                         absl::FunctionRef<absl::Status(std::size_t, std::uint32_t)> visit);

// Maximum nesting depth of groups.
inline constexpr int kMaxTiledGroups = 16;

// These parse a map, or a tileset or template from its own file, in XML or JSON, and note skipped content.
// They return INVALID_ARGUMENT / BAD_FORMAT without a field, naming the line, for malformed files. Values are
// checked only as far as needed to store them. ParseTiledMap also returns the error of `stop`.
absl::StatusOr<TiledMap> ParseTiledMap(absl::string_view bytes, ImportNotes& notes,
                                       const StopCheck* stop = nullptr);
absl::StatusOr<TiledTileset> ParseTileset(absl::string_view bytes, ImportNotes& notes);
absl::StatusOr<TiledTemplate> ParseTiledTemplate(absl::string_view bytes, ImportNotes& notes);

}  // namespace waystar::core
