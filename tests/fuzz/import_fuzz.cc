// Bytes as a file of a level editor: refused with a reason, or read as maps that can be written as text and
// read again. WAYSTAR_FUZZ_FORMAT is the format.

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/formats/detect/import_map.h"
#include "server/formats/parts/import_options.h"
#include "server/formats/text/map_format.h"
#include "server/formats/text/text.h"
#include "tests/fuzz/require.h"

namespace waystar::fuzz {
namespace {

void FuzzImport(core::MapFormat format, absl::string_view bytes, core::ImportOptions options) {
  options.grid.max_side = 256;
  const absl::StatusOr<std::vector<core::NamedMap>> maps = core::ImportMaps(format, bytes, options);
  if (!maps.ok()) {
    RequireReason(maps.status());
    return;
  }
  for (const core::NamedMap& map : *maps) {
    if (const auto* const grid = std::get_if<core::GridMap>(&map.map)) {
      const std::string written = core::FormatText(*grid);
      const absl::StatusOr<core::GridMap> again = core::ParseText(written, options.grid);
      Require(again.ok(), again.status().ToString());
      Require(core::FormatText(*again) == written, "the same file again");
    }
  }
}

}  // namespace
}  // namespace waystar::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace waystar;
  const core::MapFormat format = core::MapFormat::WAYSTAR_FUZZ_FORMAT;
  const absl::string_view bytes = fuzz::BytesOf(data, size);
  fuzz::FuzzImport(format, bytes, {});
  if (format == core::MapFormat::kImage) {
    fuzz::FuzzImport(format, bytes,
                     {.terrains = "#3060a0 water 3 ~\nvalue 1 blocked\ngrey 1 9\nelse grass 2"});
  }
  return 0;
}
