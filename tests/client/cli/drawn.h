#pragma once

#include <string>
#include <vector>

#include "client/cli/draw/picture.h"

namespace waystar::testing {

// The picture's characters, a string per row.
inline std::vector<std::string> Drawn(const cli::Picture& picture) {
  std::vector<std::string> rows;
  for (const auto& row : picture.rows) {
    std::string& text = rows.emplace_back();
    for (const cli::Glyph glyph : row) {
      text.push_back(glyph.symbol);
    }
  }
  return rows;
}

}  // namespace waystar::testing
