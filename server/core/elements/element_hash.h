// Hashes of the elements of a map. Their sum is the map's digest.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace waystar::core {

// Kinds of elements. The numbers are part of the digest.
enum class ElementKind : std::uint8_t {
  kGrid = 1,
  // Terrains of eight cells.
  kTerrains = 2,
  // A word of nameless obstacles.
  kObstacles = 3,
  kProfile = 4,
  kPortal = 5,
  kNamedObstacle = 6,
  kGraph = 7,
  kRule = 8,
  kNode = 9,
  kEdge = 10,
  kTag = 11,
  kMesh = 12,
  kMeshPortal = 13,
  kMeshRadius = 14,
  kMeshDetail = 15,
  kMeshTerrain = 16,
  kMeshSurface = 17,
  kMeshGround = 18,
  kMeshProfile = 19,
};

// Hash of one element: of its kind and of the values added, in their order. It is the same on every machine.
// docs/image-format.md lists the values of each kind.
//
// A map's digest is the sum of these hashes modulo 2^64. An update therefore costs only as much as the
// change, and the order of changes does not matter: Clarke, Devadas, van Dijk, Gassend, Suh, "Incremental
// Multiset Hash Functions and Their Application to Memory Integrity Checking" (2003). The mixer is
// SplitMix64: Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators" (2014). The digest detects
// accidental differences; it does not resist deliberate collisions.
class ElementHash {
 public:
  constexpr explicit ElementHash(ElementKind kind) { Add(static_cast<std::uint64_t>(kind)); }

  // Elements of the same kind and length that differ in exactly one value have different hashes.
  constexpr void Add(std::uint64_t value) {
    std::uint64_t mixed = (hash_ ^ value) + 0x9e3779b97f4a7c15U;
    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9U;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebU;
    hash_ = mixed ^ mixed >> 31;
  }
  constexpr void AddSigned(std::int64_t value) { Add(static_cast<std::uint64_t>(value)); }
  // Positive and negative zero have the same hash.
  constexpr void AddDouble(double value) { Add(value == 0.0 ? 0 : std::bit_cast<std::uint64_t>(value)); }
  constexpr void AddText(absl::string_view text) {
    Add(text.size());
    for (std::size_t begin = 0; begin < text.size(); begin += sizeof(std::uint64_t)) {
      std::uint64_t word = 0;
      for (std::size_t i = begin; i < std::min(text.size(), begin + sizeof(word)); ++i) {
        word |= std::uint64_t{static_cast<std::uint8_t>(text[i])} << 8 * (i - begin);
      }
      Add(word);
    }
  }

  // Adds a set; the order does not matter.
  void AddTags(const std::vector<std::string>& tags) {
    std::uint64_t sum = 0;
    for (const std::string& tag : tags) {
      sum += OfTag(tag);
    }
    Add(sum);
  }
  static constexpr std::uint64_t OfTag(absl::string_view tag) {
    ElementHash hash(ElementKind::kTag);
    hash.AddText(tag);
    return hash.value();
  }

  constexpr std::uint64_t value() const { return hash_; }

 private:
  std::uint64_t hash_ = 0;
};

// Returns the amount to add to a digest when word `index` of row y changes. A word of 0 is not an element.
inline std::uint64_t DigestOfChange(ElementKind kind, int y, std::size_t index, std::uint64_t before,
                                    std::uint64_t after) {
  if (before == after) {
    return 0;
  }
  ElementHash place(kind);
  place.Add(std::uint64_t{static_cast<std::uint32_t>(y)} << 32 | index);
  const auto hash_of = [&](std::uint64_t word) {
    ElementHash hash = place;
    hash.Add(word);
    return word == 0 ? 0 : hash.value();
  };
  return hash_of(after) - hash_of(before);
}

}  // namespace waystar::core
