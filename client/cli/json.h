#pragma once

#include <google/protobuf/message.h>
#include <google/protobuf/util/json_util.h>

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace waystar::cli {

// Writes the message in protobuf's JSON, with the names of its enums and all fields that are not messages: on
// one line, or if `pretty` on several with indentation. It ends with a newline.
std::string ToJson(const google::protobuf::Message& message, bool pretty);

// Writes a failed call in the same way, as a google.rpc.Status with the details that the server sent.
std::string ToJson(const absl::Status& status, bool pretty);

// Reads a message in protobuf's JSON. Returns INVALID_ARGUMENT if it is not such a message.
template <typename Message>
absl::StatusOr<Message> FromJson(absl::string_view json, bool ignore_unknown_fields = false) {
  Message message;
  google::protobuf::util::JsonParseOptions options;
  options.ignore_unknown_fields = ignore_unknown_fields;
  const auto read =
      google::protobuf::util::JsonStringToMessage({json.data(), json.size()}, &message, options);
  if (!read.ok()) {
    return absl::InvalidArgumentError(std::string(read.message()));
  }
  return message;
}

}  // namespace waystar::cli
