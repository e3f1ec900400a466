// Reader of levels of the LDtk editor (.ldtk): their IntGrid layers.
//
// Format: "LDtk JSON structure and documentation", versions 0.4 to 1.5.
//
// The meaning of an IntGrid value is given by the mapping, by value (`value 2 ...`), by identifier (`terrain
// Water ...`) or by `else`. Otherwise the identifier decides: wall, walls, solid, block, blocked, obstacle,
// collision or collisions, case-insensitive, is blocked; NAME_3 is a terrain of cost 3; any other name is a
// terrain of cost 1. Cells without a value are ground. If layers overlap, the topmost value decides. All
// layers must have the same cell size and offsets of whole cells. Hidden layers and layers of other types are
// skipped.
//
// The size of a cell is given by the options (default 1). The level has its LDtk world position in cells, or
// the origin if LDtk arranges levels in a line.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/base/stop_check.h"
#include "server/core/grid/map/grid_map.h"
#include "server/formats/grid/terrain_mapping.h"
#include "server/formats/parts/import_notes.h"
#include "server/formats/parts/import_options.h"
#include "server/formats/parts/json_value.h"

namespace waystar::core {

// Returns the known members of objects.
const MemberTables& LdtkMembers();

// Parsed LDtk file. Thread safety: immutable.
class LdtkFile {
 public:
  // Unknown members are noted. Returns INVALID_ARGUMENT / BAD_FORMAT without a field, naming the line, or the
  // error of `stop`.
  static absl::StatusOr<LdtkFile> Parse(absl::string_view bytes, ImportNotes& notes,
                                        const StopCheck* stop = nullptr);

  // Returns the number of levels, at least one.
  std::size_t level_count() const { return levels_.size(); }
  absl::string_view LevelName(std::size_t level) const;

  // Returns the level with that identifier or iid, or the only one if `name` is empty. Returns
  // INVALID_ARGUMENT / BAD_VALUE with field kLevelField if none matches.
  absl::StatusOr<std::size_t> FindLevel(absl::string_view name) const;

  // Skipped content is noted. Returns FAILED_PRECONDITION for a level that cannot be a map: without a visible
  // IntGrid layer, or with layers of different cell sizes. Returns INVALID_ARGUMENT: BAD_FORMAT, BAD_SIZE or
  // BAD_TERRAIN without a field, naming line, layer and cell; BAD_VALUE with field kLayersField for an
  // unknown layer; and the errors of ApplyOverrides. REQUIRES: level < level_count().
  absl::StatusOr<GridMap> ReadLevel(std::size_t level, const TerrainMapping& mapping,
                                    const ImportOptions& options, ImportNotes& notes) const;

 private:
  LdtkFile() = default;

  // Returns the LDtk version of the file, as a suffix for errors.
  std::string Version() const;

  std::unique_ptr<const JsonValue> root_;
  struct Level {
    const JsonValue* value = nullptr;
    // True if LDtk arranges levels in a line, so that they have no position.
    bool is_in_line = false;
  };

  std::vector<Level> levels_;
};

}  // namespace waystar::core
