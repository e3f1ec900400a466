// Fields of messages that are required, optional, repeated, or messages themselves.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/repeated_ptr_field.h"
#include "server/base/error.h"
#include "server/service/convert/convert.h"

namespace waystar::rpc {

// Returns MissingField unless the field is given.
inline absl::Status CheckGiven(bool is_given, absl::string_view field) {
  return is_given ? absl::OkStatus() : MissingField(field);
}

// Returns the value, or its error with the field below `parent`.
template <typename T>
absl::StatusOr<T> Below(absl::string_view parent, absl::StatusOr<T> value) {
  if (value.ok()) {
    return value;
  }
  return WithFieldPrefix(value.status(), absl::StrCat(parent, "."));
}

// Sets a field from one of a message, if that is given.
template <typename Value, typename Field>
void TakeIf(bool is_given, const Value& value, Field& field) {
  if (is_given) {
    field = value;
  }
}

// Converts the entries of a list.
template <typename Message, typename Convert>
auto Converted(const google::protobuf::RepeatedPtrField<Message>& messages, Convert convert) {
  std::vector<decltype(convert(messages[0]))> converted;
  converted.reserve(static_cast<std::size_t>(messages.size()));
  for (const Message& message : messages) {
    converted.push_back(convert(message));
  }
  return converted;
}

}  // namespace waystar::rpc
