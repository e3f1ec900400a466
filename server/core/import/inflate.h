// What compressed bytes hold, up to a size that is known before.
#pragma once

#include <cstddef>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace waystar::core {

// Gets the bytes in order, in pieces whose lengths, but for the last one's, are divisible by four.
using InflatedSink = absl::FunctionRef<absl::Status(absl::string_view)>;

// Of zlib or gzip, and of Zstandard. Stops at the sink's first error. INVALID_ARGUMENT / BAD_FORMAT without a
// field unless it is exactly `size` bytes; what is more is not even looked at. Takes the memory of a window:
// 32 KiB, of Zstandard at most 8 MiB.
absl::Status InflateZlib(absl::string_view bytes, std::size_t size, InflatedSink sink);
absl::Status InflateZstd(absl::string_view bytes, std::size_t size, InflatedSink sink);

}  // namespace waystar::core
