#include "server/storage/etcd/etcd_error.h"

#include <string>

#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/types/optional.h"
#include "server/base/error.h"

namespace waystar::etcd {
namespace {

constexpr char kFailurePayload[] = "waystar/etcd-failure";

absl::Status WithoutKind(Failure failure, absl::string_view message) {
  switch (failure) {
    case Failure::kNone:
      return absl::OkStatus();
    case Failure::kUnknownOutcome:
    case Failure::kUnreachable:
    case Failure::kNoLeader:
      return MakeError(ErrorReason::kStorageFailed, "", message);
    case Failure::kTooLarge:
      return MakeError(ErrorReason::kRequestTooLarge, "", message);
    case Failure::kNoSpace:
    case Failure::kBusy:
      return absl::ResourceExhaustedError(message);
    case Failure::kCompacted:
    case Failure::kFutureRevision:
      return absl::OutOfRangeError(message);
    case Failure::kDenied:
      return absl::PermissionDeniedError(message);
    case Failure::kRefused:
      return absl::FailedPreconditionError(message);
    case Failure::kClosed:
      return absl::CancelledError(message);
  }
  return absl::UnknownError(message);
}

}  // namespace

absl::Status MakeFailure(Failure failure, absl::string_view message) {
  absl::Status status = WithoutKind(failure, message);
  status.SetPayload(kFailurePayload, absl::Cord(absl::StrCat(static_cast<int>(failure))));
  return status;
}

Failure FailureOf(const absl::Status& status) {
  const absl::optional<absl::Cord> payload = status.GetPayload(kFailurePayload);
  int failure = 0;
  return payload.has_value() && absl::SimpleAtoi(std::string(*payload), &failure)
             ? static_cast<Failure>(failure)
             : Failure::kNone;
}

}  // namespace waystar::etcd
