// The members of Tiled's files, in the form that JSON has them: attributes and elements of XML are members
// too.
//
// Formats: "TMX Map Format" and "JSON Map Format" of the Tiled documentation, versions 0.9 to 1.12.
#pragma once

#include <vector>

#include "server/core/import/member_table.h"

namespace waystar::core {

// Return the tables of a whole map, tileset and template.
const MemberTable& TiledMapMembers();
const MemberTable& TiledTilesetMembers();
const MemberTable& TiledTemplateMembers();

// Returns the table of a tile, for files that keep tiles by their numbers.
const MemberTable& TiledTileMembers();

// Returns all tables, each kind of object once.
std::vector<const MemberTable*> AllTiledMembers();

}  // namespace waystar::core
