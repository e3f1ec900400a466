// Working memory kept between searches, under a limit.
//
// The limit applies to the memory of one search. Before a scratch refuses memory to the current search, it
// frees what earlier searches left: long lists when the next search starts, and memory that the search does
// not use once there is no room.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace waystar::core {

// Returns true if an empty list holds so large a part of the limit that the next search should start with a
// new one.
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
