// Readers of values in Tiled files. In XML, numbers and booleans are text.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "server/base/error.h"
#include "server/formats/grid/tiled_map.h"
#include "server/formats/parts/import_options.h"
#include "server/formats/parts/json_value.h"
#include "server/formats/text/text.h"

namespace waystar::core {

// Converts Tiled XML (.tmx, .tsx, .tx) to the equivalent Tiled JSON. Returns the element `root` ("map",
// "tileset" or "template") as an object. Numbers and booleans are text, and elements unknown in JSON are
// null. Groups deeper than kMaxTiledGroups are empty. Returns INVALID_ARGUMENT / BAD_FORMAT without a field,
// naming the line, for bytes that are not XML, declare entities, lack the root element or have too many
// elements; or the error of `stop`, which is polled after the text is parsed and before each element except
// tiles.
absl::StatusOr<JsonValue> TiledXmlAsJson(absl::string_view bytes, const char* root,
                                         const StopCheck* stop = nullptr);

// These read a member if it is present and not null. They return INVALID_ARGUMENT / BAD_FORMAT, naming the
// line, if it has another type.
absl::Status ReadMember(const JsonValue& value, absl::string_view name, std::string& out);
absl::Status ReadMember(const JsonValue& value, absl::string_view name, bool& out);
absl::Status ReadMember(const JsonValue& value, absl::string_view name, double& out);

template <typename Integer>
absl::Status ReadMember(const JsonValue& value, absl::string_view name, Integer& out) {
  auto number = static_cast<double>(out);
  WAYSTAR_RETURN_IF_ERROR(ReadMember(value, name, number));
  // 64-bit integers beyond the precision of a double far exceed any map side.
  constexpr double kLeast = std::is_signed_v<Integer> ? -0x1p31 : 0.0;
  constexpr double kMost = std::is_same_v<Integer, std::int64_t> ? 0x1p53
                           : std::is_signed_v<Integer>           ? 0x1p31 - 1
                                                                 : 0x1p32 - 1;
  if (!(number >= kLeast && number <= kMost) || number != std::floor(number)) {
    return JsonError(*value.Find(name), absl::StrCat("\"", name, "\" is ", ShortestText(number)));
  }
  out = static_cast<Integer>(number);
  return absl::OkStatus();
}

template <typename T>
absl::Status ReadMember(const JsonValue& value, absl::string_view name, std::optional<T>& out) {
  const JsonValue* const member = value.Find(name);
  if (member == nullptr || member->is_null()) {
    return absl::OkStatus();
  }
  T read{};
  WAYSTAR_RETURN_IF_ERROR(ReadMember(value, name, read));
  out = std::move(read);
  return absl::OkStatus();
}

// Reads several members, given as a name and a place each.
template <typename T, typename... Others>
absl::Status ReadMembers(const JsonValue& value, absl::string_view name, T& out, Others&&... others) {
  WAYSTAR_RETURN_IF_ERROR(ReadMember(value, name, out));
  if constexpr (sizeof...(others) > 0) {
    return ReadMembers(value, others...);
  }
  return absl::OkStatus();
}

// Returns the objects of a list named `name`; none if it is null. Returns the same error for other values.
absl::StatusOr<std::vector<const JsonValue*>> ObjectsIn(const JsonValue& list, absl::string_view name);

// Returns the objects of a list member; none if it is missing.
absl::StatusOr<std::vector<const JsonValue*>> FindObjects(const JsonValue& value, absl::string_view name);

// State of reading one file: notes and object count.
struct TiledReading {
  ImportNotes& notes;
  std::size_t objects = 0;
};

// Adds properties: a list, or before Tiled 1.2 an object of values; null has none. Properties within
// class-typed properties are added too unless already present, and are noted.
absl::Status AddPropertiesIn(const JsonValue& value, ImportNotes& notes, TiledProperties& properties);

// Adds the member "properties" of a value, if present.
absl::Status ReadProperties(const JsonValue& value, ImportNotes& notes, TiledProperties& properties);

// Notes the properties that are not in `read`, since they have no meaning there.
void NoteOthers(const TiledProperties& properties, std::initializer_list<absl::string_view> read,
                absl::string_view place, ImportNotes& notes);

// Reads "class", its name in version 1.9, or "type", its name before and after. `out` is a string or an
// optional one.
absl::Status ReadClass(const JsonValue& value, std::string& out);

// Reads an object. Also returns INVALID_ARGUMENT / BAD_FORMAT for more than 2^18 objects in one file.
absl::StatusOr<TiledObject> ReadObject(const JsonValue& value, TiledReading& reading);

}  // namespace waystar::core
