#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace waystar::cli {

using TableRow = std::vector<std::string>;

inline constexpr std::size_t kAnyWidth = std::numeric_limits<std::size_t>::max();

// Writes "1 cell", or "2 cells".
std::string Counted(std::int64_t count, absl::string_view noun);

// Returns 16 hexadecimal digits, or "-" for the 0 of a server that tells no digest.
std::string DigestText(std::uint64_t digest);

// Writes the rows as lines of text, with two spaces between columns that are as wide as they need to be.
// Where a line would be wider than `width` characters, the widest columns are cut, with an ellipsis where
// something is missing, but none to fewer than four characters: a table of very many columns stays too wide.
std::string FormatTable(const std::vector<TableRow>& rows, std::size_t width = kAnyWidth);

}  // namespace waystar::cli
