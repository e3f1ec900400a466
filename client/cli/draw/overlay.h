#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "client/cli/draw/picture.h"
#include "waystar/v1/types.pb.h"

namespace waystar::cli {

// Overlay: what to draw on top of a map.
struct Overlay {
  std::optional<v1::Cell> start;
  std::optional<v1::Cell> goal;
  // The cell where the path ends, if it is not the goal.
  std::optional<v1::Cell> end;
  std::vector<v1::Cell> path;
  // What a search expanded, in order, and what it saw and did not expand.
  std::vector<v1::Cell> expanded;
  std::vector<v1::Cell> open;
  // The goals other than that one.
  std::vector<v1::Cell> goals;
  // The cells within the reach of the start.
  std::vector<v1::Cell> reached;
  // The cells from which a way leads to a goal, with the direction in which it begins.
  std::vector<std::pair<v1::Cell, v1::Direction>> arrows;
  // The cells from which it begins with a portal.
  std::vector<v1::Cell> portals;
};

// Leaves out the cells that are not on a map of that size: it may have been replaced since by a smaller one.
void LeaveOutCellsBeyond(int width, int height, Overlay& overlay);

// The characters to draw an overlay with.
struct Markers {
  char start = 'S';
  char goal = 'G';
  char end = 'E';
  char path = '*';
  char open = 'o';
  char reached = '+';
  // The character for the first tenth of the expanded cells; the nine characters after it are for the others.
  char expanded = '0';
};

// Returns markers that no terrain in the picture is drawn with, as long as there are any left.
Markers ChooseMarkers(const Picture& picture);

// Draws the overlay into the picture of a map. What shares a character is hidden in this order, each by those
// before it: the start, the goal, the end, the path, what was expanded (the later by the earlier), what was
// open, arrows, and what is reached. Cells outside the view are left out.
void DrawOverlay(const Overlay& overlay, const Markers& markers, Picture& picture);

}  // namespace waystar::cli
