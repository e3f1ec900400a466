// The legs that portals cut a path into.
#pragma once

#include <algorithm>
#include <cstddef>

#include "absl/types/span.h"

namespace waystar::core {

// Returns the part of a path, its points or its directions, that lies between crossing leg - 1 and crossing
// `leg`; it starts at the path's begin if there is no crossing before, and ends at its end if there is none
// behind. Each crossing says by `index` how much of the path lies before it; they are in order. Returns
// nothing if the path is written in the other way. REQUIRES: leg <= crossings.size().
template <typename T, typename Crossing>
absl::Span<const T> LegOf(absl::Span<const T> path, absl::Span<const Crossing> crossings, std::size_t leg) {
  const std::size_t begin = leg == 0 ? 0 : std::min(crossings[leg - 1].index, path.size());
  const std::size_t end = leg == crossings.size() ? path.size() : std::min(crossings[leg].index, path.size());
  return path.subspan(begin, end - begin);
}

}  // namespace waystar::core
