// Known members of Tiled objects in JSON form; XML attributes and elements are converted to members.
//
// Formats: "TMX Map Format" and "JSON Map Format" of the Tiled documentation, versions 0.9 to 1.12.
#pragma once

#include <vector>

#include "server/formats/parts/member_table.h"

namespace waystar::core {

// Return the tables of the root of a map, tileset and template.
const MemberTable& TiledMapMembers();
const MemberTable& TiledTilesetMembers();
const MemberTable& TiledTemplateMembers();

// Returns the table of a tile, for files that key tiles by number.
const MemberTable& TiledTileMembers();

// Returns the tables of all kinds of objects.
std::vector<const MemberTable*> AllTiledMembers();

}  // namespace waystar::core
