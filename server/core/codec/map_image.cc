#include "server/core/codec/map_image.h"

#include <utility>
#include <variant>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/base/file_errors.h"

namespace waystar::core {
namespace {

constexpr std::uint64_t kVersion = 1;
constexpr auto kLastMeshVersion = static_cast<std::uint64_t>(MeshImageVersion::kGrounds);

std::uint64_t VersionOf(const NavMesh& mesh) { return static_cast<std::uint64_t>(ImageVersionOf(mesh)); }
template <typename Map>
std::uint64_t VersionOf(const Map& /*map*/) {
  return kVersion;
}

enum class Kind : std::uint8_t { kGrid, kGraph, kMesh };

template <typename Map>
std::string Encode(Kind kind, const Map& map, const StopCheck* stop) {
  BlockWriter to;
  to.PutNumber(VersionOf(map));
  to.PutNumber(static_cast<std::uint64_t>(kind));
  WriteBody(map, to, stop);
  to.PutFixed(map.digest());
  return std::move(to).Finish();
}

template <typename Map>
absl::StatusOr<AnyMap> Whole(absl::StatusOr<Map> map, BlockReader& from) {
  WAYSTAR_RETURN_IF_ERROR(map.status());
  if (from.Fixed() != map->digest()) {
    from.Fail("its digest is not that of the map");
  }
  WAYSTAR_RETURN_IF_ERROR(from.Finish());
  absl::StatusOr<AnyMap> whole;
  whole.emplace(*std::move(map));
  return whole;
}

}  // namespace

bool IsMapImage(absl::string_view bytes) { return absl::StartsWith(bytes, kImageMagic); }

std::string EncodeImage(const GridMap& map, const StopCheck* stop) { return Encode(Kind::kGrid, map, stop); }

std::string EncodeImage(const WaypointGraph& graph, const StopCheck* stop) {
  return Encode(Kind::kGraph, graph, stop);
}

std::string EncodeImage(const NavMesh& mesh, const StopCheck* stop) {
  return Encode(Kind::kMesh, mesh, stop);
}

std::string EncodeImage(const AnyMap& map, const StopCheck* stop) {
  return std::visit([stop](const auto& kind) { return EncodeImage(kind, stop); }, map);
}

absl::StatusOr<AnyMap> DecodeImage(absl::string_view image, const ImageLimits& limits) {
  BlockReader from(image, limits.max_content_bytes);
  const std::uint64_t version = from.Number();
  WAYSTAR_RETURN_IF_ERROR(from.status());
  if (version < kVersion || version > kLastMeshVersion) {
    return BadFormat(absl::StrCat("the map image has version ", version, ", and only 1 to ", kLastMeshVersion,
                                  " are known"));
  }
  const auto kind = static_cast<Kind>(from.Number(static_cast<std::uint64_t>(Kind::kMesh)));
  WAYSTAR_RETURN_IF_ERROR(from.status());
  if (version != kVersion && kind != Kind::kMesh) {
    return BadFormat(absl::StrCat("only images of meshes have version ", version));
  }
  switch (kind) {
    case Kind::kGrid:
      return Whole(ReadGrid(from, limits), from);
    case Kind::kGraph:
      return Whole(ReadGraph(from, limits.stop), from);
    case Kind::kMesh:
      return Whole(ReadMesh(from, static_cast<MeshImageVersion>(version), limits.stop), from);
  }
  return BadFormat("the map image is of an unknown kind");
}

}  // namespace waystar::core
