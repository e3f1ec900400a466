// Properties of GeoJSON features, as tools for maps write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/core/import/import_notes.h"
#include "server/core/import/json_value.h"

namespace waystar::core {

enum class LineDirection : std::uint8_t { kBoth, kForwards, kBackwards };

// What the properties of a feature say. Those of a point have no cost and no direction.
struct FeatureProperties {
  // The properties "id" and "name" as text; empty if there are none.
  std::string id;
  std::string name;
  std::optional<double> cost;
  LineDirection direction = LineDirection::kBoth;
  bool enabled = true;
  std::vector<std::string> tags;
};

// Returns an id as text: that of a number as well. Returns INVALID_ARGUMENT / BAD_FORMAT without a field for
// a number that doubles cannot hold, and for what is neither.
absl::StatusOr<std::string> IdText(const JsonValue& value);

// Reads properties, whose names are in any letters; null has none. Numbers and flags may be text, and flags 0
// and 1 or yes and no. "oneway" may be -1, against the line, as OpenStreetMap has it; "tags" text with
// semicolons or commas between them. `place` names the feature in notes on properties that mean nothing.
// Returns INVALID_ARGUMENT / BAD_FORMAT without a field, naming the property, for other values.
absl::StatusOr<FeatureProperties> ReadFeatureProperties(const JsonValue& properties, absl::string_view place,
                                                        ImportNotes& notes);

}  // namespace waystar::core
