// Known members of LDtk objects.
//
// Format: "LDtk JSON structure and documentation", versions 0.8 to 1.5.
#pragma once

#include <vector>

#include "server/formats/parts/member_table.h"

namespace waystar::core {

// Return the tables of a project, and of a level, which may be in a separate file.
const MemberTable& LdtkProjectMembers();
const MemberTable& LdtkLevelMembers();

// Returns the tables of all kinds of objects.
std::vector<const MemberTable*> AllLdtkMembers();

}  // namespace waystar::core
