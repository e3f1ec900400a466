// Conversion between canvases and PNG files.
#pragma once

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/base/stop_check.h"
#include "server/picture/canvas.h"

namespace waystar::picture {

// Returns the file. It has a palette if there are at most 256 colours, which makes for small files. Returns
// an empty string once `stop` fails, which is asked before each row.
std::string EncodePng(const Canvas& canvas, const StopCheck* stop = nullptr);

// Decodes a file; transparent parts become white. Returns INVALID_ARGUMENT if the bytes are no such file, or
// a picture of more than `max_pixels`.
absl::StatusOr<Canvas> DecodePng(absl::string_view bytes, std::size_t max_pixels = std::size_t{1} << 26);

}  // namespace waystar::picture
