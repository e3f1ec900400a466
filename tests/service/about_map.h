// Requests about a map.
#pragma once

#include <string>

namespace waystar::testing {

// Returns a request that names the map.
template <typename Request>
Request About(const std::string& map) {
  Request request;
  request.set_map(map);
  return request;
}

}  // namespace waystar::testing
