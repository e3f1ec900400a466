#include "client/errors.h"

#include <optional>

#include "absl/strings/cord.h"
#include "google/rpc/error_details.pb.h"

namespace waystar::client {
namespace {

constexpr char kErrorInfoUrl[] = "type.googleapis.com/google.rpc.ErrorInfo";
constexpr char kRetryInfoUrl[] = "type.googleapis.com/google.rpc.RetryInfo";
constexpr char kDomain[] = "waystar";

std::optional<google::rpc::ErrorInfo> WaystarErrorInfo(const absl::Status& status) {
  const auto payload = status.GetPayload(kErrorInfoUrl);
  google::rpc::ErrorInfo info;
  if (!payload || !info.ParseFromString(std::string(*payload)) || info.domain() != kDomain) {
    return std::nullopt;
  }
  return info;
}

}  // namespace

std::string ReasonOf(const absl::Status& status) {
  const auto info = WaystarErrorInfo(status);
  return info ? info->reason() : "";
}

std::string FieldOf(const absl::Status& status) {
  const auto info = WaystarErrorInfo(status);
  if (!info) {
    return "";
  }
  const auto field = info->metadata().find("field");
  return field == info->metadata().end() ? "" : field->second;
}

absl::Duration RetryDelayOf(const absl::Status& status) {
  const auto payload = status.GetPayload(kRetryInfoUrl);
  google::rpc::RetryInfo info;
  if (!payload || !info.ParseFromString(std::string(*payload))) {
    return absl::ZeroDuration();
  }
  return absl::Seconds(info.retry_delay().seconds()) + absl::Nanoseconds(info.retry_delay().nanos());
}

absl::Status FromGrpc(const grpc::Status& status) {
  google::rpc::Status message;
  if (!status.ok() && !message.ParseFromString(status.error_details())) {
    message.Clear();
  }
  message.set_code(static_cast<int>(status.error_code()));
  message.set_message(status.error_message());
  return FromMessage(message);
}

absl::Status FromMessage(const google::rpc::Status& status) {
  absl::Status result(static_cast<absl::StatusCode>(status.code()), status.message());
  for (const auto& detail : status.details()) {
    result.SetPayload(detail.type_url(), absl::Cord(detail.value()));
  }
  return result;
}

google::rpc::Status ToMessage(const absl::Status& status) {
  google::rpc::Status message;
  message.set_code(static_cast<int>(status.code()));
  message.set_message(std::string(status.message()));
  status.ForEachPayload([&message](absl::string_view type_url, const absl::Cord& value) {
    auto& detail = *message.add_details();
    detail.set_type_url(std::string(type_url));
    detail.set_value(std::string(value));
  });
  return message;
}

}  // namespace waystar::client
