#include "server/core/store/update_batch.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "server/base/error.h"

namespace waystar::core {

absl::Status CheckRequestId(absl::string_view id) {
  if (!id.empty() && id.size() <= kMaxRequestIdBytes && std::all_of(id.begin(), id.end(), [](char c) {
        return absl::ascii_isprint(static_cast<unsigned char>(c));
      })) {
    return absl::OkStatus();
  }
  return MakeError(ErrorReason::kBadValue, "request_id",
                   absl::StrCat("a request_id has 1 to ", kMaxRequestIdBytes, " printable ASCII characters"));
}

}  // namespace waystar::core
