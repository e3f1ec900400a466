// Bound on the size of an answer.
#pragma once

#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace waystar::rpc {

// Returns RESOURCE_EXHAUSTED / RESPONSE_TOO_LARGE with `field` if an answer of at least `bytes` exceeds the
// message limit `max_bytes`. `hint` says what to request instead.
absl::Status CheckAnswerFits(std::size_t bytes, std::size_t max_bytes, absl::string_view field,
                             absl::string_view hint = "ask for less");

}  // namespace waystar::rpc
