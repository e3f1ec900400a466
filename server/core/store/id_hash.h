// Transparent hash for tables with std::string keys, for lookups by absl::string_view.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

#include "absl/strings/string_view.h"

namespace waystar::core {

struct IdHash {
  using is_transparent = void;
  std::size_t operator()(absl::string_view id) const {
    return std::hash<std::string_view>()({id.data(), id.size()});
  }
};

}  // namespace waystar::core
