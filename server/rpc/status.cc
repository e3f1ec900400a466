#include "server/rpc/status.h"

#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "grpcpp/support/status.h"
#include "server/base/error.h"

namespace waystar::rpc {

grpc::Status ToGrpcStatus(const absl::Status& status) {
  if (status.ok()) {
    return grpc::Status::OK;
  }
  const auto code = static_cast<grpc::StatusCode>(status.code());
  const std::string message(status.message());
  const std::string reason = ErrorReasonOf(status);
  if (reason.empty()) {
    return {code, message};
  }
  google::rpc::Status details;
  details.set_code(static_cast<int>(status.code()));
  details.set_message(message);
  google::rpc::ErrorInfo info;
  info.set_reason(reason);
  info.set_domain("waystar");
  if (const std::string field = ErrorFieldOf(status); !field.empty()) {
    (*info.mutable_metadata())["field"] = field;
    google::rpc::BadRequest bad_request;
    google::rpc::BadRequest::FieldViolation* violation = bad_request.add_field_violations();
    violation->set_field(field);
    violation->set_description(message);
    details.add_details()->PackFrom(bad_request);
  }
  details.add_details()->PackFrom(info);
  if (const absl::Duration delay = RetryDelayOf(status); delay > absl::ZeroDuration()) {
    google::rpc::RetryInfo retry;
    const absl::Duration rest = delay % absl::Seconds(1);
    retry.mutable_retry_delay()->set_seconds(absl::ToInt64Seconds(delay - rest));
    retry.mutable_retry_delay()->set_nanos(static_cast<int>(absl::ToInt64Nanoseconds(rest)));
    details.add_details()->PackFrom(retry);
  }
  return {code, message, details.SerializeAsString()};
}

}  // namespace waystar::rpc
