// Files of level editors, made small for tests.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "server/core/grid/map/grid_map.h"
#include "server/formats/detect/import_map.h"

namespace waystar {

// A map's rows as text; a named obstacle is '#' as any other.
std::vector<std::string> Rows(const core::GridMap& map);
// The same of what ImportMap makes, or its error's message.
std::vector<std::string> ImportedRows(absl::string_view bytes, const core::ImportOptions& options = {});
// The lines of the notes that ImportMap makes; an error's message if it fails.
std::vector<std::string> NotesOf(absl::string_view bytes, core::ImportOptions options = {});
// Options that read files beside the map: each name with its bytes.
core::ImportOptions WithFiles(std::vector<std::pair<std::string, std::string>> files);
// ImportMap by the format that the bytes are in. A file that is no grid fails the test.
core::GridMap ImportGrid(absl::string_view bytes, const core::ImportOptions& options = {});

// Pixels are 0xRRGGBBAA.
std::string Png(int width, int height, const std::vector<std::uint32_t>& pixels);
std::string Webp(int width, int height, const std::vector<std::uint32_t>& pixels);
// Of one byte a pixel, with a palette.
std::string PalettePng(int width, int height, const std::vector<std::uint8_t>& indices,
                       const std::vector<std::uint32_t>& palette);
std::string Gif(int width, int height, const std::vector<std::uint8_t>& indices,
                const std::vector<std::uint32_t>& palette);

std::string Zlib(absl::string_view bytes);
std::string Gzip(absl::string_view bytes);
std::string Zstd(absl::string_view bytes);
// Four bytes each, the lowest first.
std::string TileBytes(const std::vector<std::uint32_t>& tiles);

// Of a map of squares, for TiledXml.
inline constexpr char kThreeByTwo[] = R"(orientation="orthogonal" width="3" height="2")";

// A map of Tiled in XML: 16 x 16 pixels a tile, and a tileset of tile 1: grass, says nothing; 2: a wall,
// blocked; 3: water, cost 3; 4: a bridge, not blocked. `attributes` go into the element "map", `layers`
// behind the tileset.
std::string TiledXml(absl::string_view attributes, absl::string_view layers);
// The rows of such a map.
std::vector<std::string> TiledRows(absl::string_view layers, absl::string_view attributes = kThreeByTwo,
                                   const core::ImportOptions& options = {});
// A layer of such a map.
std::string TileLayer(absl::string_view name, int width, int height, absl::string_view csv);

}  // namespace waystar
