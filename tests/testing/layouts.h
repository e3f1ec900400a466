// Layouts of obstacles at random, in the manners in which maps differ for a search.
#pragma once

#include <vector>

#include "server/core/grid/map/grid_map.h"
#include "tests/testing/random.h"

namespace waystar {

// Makes a square map of square patches, each of one of as many terrains, 'a' and so on, as there are costs.
core::GridMap PaintedMap(Random& random, int side, int patch, const std::vector<double>& costs);

// Each of the others puts obstacles on a map and takes off those that lie where its layout has none; terrain
// stays as it is.

// Lays an obstacle on each cell with probability `density`.
void LayNoise(Random& random, double density, core::GridMap& map);

// Lays walls `pitch` cells apart, each cell of them open with probability `door`.
void LayRooms(Random& random, int pitch, double door, core::GridMap& map);

// Lays a binary tree maze: each crossing opens to the north or to the west, and to both with probability
// `loops`. Corridors are `width` cells wide and all connected.
void LayMaze(Random& random, int width, double loops, core::GridMap& map);

// Lays noise of about 45 %, made smooth by a cellular automaton.
void LayCaves(Random& random, int rounds, core::GridMap& map);

// Lays a field with `blocks` rectangular obstacles.
void LayField(Random& random, int blocks, core::GridMap& map);

// Lays one corridor `width` cells wide through rock, of `legs` straight legs in any of the eight directions.
// It may cross itself, and is no wider than a point where it bends along a diagonal.
void LayCorridor(Random& random, int width, int legs, core::GridMap& map);

// Lays rock with `islands` free rectangles of at most `side` cells a side, which may touch.
void LayIslands(Random& random, int islands, int side, core::GridMap& map);

}  // namespace waystar
