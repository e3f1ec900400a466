#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace waystar::cli {

// Returns the candidate that the user probably meant by `word`: the first of those that take the fewest
// characters to be inserted, deleted or replaced. It is empty if none takes less than three.
std::string Suggest(absl::string_view word, const std::vector<std::string>& candidates);

}  // namespace waystar::cli
