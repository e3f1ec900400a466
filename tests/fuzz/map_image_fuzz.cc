#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/base/error.h"
#include "server/core/codec/map_image.h"
#include "server/core/codec/values.h"
#include "tests/fuzz/require.h"

namespace {

using namespace waystar;

constexpr core::ImageLimits kLimits = {
    .max_side = 256, .max_obstacle_cells = 1 << 22, .max_content_bytes = 1 << 20};

void RequireBadFormat(const absl::Status& status) {
  fuzz::Require(ErrorReasonOf(status) == "BAD_FORMAT", status.ToString());
}

template <typename Map>
void RequireSameAgain(const absl::StatusOr<Map>& map) {
  if (!map.ok()) {
    return RequireBadFormat(map.status());
  }
  const std::string written = core::EncodeImage(*map);
  const auto again = core::DecodeImage(written);
  fuzz::Require(again.ok(), again.status().ToString());
  fuzz::Require(core::EncodeImage(std::get<Map>(*again)) == written, "the same image again");
}

}  // namespace

// The bytes are taken for an image, and for what an image holds before it is compressed. The latter is read
// up to the digest whatever its version, too, since no mutation keeps the digest.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const absl::string_view bytes = fuzz::BytesOf(data, size);
  core::BlockWriter to;
  to.PutBytes(bytes);
  const std::string wrapped = std::move(to).Finish();
  for (const absl::string_view image : {bytes, absl::string_view(wrapped)}) {
    const auto map = core::DecodeImage(image, kLimits);
    if (!map.ok()) {
      RequireBadFormat(map.status());
    }
  }
  core::BlockReader from(wrapped, kLimits.max_content_bytes);
  from.Number();
  const std::uint64_t kind = from.Number(1);
  if (!from.ok()) {
    RequireBadFormat(from.status());
  } else if (kind == 0) {
    RequireSameAgain(core::ReadGrid(from, kLimits));
  } else {
    RequireSameAgain(core::ReadGraph(from));
  }
  return 0;
}
