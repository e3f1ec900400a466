// Geometry of a level: the triangles of its floors, walls and objects, walkable or not.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/base/stop_check.h"
#include "server/formats/parts/import_options.h"
#include "server/formats/text/map_format.h"
#include "server/geometry/world_point.h"

namespace waystar::level {

inline constexpr std::size_t kMaxLevelVertices = std::size_t{1} << 22;
inline constexpr std::size_t kMaxLevelTriangles = std::size_t{1} << 22;

// REQUIRES (wherever it is passed): vertices satisfy core::CheckPosition, triangles refer to vertices, and
// the limits above hold.
struct LevelGeometry {
  // x and y are the plan, z is the height.
  std::vector<core::WorldPoint> vertices;
  // A triangle is ground if its corners are counterclockwise seen from above, with x to the right and y up.
  // Triangles may be in any order, meet, overlap, or have no area.
  std::vector<std::array<std::uint32_t, 3>> triangles;
};

// Reads OBJ or glTF. Faces of more than three corners are taken as convex and split into fans of triangles
// from the first corner. Faces in the file are counterclockwise seen from the front.
//
// Returns the errors of core::CheckFileKind, core::ParseObjFaces and core::ParseGltfFaces, and
// INVALID_ARGUMENT / BAD_VALUE with field core::kBuildField for other formats, or BAD_SIZE without a field if
// there are too many vertices or triangles.
absl::StatusOr<LevelGeometry> ParseLevel(core::MapFormat format, absl::string_view bytes, core::MeshAxes axes,
                                         const StopCheck* stop = nullptr);

}  // namespace waystar::level
