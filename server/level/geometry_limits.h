// What readers of geometry share.
#pragma once

#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/core/import/mesh_axes.h"
#include "server/level/level_geometry.h"

namespace waystar::level {

// Returns INVALID_ARGUMENT / BAD_SIZE without a field if a level would have too many of either.
inline absl::Status CheckSize(std::size_t vertices, std::size_t triangles) {
  return vertices <= kMaxLevelVertices && triangles <= kMaxLevelTriangles
             ? absl::OkStatus()
             : MakeError(ErrorReason::kBadSize, "",
                         absl::StrCat("the level has ", vertices, " vertices and ", triangles,
                                      " triangles, and at most ", kMaxLevelVertices, " and ",
                                      kMaxLevelTriangles, " are read"));
}

// Whether faces whose corners run counterclockwise in the file run clockwise in our coordinates.
constexpr bool MirrorsFaces(core::MeshAxes axes) { return axes != core::MeshAxes::kZUp; }

}  // namespace waystar::level
