#pragma once

#include <vector>

#include "client/record/units.h"

namespace waystar::record {

// Calls that went on at the same time have no order of their own; the revisions that they were answered with
// give it back. The units of a map are put in the order of its revisions, what makes one before what was
// answered at it; a unit that tells no revision stands where the map was when it came in. Among maps, and of
// equal ones, those go first that came in first.
void PutInPlayingOrder(std::vector<Unit>& units);

}  // namespace waystar::record
