// Members and feature properties of GeoJSON as written by map tools.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/formats/parts/import_options.h"
#include "server/formats/parts/json_value.h"

namespace waystar::core {

// Returns the known members of objects: those of RFC 7946, of the 2008 specification, and of common tools.
const MemberTables& GeoJsonMembers();

enum class LineDirection : std::uint8_t { kBoth, kForwards, kBackwards };

// Known properties of a feature. Points have neither cost nor direction.
struct FeatureProperties {
  // Text of the properties "id" and "name"; empty if unset.
  std::string id;
  std::string name;
  std::optional<double> cost;
  LineDirection direction = LineDirection::kBoth;
  bool enabled = true;
  std::vector<std::string> tags;
};

// Returns an id as text; numbers are converted. Returns INVALID_ARGUMENT / BAD_FORMAT without a field for a
// number that a double cannot hold, and for other kinds of values.
absl::StatusOr<std::string> IdText(const JsonValue& value);

// Reads properties, whose names are case-insensitive; null has none. Numbers and flags may be text; flags may
// be 0, 1, yes or no. "oneway" may be -1 for the direction against the line, as in OpenStreetMap. "tags" may
// be text separated by semicolons or commas. `place` names the feature in notes on unknown properties.
// Returns INVALID_ARGUMENT / BAD_FORMAT without a field, naming the property, for other values.
absl::StatusOr<FeatureProperties> ReadFeatureProperties(const JsonValue& properties, absl::string_view place,
                                                        ImportNotes& notes);

}  // namespace waystar::core
