// Bytes as a mesh of Godot: refused with a reason, or read as one whose polygons agree with each other.

#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "server/formats/mesh/mesh_readers.h"
#include "tests/fuzz/foreign_mesh_check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace waystar;
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  core::LooksLikeGodotMesh(bytes);
  const auto mesh = core::ParseGodotMesh(bytes);
  if (mesh.ok()) {
    fuzz::RequireMesh(*mesh);
  } else {
    fuzz::RequireReason(mesh.status());
  }
  return 0;
}
