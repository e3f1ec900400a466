#pragma once

#include <string>
#include <vector>

#include "waystar/v1/map_service.pb.h"
#include "waystar/v1/types.pb.h"

namespace waystar::cli {

// What a map holds and a file of that format leaves out, as "2 named obstacles". Terrains below obstacles,
// which the text formats forget, are not told of, for nobody walks on them.
std::vector<std::string> LossesOf(v1::MapFormat format, const v1::MapInfo& map);

}  // namespace waystar::cli
