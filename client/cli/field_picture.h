#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "client/cli/draw/overlay.h"
#include "client/cli/draw_options.h"
#include "client/cli/session.h"

namespace waystar::cli {

// Draws the map with `overlay`, which is an answer for `revision`, on it. Asks the server for the map.
absl::StatusOr<std::string> FieldPicture(const std::string& map, Overlay overlay, uint64_t revision,
                                         const DrawOptions& options, Session& session);

// Writes the picture, if one is wanted, or says why there is none.
void ShowFieldPicture(const std::string& map, Overlay overlay, uint64_t revision, const DrawOptions& options,
                      Session& session);

}  // namespace waystar::cli
