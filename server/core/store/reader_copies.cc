#include "server/core/store/reader_copies.h"

#include <array>
#include <memory>

#include "absl/base/optimization.h"

namespace waystar::core {
namespace {

// Allocated with the reference count in front of it: counts are farther apart than a cache line is long.
struct CountedCopy {
  explicit CountedCopy(const PinnedSnapshot& pinned) : snapshot(pinned) {}

  PinnedSnapshot snapshot;
  std::array<char, ABSL_CACHELINE_SIZE - sizeof(PinnedSnapshot)> padding{};
};

}  // namespace

ReaderCopies::ReaderCopies(const PinnedSnapshot& snapshot, std::size_t stripes) {
  copies_.reserve(stripes);
  for (std::size_t stripe = 0; stripe < stripes; ++stripe) {
    copies_.emplace_back(std::make_shared<const CountedCopy>(snapshot), snapshot.get());
  }
}

}  // namespace waystar::core
