#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/cli/draw/picture.h"
#include "waystar/v1/path_service.pb.h"
#include "waystar/v1/types.pb.h"

namespace waystar::cli {

// Overlay: what to draw on top of a map.
struct Overlay {
  std::optional<v1::Cell> start;
  std::optional<v1::Cell> goal;
  // The cell where the path ends, if it is not the goal.
  std::optional<v1::Cell> end;
  std::vector<v1::Cell> path;
  // Expanded cells of a search, in order, and cells that it generated but did not expand.
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

// Removes the cells outside a map of that size: a smaller map may have replaced it.
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

// Draws the overlay into the picture of a map. On a shared character, the first of these is shown: the start,
// the goal, the end, the path, expanded cells (earlier ones first), open cells, arrows, and reached cells.
// Cells outside the view are skipped.
void DrawOverlay(const Overlay& overlay, const Markers& markers, Picture& picture);

// A part of a path that lies on one map.
struct PathLeg {
  // The map of the leg; empty if it is the one that the path starts on and has not left yet.
  std::string map;
  std::vector<v1::Cell> cells;
};

// Returns the legs that portals divide the answer's path from `start` into, whichever form the path has. A
// line between two points that are not in line becomes the cells nearest to it. There are no legs if the
// answer has no path.
std::vector<PathLeg> PathLegs(const v1::Cell& start, const v1::FindPathResponse& answer);

// Returns every cell of the answer's path from `start` to its end, both included, whichever form the path
// has, but only those of `map`, the one that it starts on. There are none if the answer has no path.
std::vector<v1::Cell> PathCells(const std::string& map, const v1::Cell& start,
                                const v1::FindPathResponse& answer);

}  // namespace waystar::cli
