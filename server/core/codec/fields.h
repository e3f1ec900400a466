// Reading and writing of composite values, whose fields are listed once for both.
//
// A type T is stored by a function that passes its fields to `visit` in the order of the bytes:
//
//   void Fields(Is<T> auto& value, const auto& visit) { visit(value.a, AtMost(value.b, kMaxB)); }
//
// The function stands in the namespace of T. A reader fills `value`; a writer passes a const one. A field
// that decides about later ones goes to `visit` before them.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/base/status_macros.h"
#include "server/core/codec/values.h"

namespace waystar::core {

// True if V is T or const T.
template <typename V, typename T>
concept Is = std::same_as<std::remove_const_t<V>, T>;

// Field with a maximum: of a number or enumeration, which is stored without a sign, of the bytes of a text,
// or of the items of a list. `max_item_bytes` is for texts in a list.
template <typename V>
struct Bounded {
  V& value;
  std::uint64_t max = 0;
  std::uint64_t max_item_bytes = 0;
};

template <typename V>
Bounded<V> AtMost(V& value, auto max, std::uint64_t max_item_bytes = 0) {
  return {value, static_cast<std::uint64_t>(max), max_item_bytes};
}

inline constexpr std::uint64_t kAnyCount = std::numeric_limits<std::uint32_t>::max();

// The `visit` of a writer. Numbers without a maximum are varints, signed ones in zigzag encoding.
class FieldWriter {
 public:
  explicit FieldWriter(ValueWriter& to) : to_(to) {}

  void operator()(const auto&... fields) const { (Put(fields), ...); }

 private:
  template <typename T>
  void Put(const T& value) const {
    if constexpr (std::same_as<T, bool>) {
      to_.PutBool(value);
    } else if constexpr (std::same_as<T, char>) {
      to_.PutByte(static_cast<std::uint8_t>(value));
    } else if constexpr (std::unsigned_integral<T>) {
      to_.PutNumber(value);
    } else if constexpr (std::signed_integral<T>) {
      to_.PutSigned(value);
    } else if constexpr (std::same_as<T, double>) {
      to_.PutDouble(value);
    } else if constexpr (std::same_as<T, absl::Duration>) {
      to_.PutSigned(absl::ToInt64Nanoseconds(value));
    } else if constexpr (std::same_as<T, absl::Time>) {
      to_.PutBool(value != absl::InfiniteFuture());
      if (value != absl::InfiniteFuture()) {
        to_.PutSigned(absl::ToUnixNanos(value));
      }
    } else {
      Fields(value, *this);
    }
  }

  template <typename V>
  void Put(const Bounded<V>& field) const {
    PutBounded(field.value);
  }
  template <typename T>
  void Put(const std::vector<T>& items) const {
    PutBounded(items);
  }
  template <typename T>
  void Put(const std::optional<T>& value) const {
    to_.PutBool(value.has_value());
    if (value) {
      Put(*value);
    }
  }
  template <typename T>
  void Put(const std::shared_ptr<const T>& value) const {
    Put(*value);
  }
  // Writes the index of the alternative first.
  template <typename... T>
  void Put(const std::variant<T...>& value) const {
    to_.PutNumber(value.index());
    std::visit(*this, value);
  }

  template <typename T>
  void PutBounded(const T& value) const {
    to_.PutNumber(static_cast<std::uint64_t>(value));
  }
  void PutBounded(const std::string& text) const { to_.PutText(text); }
  void PutBounded(const std::vector<char>& text) const { to_.PutText({text.data(), text.size()}); }
  template <typename T>
  void PutBounded(const std::vector<T>& items) const {
    to_.PutNumber(items.size());
    for (const T& item : items) {
      if constexpr (std::same_as<T, std::string>) {
        to_.PutText(item);
      } else {
        Put(item);
      }
    }
  }

  ValueWriter& to_;
};

// The `visit` of a reader. It checks only the form: the caller checks that a map may have the values. Memory
// grows with the items read, not with the stored count of a list, which may be wrong.
class FieldReader {
 public:
  explicit FieldReader(ValueReader& from) : from_(from) {}

  void operator()(auto&&... fields) const { (Get(fields), ...); }

 private:
  template <typename T>
  void Get(T& value) const {
    if constexpr (std::same_as<T, bool>) {
      value = from_.Bool();
    } else if constexpr (std::same_as<T, char>) {
      value = static_cast<char>(from_.Byte());
    } else if constexpr (std::unsigned_integral<T>) {
      value = static_cast<T>(from_.Number(std::numeric_limits<T>::max()));
    } else if constexpr (std::signed_integral<T>) {
      value = static_cast<T>(from_.Signed(std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
    } else if constexpr (std::same_as<T, double>) {
      value = from_.Double();
    } else if constexpr (std::same_as<T, absl::Duration>) {
      value = absl::Nanoseconds(SignedNumber());
    } else if constexpr (std::same_as<T, absl::Time>) {
      value = from_.Bool() ? absl::FromUnixNanos(SignedNumber()) : absl::InfiniteFuture();
    } else {
      Fields(value, *this);
    }
  }

  template <typename T>
  void Get(Bounded<T>& field) const {
    if constexpr (std::same_as<T, std::string>) {
      field.value = from_.Text(field.max);
    } else if constexpr (std::same_as<T, std::vector<char>>) {
      const std::string text = from_.Text(field.max);
      field.value.assign(text.begin(), text.end());
    } else {
      field.value = static_cast<T>(from_.Number(field.max));
    }
  }
  template <typename T>
  requires(!std::same_as<T, char>) void Get(Bounded<std::vector<T>>& field) const {
    field.value.clear();
    for (std::uint64_t left = from_.Number(field.max); left > 0 && from_.ok(); --left) {
      if constexpr (std::same_as<T, std::string>) {
        field.value.push_back(from_.Text(field.max_item_bytes));
      } else {
        Get(field.value.emplace_back());
      }
    }
  }
  template <typename T>
  void Get(std::vector<T>& items) const {
    (*this)(AtMost(items, kAnyCount));
  }
  template <typename T>
  void Get(std::optional<T>& value) const {
    value.reset();
    if (from_.Bool()) {
      Get(value.emplace());
    }
  }
  template <typename T>
  void Get(std::shared_ptr<const T>& value) const {
    auto read = std::make_shared<T>();
    Get(*read);
    value = std::move(read);
  }
  template <typename... T>
  void Get(std::variant<T...>& value) const {
    const std::uint64_t index = from_.Number(sizeof...(T) - 1);
    std::uint64_t i = 0;
    ((i++ == index ? Get(value.template emplace<T>()) : void()), ...);
  }

  std::int64_t SignedNumber() const {
    std::int64_t number = 0;
    Get(number);
    return number;
  }

  ValueReader& from_;
};

template <typename T>
void WriteValue(const T& value, ValueWriter& to) {
  FieldWriter{to}(value);
}

template <typename T>
T ReadValue(ValueReader& from) {
  T value{};
  FieldReader{from}(value);
  return value;
}

// Returns the bytes of one value.
template <typename T>
std::string Encoded(const T& value) {
  ValueWriter to;
  WriteValue(value, to);
  return std::move(to).TakeBytes();
}

// Returns the value of these bytes, or the reader's error, which it has also if bytes follow the value.
template <typename T>
absl::StatusOr<T> Decoded(absl::string_view bytes) {
  ValueReader from(bytes);
  T value = ReadValue<T>(from);
  WAYSTAR_RETURN_IF_ERROR(from.Finish());
  return value;
}

}  // namespace waystar::core
