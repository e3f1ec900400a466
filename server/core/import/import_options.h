// What a caller says of how to read a level editor's file.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/core/format/grid_overrides.h"

namespace waystar::core {

// The bytes of a file beside the one that is read, by its relative name. Any error: it cannot be had.
using NeighbourFiles = std::function<absl::StatusOr<std::string>(absl::string_view)>;

struct ImportOptions {
  GridOverrides grid;
  // Text as terrain_mapping.h says; empty: none.
  std::string terrains;
  // Of an LDtk file with several levels.
  std::string level;
  // The layers to read, by name, hidden ones too; empty: all that are visible.
  std::vector<std::string> layers;
  // Null: files have none.
  NeighbourFiles neighbours;
};

// The fields of errors, from the root of a request to create a map; see also kTerrainsField.
inline constexpr absl::string_view kLevelField = "import_options.level";
inline constexpr absl::string_view kLayersField = "import_options.layers";

}  // namespace waystar::core
