// Bound on the size of an answer.
#pragma once

#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace waystar::rpc {

// Returns OK unless an answer of so many bytes, or of at least so many, exceeds the `max_bytes` of a message;
// then RESOURCE_EXHAUSTED / RESPONSE_TOO_LARGE with that field. `hint` says what to ask for instead.
absl::Status CheckAnswerFits(std::size_t bytes, std::size_t max_bytes, absl::string_view field,
                             absl::string_view hint = "ask for less");

}  // namespace waystar::rpc
