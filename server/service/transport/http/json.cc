#include "server/service/transport/http/json.h"

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

std::string Join(absl::string_view path, absl::string_view name) {
  return absl::StrCat(path, path.empty() || name.empty() ? "" : ".", name);
}

// FieldIn for messages of Protobuf 22 and later: "invalid JSON in T @ start.x: int32, near 1:2 (offset 3):
// ..." or "invalid JSON in T, near 1:2 (offset 3): no such field: 'z'".
std::string FieldInPlace(absl::string_view why) {
  const std::size_t near = std::min(why.find(", near "), why.size());
  absl::string_view place = why.substr(0, near);
  const std::size_t at = place.find(" @ ");
  place.remove_prefix(at == absl::string_view::npos ? place.size() : at + 3);
  place = place.substr(0, place.find(": "));
  absl::string_view fault = why.substr(near);
  fault.remove_prefix(std::min(fault.find(": "), fault.size()));
  const bool is_unknown =
      absl::ConsumePrefix(&fault, ": no such field: '") && absl::ConsumeSuffix(&fault, "'");
  return Join(place, is_unknown ? fault : "");
}

// Returns the path of the field in an error message of Protobuf; empty if it names none. Older versions write
// "(start.x): invalid value ..." or "(start) z: Cannot find field.".
std::string FieldIn(absl::string_view why) {
  if (absl::ConsumePrefix(&why, "invalid JSON in ")) {
    return FieldInPlace(why);
  }
  std::string field;
  if (absl::ConsumePrefix(&why, "(")) {
    const std::size_t end = std::min(why.find(')'), why.size());
    field = std::string(why.substr(0, end));
    why.remove_prefix(std::min(end + 1, why.size()));
  }
  if (absl::ConsumeSuffix(&why, ": Cannot find field.")) {
    return Join(field, absl::StripAsciiWhitespace(why));
  }
  return field;
}

// Returns the text, cut to 200 bytes at a character boundary of UTF-8.
std::string Shortened(std::string text) {
  constexpr std::size_t kMostBytes = 200;
  if (text.size() > kMostBytes) {
    std::size_t end = kMostBytes;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) {
      --end;
    }
    text.resize(end);
    text += "...";
  }
  return text;
}

}  // namespace

absl::StatusOr<std::string> JsonToWire(const google::protobuf::Descriptor& type, std::string_view json) {
  std::string wire;
  const auto status =
      google::protobuf::util::JsonToBinaryString(&Types(), UrlOf(type), {json.data(), json.size()}, &wire);
  if (!status.ok()) {
    std::string why(status.message());
    // Protobuf inserts random blanks, different in each process.
    absl::RemoveExtraAsciiWhitespace(&why);
    return MakeError(ErrorReason::kBadValue, Shortened(FieldIn(why)),
                     absl::StrCat("no such request: ", Shortened(why)));
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
  // Links the type of the details, so that they can be printed.
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
