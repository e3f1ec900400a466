// Reading and writing of composite values, by the functions of edit_fields.h that list their fields. A reader
// fills the value; a writer passes a const one.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/base/error.h"
#include "server/base/stop_check.h"
#include "server/core/codec/values.h"
#include "server/core/edit/edit_fields.h"
#include "server/core/grid/cells/grid_settings.h"

namespace waystar::core {

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

void Fields(Is<Terrain> auto& terrain, const auto& visit) {
  visit(terrain.symbol, AtMost(terrain.name, kMaxTerrainNameBytes), terrain.cost, terrain.impassable);
}

void Fields(Is<HexBoard> auto& board, const auto& visit) {
  visit(AtMost(board.layout, HexLayout::kEvenColumns), AtMost(board.columns, kMaxMapSide),
        AtMost(board.rows, kMaxMapSide));
}

void Fields(Is<GridSettings> auto& settings, const auto& visit) {
  visit(AtMost(settings.connectivity, Connectivity::kSix), settings.diagonal_cost,
        AtMost(settings.terrains, kMaxTerrains), AtMost(settings.world, kMaxWorldBytes),
        settings.frame.origin, settings.frame.cell_size, settings.frame.hexagons);
}

// Writes the number of items of an IdTable, then the items in the order of their ids.
template <typename Item, typename Table>
void WriteTable(const Table& table, ValueWriter& to, const StopCheck* stop) {
  to.PutNumber(table.size());
  table.VisitAfter("", [&](const Item& item) {
    WriteValue(item, to);
    return !IsStopped(stop);
  });
}

}  // namespace waystar::core
