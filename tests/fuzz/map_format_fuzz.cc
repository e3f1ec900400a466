// Bytes as files of maps: refused with a reason, or read as a map that is the same when written and read
// again.

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/base/error.h"
#include "server/formats/text/text.h"
#include "tests/fuzz/require.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace waystar;
  const absl::string_view bytes = fuzz::BytesOf(data, size);
  core::GridOverrides overrides;
  overrides.max_side = 256;
  const bool is_text = !core::LooksLikeMovingAi(bytes);
  const core::MapFormat format = is_text ? core::MapFormat::kText : core::MapFormat::kMovingAi;
  const auto parse = is_text ? &core::ParseText : &core::ParseMovingAi;
  const absl::StatusOr<core::GridMap> map = parse(bytes, overrides);
  if (!map.ok()) {
    fuzz::RequireReason(map.status());
    return 0;
  }
  const absl::StatusOr<std::string> written = core::FormatMap(format, *map);
  if (!written.ok()) {
    fuzz::Require(ErrorReasonOf(written.status()) == "NOT_EXPRESSIBLE", written.status().ToString());
    return 0;
  }
  const absl::StatusOr<core::GridMap> again = parse(*written, overrides);
  fuzz::Require(again.ok(), again.status().ToString());
  fuzz::Require(core::FormatMap(format, *again).value_or("") == *written, "the same file again");
  return 0;
}
