// What a list of edits is known by without keeping it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/types/span.h"
#include "server/core/edit/edit.h"

namespace waystar::core {

// The memory that the edits take, about.
std::size_t ApproximateBytes(absl::Span<const Edit> edits);

// 128 bits that different values almost surely do not share. The same on every machine.
struct Fingerprint {
  std::uint64_t high = 0;
  std::uint64_t low = 0;

  friend bool operator==(const Fingerprint&, const Fingerprint&) = default;
};

// Of all that the edits hold, doubles by their bits, and a number beside them. Folds in 8 bytes a step as
// wyhash does (Wang Yi, 2019); not meant against whoever looks for two lists of one fingerprint.
Fingerprint FingerprintOf(absl::Span<const Edit> edits, std::optional<std::uint64_t> number);

}  // namespace waystar::core
