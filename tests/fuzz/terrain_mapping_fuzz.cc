// Text as a mapping of terrains: refused, or one whose symbols agree with each other.

#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "server/base/error.h"
#include "server/formats/grid/terrain_mapping.h"
#include "tests/fuzz/require.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace waystar;
  const absl::StatusOr<core::TerrainMapping> mapping = core::ParseTerrainMapping(fuzz::BytesOf(data, size));
  if (!mapping.ok()) {
    fuzz::Require(ErrorFieldOf(mapping.status()) == core::kTerrainsField &&
                      absl::StartsWith(mapping.status().message(), "terrains"),
                  mapping.status().ToString());
    return 0;
  }
  core::TerrainTable terrains;
  const absl::Status status = mapping->ReserveSymbols(terrains);
  fuzz::Require(status.ok(), status.ToString());
  return 0;
}
