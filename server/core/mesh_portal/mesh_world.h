// The meshes that portals of navigation meshes may lead to.
#pragma once

#include "absl/strings/string_view.h"
#include "server/core/mesh/nav_mesh.h"

namespace waystar::core {

class MeshWorld {
 public:
  virtual ~MeshWorld() = default;

  // Returns the mesh of an id as the query sees it, or null if there is none or its agent may not go there.
  // The result is the same at each call, and lives as long as this.
  virtual const NavMesh* Find(absl::string_view id) = 0;
};

// A world without other maps.
class NoMeshWorld final : public MeshWorld {
 public:
  const NavMesh* Find(absl::string_view /*id*/) override { return nullptr; }
};

}  // namespace waystar::core
