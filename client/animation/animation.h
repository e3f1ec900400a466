// Moving pictures, frame by frame.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/picture/canvas.h"

namespace waystar::animation {

// What changes: a part of the picture, which takes the place of what was there.
struct Frame {
  int x = 0;
  int y = 0;
  picture::Canvas part;
  // How long it is shown: at least 20.
  int milliseconds = 50;
};

// The first frame covers all of it; each other lies within it. Shown again and again.
struct Animation {
  int width = 0;
  int height = 0;
  std::vector<Frame> frames;
};

// With one palette of 255 colours for all frames: if there are more, those that most pixels have, the others
// as the one nearest to them. INTERNAL if the library fails.
absl::StatusOr<std::string> EncodeGif(const Animation& animation);

// Without loss. INTERNAL if the library fails.
absl::StatusOr<std::string> EncodeWebp(const Animation& animation);

}  // namespace waystar::animation
