// Bytes as a mesh of Detour: refused with a reason, or read as one whose polygons agree with each other.

#include <utility>

#include "server/formats/mesh/detour_mesh.h"
#include "tests/fuzz/require.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace waystar;
  const absl::string_view bytes = fuzz::BytesOf(data, size);
  core::LooksLikeDetourMesh(bytes);
  auto read = core::ParseDetourMesh(bytes);
  fuzz::RequireMesh(read.ok() ? absl::StatusOr<core::NavMesh>(std::move(read->mesh)) : read.status());
  return 0;
}
