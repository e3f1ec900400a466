// Mutations of protobuf messages that leave them messages.
#pragma once

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "google/protobuf/message.h"
#include "tests/testing/random.h"

namespace waystar::fuzz {

// Changes, adds or removes one field somewhere in the message. Numbers become such as are at the ends of a
// range or beyond it, or close to what they were; strings often one of `words`.
void MutateMessage(google::protobuf::Message& message, absl::Span<const absl::string_view> words,
                   Random& random);

}  // namespace waystar::fuzz
