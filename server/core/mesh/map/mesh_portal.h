// Portals on a navigation mesh.
#pragma once

#include "server/core/elements/id_table.h"
#include "server/core/elements/portal.h"
#include "server/core/mesh/map/mesh_spec.h"

namespace waystar::core {

// A portal with its ends on its own mesh, as returned by MeshPlaceAt. An end without a polygon is not on the
// mesh, or is on another one; the portal cannot be used there.
struct PlacedPortal : MeshPortal {
  MeshPlace from_place;
  MeshPlace to_place;
};

class MeshPortalTable : public IdTable<PlacedPortal> {};

}  // namespace waystar::core
