#include "client/cli/json.h"

#include <google/protobuf/util/json_util.h>

#include "absl/strings/cord.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "google/rpc/status.pb.h"

namespace waystar::cli {

std::string ToJson(const google::protobuf::Message& message, bool pretty) {
  google::protobuf::util::JsonPrintOptions options;
  options.add_whitespace = pretty;
  options.always_print_primitive_fields = true;
  std::string json;
  if (!google::protobuf::util::MessageToJsonString(message, &json, options).ok()) {
    return "{}\n";
  }
  return std::string(absl::StripSuffix(json, "\n")) + "\n";
}

std::string ToJson(const absl::Status& status, bool pretty) {
  google::rpc::Status message;
  message.set_code(static_cast<int>(status.code()));
  message.set_message(std::string(status.message()));
  status.ForEachPayload([&](absl::string_view type_url, const absl::Cord& value) {
    auto* detail = message.add_details();
    detail->set_type_url(std::string(type_url));
    detail->set_value(std::string(value));
  });
  return ToJson(message, pretty);
}

}  // namespace waystar::cli
