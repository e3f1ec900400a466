// Set of bands of a plane.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace waystar::core {

// Set of a plane's bands, one bit per band.
//
// Thread safety: const methods may run concurrently.
class BandSet {
 public:
  BandSet() = default;
  // Makes an empty set for band numbers below `bands`.
  explicit BandSet(std::size_t bands) : words_((bands + kWordBits - 1) / kWordBits) {}

  bool Contains(std::size_t band) const { return (words_[band / kWordBits] >> (band % kWordBits) & 1U) != 0; }
  void Add(std::size_t band) { words_[band / kWordBits] |= std::uint64_t{1} << (band % kWordBits); }

  // REQUIRES, for both: `other` was made for the same number of bands.
  void AddAll(const BandSet& other) {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      words_[i] |= other.words_[i];
    }
  }
  // Calls visit(band) in ascending order for the bands in both sets.
  template <typename Visitor>
  void ForEachInBoth(const BandSet& other, Visitor visit) const {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      VisitWord(i, words_[i] & other.words_[i], visit);
    }
  }

  // Calls visit(band) in ascending order.
  template <typename Visitor>
  void ForEach(Visitor visit) const {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      VisitWord(i, words_[i], visit);
    }
  }

  static constexpr std::size_t BytesFor(std::size_t bands) {
    return (bands + kWordBits - 1) / kWordBits * sizeof(std::uint64_t);
  }

 private:
  static constexpr std::size_t kWordBits = 64;

  template <typename Visitor>
  static void VisitWord(std::size_t index, std::uint64_t bits, Visitor& visit) {
    for (; bits != 0; bits &= bits - 1) {
      visit(index * kWordBits + static_cast<std::size_t>(std::countr_zero(bits)));
    }
  }

  std::vector<std::uint64_t> words_;
};

}  // namespace waystar::core
