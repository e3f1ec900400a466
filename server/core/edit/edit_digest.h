// Size and fingerprint of a list of edits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/core/edit/edit.h"

namespace waystar::core {

// Returns approximately the bytes of memory that the edits take.
std::size_t ApproximateBytes(absl::Span<const Edit> edits);

// A 128-bit hash that different values almost surely do not share. It is the same on every machine.
struct Fingerprint {
  std::uint64_t high = 0;
  std::uint64_t low = 0;

  friend bool operator==(const Fingerprint&, const Fingerprint&) = default;
};

// Returns the hash of all that the edits hold, doubles by their bits, and of a number beside them. It mixes
// in 8 bytes a step as wyhash does (Wang Yi, 2019), and is not made to resist whoever looks for collisions.
Fingerprint FingerprintOf(absl::Span<const Edit> edits, std::optional<std::uint64_t> number);

// Returns the hash of a text, which is none that edits have.
Fingerprint FingerprintOf(absl::string_view text);

}  // namespace waystar::core
