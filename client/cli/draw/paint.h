#pragma once

#include <string>

#include "client/cli/draw/picture.h"
#include "waystar/v1/types.pb.h"

namespace waystar::cli {

// Characters to the left of the map that Paint() takes up at the most.
inline constexpr int kGutterColumns = 5;

// The picture as lines of text, with the cells' coordinates above and to the left of it. In colours, if
// wanted, by the escape sequences that terminals understand.
std::string Paint(const Picture& picture, bool color);

// One line that explains each character of the picture, except the ground: "S start  # obstacle  ~ river,
// cost 3". Empty if there is nothing to explain.
std::string Legend(const Picture& picture, const v1::GridInfo& grid);

// A sentence that says which part of the map is shown and how much smaller. Empty if the picture shows all of
// it.
std::string Caption(const View& view, int map_width, int map_height);

}  // namespace waystar::cli
