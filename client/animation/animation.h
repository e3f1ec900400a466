// Moving pictures, frame by frame, and how they are written as GIF and WebP.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/render/canvas/canvas.h"

namespace waystar::animation {

// A part of the picture that takes the place of what was there.
struct Frame {
  int x = 0;
  int y = 0;
  picture::Canvas part;
  // How long the frame is shown: at least 20.
  int milliseconds = 50;
};

// Frames that are shown again and again. The first one covers the whole picture, and each other lies within
// it.
struct Animation {
  int width = 0;
  int height = 0;
  std::vector<Frame> frames;
};

// Encodes with one palette of 255 colours for all frames. If there are more, it holds those that most pixels
// have, and every other colour becomes the nearest of them. Errors: INTERNAL if the library fails.
absl::StatusOr<std::string> EncodeGif(const Animation& animation);

// Encodes without loss. Errors: INTERNAL if the library fails.
absl::StatusOr<std::string> EncodeWebp(const Animation& animation);

}  // namespace waystar::animation
