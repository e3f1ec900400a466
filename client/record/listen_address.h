#pragma once

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace waystar::record {

// Checks an address to listen on: HOST:PORT or [ADDRESS]:PORT, port 0 for a free one. Errors:
// INVALID_ARGUMENT, which says what may be given.
absl::Status CheckListenAddress(absl::string_view address);

// Says why nothing can listen on an address after it was tried in vain: UNAVAILABLE, with what the system
// says. REQUIRES: CheckListenAddress takes it.
absl::Status CannotListen(absl::string_view address);

}  // namespace waystar::record
