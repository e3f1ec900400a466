// Memory size and fingerprint of a list of edits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/core/edit/edit.h"

namespace waystar::core {

// Returns the approximate memory of the edits in bytes.
std::size_t ApproximateBytes(absl::Span<const Edit> edits);

// 128-bit hash, the same on every machine. Collisions of different values are very unlikely.
struct Fingerprint {
  std::uint64_t high = 0;
  std::uint64_t low = 0;

  friend bool operator==(const Fingerprint&, const Fingerprint&) = default;
};

// Returns the hash of all fields of the edits, with doubles hashed by their bits, and of an additional
// number. Mixes 8 bytes per step as wyhash does (Wang Yi, 2019); not resistant to deliberate collisions.
Fingerprint FingerprintOf(absl::Span<const Edit> edits, std::optional<std::uint64_t> number);

// Returns the hash of a text, distinct from the hashes of edits.
Fingerprint FingerprintOf(absl::string_view text);

}  // namespace waystar::core
