// Bytes as a mesh in OBJ and of Unity: refused with a reason, or read as one whose polygons agree with each
// other.

#include "server/formats/mesh/mesh_readers.h"
#include "tests/fuzz/require.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace waystar;
  const absl::string_view bytes = fuzz::BytesOf(data, size);
  core::LooksLikeObjMesh(bytes);
  core::LooksLikeUnityMesh(bytes);
  fuzz::RequireMesh(core::ParseObjMesh(bytes));
  fuzz::RequireMesh(core::ParseUnityMesh(bytes));
  return 0;
}
