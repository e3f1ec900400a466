#include "server/formats/graph/geo_json_properties.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "server/base/file_errors.h"
#include "server/base/status_macros.h"
#include "server/formats/text/number.h"

namespace waystar::core {
namespace {

constexpr std::array<absl::string_view, 7> kRead = {"cost", "disabled", "enabled", "id",
                                                    "name", "oneway",   "tags"};

// Formats a value for an error.
std::string Shown(const JsonValue& value) {
  if (value.string() != nullptr) {
    return Quoted(*value.string());
  }
  if (value.number() != nullptr) {
    return ShortestText(*value.number());
  }
  if (value.boolean() != nullptr) {
    return *value.boolean() ? "true" : "false";
  }
  return value.object() != nullptr ? "an object" : "a list";
}

absl::Status Unreadable(absl::string_view name, const JsonValue& value, absl::string_view wanted) {
  return BadFormat(absl::StrCat("the property \"", name, "\" is ", Shown(value), ", ", wanted));
}

std::optional<bool> FlagIn(const JsonValue& value) {
  if (value.boolean() != nullptr) {
    return *value.boolean();
  }
  if (value.number() != nullptr && (*value.number() == 0.0 || *value.number() == 1.0)) {
    return *value.number() == 1.0;
  }
  bool flag = false;
  return value.string() != nullptr && absl::SimpleAtob(absl::StripAsciiWhitespace(*value.string()), &flag)
             ? std::optional(flag)
             : std::nullopt;
}

absl::Status ReadCost(const JsonValue& value, FeatureProperties& out) {
  double cost = 0.0;
  if (value.number() != nullptr) {
    cost = *value.number();
  } else if (value.string() == nullptr || !absl::SimpleAtod(*value.string(), &cost)) {
    return Unreadable("cost", value, "not a number");
  }
  if (!(cost >= 0.0)) {
    return BadFormat(absl::StrCat("a line must cost at least 0, got ", cost));
  }
  out.cost = cost;
  return absl::OkStatus();
}

absl::Status ReadOneWay(const JsonValue& value, FeatureProperties& out) {
  const std::string* const text = value.string();
  if (text != nullptr && (*text == "F" || *text == "T" || *text == "B")) {
    // Geofabrik's shapefiles of OpenStreetMap: along the line, against it, both ways.
    out.direction = *text == "F"   ? LineDirection::kForwards
                    : *text == "T" ? LineDirection::kBackwards
                                   : LineDirection::kBoth;
    return absl::OkStatus();
  }
  const bool is_against = (value.number() != nullptr && *value.number() == -1.0) ||
                          (text != nullptr && (absl::StripAsciiWhitespace(*text) == "-1" ||
                                               absl::EqualsIgnoreCase(*text, "reverse")));
  const std::optional<bool> flag = FlagIn(value);
  if (!is_against && !flag) {
    return Unreadable("oneway", value, "not yes, no or -1");
  }
  out.direction = is_against ? LineDirection::kBackwards
                  : *flag    ? LineDirection::kForwards
                             : LineDirection::kBoth;
  return absl::OkStatus();
}

absl::Status ReadTags(const JsonValue& value, FeatureProperties& out) {
  if (const std::string* const text = value.string()) {
    if (absl::StartsWith(absl::StripLeadingAsciiWhitespace(*text), "[")) {
      // GDAL writes lists in text properties as JSON.
      const absl::StatusOr<JsonValue> list = ParseJson(*text);
      return list.ok() && list->string() == nullptr ? ReadTags(*list, out)
                                                    : Unreadable("tags", value, "not a list of text");
    }
    for (const absl::string_view tag : absl::StrSplit(*text, absl::ByAnyChar(";,"))) {
      if (const absl::string_view name = absl::StripAsciiWhitespace(tag); !name.empty()) {
        out.tags.emplace_back(name);
      }
    }
    return absl::OkStatus();
  }
  if (value.array() == nullptr) {
    return Unreadable("tags", value, "not a list of text");
  }
  for (const JsonValue& tag : *value.array()) {
    if (tag.string() == nullptr) {
      return Unreadable("tags", tag, "not a list of text");
    }
    out.tags.push_back(*tag.string());
  }
  return absl::OkStatus();
}

absl::Status ReadEnabled(absl::string_view name, const JsonValue& value, FeatureProperties& out) {
  const std::optional<bool> flag = FlagIn(value);
  if (!flag) {
    return Unreadable(name, value, "neither true nor false");
  }
  const bool is_enabled = *flag == (name == "enabled");
  // Either property alone disables the feature.
  out.enabled = out.enabled && is_enabled;
  return absl::OkStatus();
}

absl::Status ReadProperty(absl::string_view name, const JsonValue& value, absl::string_view place,
                          ImportNotes& notes, FeatureProperties& out) {
  const std::string lower = absl::AsciiStrToLower(name);
  // Tools without null write empty text.
  if (value.is_null() || (value.string() != nullptr && value.string()->empty())) {
    return absl::OkStatus();
  }
  if (lower == "id" || lower == "name") {
    // A name that is not text is ignored.
    const absl::StatusOr<std::string> text = IdText(value);
    WAYSTAR_RETURN_IF_ERROR(lower == "id" ? text.status() : absl::OkStatus());
    (lower == "id" ? out.id : out.name) = text.value_or("");
    return absl::OkStatus();
  }
  if (lower == "cost") {
    return ReadCost(value, out);
  }
  if (lower == "oneway") {
    return ReadOneWay(value, out);
  }
  if (lower == "enabled" || lower == "disabled") {
    return ReadEnabled(lower, value, out);
  }
  if (lower == "tags" && value.object() != nullptr) {
    // osmtogeojson stores OpenStreetMap's key-value pairs as "tags".
    notes.Add("tags that are keys and values are not read: they are a list", place);
    return absl::OkStatus();
  }
  if (lower == "tags") {
    return ReadTags(value, out);
  }
  notes.Add(SoundsLikeWall(name) ? "properties that sound like walls are not read"
                                 : "properties that have no meaning here are not read",
            absl::StrCat(Quoted(name), " of ", place));
  return absl::OkStatus();
}

}  // namespace

const MemberTables& GeoJsonMembers() {
  static const auto* const tables = new MemberTables({
      {"collection of features", "type features:[feature]",
       // Coordinates are used as they are in any reference system.
       "_meta bbox conformsTo coordRefSys copyright crs description featureType generator "
       "geometryDimension id links metadata name numberMatched numberReturned properties timeStamp "
       "timestamp totalFeatures xy_coordinate_resolution z_coordinate_resolution"},
      {"feature",
       // ReadFeatureProperties notes unknown properties.
       "type id geometry:geometry properties",
       "bbox crs coordRefSys featureType geometry_name links place time"},
      {"geometry", "type coordinates", "bbox crs"},
  });
  return *tables;
}

absl::StatusOr<std::string> IdText(const JsonValue& value) {
  if (value.string() != nullptr) {
    return *value.string();
  }
  constexpr double kMostExact = 0x1p53 - 1.0;
  if (value.number() == nullptr) {
    return BadFormat(absl::StrCat("its id is ", Shown(value), ", neither text nor a number"));
  }
  if (std::abs(*value.number()) > kMostExact) {
    return BadFormat("its id is a number above 2^53 - 1, which may have lost digits: write it as text");
  }
  return ShortestText(*value.number());
}

absl::StatusOr<FeatureProperties> ReadFeatureProperties(const JsonValue& properties, absl::string_view place,
                                                        ImportNotes& notes) {
  FeatureProperties read;
  if (properties.is_null()) {
    return read;
  }
  if (properties.object() == nullptr) {
    return BadFormat("its properties are not an object");
  }
  absl::flat_hash_set<std::string> names;
  for (const auto& [name, value] : *properties.object()) {
    const std::string lower = absl::AsciiStrToLower(name);
    if (std::find(kRead.begin(), kRead.end(), lower) != kRead.end() && !names.insert(lower).second) {
      return BadFormat(absl::StrCat("it has the property ", Quoted(name), " twice"));
    }
    WAYSTAR_RETURN_IF_ERROR(ReadProperty(name, value, place, notes, read));
  }
  return read;
}

}  // namespace waystar::core
