// Numbers as text.
#pragma once

#include <string>

namespace waystar::core {

// Returns the shortest decimal text that parses back to the same number: "1.4", "0.1", "100000", "1e+30".
// REQUIRES: `number` is finite.
std::string ShortestText(double number);

}  // namespace waystar::core
