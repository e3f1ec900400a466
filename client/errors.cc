#include "client/errors.h"

#include <optional>

#include "absl/strings/cord.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"

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
  absl::Status result(static_cast<absl::StatusCode>(status.error_code()), status.error_message());
  google::rpc::Status details;
  if (!status.ok() && details.ParseFromString(status.error_details())) {
    for (const auto& detail : details.details()) {
      result.SetPayload(detail.type_url(), absl::Cord(detail.value()));
    }
  }
  return result;
}

}  // namespace waystar::client
