#pragma once

#include <string>

#include "server/picture/canvas.h"

namespace waystar::cli {

// Writes a picture for terminals that show 24-bit colours: each character shows two pixels, one above the
// other.
std::string HalfBlocks(const picture::Canvas& canvas);

}  // namespace waystar::cli
