// Conversion between canvases and PNG files.
#pragma once

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/base/stop_check.h"
#include "server/render/canvas/canvas.h"

namespace waystar::picture {

// Returns a PNG file. With at most 256 colours it has a palette, which makes it small. Returns an empty
// string once `stop` fails, which is polled before each row.
std::string EncodePng(const Canvas& canvas, const StopCheck* stop = nullptr);

// Decodes a file; transparent parts become white. Returns INVALID_ARGUMENT if the bytes are not a PNG or the
// image has more than `max_pixels`.
absl::StatusOr<Canvas> DecodePng(absl::string_view bytes, std::size_t max_pixels = std::size_t{1} << 26);

}  // namespace waystar::picture
