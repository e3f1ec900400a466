#pragma once

#include <google/protobuf/message.h>

#include <string>

#include "absl/status/status.h"

namespace waystar::cli {

// Writes the message in protobuf's JSON, with the names of its enums and all fields that are not messages: on
// one line, or if `pretty` on several with indentation. It ends with a newline.
std::string ToJson(const google::protobuf::Message& message, bool pretty);

// Writes a failed call in the same way, as a google.rpc.Status with the details that the server sent.
std::string ToJson(const absl::Status& status, bool pretty);

}  // namespace waystar::cli
