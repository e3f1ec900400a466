#pragma once

#include <string>
#include <vector>

#include "waystar/v1/map_service.pb.h"
#include "waystar/v1/types.pb.h"

namespace waystar::cli {

// Returns the parts of a map that a file of that format omits, such as "2 named obstacles". Terrains below
// obstacles, which the text formats omit, are not listed, as they cannot be walked on.
std::vector<std::string> LossesOf(v1::MapFormat format, const v1::MapInfo& map);

}  // namespace waystar::cli
