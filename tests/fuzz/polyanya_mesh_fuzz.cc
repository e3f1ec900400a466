// Bytes as a mesh: refused with a reason, or read as one whose polygons agree with each other.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/base/error.h"
#include "server/formats/mesh/mesh_readers.h"
#include "tests/fuzz/require.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace waystar;
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  const absl::StatusOr<core::NavMesh> mesh = core::ParsePolyanyaMesh(bytes);
  if (!mesh.ok()) {
    fuzz::Require(!ErrorReasonOf(mesh.status()).empty() && !mesh.status().message().empty() &&
                      ErrorFieldOf(mesh.status()).empty(),
                  mesh.status().ToString());
    return 0;
  }
  for (core::PolygonNumber polygon = 0; polygon < mesh->polygon_count(); ++polygon) {
    for (const core::PolygonNumber neighbour : mesh->NeighboursOf(polygon)) {
      if (neighbour != core::kNoPolygon) {
        const auto back = mesh->NeighboursOf(neighbour);
        fuzz::Require(std::count(back.begin(), back.end(), polygon) > 0, "neighbours adjoin from both sides");
        fuzz::Require(mesh->PartOf(neighbour) == mesh->PartOf(polygon), "neighbours are connected");
      }
    }
    const core::WorldPoint& corner = mesh->VertexAt(mesh->VerticesOf(polygon)[0]);
    const std::optional<core::MeshPlace> place = mesh->FindNearest({corner, 0.0, 0.0});
    fuzz::Require(place.has_value() && place->point == corner, "a corner is on the mesh");
  }
  return 0;
}
