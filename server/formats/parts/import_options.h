// Options of map import.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/formats/text/rows.h"
#include "server/geometry/world_point.h"

namespace waystar::core {

// Skipped content that occurred one or more times.
struct ImportNote {
  // Description, such as "hidden layers are not read".
  std::string text;
  // First place, such as "layer \"decor\" (line 12)"; empty for the whole file.
  std::string first_place;
  std::int64_t count = 1;

  friend bool operator==(const ImportNote&, const ImportNote&) = default;
};

// Notes in order of first occurrence, one per text.
//
// Thread safety: none.
class ImportNotes {
 public:
  // Maximum number of texts kept; one more note counts the rest.
  static constexpr std::size_t kMaxNotes = 50;

  // Adds `count` occurrences; `place` is that of the first.
  void Add(absl::string_view text, absl::string_view place = "", std::int64_t count = 1);

  // Sets the file that later places are in, if it differs from the map's own.
  void set_file(std::string file) { file_ = std::move(file); }

  const std::vector<ImportNote>& notes() const { return notes_; }

 private:
  std::string file_;
  std::vector<ImportNote> notes_;
  absl::flat_hash_map<std::string, std::size_t> by_text_;
};

// Formats a note: "hidden layers are not read: layer \"decor\" (line 12) and 2 more".
std::string LineOf(const ImportNote& note);

// Ids that are taken.
//
// Thread safety: none.
class UniqueIds {
 public:
  // Takes an id; returns false if it is taken.
  bool Take(absl::string_view id) { return ids_.emplace(id).second; }

  // Takes and returns an unused id: `base` with a number from 2 on, such as "node-2".
  std::string TakeNumbered(const std::string& base);

 private:
  absl::flat_hash_set<std::string> ids_;
  // Numbers tried after each id; avoids quadratic time for many ids alike.
  absl::flat_hash_map<std::string, int> tried_;
};

// Returns true if a word of the name suggests an obstacle, such as "wall", "solid" or "collision". Words end
// at non-letters and before capitals: "StoneWall_2".
bool SoundsLikeWall(absl::string_view name);

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

// The terrain that a caller gives an area. An empty name, no tags and no cost mean those of the file.
struct MeshTerrainOverride {
  int area = 0;
  std::string name;
  std::vector<std::string> tags;
  std::optional<double> cost;
  bool is_impassable = false;
};

struct ImportOptions {
  GridOverrides grid;
  // Mapping in the format of terrain_mapping.h; may be empty.
  std::string terrains;
  // Level to read from an LDtk file with several levels.
  std::string level;
  // Names of the layers to read, even hidden ones. If empty, reads all visible layers.
  std::vector<std::string> layers;
  // Axes of a navigation mesh file; see mesh_axes.
  std::optional<MeshAxes> axes;
  // Distance in plan within which edges of a navigation mesh file are joined, 0 to kMaxWeld; see
  // MeshOfFile.
  std::optional<double> weld;
  // Radius of the agents that a navigation mesh was made for, 0 to kMaxMeshAgentRadius. If unset, that of the
  // file, or 0 if it has none.
  std::optional<double> agent_radius;
  // Terrains of a navigation mesh; see OverrideTerrains.
  std::vector<MeshTerrainOverride> mesh_terrains;
  // Null if there are no other files.
  NeighbourFiles neighbours;
  // Receives notes on skipped content; may be null.
  ImportNotes* notes = nullptr;

  MeshAxes mesh_axes() const { return axes.value_or(MeshAxes::kYUp); }
};

inline constexpr double kMaxWeld = 1000.0;

// Error fields, from the root of a request to create a map; see also kTerrainsField.
inline constexpr absl::string_view kLevelField = "import_options.level";
inline constexpr absl::string_view kLayersField = "import_options.layers";
inline constexpr absl::string_view kAxesField = "import_options.axes";
inline constexpr absl::string_view kWeldField = "import_options.weld";
inline constexpr absl::string_view kAgentRadiusField = "import_options.agent_radius";
inline constexpr absl::string_view kMeshTerrainsField = "import_options.mesh_terrains";
inline constexpr absl::string_view kBuildField = "import_options.build";
inline constexpr absl::string_view kLargerBuildsField = "import_options.larger_builds";

}  // namespace waystar::core
