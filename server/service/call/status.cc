#include "server/service/call/status.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "google/rpc/error_details.pb.h"
#include "server/runtime/logging.h"

namespace waystar::rpc {

google::rpc::Status ToStatusMessage(const absl::Status& status) {
  google::rpc::Status out;
  out.set_code(static_cast<int>(status.code()));
  out.set_message(std::string(status.message()));
  const std::string reason = ErrorReasonOf(status);
  if (reason.empty()) {
    return out;
  }
  google::rpc::ErrorInfo info;
  info.set_reason(reason);
  info.set_domain("waystar");
  if (const std::string field = ErrorFieldOf(status); !field.empty()) {
    (*info.mutable_metadata())["field"] = field;
    google::rpc::BadRequest bad_request;
    google::rpc::BadRequest::FieldViolation* violation = bad_request.add_field_violations();
    violation->set_field(field);
    violation->set_description(out.message());
    static_cast<void>(out.add_details()->PackFrom(bad_request));
  }
  static_cast<void>(out.add_details()->PackFrom(info));
  if (const absl::Duration delay = RetryDelayOf(status); delay > absl::ZeroDuration()) {
    google::rpc::RetryInfo retry;
    const absl::Duration rest = delay % absl::Seconds(1);
    retry.mutable_retry_delay()->set_seconds(absl::ToInt64Seconds(delay - rest));
    retry.mutable_retry_delay()->set_nanos(static_cast<int>(absl::ToInt64Nanoseconds(rest)));
    static_cast<void>(out.add_details()->PackFrom(retry));
  }
  return out;
}

grpc::Status ToGrpcStatus(const absl::Status& status) {
  if (status.ok()) {
    return grpc::Status::OK;
  }
  const auto code = static_cast<grpc::StatusCode>(status.code());
  if (code == grpc::StatusCode::INTERNAL || code == grpc::StatusCode::UNKNOWN ||
      code == grpc::StatusCode::DATA_LOSS) {
    runtime::Log(runtime::LogLevel::kError, "fault",
                 {{"code", status.raw_code()}, {"error", status.message()}});
  }
  const google::rpc::Status details = ToStatusMessage(status);
  if (details.details_size() == 0) {
    return {code, details.message()};
  }
  return {code, details.message(), details.SerializeAsString()};
}

absl::Status CheckAnswerFits(std::size_t bytes, std::size_t max_bytes, absl::string_view field,
                             absl::string_view hint) {
  if (bytes <= max_bytes) {
    return absl::OkStatus();
  }
  return MakeError(ErrorReason::kResponseTooLarge, field,
                   absl::StrCat("the answer takes more than the ", max_bytes, " bytes of a message: ", hint));
}

}  // namespace waystar::rpc
