// Copy-on-write table of few values with numbers from a large range.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace waystar::core {

// Table of immutable values by number. Copies share all values and, except for the path to each change, the
// table. A change copies up to 8 pointers per 4,096 numbers of the range and 128 more.
//
// Thread safety: const methods may run concurrently with each other and with changes to another copy.
template <typename T>
class SparseTable {
 public:
  // Makes an empty table of numbers below `range`.
  explicit SparseTable(std::uint32_t range) : roots_((range >> (2 * kBits)) + 1) {}

  // Returns null if there is no value.
  // REQUIRES, for all functions: number < range.
  const T* Find(std::uint32_t number) const {
    const Middle* const middle = roots_[number >> (2 * kBits)].get();
    if (middle == nullptr) {
      return nullptr;
    }
    const Leaf* const leaf = middle->leaves[number >> kBits & kMask].get();
    return leaf == nullptr ? nullptr : leaf->values[number & kMask].get();
  }

  // Sets or, if null, removes the value.
  void Put(std::uint32_t number, std::shared_ptr<const T> value) {
    std::shared_ptr<const Middle>& root = roots_[number >> (2 * kBits)];
    auto middle = root == nullptr ? std::make_shared<Middle>() : std::make_shared<Middle>(*root);
    std::shared_ptr<const Leaf>& at = middle->leaves[number >> kBits & kMask];
    auto leaf = at == nullptr ? std::make_shared<Leaf>() : std::make_shared<Leaf>(*at);
    leaf->values[number & kMask] = std::move(value);
    at = std::move(leaf);
    root = std::move(middle);
  }

  // Calls visit(number, value) in the order of the numbers.
  template <typename Visitor>
  void ForEach(const Visitor& visit) const {
    for (std::uint32_t i = 0; i < roots_.size(); ++i) {
      for (std::uint32_t j = 0; roots_[i] != nullptr && j <= kMask; ++j) {
        const Leaf* const leaf = roots_[i]->leaves[j].get();
        for (std::uint32_t k = 0; leaf != nullptr && k <= kMask; ++k) {
          if (leaf->values[k] != nullptr) {
            visit((i << kBits | j) << kBits | k, *leaf->values[k]);
          }
        }
      }
    }
  }

 private:
  static constexpr int kBits = 6;
  static constexpr std::uint32_t kMask = (1 << kBits) - 1;

  struct Leaf {
    std::array<std::shared_ptr<const T>, kMask + 1> values;
  };
  struct Middle {
    std::array<std::shared_ptr<const Leaf>, kMask + 1> leaves;
  };

  std::vector<std::shared_ptr<const Middle>> roots_;
};

}  // namespace waystar::core
