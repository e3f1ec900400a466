#include "tests/fuzz/import_target.h"

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/base/error.h"
#include "server/formats/detect/import_map.h"
#include "server/formats/text/text.h"
#include "tests/fuzz/require.h"

namespace waystar::fuzz {

void FuzzImport(core::MapFormat format, const std::uint8_t* data, std::size_t size,
                core::ImportOptions options) {
  options.grid.max_side = 256;
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  const absl::StatusOr<std::vector<core::NamedMap>> maps = core::ImportMaps(format, bytes, options);
  if (!maps.ok()) {
    Require(!ErrorReasonOf(maps.status()).empty() && !maps.status().message().empty(),
            maps.status().ToString());
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

}  // namespace waystar::fuzz
