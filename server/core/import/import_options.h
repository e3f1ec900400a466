// Options for reading a level editor's file.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/core/format/grid_overrides.h"
#include "server/core/import/import_notes.h"
#include "server/core/import/mesh_axes.h"

namespace waystar::core {

// Returns the bytes of a file beside the one that is read, by its relative name, or any error if it has none.
using NeighbourFiles = std::function<absl::StatusOr<std::string>(absl::string_view)>;

struct ImportOptions {
  GridOverrides grid;
  // A mapping as terrain_mapping.h describes it; empty for none.
  std::string terrains;
  // The level of an LDtk file with several levels.
  std::string level;
  // The layers to read, by name, hidden ones too. If it is empty, all visible ones are read.
  std::vector<std::string> layers;
  // How a file with a navigation mesh counts coordinates; kYUp if it is not given.
  std::optional<MeshAxes> axes;
  // Within what to join the edges of a file with a navigation mesh, from 0 to kMaxWeld units seen from above;
  // see FileTolerance.
  std::optional<double> weld;
  // Null if there are no other files.
  NeighbourFiles neighbours;
  // Takes what is passed over in the file; null if nobody wants to know.
  ImportNotes* notes = nullptr;
};

inline constexpr double kMaxWeld = 1000.0;

// The fields of errors, from the root of a request to create a map; see also kTerrainsField.
inline constexpr absl::string_view kLevelField = "import_options.level";
inline constexpr absl::string_view kLayersField = "import_options.layers";
inline constexpr absl::string_view kAxesField = "import_options.axes";
inline constexpr absl::string_view kWeldField = "import_options.weld";
inline constexpr absl::string_view kBuildField = "import_options.build";

}  // namespace waystar::core
