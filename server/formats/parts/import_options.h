// Options of map import.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/formats/parts/import_notes.h"
#include "server/formats/parts/mesh_axes.h"
#include "server/formats/text/grid_overrides.h"

namespace waystar::core {

// Returns the bytes of a file next to the imported one, by relative name, or an error.
using NeighbourFiles = std::function<absl::StatusOr<std::string>(absl::string_view)>;

struct ImportOptions {
  GridOverrides grid;
  // Mapping in the format of terrain_mapping.h; may be empty.
  std::string terrains;
  // Level to read from an LDtk file with several levels.
  std::string level;
  // Names of the layers to read, even hidden ones. If empty, reads all visible layers.
  std::vector<std::string> layers;
  // Axes of a navigation mesh file; kYUp if unset.
  std::optional<MeshAxes> axes;
  // Distance in plan within which edges of a navigation mesh file are joined, 0 to kMaxWeld; see
  // FileTolerance.
  std::optional<double> weld;
  // Null if there are no other files.
  NeighbourFiles neighbours;
  // Receives notes on skipped content; may be null.
  ImportNotes* notes = nullptr;
};

inline constexpr double kMaxWeld = 1000.0;

// Error fields, from the root of a request to create a map; see also kTerrainsField.
inline constexpr absl::string_view kLevelField = "import_options.level";
inline constexpr absl::string_view kLayersField = "import_options.layers";
inline constexpr absl::string_view kAxesField = "import_options.axes";
inline constexpr absl::string_view kWeldField = "import_options.weld";
inline constexpr absl::string_view kBuildField = "import_options.build";

}  // namespace waystar::core
