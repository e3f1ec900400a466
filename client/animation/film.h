#pragma once

#include <cstddef>
#include <vector>

#include "client/animation/animation.h"
#include "client/animation/search_panel.h"

namespace waystar::animation {

// Searches side by side, all of which expand as many cells from one frame to the next. The last frame stays
// for some seconds. At most `max_frames`, of at least 2. REQUIRES: there is one; they are as they were made.
Animation FilmOf(std::vector<SearchPanel> panels, std::size_t max_frames);

}  // namespace waystar::animation
