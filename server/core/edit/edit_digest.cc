#include "server/core/edit/edit_digest.h"

#include <bit>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "absl/numeric/int128.h"
#include "absl/time/time.h"
#include "server/core/edit/edit_fields.h"

namespace waystar::core {
namespace {

template <typename T>
constexpr bool kIsNumber = std::is_arithmetic_v<T> || std::is_enum_v<T>;

// Counts the heap memory of values.
class ByteCounter {
 public:
  template <typename T>
  void Add(const T& value) {
    if constexpr (!kIsNumber<T>) {
      Fields(value, [this](const auto&... fields) { (this->Add(fields), ...); });
    }
  }
  template <typename V>
  void Add(const Bounded<V>& field) {
    Add(field.value);
  }
  void Add(absl::Time) {}
  void Add(const std::string& text) { bytes_ += text.capacity(); }
  void Add(const Shape& shape) { bytes_ += BytesOf(shape); }
  void Add(const std::optional<absl::Duration>&) {}
  void Add(const std::optional<Shape>& shape) { bytes_ += shape ? BytesOf(*shape) : 0; }
  template <typename T>
  void Add(const std::vector<T>& list) {
    bytes_ += list.capacity() * sizeof(T);
    for (const T& item : list) {
      Add(item);
    }
  }

  std::size_t bytes() const { return bytes_; }

 private:
  std::size_t bytes_ = 0;
};

// Hashes a sequence of values unambiguously: each list is preceded by its length, each edit by its kind.
class Hasher {
 public:
  template <typename T>
  void Add(const T& value) {
    if constexpr (kIsNumber<T>) {
      AddWord(static_cast<std::uint64_t>(value));
    } else {
      Fields(value, [this](const auto&... fields) { (this->Add(fields), ...); });
    }
  }
  template <typename V>
  void Add(const Bounded<V>& field) {
    Add(field.value);
  }
  // The expiry follows from the edit's lifetime.
  void Add(const Obstacle& obstacle) {
    Add(obstacle.id);
    Add(obstacle.shape);
    Add(obstacle.effect);
  }
  void Add(double value) { AddWord(std::bit_cast<std::uint64_t>(value)); }
  void Add(const Cell& cell) {
    AddWord(std::uint64_t{static_cast<std::uint32_t>(cell.x)} << 32 | static_cast<std::uint32_t>(cell.y));
  }
  void Add(absl::string_view text) {
    Add(text.size());
    for (std::size_t i = 0; i < text.size(); i += sizeof(std::uint64_t)) {
      std::uint64_t value = 0;
      for (const char c : text.substr(i, sizeof(std::uint64_t))) {
        value = value << 8 | static_cast<unsigned char>(c);
      }
      AddWord(value);
    }
  }
  void Add(const std::string& text) { Add(absl::string_view(text)); }
  void Add(const std::optional<absl::Duration>& duration) {
    Add(duration.has_value());
    Add(absl::ToInt64Nanoseconds(duration.value_or(absl::ZeroDuration())));
  }
  void Add(const std::optional<Shape>& shape) {
    Add(shape.has_value());
    Add(shape.value_or(Shape()));
  }
  template <typename T>
  void Add(const std::vector<T>& list) {
    Add(list.size());
    for (const T& item : list) {
      Add(item);
    }
  }

  Fingerprint Finish() const { return {.high = Fold(high_, 0x8ebc6af09c88c6e3U), .low = low_}; }

 private:
  void AddWord(std::uint64_t value) {
    high_ = Fold(high_ ^ value, 0xa0761d6478bd642fU);
    low_ = Fold(low_ + value, 0xe7037ed1a0b428dbU) ^ std::rotl(low_, 23);
  }

  static std::uint64_t Fold(std::uint64_t a, std::uint64_t b) {
    const absl::uint128 product = absl::uint128(a ^ 0x589965cc75374cc3U) * b;
    return absl::Uint128High64(product) ^ absl::Uint128Low64(product);
  }

  std::uint64_t high_ = 0x2d358dccaa6c78a5U;
  std::uint64_t low_ = 0x8bb84b93962eacc9U;
};

}  // namespace

std::size_t ApproximateBytes(absl::Span<const Edit> edits) {
  ByteCounter counter;
  for (const Edit& edit : edits) {
    std::visit([&](const auto& kind) { counter.Add(kind); }, edit);
  }
  return edits.size() * sizeof(Edit) + counter.bytes();
}

Fingerprint FingerprintOf(absl::Span<const Edit> edits, std::optional<std::uint64_t> number) {
  Hasher hasher;
  hasher.Add(number.has_value());
  hasher.Add(number.value_or(0));
  hasher.Add(edits.size());
  for (const Edit& edit : edits) {
    hasher.Add(edit.index());
    std::visit([&](const auto& kind) { hasher.Add(kind); }, edit);
  }
  return hasher.Finish();
}

Fingerprint FingerprintOf(absl::string_view text) {
  // Distinct from the first value of edits, which is 0 or 1.
  constexpr int kText = 2;
  Hasher hasher;
  hasher.Add(kText);
  hasher.Add(text);
  return hasher.Finish();
}

}  // namespace waystar::core
