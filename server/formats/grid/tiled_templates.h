// Templates of Tiled objects.
#pragma once

#include <memory>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/formats/grid/tiled_map.h"
#include "server/formats/grid/tiled_tiles.h"
#include "server/formats/parts/import_notes.h"
#include "server/formats/parts/import_options.h"

namespace waystar::core {

// Reads an external tileset from a file next to the map. Returns INVALID_ARGUMENT / BAD_FORMAT without a
// field, naming the file, if it cannot be read or is not a tileset.
absl::Status LoadTileset(const NeighbourFiles& neighbours, ImportNotes& notes, TiledTileset& tileset);

// An object completed with values of its template and tile.
struct WholeObject {
  TiledObject object;
  // Has no tileset if the object is not a tile image.
  TileRef picture;
  // Error of its template file; empty if it was read or there is none.
  std::string missing_template;
};

// Cache of template files.
//
// Thread safety: none.
class TiledTemplates {
 public:
  // The arguments must outlive this. `tiles` are those of the map.
  TiledTemplates(const NeighbourFiles& neighbours, const TiledTiles& tiles, ImportNotes& notes)
      : neighbours_(neighbours), tiles_(tiles), notes_(notes) {}

  // Completes an object as Tiled does: unset values come from its template, then from its tile. Returns
  // INVALID_ARGUMENT / BAD_FORMAT for a tile in no tileset.
  absl::StatusOr<WholeObject> Complete(const TiledObject& object);

 private:
  struct Entry {
    TiledTemplate made;
    // The template's tile image.
    TileRef picture;
    // Error of the file; empty if it was read.
    std::string missing;
  };

  const Entry& Find(const std::string& file);
  absl::Status Load(const std::string& file, absl::string_view bytes, Entry& entry);

  const NeighbourFiles& neighbours_;
  const TiledTiles& tiles_;
  ImportNotes& notes_;
  absl::flat_hash_map<std::string, std::unique_ptr<Entry>> templates_;
};

}  // namespace waystar::core
