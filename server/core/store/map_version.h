// The version of a map: which incarnation of it, and which revision of that.
#pragma once

#include <cstdint>

namespace waystar::core {

struct MapVersion {
  // The name of the incarnation: a number that a store draws for each map that it creates, and that no other
  // map has, in this run of the server or another. It is never 0.
  std::uint64_t epoch = 0;
  // A new map's first revision is 1, and it grows by one with each committed update. Only revisions of one
  // epoch can be compared: an id that is used again begins at 1 again.
  std::uint64_t revision = 1;

  friend bool operator==(const MapVersion&, const MapVersion&) = default;
};

}  // namespace waystar::core
