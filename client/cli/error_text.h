#pragma once

#include <string>

#include "absl/status/status.h"

namespace waystar::cli {

// What went wrong in a call to `server`, in a sentence, and what to do about it in another where that helps.
// REQUIRES: `status` is not OK.
std::string ErrorText(const absl::Status& status, const std::string& server);

}  // namespace waystar::cli
