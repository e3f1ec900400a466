// Mutations of bytes.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tests/testing/random.h"

namespace waystar {

// Makes one to five changes: bits flipped, bytes replaced, left out, cut off at the end or repeated, and
// pieces of one of `others`, if there are any, inserted.
inline std::string MutatedBytes(std::string bytes, const std::vector<std::string>& others, Random& random) {
  const auto below = [&random](std::size_t end) {
    return static_cast<std::size_t>(random.Between(0, static_cast<int>(end) - 1));
  };
  for (int changes = random.Between(1, 5); changes > 0 && !bytes.empty(); --changes) {
    const std::size_t at = below(bytes.size());
    switch (random.Between(0, others.empty() ? 4 : 5)) {
      case 0:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.Between(0, 7)));
        break;
      case 1:
        bytes[at] = static_cast<char>(random.Between(0, 255));
        break;
      case 2:
        bytes.erase(at, 1 + below(8));
        break;
      case 3:
        bytes.resize(at);
        break;
      case 4:
        bytes.insert(below(bytes.size()), bytes.substr(at, 1 + below(64)));
        break;
      default:
        if (const std::string& other = others[below(others.size())]; !other.empty()) {
          bytes.insert(at, other.substr(below(other.size()), 1 + below(64)));
        }
        break;
    }
  }
  return bytes;
}

}  // namespace waystar
