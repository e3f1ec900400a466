// Legs of a path, which its portals separate.
#pragma once

#include <algorithm>
#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "server/base/error.h"

namespace waystar::core {

// Returns the part of a path, in points or directions, between crossing leg - 1 and crossing `leg`. The first
// leg begins at the start of the path, the last ends at its end. `index` of each crossing is the length of
// the path before it; crossings are in order. Returns an empty span if the path is written in the other form.
// REQUIRES: leg <= crossings.size().
template <typename T, typename Crossing>
absl::Span<const T> LegOf(absl::Span<const T> path, absl::Span<const Crossing> crossings, std::size_t leg) {
  const std::size_t begin = leg == 0 ? 0 : std::min(crossings[leg - 1].index, path.size());
  const std::size_t end = leg == crossings.size() ? path.size() : std::min(crossings[leg].index, path.size());
  return path.subspan(begin, end - begin);
}

// Returns INVALID_ARGUMENT / BAD_VALUE with field "crossings[i].index" unless the indices are strictly
// ascending, above 0 and below `points`.
template <typename Crossing>
absl::Status CheckCrossingIndices(std::size_t points, absl::Span<const Crossing> crossings) {
  std::size_t before = 0;
  for (std::size_t i = 0; i < crossings.size(); ++i) {
    if (crossings[i].index <= before || crossings[i].index >= points) {
      return MakeError(
          ErrorReason::kBadValue, absl::StrCat("crossings[", i, "].index"),
          absl::StrCat("each crossing lies behind the one before and before the last point, not ",
                       crossings[i].index));
    }
    before = crossings[i].index;
  }
  return absl::OkStatus();
}

}  // namespace waystar::core
