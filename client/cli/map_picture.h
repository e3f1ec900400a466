#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "client/cli/draw/overlay.h"
#include "client/cli/draw/view.h"
#include "client/client.h"

namespace waystar::cli {

// Draws a map in text format as a picture for people, with `overlay` on it, a legend and, if not all of the
// map fits the window, a caption. Errors: DATA_LOSS if the file is not the map that its header describes.
absl::StatusOr<std::string> MapPicture(const client::ExportedMap& map, const Overlay& overlay, Window window,
                                       bool color);

}  // namespace waystar::cli
