// Properties of Tiled maps, layers, tiles and objects, and their meaning for walkability.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace waystar::core {

// Lower-case names, and values as XML writes them: "true", "2.5". Only meaningful names are kept; names in
// files are case-insensitive.
using TiledProperties = std::vector<std::pair<std::string, std::string>>;

// Returns true if a property of this name (case-insensitive) has a meaning.
bool IsMeaningfulProperty(absl::string_view name);

// Adds a property if its name has a meaning and is not present; keeps at most 100 bytes of the value.
void AddProperty(absl::string_view name, absl::string_view value, TiledProperties& properties);

// Returns null if not found.
// REQUIRES: `name` is lower-case.
const std::string* FindProperty(const TiledProperties& properties, absl::string_view name);

// These return nullopt if not found, and INVALID_ARGUMENT / BAD_TERRAIN without a field if the value is not a
// boolean (true, false, yes, no, 1, 0) or not a number.
absl::StatusOr<std::optional<bool>> FindFlag(const TiledProperties& properties, absl::string_view name);
absl::StatusOr<std::optional<double>> FindNumber(const TiledProperties& properties, absl::string_view name);

// Returns true if `blocked` or `collides` is true or `walkable` is false, and false for the opposite; the
// first one present decides. Returns nullopt if none is present, and the errors of FindFlag.
absl::StatusOr<std::optional<bool>> SaysBlocked(const TiledProperties& properties);

// Returns SaysBlocked, or else the flag `impassable`.
absl::StatusOr<std::optional<bool>> SaysImpassable(const TiledProperties& properties);

// Adds the properties whose names are missing. Properties used by SaysImpassable are added only if none of
// them is present.
void AddMissing(const TiledProperties& others, TiledProperties& properties);

}  // namespace waystar::core
