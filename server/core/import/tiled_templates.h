// The files of templates that objects of Tiled are made from.
#pragma once

#include <memory>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/core/import/import_notes.h"
#include "server/core/import/import_options.h"
#include "server/core/import/tiled_map.h"
#include "server/core/import/tiled_tiles.h"

namespace waystar::core {

// Reads a tileset that lies in a file of its own from beside the map. Returns INVALID_ARGUMENT / BAD_FORMAT
// without a field, naming the file, if there are no such files or it is no tileset.
absl::Status LoadTileset(const NeighbourFiles& neighbours, ImportNotes& notes, TiledTileset& tileset);

// An object with what it has from its template and its tile.
struct WholeObject {
  TiledObject object;
  // Without a tileset if it is no picture of a tile.
  TileRef picture;
  // Why its template's file could not be read; empty if it was, or there is none.
  std::string missing_template;
};

// Thread safety: none.
class TiledTemplates {
 public:
  // The arguments must outlive this; `tiles` are those of the map.
  TiledTemplates(const NeighbourFiles& neighbours, const TiledTiles& tiles, ImportNotes& notes)
      : neighbours_(neighbours), tiles_(tiles), notes_(notes) {}

  // Completes an object as Tiled does: what it does not say its template says, and what that does not say
  // its tile. Returns INVALID_ARGUMENT / BAD_FORMAT for a tile in no tileset.
  absl::StatusOr<WholeObject> Complete(const TiledObject& object);

 private:
  struct Entry {
    TiledTemplate made;
    // The tile that it is a picture of.
    TileRef picture;
    // Why it could not be read; empty if it was.
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
