#pragma once

#include <functional>
#include <optional>
#include <utility>
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
  // What a search expanded, in order, and what it saw and did not expand.
  std::vector<v1::Cell> expanded;
  std::vector<v1::Cell> open;
  // Other goals than that one.
  std::vector<v1::Cell> goals;
  // Cells within the reach of the start.
  std::vector<v1::Cell> reached;
  // Cells from which a way leads to a goal, with the direction in which it begins.
  std::vector<std::pair<v1::Cell, v1::Direction>> arrows;
  // Cells from which it begins with a portal.
  std::vector<v1::Cell> portals;
};

// Puts each cell where `move` says.
void MoveCells(const std::function<v1::Cell(const v1::Cell&)>& move, Overlay& overlay);

// Leaves out the cells that are not on a map of that size: it may have been replaced since by a smaller one.
void LeaveOutCellsBeyond(int width, int height, Overlay& overlay);

// The characters to draw it with.
struct Markers {
  char start = 'S';
  char goal = 'G';
  char end = 'E';
  char path = '*';
  char open = 'o';
  char reached = '+';
  // For the first tenth of the expanded cells; the nine characters after it are for the others.
  char expanded = '0';
};

// Markers that no terrain in the picture is drawn with, as long as there are any left.
Markers ChooseMarkers(const Picture& picture);

// Draws the overlay into the picture of a map. Where they share a character, the start hides the goal, and it
// the end, and it the path, and it what was expanded, the earlier the later, and it what was open, and it
// arrows, and they what is reached. Cells outside the view are left out.
void DrawOverlay(const Overlay& overlay, const Markers& markers, Picture& picture);

}  // namespace waystar::cli
