// What a token may allow, and on which maps.
#pragma once

#include <cstdint>

#include "absl/strings/string_view.h"

namespace waystar::rpc {

// Each includes those before it.
enum class Permission : std::uint8_t { kRead, kUpdate, kAdmin };

// The pattern that stands for every map there is and will be, and so for the server as a whole.
inline constexpr absl::string_view kEveryMap = "*";

// Whether `text` is what `pattern` stands for, in which each '*' is any number of characters, none among
// them, and any other is itself. Costs at most the product of their lengths.
bool MatchesPattern(absl::string_view pattern, absl::string_view text);

}  // namespace waystar::rpc
