#pragma once

#include <string>

#include "client/cli/draw/picture.h"
#include "waystar/v1/types.pb.h"

namespace waystar::cli {

// The most characters that Paint() takes up to the left of the map.
inline constexpr int kGutterColumns = 5;

// Writes the picture as lines of text, with the cells' coordinates above and to the left of it. If `color` is
// true, it uses the escape sequences for colours that terminals understand.
std::string Paint(const Picture& picture, bool color);

// Writes one line that explains each character of the picture except the ground: "S start  # obstacle  ~
// river, cost 3". It is empty if there is nothing to explain.
std::string Legend(const Picture& picture, const v1::GridInfo& grid);

// Writes a sentence that says which part of the map is shown and how much smaller. It is empty if the picture
// shows all of it.
std::string Caption(const View& view, int map_width, int map_height);

}  // namespace waystar::cli
