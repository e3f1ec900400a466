// Bytes as a mesh: refused with a reason, or read as one whose polygons agree with each other and whose
// corners are on it.

#include <optional>

#include "server/formats/mesh/mesh_readers.h"
#include "tests/fuzz/require.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace waystar;
  const absl::StatusOr<core::NavMesh> mesh = core::ParsePolyanyaMesh(fuzz::BytesOf(data, size));
  fuzz::RequireMesh(mesh);
  for (core::PolygonNumber polygon = 0; mesh.ok() && polygon < mesh->polygon_count(); ++polygon) {
    const core::WorldPoint& corner = mesh->VertexAt(mesh->VerticesOf(polygon)[0]);
    const std::optional<core::MeshPlace> place = mesh->FindNearest({corner, 0.0, 0.0});
    fuzz::Require(place.has_value() && place->point == corner, "a corner is on the mesh");
  }
  return 0;
}
