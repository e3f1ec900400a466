#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/base/error.h"
#include "server/core/image/block_writer.h"
#include "server/core/image/map_image.h"
#include "tests/fuzz/require.h"

// The bytes are taken for an image, and for what an image holds before it is compressed.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace waystar;
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  core::BlockWriter to;
  to.PutBytes(bytes);
  const std::string wrapped = std::move(to).Finish();
  for (const absl::string_view image : {bytes, absl::string_view(wrapped)}) {
    const auto map = core::DecodeImage(
        image, {.max_side = 256, .max_obstacle_cells = 1 << 22, .max_content_bytes = 1 << 20});
    if (!map.ok()) {
      fuzz::Require(ErrorReasonOf(map.status()) == "BAD_FORMAT", map.status().ToString());
      continue;
    }
    const auto encode = [](const auto& decoded) { return core::EncodeImage(decoded); };
    const std::string written = std::visit(encode, *map);
    const auto again = core::DecodeImage(written);
    fuzz::Require(again.ok(), again.status().ToString());
    fuzz::Require(std::visit(encode, *again) == written, "the same image again");
  }
  return 0;
}
