// Bytes as a file of a level editor or of a mesh: refused with a reason, or read as grids that can be written
// as text and read again, or as a mesh whose polygons agree with each other. WAYSTAR_FUZZ_FORMAT is the
// format.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/base/error.h"
#include "server/core/mesh/map/nav_mesh.h"
#include "server/formats/detect/import_map.h"
#include "server/formats/parts/import_options.h"
#include "server/formats/text/text.h"
#include "tests/fuzz/require.h"

namespace waystar::fuzz {
namespace {

void RequireAgreement(const core::NavMesh& mesh) {
  for (core::PolygonNumber polygon = 0; polygon < mesh.polygon_count(); ++polygon) {
    for (const core::PolygonNumber neighbour : mesh.NeighboursOf(polygon)) {
      if (neighbour < mesh.polygon_count()) {
        const auto back = mesh.NeighboursOf(neighbour);
        Require(std::count(back.begin(), back.end(), polygon) > 0, "neighbours adjoin from both sides");
        Require(mesh.PartOf(neighbour) == mesh.PartOf(polygon), "neighbours are connected");
      }
    }
  }
}

void RequireCornersOnIt(const core::NavMesh& mesh) {
  for (core::PolygonNumber polygon = 0; polygon < mesh.polygon_count(); ++polygon) {
    const core::WorldPoint& corner = mesh.VertexAt(mesh.VerticesOf(polygon)[0]);
    const std::optional<core::MeshPlace> place = mesh.FindNearest({corner, 0.0, 0.0});
    Require(place.has_value() && place->point == corner, "a corner is on the mesh");
  }
}

void FuzzImport(core::MapFormat format, absl::string_view bytes, core::ImportOptions options) {
  options.grid.max_side = 256;
  const absl::StatusOr<std::vector<core::NamedMap>> maps = core::ImportMaps(format, bytes, options);
  if (!maps.ok()) {
    RequireReason(maps.status());
    Require(!core::IsMeshFormat(format) || ErrorFieldOf(maps.status()).empty(), maps.status().ToString());
    return;
  }
  for (const core::NamedMap& map : *maps) {
    if (const auto* const grid = std::get_if<core::GridMap>(&map.map)) {
      const std::string written = core::FormatText(*grid);
      const absl::StatusOr<core::GridMap> again = core::ParseText(written, options.grid);
      Require(again.ok(), again.status().ToString());
      Require(core::FormatText(*again) == written, "the same file again");
    }
    if (const auto* const mesh = std::get_if<core::NavMesh>(&map.map)) {
      RequireAgreement(*mesh);
      // Corners of meshes in other formats may lie below other polygons.
      if (format == core::MapFormat::kPolyanya) {
        RequireCornersOnIt(*mesh);
      }
    }
  }
}

}  // namespace
}  // namespace waystar::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace waystar;
  const core::MapFormat format = core::MapFormat::WAYSTAR_FUZZ_FORMAT;
  const absl::string_view bytes = fuzz::BytesOf(data, size);
  core::DetectFormat(bytes);
  fuzz::FuzzImport(format, bytes, {});
  if (format == core::MapFormat::kImage) {
    fuzz::FuzzImport(format, bytes,
                     {.terrains = "#3060a0 water 3 ~\nvalue 1 blocked\ngrey 1 9\nelse grass 2"});
  }
  return 0;
}
