#pragma once

#include <string>
#include <vector>

namespace waystar::cli {

using TableRow = std::vector<std::string>;

// The rows as lines of text, two spaces between columns that are as wide as they need to be.
std::string FormatTable(const std::vector<TableRow>& rows);

}  // namespace waystar::cli
