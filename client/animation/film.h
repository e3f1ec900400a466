#pragma once

#include <cstddef>
#include <vector>

#include "client/animation/animation.h"
#include "client/animation/search_panel.h"

namespace waystar::animation {

// Makes an animation of searches side by side, all of which expand as many cells from one frame to the next.
// The last frame stays for some seconds. There are at most `max_frames`, which is at least 2. REQUIRES: there
// is at least one panel, and no panel has been advanced.
Animation FilmOf(std::vector<SearchPanel> panels, std::size_t max_frames);

}  // namespace waystar::animation
