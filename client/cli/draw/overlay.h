#pragma once

#include <optional>
#include <vector>

#include "client/cli/draw/picture.h"
#include "waystar/v1/types.pb.h"

namespace waystar::cli {

// What to draw on top of a map.
struct Overlay {
  std::optional<v1::Cell> start;
  std::optional<v1::Cell> goal;
  // Where the path ends, if not at the goal.
  std::optional<v1::Cell> end;
  std::vector<v1::Cell> path;
};

// The characters to draw it with.
struct Markers {
  char start = 'S';
  char goal = 'G';
  char end = 'E';
  char path = '*';
};

// Markers that no terrain in the picture is drawn with, as long as there are any left.
Markers ChooseMarkers(const Picture& picture);

// Draws the overlay into the picture of a map. Where they share a character, the start hides the goal, and it
// the end, and it the path. Cells outside the view are left out.
void DrawOverlay(const Overlay& overlay, const Markers& markers, Picture& picture);

}  // namespace waystar::cli
