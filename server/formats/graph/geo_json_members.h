// Known members of GeoJSON objects: those of RFC 7946, of the 2008 specification, and of common tools.
#pragma once

#include <vector>

#include "server/formats/parts/member_table.h"

namespace waystar::core {

// Returns the table of the root object.
const MemberTable& GeoJsonMembers();

// Returns the tables of all kinds of objects.
std::vector<const MemberTable*> AllGeoJsonMembers();

}  // namespace waystar::core
