// Decompression to a size that is known in advance.
#pragma once

#include <cstddef>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace waystar::core {

// Receives the bytes in order, in pieces whose lengths, except the last one's, are divisible by four.
using InflatedSink = absl::FunctionRef<absl::Status(absl::string_view)>;

// Inflate zlib or gzip, and Zstandard. They stop at the sink's first error. They return INVALID_ARGUMENT /
// BAD_FORMAT without a field unless there are exactly `size` bytes; what is more is not even read. They take
// the memory of a window: 32 KiB, or at most 8 MiB for Zstandard.
absl::Status InflateZlib(absl::string_view bytes, std::size_t size, InflatedSink sink);
absl::Status InflateZstd(absl::string_view bytes, std::size_t size, InflatedSink sink);

}  // namespace waystar::core
