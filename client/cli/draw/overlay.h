#pragma once

#include <string>
#include <vector>

#include "client/cli/draw/picture.h"
#include "waystar/v1/path_service.pb.h"
#include "waystar/v1/types.pb.h"

namespace waystar::cli {

// A cell that is drawn on top of a map.
struct MarkedCell {
  v1::Cell cell;
  Mark mark = Mark::kPath;
  // With kArrow, where the way to a goal begins.
  v1::Direction direction = v1::DIRECTION_UNSPECIFIED;
};

// Marks on top of a map, in any order, but for expanded cells, which are in that of their expansion.
using Overlay = std::vector<MarkedCell>;

template <typename Cells>
void AddMarks(const Cells& cells, Mark mark, Overlay& overlay) {
  for (const v1::Cell& cell : cells) {
    overlay.push_back({.cell = cell, .mark = mark});
  }
}

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

// Draws the overlay into the picture of a map. On a shared character, the highest mark is shown, of expanded
// cells the first. Cells outside the view are skipped.
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
