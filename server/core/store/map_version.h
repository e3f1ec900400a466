// The version of a map: which incarnation of it, and which revision of that.
#pragma once

#include <cstdint>

namespace waystar::core {

struct MapVersion {
  // The name of the incarnation: a number that a store draws for each map that it creates, and that no other
  // map has, in this run of the server or another. It is never 0.
  std::uint64_t epoch = 0;
  // The revision grows by one with each committed update. A new map's first is 1, or one more than any that a
  // deleted map had: an id that is used again never repeats a revision of the same store.
  std::uint64_t revision = 1;

  friend bool operator==(const MapVersion&, const MapVersion&) = default;
};

}  // namespace waystar::core
