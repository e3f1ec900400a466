// Options of map import.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/formats/parts/import_notes.h"
#include "server/formats/text/grid_overrides.h"
#include "server/geometry/world_point.h"

namespace waystar::core {

// Conversion of file coordinates to the server's, where x and y are the plan and z is the height.
enum class MeshAxes : std::uint8_t {
  // y is the height, as in Recast, Unity and Godot: (x, y, z) becomes (x, z, y).
  kYUp,
  // Unchanged.
  kZUp,
  // Recast coordinates of a level from Unreal: (x, y, z) becomes (-x, -z, y), Unreal's own position in
  // centimetres.
  kUnreal,
};

constexpr WorldPoint FromAxes(MeshAxes axes, double x, double y, double z) {
  switch (axes) {
    case MeshAxes::kYUp:
      return {x, z, y};
    case MeshAxes::kZUp:
      break;
    case MeshAxes::kUnreal:
      return {-x, -z, y};
  }
  return {x, y, z};
}

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
  // MeshOfFile.
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
