// JSON values with the lines that they begin in, parsed within limits.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/base/stop_check.h"

namespace waystar::core {

// A JSON value. Thread safety: as for a plain value.
class JsonValue {
 public:
  using Array = std::vector<JsonValue>;
  using Object = std::vector<std::pair<std::string, JsonValue>>;
  // An array of one or more numbers and nothing else.
  using Numbers = std::vector<double>;
  using Kind = std::variant<std::nullptr_t, bool, double, std::string, Numbers, Array, Object>;

  JsonValue() = default;
  JsonValue(Kind kind, std::size_t line) : kind_(std::move(kind)), line_(line) {}

  // Returns the line in which the value begins, counted from 1.
  std::size_t line() const { return line_; }

  bool is_null() const { return std::holds_alternative<std::nullptr_t>(kind_); }
  // These return null if the value is something else.
  const bool* boolean() const { return std::get_if<bool>(&kind_); }
  const double* number() const { return std::get_if<double>(&kind_); }
  const std::string* string() const { return std::get_if<std::string>(&kind_); }
  const Numbers* numbers() const { return std::get_if<Numbers>(&kind_); }
  const Array* array() const { return std::get_if<Array>(&kind_); }
  const Object* object() const { return std::get_if<Object>(&kind_); }

  // Returns the first member of that name, or null if this is no object or has none. It costs O(members).
  const JsonValue* Find(absl::string_view name) const;

  // These return such a member's value; nothing, or an empty one, if there is none or it is something else.
  std::optional<double> FindNumber(absl::string_view name) const;
  // Returns the number if it is an integer from `least` to `most`.
  std::optional<int> FindInteger(absl::string_view name, int least, int most) const;
  std::optional<bool> FindBoolean(absl::string_view name) const;
  absl::string_view FindString(absl::string_view name) const;
  const Array& FindArray(absl::string_view name) const;

 private:
  friend class JsonBuilder;

  Kind kind_ = nullptr;
  std::size_t line_ = 0;
};

// How deep values may be nested, and how many there may be; an array of numbers counts as one.
inline constexpr std::size_t kMaxJsonDepth = 64;
inline constexpr std::size_t kMaxJsonValues = std::size_t{1} << 23;

// Returns INVALID_ARGUMENT / BAD_FORMAT without a field, naming the line, for what is not JSON, is not UTF-8,
// goes beyond the limits above (which is refused before it is kept), or has numbers that are too large; or
// the error of `stop`, which is asked every 64 KiB.
absl::StatusOr<JsonValue> ParseJson(absl::string_view bytes, const StopCheck* stop = nullptr);

// Makes the same error for what a file says in a value.
absl::Status JsonError(const JsonValue& value, absl::string_view message);

}  // namespace waystar::core
