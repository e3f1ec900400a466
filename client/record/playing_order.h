#pragma once

#include <vector>

#include "client/record/units.h"

namespace waystar::record {

// Puts units in the order to play them in. Calls that went on at the same time have no order of their own,
// but the versions that they were answered with give it back. The units of a map go in the order of its
// revisions, what makes a revision before what was answered at it, and those of a map that has its id later
// behind all of them; a unit that tells no revision goes where the map was when it came in. Among ids, and
// among equal units, those go first that came in first.
void PutInPlayingOrder(std::vector<Unit>& units);

}  // namespace waystar::record
