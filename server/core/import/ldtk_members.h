// The members of LDtk's files.
//
// Format: "LDtk JSON structure and documentation", versions 0.8 to 1.5.
#pragma once

#include <vector>

#include "server/core/import/member_table.h"

namespace waystar::core {

// Return the tables of a project, and of a level, which may be in a file of its own.
const MemberTable& LdtkProjectMembers();
const MemberTable& LdtkLevelMembers();

// Returns all tables, each kind of object once.
std::vector<const MemberTable*> AllLdtkMembers();

}  // namespace waystar::core
