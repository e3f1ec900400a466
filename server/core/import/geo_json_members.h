// The members of GeoJSON's objects: those of RFC 7946 and of the specification of 2008, and those that tools
// add.
#pragma once

#include <vector>

#include "server/core/import/member_table.h"

namespace waystar::core {

// Returns the table of a whole file.
const MemberTable& GeoJsonMembers();

// Returns all tables, each kind of object once.
std::vector<const MemberTable*> AllGeoJsonMembers();

}  // namespace waystar::core
