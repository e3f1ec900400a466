#include "server/http/json.h"

#include <algorithm>
#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "google/protobuf/util/json_util.h"
#include "google/protobuf/util/type_resolver.h"
#include "google/protobuf/util/type_resolver_util.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "server/base/error.h"

namespace waystar::http {
namespace {

constexpr char kUrlPrefix[] = "type.googleapis.com";

google::protobuf::util::TypeResolver& Types() {
  static google::protobuf::util::TypeResolver* const types =
      google::protobuf::util::NewTypeResolverForDescriptorPool(
          kUrlPrefix, google::protobuf::DescriptorPool::generated_pool());
  return *types;
}

std::string UrlOf(const google::protobuf::Descriptor& type) {
  return absl::StrCat(kUrlPrefix, "/", type.full_name());
}

// Returns the path of the field that the library blames; empty if it names none. It says "(start.x): invalid
// value ...", "(start) z: Cannot find field." or, since version 22, "invalid JSON in T @ start.x: ...".
std::string FieldIn(absl::string_view why) {
  if (const std::size_t at = why.find(" @ "); at != absl::string_view::npos) {
    why.remove_prefix(at + 3);
    return std::string(why.substr(0, why.find(": ")));
  }
  std::string field;
  if (absl::ConsumePrefix(&why, "(")) {
    const std::size_t end = std::min(why.find(')'), why.size());
    field = std::string(why.substr(0, end));
    why.remove_prefix(std::min(end + 1, why.size()));
  }
  if (absl::ConsumeSuffix(&why, ": Cannot find field.")) {
    absl::StrAppend(&field, field.empty() ? "" : ".", absl::StripAsciiWhitespace(why));
  }
  return field;
}

}  // namespace

absl::StatusOr<std::string> JsonToWire(const google::protobuf::Descriptor& type, std::string_view json) {
  std::string wire;
  const auto status =
      google::protobuf::util::JsonToBinaryString(&Types(), UrlOf(type), {json.data(), json.size()}, &wire);
  if (!status.ok()) {
    const std::string why(status.message());
    return InvalidArgument(ErrorReason::kBadValue, FieldIn(why), absl::StrCat("no such request: ", why));
  }
  return wire;
}

absl::StatusOr<std::string> WireToJson(const google::protobuf::Descriptor& type, std::string_view wire) {
  std::string json;
  google::protobuf::io::ArrayInputStream from(wire.data(), static_cast<int>(wire.size()));
  google::protobuf::io::StringOutputStream to(&json);
  if (!google::protobuf::util::BinaryToJsonStream(&Types(), UrlOf(type), &from, &to).ok()) {
    return absl::InternalError(absl::StrCat("an answer is no ", type.full_name()));
  }
  return json;
}

std::string MessageJson(const google::protobuf::Message& message) {
  std::string json;
  if (!google::protobuf::util::MessageToJsonString(message, &json).ok()) {
    return "{}";
  }
  return json;
}

std::string StatusJson(const grpc::Status& status) {
  // The details are printed by what is known of their types.
  google::protobuf::LinkMessageReflection<google::rpc::ErrorInfo>();
  google::rpc::Status message;
  if (!message.ParseFromString(status.error_details())) {
    message.Clear();
  }
  message.set_code(static_cast<int>(status.error_code()));
  message.set_message(status.error_message());
  return MessageJson(message);
}

int HttpCode(grpc::StatusCode code) {
  switch (code) {
    case grpc::StatusCode::OK:
      return 200;
    case grpc::StatusCode::INVALID_ARGUMENT:
    case grpc::StatusCode::FAILED_PRECONDITION:
    case grpc::StatusCode::OUT_OF_RANGE:
      return 400;
    case grpc::StatusCode::UNAUTHENTICATED:
      return 401;
    case grpc::StatusCode::PERMISSION_DENIED:
      return 403;
    case grpc::StatusCode::NOT_FOUND:
      return 404;
    case grpc::StatusCode::ALREADY_EXISTS:
    case grpc::StatusCode::ABORTED:
      return 409;
    case grpc::StatusCode::RESOURCE_EXHAUSTED:
      return 429;
    case grpc::StatusCode::CANCELLED:
      return 499;
    case grpc::StatusCode::UNIMPLEMENTED:
      return 501;
    case grpc::StatusCode::UNAVAILABLE:
      return 503;
    case grpc::StatusCode::DEADLINE_EXCEEDED:
      return 504;
    default:
      return 500;
  }
}

}  // namespace waystar::http
