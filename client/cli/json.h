#pragma once

#include <google/protobuf/message.h>

#include <string>

#include "absl/status/status.h"

namespace waystar::cli {

// The message in protobuf's JSON, with the names of its enums and all fields that are not messages. One line,
// or, if `pretty`, several with indentation. Ends with a newline.
std::string ToJson(const google::protobuf::Message& message, bool pretty);

// The same for a failed call, as a google.rpc.Status with the details the server sent.
std::string ToJson(const absl::Status& status, bool pretty);

}  // namespace waystar::cli
