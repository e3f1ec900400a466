// Properties of Tiled's maps, layers, tiles and objects, and what they say about walking.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace waystar::core {

// Names in lower case and values, the latter as XML writes them: "true", "2.5". Only names that mean
// something here are kept; Tiled's users write them in any letters.
using TiledProperties = std::vector<std::pair<std::string, std::string>>;

// Returns true if a property of this name, in any letters, says something about a map.
bool IsMeaningfulProperty(absl::string_view name);

// Keeps a property if its name means something and is not there yet; at most 100 bytes of the value are kept.
void AddProperty(absl::string_view name, absl::string_view value, TiledProperties& properties);

// Returns null if there is none. REQUIRES: `name` is in lower case.
const std::string* FindProperty(const TiledProperties& properties, absl::string_view name);

// These return nothing if there is no such property, and INVALID_ARGUMENT / BAD_TERRAIN without a field if
// its value is neither true nor false (yes, no, 1 and 0 are too), or not a number.
absl::StatusOr<std::optional<bool>> FindFlag(const TiledProperties& properties, absl::string_view name);
absl::StatusOr<std::optional<double>> FindNumber(const TiledProperties& properties, absl::string_view name);

// Returns true if `blocked` or `collides` is true, or `walkable` false, and false for the opposite; the first
// of them that is there counts. Returns nothing if none is there, and the errors of FindFlag.
absl::StatusOr<std::optional<bool>> SaysBlocked(const TiledProperties& properties);

// Returns what SaysBlocked does, or else whether `impassable` is true.
absl::StatusOr<std::optional<bool>> SaysImpassable(const TiledProperties& properties);

// Adds the properties whose names are not there. Of those that SaysImpassable looks at none is added where
// one is.
void AddMissing(const TiledProperties& others, TiledProperties& properties);

}  // namespace waystar::core
