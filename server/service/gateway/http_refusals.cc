#include "server/service/gateway/http_refusals.h"

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "server/base/error.h"

namespace waystar::rpc {
namespace {

// Other clients' bodies are released in this time.
constexpr absl::Duration kBodiesDelay = absl::Seconds(1);

}  // namespace

absl::Status HttpRefusal(int code, std::size_t max_body_bytes) {
  switch (code) {
    case 408:
      return MakeError(ErrorReason::kTransferTimeout, "", "the request did not arrive in time");
    case 413:
      return MakeError(ErrorReason::kRequestTooLarge, "",
                       absl::StrCat("the body has more than ", max_body_bytes, " bytes"));
    case 417:
      return MakeError(ErrorReason::kBadHeader, "Expect", "nothing but 100-continue may be expected");
    case 431:
      return MakeError(ErrorReason::kBadHeader, "", "the headers are too long or too many");
    case 501:
      return MakeError(ErrorReason::kBadHeader, "Transfer-Encoding", "bodies come as they are, or in chunks");
    case 503:
      return Refusal(ErrorReason::kAnswersUnread, kBodiesDelay,
                     "the bodies of requests hold as much as they may");
    case 505:
      return MakeError(ErrorReason::kBadHeader, "", "the versions of HTTP are 1.0 and 1.1");
    default:
      return absl::OkStatus();
  }
}

}  // namespace waystar::rpc
