// Meshes that portals of navigation meshes may lead to.
#pragma once

#include <optional>

#include "absl/strings/string_view.h"
#include "server/core/mesh/map/nav_mesh.h"
#include "server/geometry/world_point.h"

namespace waystar::core {

class MeshWorld {
 public:
  virtual ~MeshWorld() = default;

  // Returns the mesh with that id as seen by the query, or null if there is none or its agent may not go
  // there. The result is the same at each call, and lives as long as this.
  virtual const NavMesh* Find(absl::string_view id) = 0;

  // Returns the place on one of these meshes where a portal from another mesh arrives, or nothing if there is
  // no surface.
  // REQUIRES: the position is valid by CheckPosition.
  virtual std::optional<MeshPlace> PlaceOn(const NavMesh& mesh, const WorldPoint& position) const {
    return MeshPlaceAt(mesh, position);
  }
};

}  // namespace waystar::core
