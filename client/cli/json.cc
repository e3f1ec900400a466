#include "client/cli/json.h"

#include <google/protobuf/stubs/common.h>
#include <google/protobuf/util/json_util.h>

#include "absl/strings/strip.h"
#include "client/errors.h"

namespace waystar::cli {

std::string ToJson(const google::protobuf::Message& message, bool pretty) {
  google::protobuf::util::JsonPrintOptions options;
  options.add_whitespace = pretty;
#if GOOGLE_PROTOBUF_VERSION < 5026000
  options.always_print_primitive_fields = true;
#else
  options.always_print_fields_with_no_presence = true;
#endif
  std::string json;
  if (!google::protobuf::util::MessageToJsonString(message, &json, options).ok()) {
    return "{}\n";
  }
  return std::string(absl::StripSuffix(json, "\n")) + "\n";
}

std::string ToJson(const absl::Status& status, bool pretty) {
  return ToJson(client::ToMessage(status), pretty);
}

}  // namespace waystar::cli
