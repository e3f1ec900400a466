// What compressed bytes hold, up to a size that is known before.
#pragma once

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace waystar::core {

// Of zlib or gzip, and of Zstandard, which has to be one frame. INVALID_ARGUMENT / BAD_FORMAT without a field
// unless it is exactly `size` bytes; what is more is not even looked at. No more memory than that is taken,
// and a window of at most 8 MiB.
absl::StatusOr<std::string> InflateZlib(absl::string_view bytes, std::size_t size);
absl::StatusOr<std::string> InflateZstd(absl::string_view bytes, std::size_t size);

}  // namespace waystar::core
