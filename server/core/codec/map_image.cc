#include "server/core/codec/map_image.h"

#include <cstdint>
#include <limits>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/base/file_errors.h"
#include "server/base/status_macros.h"
#include "server/core/codec/block_reader.h"
#include "server/core/codec/block_writer.h"
#include "server/core/codec/graph_image.h"
#include "server/core/codec/grid_image.h"
#include "server/core/codec/mesh_image.h"

namespace waystar::core {
namespace {

constexpr std::uint64_t kVersion = 1;

enum class Kind : std::uint8_t { kGrid, kGraph, kMesh };

// Little-endian.
void PutDigest(std::uint64_t digest, BlockWriter& to) {
  for (unsigned i = 0; i < sizeof(digest); ++i) {
    to.PutByte(static_cast<std::uint8_t>(digest >> 8 * i));
  }
}

void CheckDigest(std::uint64_t digest, BlockReader& from) {
  std::uint64_t told = 0;
  for (unsigned i = 0; i < sizeof(told); ++i) {
    told |= std::uint64_t{from.Byte()} << 8 * i;
  }
  if (told != digest) {
    from.Fail("its digest is not that of the map");
  }
}

BlockWriter Begin(Kind kind) {
  BlockWriter to;
  to.PutNumber(kVersion);
  to.PutNumber(static_cast<std::uint64_t>(kind));
  return to;
}

template <typename Map>
absl::StatusOr<AnyMap> Whole(absl::StatusOr<Map> map, BlockReader& from) {
  WAYSTAR_RETURN_IF_ERROR(map.status());
  CheckDigest(map->digest(), from);
  WAYSTAR_RETURN_IF_ERROR(from.Finish());
  absl::StatusOr<AnyMap> whole;
  whole.emplace(*std::move(map));
  return whole;
}

}  // namespace

bool IsMapImage(absl::string_view bytes) { return absl::StartsWith(bytes, kImageMagic); }

std::string EncodeImage(const GridMap& map, const StopCheck* stop) {
  BlockWriter to = Begin(Kind::kGrid);
  WriteGrid(map, to, stop);
  PutDigest(map.digest(), to);
  return std::move(to).Finish();
}

std::string EncodeImage(const WaypointGraph& graph, const StopCheck* stop) {
  BlockWriter to = Begin(Kind::kGraph);
  WriteGraph(graph, to, stop);
  PutDigest(graph.digest(), to);
  return std::move(to).Finish();
}

std::string EncodeImage(const NavMesh& mesh, const StopCheck* stop) {
  BlockWriter to = Begin(Kind::kMesh);
  WriteMesh(mesh, to, stop);
  PutDigest(mesh.digest(), to);
  return std::move(to).Finish();
}

absl::StatusOr<AnyMap> DecodeImage(absl::string_view image, const ImageLimits& limits) {
  BlockReader from(image, limits.max_content_bytes);
  const std::uint64_t version = from.Number(std::numeric_limits<std::uint64_t>::max());
  WAYSTAR_RETURN_IF_ERROR(from.status());
  if (version != kVersion) {
    return BadFormat(
        absl::StrCat("the map image has version ", version, ", and only ", kVersion, " is known"));
  }
  const auto kind = static_cast<Kind>(from.Number(static_cast<std::uint64_t>(Kind::kMesh)));
  WAYSTAR_RETURN_IF_ERROR(from.status());
  switch (kind) {
    case Kind::kGrid:
      return Whole(ReadGrid(from, limits), from);
    case Kind::kGraph:
      return Whole(ReadGraph(from, limits.stop), from);
    case Kind::kMesh:
      return Whole(ReadMesh(from, limits.stop), from);
  }
  return BadFormat("the map image is of an unknown kind");
}

}  // namespace waystar::core
