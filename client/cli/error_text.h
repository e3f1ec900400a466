#pragma once

#include <string>

#include "absl/status/status.h"

namespace waystar::cli {

// Says what went wrong in a call to `server`, in one sentence, and what to do about it in another where that
// helps. REQUIRES: `status` is not OK.
std::string ErrorText(const absl::Status& status, const std::string& server);

}  // namespace waystar::cli
