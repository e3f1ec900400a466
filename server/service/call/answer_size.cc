#include "server/service/call/answer_size.h"

#include "absl/strings/str_cat.h"
#include "server/base/error.h"

namespace waystar::rpc {

absl::Status CheckAnswerFits(std::size_t bytes, std::size_t max_bytes, absl::string_view field,
                             absl::string_view hint) {
  if (bytes <= max_bytes) {
    return absl::OkStatus();
  }
  return MakeError(ErrorReason::kResponseTooLarge, field,
                   absl::StrCat("the answer takes more than the ", max_bytes, " bytes of a message: ", hint));
}

}  // namespace waystar::rpc
