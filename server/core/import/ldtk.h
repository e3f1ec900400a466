// Levels of the LDtk editor (.ldtk): their IntGrid layers.
//
// Format: "LDtk JSON structure and documentation", versions 0.4 to 1.5.
//
// A value stands for what the mapping has for it (`value 2 ...`), or for its identifier (`terrain Water
// ...`), or for `else`. Without a line it goes by its identifier: wall, walls, solid, block, blocked,
// obstacle, collision or collisions, in any letters, is blocked; NAME_3 is a terrain that costs 3; any other
// is a terrain of that name at cost 1. Cells without a value are ground. Of several layers the topmost with a
// value decides; their cells must have the same size, and their offsets be whole cells. Hidden layers, and
// all that are no IntGrid, are passed over.
//
// A cell is as large as the options say (1); the level lies in the world where LDtk has it, in cells, or at
// the origin where LDtk lays levels out in a line.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/base/stop_check.h"
#include "server/core/import/import_notes.h"
#include "server/core/import/import_options.h"
#include "server/core/import/json_value.h"
#include "server/core/import/terrain_mapping.h"
#include "server/core/map/grid_map.h"

namespace waystar::core {

// Thread safety: immutable.
class LdtkFile {
 public:
  // Notes the members that it does not know. Returns INVALID_ARGUMENT / BAD_FORMAT without a field, naming
  // the line, or the error of `stop`.
  static absl::StatusOr<LdtkFile> Parse(absl::string_view bytes, ImportNotes& notes,
                                        const StopCheck* stop = nullptr);

  // Returns the number of levels, which is at least one.
  std::size_t level_count() const { return levels_.size(); }
  // Returns the identifier of a level.
  absl::string_view LevelName(std::size_t level) const;

  // Returns the level that `name` is the identifier or the iid of, or the only one if it is empty. Returns
  // INVALID_ARGUMENT / BAD_VALUE with field kLevelField if there is none.
  absl::StatusOr<std::size_t> FindLevel(absl::string_view name) const;

  // Notes what it passes over. Returns INVALID_ARGUMENT: BAD_FORMAT, BAD_SIZE or BAD_TERRAIN without a field,
  // naming line, layer and cell; BAD_VALUE with field kLayersField for a layer that does not exist; and the
  // errors of ApplyOverrides. REQUIRES: there is such a level.
  absl::StatusOr<GridMap> ReadLevel(std::size_t level, const TerrainMapping& mapping,
                                    const ImportOptions& options, ImportNotes& notes) const;

  // As ReadLevel, but returns nothing for a level that cannot be a map, because it has no visible IntGrid
  // layer or layers whose cells differ in size, and notes that.
  absl::StatusOr<std::optional<GridMap>> ReadLevelIfAny(std::size_t level, const TerrainMapping& mapping,
                                                        const ImportOptions& options,
                                                        ImportNotes& notes) const;

 private:
  LdtkFile() = default;

  // Returns a map, or an error of the code kFailedPrecondition for a level that cannot be one.
  absl::StatusOr<GridMap> TryLevel(std::size_t level, const TerrainMapping& mapping,
                                   const ImportOptions& options, ImportNotes& notes) const;

  // Returns what the errors of a file that lacks something end with: the version that wrote it.
  std::string Version() const;

  std::unique_ptr<const JsonValue> root_;
  struct Level {
    const JsonValue* value = nullptr;
    // True if LDtk lays the levels of its world out in a line, so that none has a place.
    bool is_in_line = false;
  };

  std::vector<Level> levels_;
};

}  // namespace waystar::core
