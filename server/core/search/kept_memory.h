// Working memory that is kept from search to search, under a limit.
//
// A limit is meant for what one search takes. So each scratch frees what earlier searches have left before it
// refuses more to the one in progress: lists that have become long when the next search begins, and what that
// does not use once there is no room.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace waystar::core {

// Returns whether an empty list keeps so much of a limit that the next search is to begin with another.
inline bool IsMuchToKeep(std::size_t bytes, std::size_t max_bytes) {
  constexpr std::size_t kShare = 32;
  return bytes > max_bytes / kShare;
}

// Frees the memory of a table beyond this size. Assigning {} to a vector frees none.
template <typename Element>
void CutTo(std::vector<Element>& table, std::size_t size) {
  if (table.capacity() > size) {
    table.resize(std::min(table.size(), size));
    table.shrink_to_fit();
  }
}

}  // namespace waystar::core
