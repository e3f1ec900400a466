// JSON values with line numbers, parsed within limits.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/base/stop_check.h"
#include "server/formats/parts/import_options.h"

namespace waystar::core {

class JsonValue {
 public:
  using Array = std::vector<JsonValue>;
  using Object = std::vector<std::pair<std::string, JsonValue>>;
  // Non-empty array that holds only numbers.
  using Numbers = std::vector<double>;
  using Kind = std::variant<std::nullptr_t, bool, double, std::string, Numbers, Array, Object>;

  JsonValue() = default;
  JsonValue(Kind kind, std::size_t line) : kind_(std::move(kind)), line_(line) {}

  // Returns the line on which the value begins, counted from 1.
  std::size_t line() const { return line_; }

  bool is_null() const { return std::holds_alternative<std::nullptr_t>(kind_); }
  // These return null if the value is of another kind.
  const bool* boolean() const { return std::get_if<bool>(&kind_); }
  const double* number() const { return std::get_if<double>(&kind_); }
  const std::string* string() const { return std::get_if<std::string>(&kind_); }
  const Numbers* numbers() const { return std::get_if<Numbers>(&kind_); }
  const Array* array() const { return std::get_if<Array>(&kind_); }
  const Object* object() const { return std::get_if<Object>(&kind_); }

  // Returns a string, number or boolean as text; nullopt for other kinds.
  std::optional<std::string> Text() const;

  // Returns the first member with that name, or null. Linear in the number of members.
  const JsonValue* Find(absl::string_view name) const;

  // These return the value of that member; nullopt or an empty value if it is missing or of another kind.
  std::optional<double> FindNumber(absl::string_view name) const;
  // Returns the number if it is an integer from `least` to `most`.
  std::optional<int> FindInteger(absl::string_view name, int least, int most) const;
  std::optional<bool> FindBoolean(absl::string_view name) const;
  absl::string_view FindString(absl::string_view name) const;
  const Array& FindArray(absl::string_view name) const;

 private:
  friend class JsonBuilder;

  // Returns the value of the member, or null if it is missing or of another kind.
  template <typename T>
  const T* FindAs(absl::string_view name) const;

  Kind kind_ = nullptr;
  std::size_t line_ = 0;
};

// Limits on nesting depth and number of values. An array of numbers counts as one value.
inline constexpr std::size_t kMaxJsonDepth = 64;
inline constexpr std::size_t kMaxJsonValues = std::size_t{1} << 23;

// Returns INVALID_ARGUMENT / BAD_FORMAT without a field, naming the line, for bytes that are not JSON or not
// UTF-8, exceed the limits above (checked before the value is stored), or have numbers that are too large; or
// the error of `stop`, polled every 64 KiB.
absl::StatusOr<JsonValue> ParseJson(absl::string_view bytes, const StopCheck* stop = nullptr);

// Returns the same kind of error for a bad value.
absl::Status JsonError(const JsonValue& value, absl::string_view message);

// Known members of one kind of object.
struct KnownMembers {
  // Name of the kind, such as "layer".
  absl::string_view object;
  // Space-separated members that are read, and members that never affect walkability. "tiles:[tile]" is a
  // list of objects of the kind "tile", and "grid:grid_of_a_tileset" an object of the kind "grid of a
  // tileset".
  absl::string_view read;
  absl::string_view no_bearing = "";
};

// Known members of all kinds of objects in a format, so that importers report unknown ones.
//
// Thread safety: immutable.
class MemberTables {
 public:
  // The texts must outlive the tables.
  MemberTables(std::initializer_list<KnownMembers> kinds);

  // Notes the unknown members of a value of this kind and of the objects in it; ignores values that are not
  // objects. Returns the error of `stop`, which is polled per object.
  // REQUIRES: a kind has this name.
  absl::Status NoteMembers(absl::string_view object, const JsonValue& value, ImportNotes& notes,
                           const StopCheck* stop) const;

  // Returns the known members as "object.member".
  std::set<std::string> Names() const;

 private:
  // Kind of the objects in a member, if it is an object or a list of objects.
  struct Inside {
    std::string object;
    bool is_list = false;
  };

  absl::flat_hash_map<std::string, absl::flat_hash_map<std::string, Inside>> kinds_;
};

}  // namespace waystar::core
